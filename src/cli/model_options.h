/* The options of a model (model/config.h) on a command line. */
#ifndef N2D_MODEL_OPTIONS_H
#define N2D_MODEL_OPTIONS_H

#include <getopt.h>

#include "model/config.h"

/* getopt_long returns N2D_MODEL_OPTION + i for the model's option i, N2D_MODEL_PRESET for --preset. */
enum { N2D_MODEL_OPTION = 1000, N2D_MODEL_PRESET = 999, N2D_MODEL_OPTIONS_MAX = 64 };

/* What was given. Whatever the order, --preset counts first, then --layers, then the others. */
struct n2d_model_args {
	const char *preset, *value[N2D_MODEL_OPTIONS_MAX];
};

/* longs: the command's own options (ended by zeros) and then the model's; room for both. */
void n2d_model_longs(struct option *longs, const struct option *own);

/* Keeps an option; 0 when c is none of the model's. */
int n2d_model_option(struct n2d_model_args *a, int c, const char *value);

/* *c from base (or --preset) and the options. -1 and a message. */
int n2d_model_args_config(struct n2d_config *c, const struct n2d_model_args *a);

/* One line an option, with its default. */
void n2d_model_help(void);

#endif
