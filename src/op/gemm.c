/* The matrix product as callers see it: batches, parts of k, and what the observer is told. */
#include "op/gemm.h"

#include <assert.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/gemm_blocked.h"

struct batch {
	const struct n2d_ctx *ctx;
	const struct n2d_gemm *g;
	float *C;
	const float *A, *B;
	int packed, threads;
};

/* A product whose k is cut: of each part, C is cut by rows where there are more threads than parts. */
struct parts {
	const struct n2d_ctx *ctx;
	const struct n2d_gemm *g;
	float *C, *others; /* [parts - 1][M,N] */
	const float *A, *B;
	size_t cuts;
};

static void part(void *arg, size_t task, int thread)
{
	const struct parts *p = arg;
	const struct n2d_gemm *all = p->g;
	size_t i = task / p->cuts, cut = task % p->cuts;
	size_t k = n2d_cut(all->K, all->parts, i), row = n2d_cut(all->M, p->cuts, cut);
	struct n2d_gemm g = *all;
	float *C = p->C;
	(void)thread;
	g.K = n2d_cut(all->K, all->parts, i + 1) - k;
	g.M = n2d_cut(all->M, p->cuts, cut + 1) - row;
	if (i) {
		g.beta = 0;
		g.ldc = g.N;
		C = p->others + (i - 1) * all->M * all->N;
	}
	n2d_product(p->ctx, 1, &g, C + row * g.ldc, p->A + (g.ta ? k * g.lda + row : row * g.lda + k), p->B + (g.tb ? k : k * g.ldb));
}

static void add_parts(void *arg, size_t row, int thread)
{
	const struct parts *p = arg;
	size_t M = p->g->M, N = p->g->N;
	float *c = p->C + row * p->g->ldc;
	(void)thread;
	for (size_t i = 0; i + 1 < p->g->parts; i++)
		p->ctx->k->add(c, c, p->others + (i * M + row) * N, N);
}

/* The other parts' C lies at the end of the caller's packing buffer, which the products see without it. */
static void in_parts(const struct n2d_ctx *ctx, int threads, const struct n2d_gemm *g, float *C, const float *A, const float *B)
{
	struct n2d_ctx rest = *ctx;
	struct parts p = {&rest, g, C, NULL, A, B, 1};
	size_t floats = (g->parts - 1) * g->M * g->N;
	assert(floats <= N2D_GEMM_PARTS && floats <= ctx->pack_floats / 4 && !g->bias && !g->relu && !g->residual);
	rest.threads = threads;
	rest.pack_floats -= floats;
	p.others = ctx->pack[n2d_thread()] + rest.pack_floats;
	if (g->parts < (size_t)threads)
		p.cuts = (size_t)threads / g->parts;
	n2d_parallel(&rest, g->parts * p.cuts, part, &p);
	n2d_parallel(&rest, g->M, add_parts, &p);
}

static void one(void *arg, size_t i, int thread)
{
	(void)thread;
	const struct batch *b = arg;
	struct n2d_gemm g = *b->g;
	float *C = b->C + i * g.sc;
	const float *A = b->A + i * g.sa;
	if (g.residual)
		g.residual += i * g.sc;
	if (g.residual == C) {
		assert(g.ldr == g.ldc && !g.relu);
		g.residual = NULL;
		g.beta += 1;
	}
	if (g.alpha == 0)
		g.K = 0;
	if (b->packed)
		n2d_product_packed(b->ctx, b->threads, &g, C, A, b->B);
	else if (g.parts > 1)
		in_parts(b->ctx, b->threads, &g, C, A, b->B + i * g.sb);
	else
		n2d_product(b->ctx, b->threads, &g, C, A, b->B + i * g.sb);
}

/* Many products: one a thread. Few: all threads on each. */
static void all(const struct n2d_ctx *ctx, const struct n2d_gemm *g, float *C, const float *A, const float *B, int packed)
{
	struct batch b = {ctx, g, C, A, B, packed, ctx->threads};
	if (!g->M || !g->N)
		return;
	if (g->batch >= 2 * (size_t)ctx->threads && g->batch > 1) {
		b.threads = 1;
		n2d_parallel(ctx, g->batch, one, &b);
		return;
	}
	for (size_t i = 0; i < g->batch; i++)
		one(&b, i, 0);
}

