#include "bench/limits.h"

#include <math.h>
#include <string.h>

void limits_init(struct limits *l, const struct roof_levels *levels)
{
	l->levels = levels;
	l->n = 0;
}

static const struct roof_case *find(const struct limits *l, const struct n2d_ctx *ctx, enum roof_kind kind, size_t level)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct roof_case *r = l->r + i;
		if (r->c.ctx->k == ctx->k && r->c.ctx->threads == ctx->threads && r->kind == kind &&
		    (kind == ROOF_FMA || r->level == level))
			return r;
	}
	return NULL;
}

static void add(struct limits *l, const struct n2d_ctx *ctx, enum roof_kind kind, size_t level)
{
	if (find(l, ctx, kind, level) || l->n == LIMITS_MOST)
		return;
	size_t probe = l->levels->level[level].probe, bytes = level + 1 == l->levels->n ? probe : probe * (size_t)ctx->threads;
	struct roof_case *r = l->r + l->n++;
	roof_case_init(r, ctx, kind, bytes);
	r->level = level;
}

static size_t level_of(const struct limits *l, const struct n2d_ctx *ctx, const struct work *w)
{
	return roof_level_of(l->levels, w->footprint / ctx->threads);
}

void limits_need(struct limits *l, const struct n2d_ctx *ctx, const struct work *w)
{
	if (w->flops > 0)
		add(l, ctx, ROOF_FMA, 0);
	if (w->bytes > 0)
		add(l, ctx, w->stream, level_of(l, ctx, w));
}

size_t limits_cases(struct limits *l, struct bench_case **c, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		c[n++] = &l->r[i].c;
	return n;
}

struct limit limits_of(const struct limits *l, const struct n2d_ctx *ctx, const struct work *w)
{
	struct limit r = {.level = level_of(l, ctx, w), .peak = NAN, .bandwidth = NAN};
	const struct roof_case *fma = find(l, ctx, ROOF_FMA, 0), *stream = find(l, ctx, w->stream, r.level);
	if (fma && w->flops > 0) {
		r.peak = roof_rate(fma);
		r.seconds = w->flops / r.peak;
	}
	if (stream && w->bytes > 0) {
		r.bandwidth = roof_rate(stream);
		r.seconds = fmax(r.seconds, w->bytes / r.bandwidth);
	}
	return r;
}

void limits_free(struct limits *l)
{
	for (size_t i = 0; i < l->n; i++)
		sample_free(&l->r[i].c);
	l->n = 0;
}
