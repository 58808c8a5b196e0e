#include "bench/roof.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "bench/check.h"

const char *const roof_names[ROOF_KINDS] = {"fma_peak", "stream_read", "stream_copy", "stream_triad", "stream_update"};

/* Arrays a kernel walks, and how often each of their floats is read or written. */
static const int arrays[ROOF_KINDS] = {0, 1, 2, 3, 1};
static const int touches[ROOF_KINDS] = {0, 1, 2, 3, 2};

/* One block for all stream cases: they run one after the other. Every array starts on a page of its own, and not at the
 * same place of its page as its neighbours: loads and stores whose addresses agree in their low twelve bits wait for each
 * other on many processors. */
enum { PAGE = 1024, SKEW = 272 }; /* floats */
static struct n2d_arena memory;

static size_t array_floats(enum roof_kind kind, size_t bytes, int threads)
{
	return arrays[kind] ? bytes / sizeof(float) / (size_t)threads / (size_t)arrays[kind] / 16 * 16 : 0;
}

static float *array_at(enum roof_kind kind, size_t n, int thread, int j)
{
	size_t index = (size_t)thread * (size_t)arrays[kind] + (size_t)j;
	return (float *)memory.base + index * ((n + PAGE - 1) / PAGE * PAGE + SKEW);
}

size_t roof_largest(void)
{
	double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), most = 256.0 * (1 << 20);
	return (size_t)(physical / 8 < most ? physical / 8 : most) & ~(size_t)0xfff;
}

static int get_memory(int threads)
{
	size_t need = roof_largest() + (size_t)threads * 3 * (PAGE + SKEW) * sizeof(float);
	if (memory.size >= need)
		return 0;
	n2d_arena_free(&memory);
	if (n2d_arena_init(&memory, need))
		return -1;
	n2d_arena_touch(&memory);
	return 0;
}

static volatile float sink; /* keeps results that nobody needs */

/* One thread's part: `calls` passes over its own floats. */
static void work(void *arg, int thread, int threads)
{
	const struct roof_case *r = arg;
	const struct n2d_kernels *k = r->c.ctx->k;
	size_t n = array_floats(r->kind, r->bytes, threads);
	float *x = array_at(r->kind, n, thread, 0), *y = array_at(r->kind, n, thread, 1), *z = array_at(r->kind, n, thread, 2);
	for (size_t i = 0; i < r->calls; i++)
		switch (r->kind) {
		case ROOF_FMA: sink = k->fma_peak(0.984375f, 0.0390625f, 4096); break;
		case ROOF_READ: sink = k->stream_read(x, n); break;
		case ROOF_COPY: k->stream_copy(y, x, n); break;
		case ROOF_TRIAD: k->stream_triad(z, x, y, 0.5f, n); break;
		default: k->stream_update(x, -1, n);
		}
}

static void run(struct bench_case *c, size_t calls, struct sample *s)
{
	struct roof_case *r = c->arg;
	(void)s;
	r->calls = calls;
	n2d_team(c->ctx, work, r);
}

static int open_roof(struct bench_case *c)
{
	const struct roof_case *r = c->arg;
	if (r->kind != ROOF_FMA && get_memory(c->ctx->threads))
		return -1;
	return check_kernel(c->ctx->k, roof_names[r->kind], r->kind == ROOF_FMA ? 1000 : 4099);
}

void roof_case_init(struct roof_case *r, const struct n2d_ctx *ctx, enum roof_kind kind, size_t bytes)
{
	memset(r, 0, sizeof *r);
	r->kind = kind;
	r->c.ctx = ctx;
	r->c.arg = r;
	r->c.open = open_roof;
	r->c.run = run;
	double floats = (double)array_floats(kind, bytes, ctx->threads) * ctx->threads;
	r->bytes = kind == ROOF_FMA ? 0 : bytes;
	r->traffic = 4 * floats * touches[kind];
	r->flops = kind == ROOF_FMA ? 2 * 192 * 4096.0 * ctx->threads : floats * (kind == ROOF_COPY ? 0 : kind == ROOF_TRIAD ? 2 : 1);
	if (kind == ROOF_FMA)
		snprintf(r->c.id, sizeof r->c.id, "%s/%s/threads=%d", roof_names[kind], ctx->k->isa, ctx->threads);
	else
		snprintf(r->c.id, sizeof r->c.id, "%s/%s/threads=%d,bytes=%zu", roof_names[kind], ctx->k->isa, ctx->threads, bytes);
}

double roof_rate(const struct roof_case *r)
{
	return (r->kind == ROOF_FMA ? r->flops : r->traffic) / sample_median(&r->c, -1);
}

int roof_find_levels(struct roof_levels *l, const struct n2d_ctx *ctx)
{
	enum { MOST = 64 };
	static struct roof_case r[MOST];
	struct n2d_ctx one = *ctx;
	struct bench_case *c[MOST];
	size_t bytes[MOST], n = 0;
	double rate[MOST];
	one.threads = 1;
	for (double b = 8192; b <= (double)roof_largest() && n < MOST; b *= sqrt(2)) {
		bytes[n] = (size_t)b & ~(size_t)255;
		roof_case_init(r + n, &one, ROOF_READ, bytes[n]);
		c[n] = &r[n].c;
		n++;
	}
	struct sample_plan p = SAMPLE_PLAN;
	p.want = 3;
	p.seconds = 0.001;
	if (sample_group(c, n, &p))
		return n2d_error("%s", c[0]->why);
	for (size_t i = 0; i < n; i++) {
		rate[i] = roof_rate(r + i);
		sample_free(c[i]);
	}
	roof_plateaus(l, bytes, rate, n);
	l->isa = ctx->k->isa;
	return 0;
}