/* What the observer is told of a batch: its matrices as one tall one where they follow each other, else one row from the
 * first float to the last. */
struct view {
	size_t rows, width, stride;
};

static struct view view(size_t batch, size_t between, size_t rows, size_t width, size_t stride)
{
	if (batch <= 1 || between == 0)
		return (struct view){rows, width, stride};
	if (between == rows * stride)
		return (struct view){batch * rows, width, stride};
	size_t hull = (batch - 1) * between + (rows ? (rows - 1) * stride + width : 0);
	return (struct view){1, hull, hull};
}

/* B as rows x width, or packed: one row. */
static void observe(struct n2d_call *call, const struct n2d_gemm *g, const float *C, const float *A, const float *B,
		    struct view b)
{
	struct view a = view(g->batch, g->sa, g->ta ? g->K : g->M, g->ta ? g->M : g->K, g->lda);
	struct view c = view(g->batch, g->sc, g->M, g->N, g->ldc);
	struct view r = view(g->batch, g->sc, g->M, g->N, g->ldr);
	n2d_trace_dim(call, "M", g->M);
	n2d_trace_dim(call, "N", g->N);
	n2d_trace_dim(call, "K", g->K);
	n2d_trace_dim(call, "batch", g->batch);
	n2d_trace_read(call, A, a.rows, a.width, a.stride, !g->ta && a.rows == c.rows ? N2D_ROWWISE : N2D_ALL_ROWS);
	n2d_trace_read(call, B, b.rows, b.width, b.stride, N2D_ALL_ROWS);
	n2d_trace_read(call, g->bias, 1, g->N, g->N, N2D_ALL_ROWS);
	n2d_trace_read(call, g->residual, r.rows, r.width, r.stride, r.rows == c.rows ? N2D_ROWWISE : N2D_ALL_ROWS);
	if (g->beta != 0)
		n2d_trace_read(call, C, c.rows, c.width, c.stride, N2D_ROWWISE);
	n2d_trace_write(call, C, c.rows, c.width, c.stride);
}

struct n2d_gemm n2d_gemm_plain(int ta, int tb, size_t M, size_t N, size_t K)
{
	return (struct n2d_gemm){
		.M = M, .N = N, .K = K, .ta = ta, .tb = tb, .lda = ta ? M : K, .ldb = tb ? K : N, .ldc = N,
		.alpha = 1, .batch = 1,
	};
}

size_t n2d_gemm_parts(size_t M, size_t N, size_t K)
{
	enum { MOST = 8, ROWS = 768, SMALL = N2D_GEMM_PARTS / MOST };
	size_t parts = n2d_mul(M, N) <= SMALL ? MOST : 1;
	while (parts > 1 && K / parts < ROWS) /* a power of two: three parts keep two threads waiting */
		parts /= 2;
	return parts;
}

void n2d_gemm(const struct n2d_ctx *ctx, const struct n2d_gemm *g, float *C, const float *A, const float *B)
{
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "gemm", n2d_gemm_flops(g), n2d_gemm_bytes(g)))
		observe(&call, g, C, A, B, view(g->batch, g->sb, g->tb ? g->N : g->K, g->tb ? g->K : g->N, g->ldb));
	all(ctx, g, C, A, B, 0);
	n2d_trace_close(ctx, &call);
}

void n2d_gemm_packed(const struct n2d_ctx *ctx, const struct n2d_gemm *g, float *C, const float *A, const float *packed)
{
	struct n2d_call call;
	size_t floats = n2d_packed_floats(ctx, g->K, g->N);
	if (n2d_trace_open(ctx, &call, "gemm", n2d_gemm_flops(g), n2d_gemm_bytes(g)))
		observe(&call, g, C, A, packed, (struct view){1, floats, floats});
	all(ctx, g, C, A, packed, 1);
	n2d_trace_close(ctx, &call);
}

double n2d_gemm_flops(const struct n2d_gemm *g)
{
	return 2.0 * (double)g->M * (double)g->N * (double)g->K * (double)g->batch;
}

double n2d_gemm_bytes(const struct n2d_gemm *g)
{
	double M = (double)g->M, N = (double)g->N, K = (double)g->K, batch = (double)g->batch;
	double c = (g->beta != 0) + 1 + (g->residual != NULL);
	return sizeof(float) * (batch * (M * K + c * M * N) + (g->sb ? batch : 1) * K * N);
}
