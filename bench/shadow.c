#include "bench/shadow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct mark {
	int depth, hops;
};

static const struct mark NOTHING = {0, SHADOW_FAR};

void shadow_clear(struct shadow *s)
{
	memset(s->depth, 0, s->n * sizeof *s->depth);
	for (size_t i = 0; i < s->n; i++)
		s->hops[i] = SHADOW_FAR;
	s->deepest = 0;
}

int shadow_init(struct shadow *s, const float *base, size_t n)
{
	s->base = base;
	s->n = n;
	s->depth = malloc(n * sizeof *s->depth + 1);
	s->hops = malloc(n * sizeof *s->hops + 1);
	if (!s->depth || !s->hops) {
		shadow_free(s);
		return n2d_error("no memory for %zu shadows", n);
	}
	shadow_clear(s);
	return 0;
}

void shadow_free(struct shadow *s)
{
	free(s->depth);
	free(s->hops);
	s->depth = s->hops = NULL;
}

/* The part of p[n] that is watched, as indices [*from, *to). */
static void watched(const struct shadow *s, const float *p, size_t n, size_t *from, size_t *to)
{
	intptr_t at = ((intptr_t)p - (intptr_t)s->base) / (intptr_t)sizeof(float), end = at + (intptr_t)n, last = (intptr_t)s->n;
	at = at < 0 ? 0 : at > last ? last : at;
	end = end < at ? at : end > last ? last : end;
	*from = (size_t)at;
	*to = (size_t)end;
}

static struct mark join(struct mark a, struct mark b)
{
	return (struct mark){a.depth > b.depth ? a.depth : b.depth, a.hops < b.hops ? a.hops : b.hops};
}

static struct mark look(const struct shadow *s, const float *p, size_t n)
{
	struct mark m = NOTHING;
	size_t from, to;
	watched(s, p, n, &from, &to);
	for (size_t i = from; i < to; i++)
		m = join(m, (struct mark){s->depth[i], s->hops[i]});
	return m;
}

void shadow_mark(struct shadow *s, const float *p, size_t n)
{
	size_t from, to;
	watched(s, p, n, &from, &to);
	for (size_t i = from; i < to; i++)
		s->hops[i] = 0;
}

int shadow_hops(const struct shadow *s, const float *p, size_t n) { return look(s, p, n).hops; }

void shadow_move(struct shadow *s, const float *to, const float *from, size_t n)
{
	size_t a, b, c, d;
	watched(s, to, n, &a, &b);
	watched(s, from, n, &c, &d);
	memmove(s->depth + a, s->depth + c, (b - a) * sizeof *s->depth);
	memmove(s->hops + a, s->hops + c, (b - a) * sizeof *s->hops);
}

static struct mark look_rows(const struct shadow *s, const struct n2d_range *r, size_t from, size_t to)
{
	struct mark m = NOTHING;
	for (size_t i = from; i < to; i++)
		m = join(m, look(s, r->p + i * r->stride, r->width));
	return m;
}

static void put(struct shadow *s, const struct n2d_range *w, size_t row, struct mark m)
{
	size_t from, to;
	watched(s, w->p + row * w->stride, w->width, &from, &to);
	for (size_t i = from; i < to; i++) {
		s->depth[i] = m.depth;
		s->hops[i] = m.hops;
	}
	if (m.depth > s->deepest)
		s->deepest = m.depth;
}

/* Is every row of r read by every row of the output? */
static int read_whole(const struct n2d_range *r, size_t rows) { return r->rows != rows || r->reach >= rows; }

/* Do the two ranges share rows? Then rows written before are what later ones read. */
static int overlap(const struct n2d_range *a, const struct n2d_range *b)
{
	const float *a_end = a->p + (a->rows - 1) * a->stride + a->width, *b_end = b->p + (b->rows - 1) * b->stride + b->width;
	return a->rows && b->rows && (uintptr_t)a->p < (uintptr_t)b_end && (uintptr_t)b->p < (uintptr_t)a_end;
}

/* What row `row` of an output of `rows` rows depends on, but for the operands read whole. */
static struct mark look_reach(const struct shadow *s, const struct n2d_call *call, size_t row, size_t rows)
{
	struct mark m = NOTHING;
	for (int i = 0; i < call->nranges; i++) {
		const struct n2d_range *r = call->range + i;
		if (r->write || read_whole(r, rows))
			continue;
		size_t from = row > r->reach ? row - r->reach : 0, to = row + r->reach < rows ? row + r->reach + 1 : rows;
		m = join(m, look_rows(s, r, from, to));
	}
	return m;
}

static void write_rows(struct shadow *s, const struct n2d_call *call, const struct n2d_range *w, struct mark *row)
{
	struct mark whole = NOTHING;
	int mixing = call->part == N2D_PART_MIXING, in_order = 0;
	for (int i = 0; i < call->nranges; i++) {
		const struct n2d_range *r = call->range + i;
		if (!r->write && read_whole(r, w->rows))
			whole = join(whole, look_rows(s, r, 0, r->rows));
		in_order |= !r->write && r->reach && r->reach < w->rows && overlap(r, w);
	}
	for (size_t i = 0; i < w->rows; i++) {
		row[i] = join(whole, look_reach(s, call, i, w->rows));
		row[i].depth++;
		row[i].hops += mixing && row[i].hops != SHADOW_FAR;
		if (in_order)
			put(s, w, i, row[i]);
	}
}

/* All outputs are worked out before any is put down, but for recurrences: a call reads what was there before it. */
void shadow_see(struct n2d_trace *t, const struct n2d_call *call)
{
	struct shadow *s = t->user;
	struct mark *out[N2D_CALL_RANGES] = {NULL};
	for (int i = 0; i < call->nranges; i++) {
		const struct n2d_range *w = call->range + i;
		if (!w->write)
			continue;
		out[i] = malloc(w->rows * sizeof *out[i] + 1);
		if (!out[i])
			abort();
		write_rows(s, call, w, out[i]);
	}
	for (int i = 0; i < call->nranges; i++)
		for (size_t row = 0; out[i] && row < call->range[i].rows; row++)
			put(s, call->range + i, row, out[i][row]);
	for (int i = 0; i < call->nranges; i++)
		free(out[i]);
}
