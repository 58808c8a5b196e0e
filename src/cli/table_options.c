#include "cli/table_options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

struct option *n2d_given_longs(struct option *longs, const struct n2d_given *g)
{
	for (size_t i = 0; i < g->table->count; i++)
		*longs++ = (struct option){g->table->list[i].name, 1, 0, g->first + (int)i};
	memset(longs, 0, sizeof *longs);
	return longs;
}

int n2d_given_keep(struct n2d_given *g, int c, const char *value)
{
	if (c < g->first || c >= g->first + (int)g->table->count)
		return 0;
	g->value[c - g->first] = value;
	return 1;
}

int n2d_error_dashed(void) { return n2d_error("--%s", n2d_error_text()); }

int n2d_given_apply(const struct n2d_given *g, void *to)
{
	for (size_t i = 0; i < g->table->count; i++)
		if (g->value[i] && n2d_option_set(to, &g->table->list[i], g->value[i]))
			return n2d_error_dashed();
	return 0;
}

void n2d_table_help(const struct n2d_option_table *t, const void *defaults, const char *without_default, const char *but)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct n2d_option *o = &t->list[i];
		char left[64], text[N2D_OPTION_TEXT];
		size_t name = strlen(o->name);
		if (but && name >= strlen(but) && !strcmp(o->name + name - strlen(but), but))
			continue;
		if (o->kind == N2D_OPTION_CHOICE) {
			printf("  --%s %s\n%27s%s (%s)\n", o->name, o->choices, "", o->help, n2d_option_get(defaults, o, text));
			continue;
		}
		snprintf(left, sizeof left, "--%s %s", o->name, o->kind == N2D_OPTION_REAL ? "X" : "N");
		printf("  %-24s %s", left, o->help);
		if (o->kind == N2D_OPTION_BOTH || (without_default && !strcmp(o->name, without_default)))
			printf("\n");
		else
			printf(" (%s)\n", n2d_option_get(defaults, o, text));
	}
}
