/* Which benchmarks are compared: --filter and --exclude, for builds and for files. */
#include <string.h>

#include "base/error.h"
#include "bench/compare.h"

static int compile(regex_t *r, const char *option, const char *text)
{
	char why[128];
	int code = regcomp(r, text, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return 0;
	regerror(code, r, why, sizeof why);
	return n2d_error("%s: '%s': %s", option, text, why);
}

int compare_patterns_open(struct compare_patterns *r, const struct compare_plan *p)
{
	memset(r, 0, sizeof *r);
	if (p->filter) {
		if (compile(&r->filter, "--filter", p->filter))
			return -1;
		r->has_filter = 1;
	}
	if (p->exclude && *p->exclude) {
		if (compile(&r->exclude, "--exclude", p->exclude)) {
			compare_patterns_free(r);
			return -1;
		}
		r->has_exclude = 1;
	}
	return 0;
}

void compare_patterns_free(struct compare_patterns *r)
{
	if (r->has_filter)
		regfree(&r->filter);
	if (r->has_exclude)
		regfree(&r->exclude);
}

int compare_wanted(const struct compare_patterns *r, const char *id)
{
	return (!r->has_filter || regexec(&r->filter, id, 0, NULL, 0) == 0) &&
	       (!r->has_exclude || regexec(&r->exclude, id, 0, NULL, 0) != 0);
}

int compare_select(struct comparison *c, const struct compare_plan *p)
{
	struct compare_patterns r;
	size_t kept = 0, both = 0;
	if (compare_patterns_open(&r, p))
		return -1;
	for (size_t i = 0; i < c->rows; i++) {
		struct compare_row *row = c->row + i;
		if (!compare_wanted(&r, row->id)) {
			compare_row_free(row);
			continue;
		}
		both += row->side[BASE].n && row->side[HEAD].n;
		c->row[kept++] = *row;
	}
	c->rows = kept;
	compare_patterns_free(&r);
	return both ? 0 : n2d_error("%s, %s: no benchmark that both have passes --filter and --exclude", c->name[BASE], c->name[HEAD]);
}
