#include "cli/model_options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

void n2d_model_longs(struct option *longs, const struct option *own)
{
	while (own->name)
		*longs++ = *own++;
	*longs++ = (struct option){"preset", 1, 0, N2D_MODEL_PRESET};
	for (size_t i = 0; i < n2d_options_count; i++)
		*longs++ = (struct option){n2d_options[i].name, 1, 0, N2D_MODEL_OPTION + (int)i};
	memset(longs, 0, sizeof *longs);
}

int n2d_model_option(struct n2d_model_args *a, int c, const char *value)
{
	if (c == N2D_MODEL_PRESET)
		a->preset = value;
	else if (c >= N2D_MODEL_OPTION && c < N2D_MODEL_OPTION + (int)n2d_options_count)
		a->value[c - N2D_MODEL_OPTION] = value;
	else
		return 0;
	return 1;
}

/* As the user wrote it: "--d-model: ...". */
static int dashed(void)
{
	char why[256];
	snprintf(why, sizeof why, "%s", n2d_error_text());
	return n2d_error("--%s", why);
}

int n2d_model_args_config(struct n2d_config *c, const struct n2d_model_args *a)
{
	memset(c, 0, sizeof *c);
	if (n2d_config_preset(c, a->preset ? a->preset : "base"))
		return dashed();
	for (size_t i = 0; i < n2d_options_count; i++) /* layers stands before the two it sets */
		if (a->value[i] && n2d_config_set(c, n2d_options[i].name, a->value[i]))
			return dashed();
	return n2d_config_check(c) ? dashed() : 0;
}

void n2d_model_help(void)
{
	struct n2d_config base = {0};
	n2d_config_preset(&base, "base");
	printf("  --preset NAME            base (default), big or tiny; the options below change it\n");
	for (size_t i = 0; i < n2d_options_count; i++) {
		const struct n2d_option *o = &n2d_options[i];
		char left[64], text[N2D_OPTION_TEXT];
		if (o->kind == N2D_OPTION_CHOICE) {
			printf("  --%s %s\n%27s%s (%s)\n", o->name, o->choices, "", o->help, n2d_config_get(&base, o, text));
			continue;
		}
		snprintf(left, sizeof left, "--%s %s", o->name, o->kind == N2D_OPTION_REAL ? "P" : "N");
		printf("  %-24s %s", left, o->help);
		if (o->kind == N2D_OPTION_LAYERS || !strcmp(o->name, "vocab"))
			printf("\n");
		else
			printf(" (%s)\n", n2d_config_get(&base, o, text));
	}
}
