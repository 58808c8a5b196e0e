#include "bench/limits.h"

#include <math.h>
#include <string.h>

void limits_init(struct limits *l, const struct roof_levels *levels)
{
	l->levels = levels;
	l->n = 0;
}

/* The stream walks as much as the work does, to a quarter of an octave: near a level's capacity the bandwidth is neither
 * this level's nor the next one's. At least 16 KiB a thread, and at most what roof has memory for. */
static size_t stream_bytes(const struct n2d_ctx *ctx, const struct work *w)
{
	double least = 16384.0 * ctx->threads, bytes = exp2(round(4 * log2(fmax(w->footprint, least))) / 4);
	return (size_t)fmin(bytes, (double)roof_largest()) / 4096 * 4096;
}

static const struct roof_case *find(const struct limits *l, const struct n2d_ctx *ctx, enum roof_kind kind, size_t bytes)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct roof_case *r = l->r + i;
		if (r->c.ctx->k == ctx->k && r->c.ctx->threads == ctx->threads && r->kind == kind && r->bytes == bytes)
			return r;
	}
	return NULL;
}

static void add(struct limits *l, const struct n2d_ctx *ctx, enum roof_kind kind, size_t bytes)
{
	if (!find(l, ctx, kind, bytes) && l->n < LIMITS_MOST)
		roof_case_init(l->r + l->n++, ctx, kind, bytes);
}

void limits_need(struct limits *l, const struct n2d_ctx *ctx, const struct work *w)
{
	if (w->flops > 0)
		add(l, ctx, ROOF_FMA, 0);
	if (w->bytes > 0)
		add(l, ctx, w->stream, stream_bytes(ctx, w));
}

size_t limits_cases(struct limits *l, struct bench_case **c, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		c[n++] = &l->r[i].c;
	return n;
}

struct limit limits_of(const struct limits *l, const struct n2d_ctx *ctx, const struct work *w)
{
	struct limit r = {.level = roof_level_name(l->levels, w->footprint / ctx->threads), .peak = NAN, .bandwidth = NAN};
	const struct roof_case *fma = find(l, ctx, ROOF_FMA, 0), *stream = find(l, ctx, w->stream, stream_bytes(ctx, w));
	if (fma && w->flops > 0) {
		r.peak = roof_rate(fma);
		r.disturbed = sample_disturbed(&fma->c);
		r.seconds = w->flops / r.peak;
	}
	if (stream && w->bytes > 0) {
		r.bandwidth = roof_rate(stream);
		r.disturbed |= sample_disturbed(&stream->c);
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
