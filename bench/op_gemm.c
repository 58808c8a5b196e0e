/* The matrix product on the shapes of a Transformer's layers: both operands packed in the call, and weights packed
 * before. Peers: libraries, and programs that are given the weights before, as ours packs them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/size.h"
#include "bench/blas.h"
#include "bench/operators.h"
#include "bench/served.h"
#include "op/gemm.h"
#include "tests/problem/problem.h"

struct variant {
	const char *op;
	int ta, tb, packed;
};

/* y = x W^T with W[N,K] as layers store it; its backward products dx = dy W and dW = dy^T x; and plain NN. */
static const struct variant variants[] = {
	{"gemm-packed", 0, 1, 1}, {"gemm-nn", 0, 0, 0}, {"gemm-nt", 0, 1, 0}, {"gemm-tn", 1, 0, 0},
};

static const size_t shapes[][3] = {
	{1024, 1024, 1024}, {256, 512, 512}, {1024, 512, 512}, {4096, 512, 512}, {256, 2048, 512}, {1024, 2048, 512},
	{4096, 2048, 512}, {256, 512, 2048}, {1024, 512, 2048}, {4096, 512, 2048}, {16, 512, 512}, {16, 2048, 512},
	{1, 512, 512}, {1, 2048, 512},
};

struct product {
	struct n2d_arena arena;
	struct n2d_gemm g;
	int packed;
	const struct blas *peer;
	struct served_worker *served; /* its case is `number` */
	uintptr_t number;
	float *A, *B, *C, *P;
};

static void call(struct product *m, const struct n2d_ctx *ctx)
{
	const struct n2d_gemm *g = &m->g;
	if (m->peer)
		blas_gemm(m->peer, ctx->threads, g->ta, g->tb, g->M, g->N, g->K, m->C, g->ldc, m->A, g->lda, m->B, g->ldb);
	else if (m->packed)
		n2d_gemm_packed(ctx, &m->g, m->C, m->A, m->P);
	else
		n2d_gemm(ctx, &m->g, m->C, m->A, m->B);
}

/* 256 elements anywhere, against sums in double: |error| <= gamma_K sum |a b|. */
static int check(const struct product *m, struct n2d_rng *rng)
{
	const struct n2d_gemm *g = &m->g;
	for (int s = 0; s < 256; s++) {
		size_t i = n2d_rng_below(rng, (uint32_t)g->M), j = n2d_rng_below(rng, (uint32_t)g->N);
		double sum = 0, abs = 0;
		for (size_t k = 0; k < g->K; k++) {
			double t = (double)m->A[g->ta ? k * g->lda + i : i * g->lda + k] *
				   (double)m->B[g->tb ? j * g->ldb + k : k * g->ldb + j];
			sum += t;
			abs += fabs(t);
		}
		double got = (double)m->C[i * g->ldc + j];
		if (!(fabs(got - sum) <= gamma_n((double)g->K + 1) * abs))
			return n2d_error("failed its check: C[%zu,%zu] = %.9g, should be %.9g", i, j, got, sum);
	}
	return 0;
}

/* A, B and one product by the program, into C. */
static int open_served(struct bench_case *c, struct product *m)
{
	const struct n2d_gemm *g = &m->g;
	char line[128];
	off_t at = 0, out = 0;
	m->number = ++m->served->cases;
	snprintf(line, sizeof line, "open %zu product forward %zu %zu %zu", (size_t)m->number, g->M, g->N, g->K);
	if (served_move(m->served, 1, m->A, g->M * g->K, &at) || served_move(m->served, 1, m->B, g->N * g->K, &at) || served_ask(m->served, line))
		return -1;
	served_run(m->served, m->number, c, 1, &(struct sample){0});
	if (c->why[0])
		return n2d_error("%.150s", c->why);
	snprintf(line, sizeof line, "results %zu", (size_t)m->number);
	return served_ask(m->served, line) || served_move(m->served, 0, m->C, g->M * g->N, &out) ? -1 : 0;
}

