/* The options of a table (base/option.h) on a command line. */
#ifndef N2D_TABLE_OPTIONS_H
#define N2D_TABLE_OPTIONS_H

#include <getopt.h>

#include "base/option.h"

enum { N2D_TABLE_OPTIONS_MAX = 64 };

/* A table whose option i getopt_long reports as first + i, and what was given. */
struct n2d_given {
	const struct n2d_option_table *table;
	int first;
	const char *value[N2D_TABLE_OPTIONS_MAX];
};

/* Appends the table's options to the list that ends at `longs`; returns its new end, which is all zeros. */
struct option *n2d_given_longs(struct option *longs, const struct n2d_given *g);

/* Keeps an option; 0 when c is none of the table's. */
int n2d_given_keep(struct n2d_given *g, int c, const char *value);

/* Sets what was given, in the table's order. -1 and a message that starts with the option as the user wrote it: "--d-model: ...". */
int n2d_given_apply(const struct n2d_given *g, void *to);

/* Puts "--" before the last message's option. Returns -1. */
int n2d_error_dashed(void);

/* One line an option, with its value in *defaults (an option that must be given has none: without_default, or NULL), all
 * but `but`, or NULL. */
void n2d_table_help(const struct n2d_option_table *t, const void *defaults, const char *without_default, const char *but);

#endif
