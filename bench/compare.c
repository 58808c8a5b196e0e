#include "bench/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/csv.h"

const char *const verdict_names[VERDICTS] = {"same", "faster", "slower", "cleared", "only in base", "only in head",
						   "failed", "not measured"};

/* ---- values */

/* Room for one more: a power of two. */
static void *grow(void *p, size_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

/* Rows of a file come together, in about the same order in every file: looked for from the last one on. */
struct compare_row *compare_row(struct comparison *c, const char *id)
{
	static size_t at;
	for (size_t i = 0; i < c->rows; i++, at++) {
		at = at < c->rows ? at : 0;
		if (strcmp(c->row[at].id, id) == 0)
			return c->row + at;
	}
	c->row = grow(c->row, c->rows, sizeof *c->row);
	struct compare_row *r = c->row + (at = c->rows++);
	memset(r, 0, sizeof *r);
	r->id = strdup(id);
	if (!r->id)
		abort();
	return r;
}

void compare_add(struct compare_values *v, double x)
{
	v->x = grow(v->x, v->n, sizeof *v->x);
	v->x[v->n++] = x;
}

void compare_row_free(struct compare_row *r)
{
	free(r->id);
	for (int s = 0; s < SIDES; s++)
		free(r->side[s].x);
}

void compare_free(struct comparison *c)
{
	for (size_t i = 0; i < c->rows; i++)
		compare_row_free(c->row + i);
	free(c->row);
	*c = (struct comparison){0};
}

/* ---- files */

struct columns {
	int id, seconds, clean, program;
};

static int find_columns(struct columns *k, const struct csv *c)
{
	*k = (struct columns){csv_column(c, "id"), csv_column(c, "seconds"), csv_column(c, "clean"), csv_column(c, "program")};
	if (!csv_schema(c))
		return -1;
	if (k->id < 0 || k->seconds < 0)
		return n2d_error("%s:1: expected columns id and seconds, as n2d-bench kernels, layers, step, decode and roof write", c->path);
	return 0;
}

/* 1: a sample; 0: none of ours, or not measured. */
static int read_sample(const struct csv *c, const struct columns *k, size_t row, double *seconds, double *clean)
{
	*clean = 1;
	if (k->program >= 0 && strcmp(csv_text(c, row, k->program), "n2d") != 0)
		return 0;
	if (strcmp(csv_text(c, row, k->seconds), "nan") == 0)
		return 0;
	if (csv_number(c, row, k->seconds, seconds) || (k->clean >= 0 && csv_number(c, row, k->clean, clean)))
		return -1;
	if (!(*seconds > 0))
		return n2d_error("%s:%zu: seconds is %g, expected more than 0", c->path, c->line[row + 1], *seconds);
	return 1;
}

/* Disturbed samples count where there are no others. */
static int read_rows(struct comparison *into, int side, const struct csv *c, const struct columns *k)
{
	for (int want_clean = 1; want_clean >= 0; want_clean--)
		for (size_t row = 0; row < c->rows; row++) {
			double seconds, clean;
			int got = read_sample(c, k, row, &seconds, &clean);
			if (got < 0)
				return -1;
			if (!got || (clean != 0) != want_clean)
				continue;
			struct compare_row *r = compare_row(into, csv_text(c, row, k->id));
			struct compare_values *v = &r->side[side];
			if (!want_clean && v->n && !v->disturbed)
				continue;
			if (v->n == COMPARE_MOST)
				return n2d_error("%s:%zu: more than %d samples of %s", c->path, c->line[row + 1], COMPARE_MOST, r->id);
			compare_add(v, seconds);
			v->disturbed = !want_clean;
		}
	return 0;
}

static int read_csv(struct comparison *into, int side, const char *file)
{
	struct csv c;
	struct columns k;
	if (csv_read(&c, file))
		return -1;
	int bad = find_columns(&k, &c) || read_rows(into, side, &c, &k);
	csv_free(&c);
	return bad ? -1 : 0;
}

int compare_read(struct comparison *c, int side, const char *file, int fastest)
{
	struct comparison one = {0};
	int bad = read_csv(fastest ? &one : c, side, file);
	for (size_t i = 0; i < one.rows; i++)
		if (!bad && one.row[i].side[side].n) {
			struct compare_values *v = &compare_row(c, one.row[i].id)->side[side];
			compare_add(v, stat_summarise(one.row[i].side[side].x, one.row[i].side[side].n).min);
			v->disturbed |= one.row[i].side[side].disturbed;
		}
	compare_free(&one);
	return bad ? -1 : 0;
}

/* ---- verdicts */

/* Pairs ran one after the other, in random order: of equal builds head is above as often as not, however unsteady the machine is. */
static int mostly_above(const struct compare_values *b, const struct compare_values *h)
{
	size_t n = b->n < h->n ? b->n : h->n, above = 0;
	for (size_t i = 0; i < n; i++)
		above += h->x[i] > b->x[i];
	return stat_sign(n, above) <= COMPARE_CHANCE;
}

static enum verdict judge(const struct comparison *c, struct compare_row *r)
{
	const struct compare_values *b = &r->side[BASE], *h = &r->side[HEAD];
	if (!b->n || !h->n) {
		if (r->listed == (1 << BASE | 1 << HEAD))
			return b->n ? FAILED : NOT_MEASURED;
		return b->n || r->listed == 1 << BASE ? ONLY_BASE : ONLY_HEAD;
	}
	stat_shift(&r->shift, b->x, b->n, h->x, h->n);
	int beyond = r->shift.ratio > 1 + c->threshold;
	r->says = beyond && (r->shift.apart > 0 || mostly_above(b, h));
	if (r->suspect)
		return r->said + r->says > 1 ? SLOWER : CLEARED;
	if (beyond && (c->again || r->shift.apart > 0))
		return SLOWER;
	return r->shift.apart < 0 && r->shift.ratio < 1 / (1 + c->threshold) ? FASTER : SAME;
}

void compare_judge(struct comparison *c)
{
	for (size_t i = 0; i < c->rows; i++)
		c->row[i].verdict = judge(c, c->row + i);
}

int compare_again(struct compare_row *r, int pass)
{
	int disagree = r->said != r->says;
	if (pass == 0 ? r->verdict != SLOWER : pass == 2 && !disagree)
		return 0;
	r->said = pass > 0 && (r->said || r->says);
	r->suspect = 1;
	for (int s = 0; s < SIDES; s++) {
		free(r->side[s].x);
		r->side[s] = (struct compare_values){0};
	}
	return 1;
}

size_t compare_count(const struct comparison *c, enum verdict v)
{
	size_t n = 0;
	for (size_t i = 0; i < c->rows; i++)
		n += c->row[i].verdict == v;
	return n;
}