static int open_gemm(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	const struct variant *v = t->kind;
	size_t M = t->dim[0], N = t->dim[1], K = t->dim[2], packed = v->packed && !t->served, P = packed ? n2d_packed_floats(c->ctx, K, N) : 0;
	struct n2d_rng rng;
	struct product *m = calloc(1, sizeof *m);
	t->memory = m;
	size_t floats = n2d_add(n2d_add(n2d_floats(1, M, K), n2d_floats(1, K, N)), n2d_add(n2d_floats(1, M, N), n2d_floats(1, 1, P)));
	if (!m || n2d_arena_init(&m->arena, n2d_mul(floats, sizeof(float)))) {
		free(m);
		return -1;
	}
	n2d_arena_touch(&m->arena);
	m->g = n2d_gemm_plain(v->ta, v->tb, M, N, K);
	m->packed = packed;
	m->peer = t->peer;
	m->served = t->served ? served_worker(t->served, c->ctx->threads) : NULL;
	m->A = n2d_arena_floats(&m->arena, n2d_floats(1, M, K));
	m->B = n2d_arena_floats(&m->arena, n2d_floats(1, K, N));
	m->C = n2d_arena_floats(&m->arena, n2d_floats(1, M, N));
	m->P = n2d_arena_floats(&m->arena, n2d_floats(1, 1, P));
	n2d_rng_init(&rng, 1, 0);
	n2d_rng_fill_normal(&rng, m->A, M * K, 0, 1);
	n2d_rng_fill_normal(&rng, m->B, K * N, 0, 1);
	if (packed)
		n2d_pack(c->ctx, m->P, v->tb, K, N, m->B, m->g.ldb);
	t->work = (struct work){n2d_gemm_flops(&m->g), n2d_gemm_bytes(&m->g), n2d_gemm_bytes(&m->g), ROOF_READ};
	int bad = m->served ? open_served(c, m) : 0;
	if (bad)
		m->served = NULL; /* nothing to close there, and its message stays */
	else if (!m->served)
		call(m, c->ctx);
	if (bad || check(m, &rng)) {
		c->close(c);
		return -1;
	}
	return 0;
}

static void run_gemm(struct bench_case *c, size_t calls, struct sample *s)
{
	struct product *m = timed_of(c)->memory;
	if (m->served)
		served_run(m->served, m->number, c, calls, s);
	else
		while (calls--)
			call(m, c->ctx);
}

static void close_gemm(struct bench_case *c)
{
	struct product *m = timed_of(c)->memory;
	if (m->served)
		served_close(m->served, m->number);
	n2d_arena_free(&m->arena);
	free(m);
	timed_of(c)->memory = NULL;
}

/* NULL: there is no room. */
static struct timed *add(struct timed *t, size_t *n, size_t room, const struct n2d_ctx *ctx, const struct variant *v, const char *op,
			 const size_t *dim)
{
	char shape[72];
	snprintf(shape, sizeof shape, "M=%zu,N=%zu,K=%zu", dim[0], dim[1], dim[2]);
	struct timed *x = timed_new(t, n, room, ctx, op, shape, "warm");
	if (!x)
		return NULL;
	memcpy(x->dim, dim, sizeof shapes[0]);
	snprintf(x->group, sizeof x->group, "gemm/%s", x->shape); /* all four, and the peers, against each other */
	x->kind = v;
	x->c.open = open_gemm;
	x->c.run = run_gemm;
	x->c.close = close_gemm;
	return x;
}

size_t operators_gemm(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t j = 0; j < sizeof variants / sizeof *variants; j++)
			if (!add(t, &n, room, ctx, variants + j, variants[j].op, shapes[i]))
				return n;
	return n;
}

/* ---- peers: libraries, which know no packed operand */

/* Plain loops have one thread, and a GFLOP takes them a second where they sum into one number. */
static int too_much(const struct blas *peer, const struct n2d_ctx *ctx, const size_t *dim)
{
	return peer->plain && (ctx->threads > 1 || 2.0 * (double)dim[0] * (double)dim[1] * (double)dim[2] > 2e8);
}

size_t operators_gemm_peers(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, const struct blas *peer)
{
	static char op[3][64][48];
	static size_t names;
	for (size_t j = 1; j < sizeof variants / sizeof *variants; j++) {
		if (names == 64)
			return n;
		snprintf(op[j - 1][names], sizeof op[0][0], "%s@%s", variants[j].op, peer->name);
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
			if (too_much(peer, ctx, shapes[i]))
				continue;
			struct timed *x = add(t, &n, room, ctx, variants + j, op[j - 1][names], shapes[i]);
			if (!x)
				return n;
			timed_peer(x, peer);
		}
	}
	names++;
	return n;
}

/* ---- programs: weights are constants to them */

size_t operators_gemm_served(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, struct served *peer)
{
	static char op[48];
	snprintf(op, sizeof op, "%s@%s", variants->op, peer->name);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct timed *x = add(t, &n, room, ctx, variants, op, shapes[i]);
		if (!x)
			return n;
		timed_served(x, peer);
	}
	return n;
}
