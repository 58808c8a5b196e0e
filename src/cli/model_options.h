/* The options of a model (model/config.h) on a command line. */
#ifndef N2D_MODEL_OPTIONS_H
#define N2D_MODEL_OPTIONS_H

#include "cli/table_options.h"
#include "model/config.h"

/* getopt_long returns N2D_MODEL_OPTION + i for the model's option i, N2D_MODEL_PRESET for --preset. */
enum { N2D_MODEL_OPTION = 1000, N2D_MODEL_PRESET = 999 };

/* What was given. Whatever the order, --preset counts first, then --layers, then the others. */
struct n2d_model_args {
	const char *preset;
	struct n2d_given given;
};

void n2d_model_args_init(struct n2d_model_args *a);

/* longs: the command's own options (ended by zeros) and then the model's; room for both. Returns the end. */
struct option *n2d_model_longs(struct option *longs, const struct option *own, const struct n2d_model_args *a);

/* Keeps an option; 0 when c is none of the model's. */
int n2d_model_option(struct n2d_model_args *a, int c, const char *value);

/* *c from base (or --preset) and the options, unchecked. -1 and a message. */
int n2d_model_args_set(struct n2d_config *c, const struct n2d_model_args *a);
/* And checked. */
int n2d_model_args_config(struct n2d_config *c, const struct n2d_model_args *a);

/* One line an option, with its default; but: how names end that the command has in another meaning, or NULL. */
void n2d_model_help(const char *but);

#endif
