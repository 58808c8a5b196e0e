#include "base/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const struct n2d_option *n2d_option_find(const struct n2d_option_table *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->list[i].name, name) == 0)
			return &t->list[i];
	return NULL;
}

static void *field(const void *of, const struct n2d_option *o) { return (char *)of + o->offset; }

/* The index of value in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *value)
{
	size_t n = strlen(value);
	for (int i = 0;; i++) {
		size_t m = strcspn(choices, "|");
		if (n == m && memcmp(choices, value, n) == 0)
			return i;
		if (!choices[m])
			return -1;
		choices += m + 1;
	}
}

static int set_choice(void *to, const struct n2d_option *o, const char *value)
{
	int i = choice_index(o->choices, value);
	if (i < 0)
		return n2d_error("%s: '%s' must be one of %s", o->name, value, o->choices);
	*(int *)field(to, o) = i;
	return 0;
}

static int set_size(void *to, const struct n2d_option *o, const char *value)
{
	char *end;
	unsigned long long n = strtoull(value, &end, 10); /* what does not fit becomes the largest, above any max */
	if (o->choices && strcmp(value, o->choices) == 0)
		n = 0;
	else if (*value < '0' || *value > '9' || *end || (double)n < o->min || (double)n > o->max)
		return n2d_error("%s: '%s' must be %s%sa whole number from %.0f to %.0f", o->name, value, o->choices ? o->choices : "",
				 o->choices ? " or " : "", o->min, o->max);
	*(size_t *)field(to, o) = n;
	if (o->kind == N2D_OPTION_BOTH)
		((size_t *)field(to, o))[1] = n;
	return 0;
}

static int set_real(void *to, const struct n2d_option *o, const char *value)
{
	char *end;
	double x = strtod(value, &end);
	if (end == value || *end || !(x >= o->min && x < o->max))
		return n2d_error("%s: '%s' must be a number from %g to below %g", o->name, value, o->min, o->max);
	*(double *)field(to, o) = x;
	return 0;
}

int n2d_option_set(void *to, const struct n2d_option *o, const char *value)
{
	switch (o->kind) {
	case N2D_OPTION_CHOICE: return set_choice(to, o, value);
	case N2D_OPTION_REAL: return set_real(to, o, value);
	default: return set_size(to, o, value);
	}
}

const char *n2d_option_get(const void *from, const struct n2d_option *o, char buffer[N2D_OPTION_TEXT])
{
	if (o->kind == N2D_OPTION_CHOICE) {
		const char *p = o->choices;
		for (int i = *(int *)field(from, o); i > 0; i--)
			p += strcspn(p, "|") + 1;
		snprintf(buffer, N2D_OPTION_TEXT, "%.*s", (int)strcspn(p, "|"), p);
	} else if (o->kind == N2D_OPTION_REAL) {
		double x = *(double *)field(from, o);
		for (int digits = 1; digits <= 17; digits++) { /* the shortest that reads back the same */
			snprintf(buffer, N2D_OPTION_TEXT, "%.*g", digits, x);
			if (strtod(buffer, NULL) == x)
				break;
		}
	} else if (o->choices && !*(size_t *)field(from, o))
		snprintf(buffer, N2D_OPTION_TEXT, "%s", o->choices);
	else
		snprintf(buffer, N2D_OPTION_TEXT, "%zu", *(size_t *)field(from, o));
	return buffer;
}
