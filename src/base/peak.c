#include "base/peak.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/threads.h"

/* 192 chains of this many multiply-adds, 50 MFLOP: half a millisecond of a 100 GFLOP/s thread. */
enum { STEPS = 1 << 17, RUNS = 5 };
#define LEAST 0.05 /* seconds of tries: others may hold a processor for some milliseconds */

static void work(void *arg, int thread, int threads)
{
	const struct n2d_kernels *k = arg;
	volatile float keep = k->fma_peak(0.984375f, 0.0390625f, STEPS);
	(void)keep, (void)thread, (void)threads;
}

double n2d_peak_flops(const struct n2d_ctx *ctx)
{
	double best = 0, flops = 2 * 192.0 * STEPS * ctx->threads, start = n2d_now();
	for (int i = 0; i < RUNS || n2d_now() - start < LEAST; i++) {
		double t = n2d_now();
		n2d_team(ctx, work, (void *)ctx->k);
		t = n2d_now() - t;
		if (t > 0 && flops / t > best)
			best = flops / t;
	}
	return best;
}

/* More than caches hold, but not much more: a machine that reports hundreds of MiB of cache is not believed. */
enum { STREAM_BYTES = 128 << 20 };

static void stream(void *arg, int thread, int threads)
{
	const struct n2d_ctx *ctx = ((void **)arg)[0];
	const float *x = ((void **)arg)[1];
	size_t n = STREAM_BYTES / sizeof *x / (size_t)threads;
	volatile float keep = ctx->k->stream_read(x + (size_t)thread * n, n);
	(void)keep;
}

double n2d_peak_bandwidth(const struct n2d_ctx *ctx)
{
	struct n2d_arena a;
	double best = 0;
	if (n2d_arena_init(&a, STREAM_BYTES))
		return 0;
	n2d_arena_touch(&a);
	void *arg[] = {(void *)ctx, a.base};
	for (int i = 0; i < RUNS; i++) {
		double t = n2d_now();
		n2d_team(ctx, stream, arg);
		t = n2d_now() - t;
		if (t > 0 && STREAM_BYTES / t > best)
			best = STREAM_BYTES / t;
	}
	n2d_arena_free(&a);
	return best;
}
