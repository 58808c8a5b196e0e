#include "cli/model_options.h"

#include <stdio.h>
#include <string.h>

void n2d_model_args_init(struct n2d_model_args *a)
{
	memset(a, 0, sizeof *a);
	a->given.table = &n2d_options;
	a->given.first = N2D_MODEL_OPTION;
}

struct option *n2d_model_longs(struct option *longs, const struct option *own, const struct n2d_model_args *a)
{
	while (own->name)
		*longs++ = *own++;
	*longs++ = (struct option){"preset", 1, 0, N2D_MODEL_PRESET};
	return n2d_given_longs(longs, &a->given);
}

int n2d_model_option(struct n2d_model_args *a, int c, const char *value)
{
	if (c != N2D_MODEL_PRESET)
		return n2d_given_keep(&a->given, c, value);
	a->preset = value;
	return 1;
}

int n2d_model_args_set(struct n2d_config *c, const struct n2d_model_args *a)
{
	memset(c, 0, sizeof *c);
	if (n2d_config_preset(c, a->preset ? a->preset : "base"))
		return n2d_error_dashed();
	return n2d_given_apply(&a->given, c); /* layers stands before the two it sets */
}

int n2d_model_args_config(struct n2d_config *c, const struct n2d_model_args *a)
{
	if (n2d_model_args_set(c, a))
		return -1;
	return n2d_config_check(c) ? n2d_error_dashed() : 0;
}

void n2d_model_help(const char *but)
{
	struct n2d_config base = {0};
	n2d_config_preset(&base, "base");
	printf("  --preset NAME            base (default), big or tiny; the options below change it\n");
	n2d_table_help(&n2d_options, &base, "vocab", but);
}
