/* What works on rows, where neither operands nor results fit into any cache: softmax, the norms as operators with what they are fused
 * with, dropout, Adam. Bandwidth is their limit: the stream with their ratio of writing to reading, over as many bytes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/size.h"
#include "bench/operators.h"
#include "op/adam.h"
#include "op/dropout.h"
#include "op/norm.h"
#include "op/pointwise.h"
#include "tests/problem/problem.h"

enum { ARRAYS = 4, WIDTH = 512, SKEW = 272 }; /* SKEW: as in roof.c, no two arrays at the same place of their pages */
enum { PERIOD = 257 * 64 };                    /* the data repeat: a quarter of a billion random numbers take seconds */

struct kind {
	const char *op;
	int arrays, in; /* the first `in` are inputs */
	double touched; /* floats read or written, an element */
	enum roof_kind stream;
	double flops; /* an element, as the operators count them */
	void (*call)(const struct n2d_ctx *ctx);
	int (*check)(size_t at);
	int drops;
};

/* One memory for all: the cases of a group are of one kind, and run one after the other. */
static struct {
	struct n2d_arena arena;
	size_t users, rows, n;
	float *x[ARRAYS], *first; /* first: the inputs' first PERIOD floats, which a call in place overwrites */
	float *gamma, *beta, *dgamma, *dbeta, *mean, *rstd, *ws;
	struct n2d_norm norm;
	const struct n2d_kernels *k;
} m;

static const struct n2d_dropout drop = {{1, 2}, {3, 4}, 0.1f};
static const struct n2d_adam adam = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9, .gscale = 1, .t = 10};
static const float softmax_scale = 0.5f;

/* ---- calls */

static void softmax_task(void *arg, size_t task, int thread)
{
	size_t r0, rows = n2d_chunk(m.rows, n2d_chunk_rows(WIDTH), task, &r0);
	(void)thread;
	for (size_t i = r0 * WIDTH; i < (r0 + rows) * WIDTH; i += WIDTH)
		if (arg)
			m.k->softmax_bwd(m.x[2] + i, m.x[0] + i, m.x[1] + i, softmax_scale, 0, WIDTH, WIDTH);
		else
			m.k->softmax_fwd(m.x[1] + i, m.x[0] + i, softmax_scale, 0, WIDTH, WIDTH);
}

static void softmax_rows(const struct n2d_ctx *ctx, void *backward)
{
	m.k = ctx->k;
	n2d_parallel(ctx, n2d_chunks(m.rows, n2d_chunk_rows(WIDTH)), softmax_task, backward);
}
static void softmax_fwd(const struct n2d_ctx *ctx) { softmax_rows(ctx, NULL); }
static void softmax_bwd(const struct n2d_ctx *ctx) { softmax_rows(ctx, &m); }

static void norm_fwd(const struct n2d_ctx *ctx)
{
	n2d_norm_fwd(ctx, &m.norm, m.x[1], NULL, m.mean, m.rstd, m.x[0], NULL, m.gamma, m.beta);
}
static void residual_norm_fwd(const struct n2d_ctx *ctx)
{
	n2d_norm_fwd(ctx, &m.norm, m.x[2], m.x[3], m.mean, m.rstd, m.x[0], m.x[1], m.gamma, m.beta);
}
static void norm_bwd(const struct n2d_ctx *ctx)
{
	struct n2d_norm_grads g = {.dx = m.x[2], .dr = m.x[3], .dgamma = m.dgamma, .dbeta = m.dbeta, .dy = m.x[0]};
	n2d_norm_bwd(ctx, &m.norm, &g, m.x[1], m.gamma, m.mean, m.rstd, m.ws);
}
static void dropout(const struct n2d_ctx *ctx) { n2d_dropout(ctx, m.x[1], m.x[0], &drop, m.rows, WIDTH); }
static void adam_step(const struct n2d_ctx *ctx) { n2d_adam(ctx, &adam, &(struct n2d_adam_arrays){m.x[1], m.x[2], m.x[3], m.x[0], NULL, m.n}); }

/* ---- checks of what a call left, of the row that begins at `at` (Adam: of that element) */

static int near(const char *what, size_t i, double got, double want, double bound)
{
	return fabs(got - want) <= bound ? 0 : n2d_error("failed its check: %s[%zu] = %.9g, should be %.9g", what, i, got, want);
}

/* tests/problem/softmax.c derives it. Inputs stay below 8, so that scores are off by 4 u, their differences from the maximum by 8 u, and
 * the exponentials by 20 u, as is their sum beside its own additions. */
static int check_softmax(size_t at)
{
	const float *x = m.x[0] + at, *y = m.x[1] + at;
	double sum = 0;
	for (size_t j = 0; j < WIDTH; j++)
		sum += exp((double)softmax_scale * (double)x[j]);
	for (size_t j = 0; j < WIDTH; j++) {
		double want = exp((double)softmax_scale * (double)x[j]) / sum;
		if (near("y", at + j, (double)y[j], want, gamma_n(additions(m.k, WIDTH, 1) + 43) * want))
			return -1;
	}
	return 0;
}

static int check_softmax_bwd(size_t at)
{
	const float *dy = m.x[0] + at, *y = m.x[1] + at;
	double sum = 0, size = 0;
	for (size_t j = 0; j < WIDTH; j++) {
		sum += (double)dy[j] * (double)y[j];
		size += fabs((double)dy[j] * (double)y[j]);
	}
	for (size_t j = 0; j < WIDTH; j++) {
		double c = (double)softmax_scale * (double)y[j], d = (double)dy[j];
		if (near("dx", at + j, (double)m.x[2][at + j], c * (d - sum),
			 gamma_n(additions(m.k, WIDTH, 1) + 4) * fabs(c) * (fabs(d) + fabs(sum) + size)))
			return -1;
	}
	return 0;
}

static float dropped(size_t i, float x)
{
	uint64_t counter = (uint64_t)i / 64 * 16 + i % 16;
	uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), drop.stream[0], drop.stream[1]}, word[4];
	n2d_philox(word, c, drop.key);
	return (double)word[i % 64 / 16] < (double)drop.p * 0x1p32 ? 0 : (float)(1 / (1 - (double)drop.p)) * x;
}

static int check_dropout(size_t at)
{
	for (size_t i = at; i < at + WIDTH; i++)
		if (near("y", i, (double)m.x[1][i], (double)dropped(i, m.x[0][i]), 0))
			return -1;
	return 0;
}

/* The sum that is normalised, rounded as it is; the norm of the row without residual is of x. */
static float sum_at(size_t i, int residual)
{
	return residual ? m.x[0][i] + (m.norm.dropout ? dropped(i, m.x[1][i]) : m.x[1][i]) : m.x[0][i];
}

/* tests/problem/norm.c derives it; where mean and deviations are of the size of 1, mean and rstd are within gamma of the chain of additions
 * (and so is h, relative to 1 + |h|), and 8 roundings come beside it. */
static int check_norm_rows(size_t at, const float *y, int residual)
{
	double mean = 0, var = 0, g = gamma_n(WIDTH / (double)m.k->lanes + 17);
	for (size_t j = 0; j < WIDTH; j++)
		mean += (double)sum_at(at + j, residual) / WIDTH;
	for (size_t j = 0; j < WIDTH; j++)
		var += ((double)sum_at(at + j, residual) - mean) * ((double)sum_at(at + j, residual) - mean) / WIDTH;
	for (size_t j = 0; j < WIDTH; j++) {
		double t = (double)sum_at(at + j, residual), h = (t - mean) / sqrt(var + (double)m.norm.eps), gamma = (double)m.gamma[j],
		       beta = (double)m.beta[j];
		if (near("y", at + j, (double)y[at + j], gamma * h + beta, g * (fabs(gamma) * (1 + fabs(h)) + fabs(beta))))
			return -1;
		if (residual && near("t", at + j, (double)m.x[3][at + j], t, 0))
			return -1;
	}
	return 0;
}
static int check_norm(size_t at) { return check_norm_rows(at, m.x[1], 0); }
static int check_residual_norm(size_t at) { return check_norm_rows(at, m.x[2], 1); }

static double h_at(size_t i) { return ((double)m.x[1][i] - (double)m.mean[i / WIDTH]) * (double)m.rstd[i / WIDTH]; }

/* A column's sum over all rows passes at most as many additions as there are rows a task, and tasks. */
static int check_columns(size_t j)
{
	double sum[2] = {0}, size[2] = {0}, additions = (double)(n2d_chunk_rows(WIDTH) + n2d_chunks(m.rows, n2d_chunk_rows(WIDTH)));
	for (size_t i = j; i < m.n; i += WIDTH) {
		double term = (double)m.x[0][i] * h_at(i);
		sum[0] += term, size[0] += fabs(term);
		sum[1] += (double)m.x[0][i], size[1] += fabs((double)m.x[0][i]);
	}
	return near("dgamma", j, (double)m.dgamma[j], sum[0], gamma_n(additions + 4) * size[0]) ||
	       near("dbeta", j, (double)m.dbeta[j], sum[1], gamma_n(additions) * size[1]);
}

static int check_norm_bwd(size_t at)
{
	double c1 = 0, c2 = 0, a1 = 0, a2 = 0, g = gamma_n(WIDTH / (double)m.k->lanes + 14);
	const float *dy = m.x[0] + at;
	for (size_t j = 0; j < WIDTH; j++) {
		double e = (double)dy[j] * (double)m.gamma[j], h = h_at(at + j);
		c1 += e / WIDTH, a1 += fabs(e) / WIDTH;
		c2 += e * h / WIDTH, a2 += fabs(e * h) / WIDTH;
	}
	for (size_t j = 0; j < WIDTH; j++) {
		double e = (double)dy[j] * (double)m.gamma[j], h = h_at(at + j), k = (double)m.rstd[at / WIDTH];
		double off = 5 * U32 * (fabs(e) + fabs(c1) + fabs(h * c2)) + g * (a1 + fabs(h) * a2);
		if (near("dx", at + j, (double)m.x[2][at + j], k * (e - c1 - h * c2), k * off))
			return -1;
		if (m.norm.dropout && near("dr", at + j, (double)m.x[3][at + j], (double)dropped(at + j, m.x[2][at + j]), 0))
			return -1;
	}
	return check_columns(at / WIDTH % WIDTH);
}

/* Three roundings each of m and v; those of the root and the quotient beside them. Constants are rounded once more. */
static int check_adam(size_t at)
{
	double g = (double)m.x[0][at], m1 = (double)m.first[2 * PERIOD + at % PERIOD], v1 = (double)m.first[3 * PERIOD + at % PERIOD];
	double w = (double)m.first[PERIOD + at % PERIOD], t = (double)adam.t, m2 = adam.beta1 * m1 + (1 - adam.beta1) * g;
	double size = fabs(adam.beta1 * m1) + fabs((1 - adam.beta1) * g), v2 = adam.beta2 * v1 + (1 - adam.beta2) * g * g;
	double rate = adam.lr / (1 - pow(adam.beta1, t)) / (sqrt(v2 / (1 - pow(adam.beta2, t))) + adam.eps);
	return near("m", at, (double)m.x[2][at], m2, gamma_n(4) * size) || near("v", at, (double)m.x[3][at], v2, gamma_n(5) * v2) ||
	       near("w", at, (double)m.x[1][at], w - rate * m2, U32 * fabs(w) + gamma_n(16) * rate * size);
}

/* ---- the cases */

static const struct kind kinds[] = {
	{"softmax-rows-fwd", 2, 1, 2, ROOF_COPY, 0, softmax_fwd, check_softmax, 0},
	{"softmax-rows-bwd", 3, 2, 3, ROOF_TRIAD, 0, softmax_bwd, check_softmax_bwd, 0},
	{"layernorm-fwd", 2, 1, 2, ROOF_COPY, 8, norm_fwd, check_norm, 0},
	{"residual+layernorm-fwd", 4, 2, 4, ROOF_COPY, 8, residual_norm_fwd, check_residual_norm, 0},
	{"residual+dropout+layernorm-fwd", 4, 2, 4, ROOF_COPY, 8, residual_norm_fwd, check_residual_norm, 1},
	{"layernorm-bwd", 3, 2, 3, ROOF_TRIAD, 12, norm_bwd, check_norm_bwd, 0},
	{"dropout+layernorm-bwd", 4, 2, 4, ROOF_COPY, 12, norm_bwd, check_norm_bwd, 1},
	{"dropout", 2, 1, 2, ROOF_COPY, 1, dropout, check_dropout, 0},
	{"adam", 4, 4, 7, ROOF_UPDATE, 12, adam_step, check_adam, 0},
};

/* All arrays together are as large as the largest stream that roof measures. */
static size_t rows_of(const struct kind *k) { return roof_largest() / sizeof(float) / WIDTH / (size_t)k->arrays; }

static int get_memory(const struct kind *k)
{
	size_t rows = rows_of(k), small = (4 * WIDTH + 2 * rows);
	m.norm = (struct n2d_norm){N2D_LAYERNORM, rows, WIDTH, 1e-5f, k->drops ? &drop : NULL};
	size_t ws = n2d_norm_bwd_workspace(&m.norm), block = rows * WIDTH + SKEW;
	if (m.users++)
		return 0;
	if (n2d_arena_init(&m.arena, sizeof(float) * ((size_t)k->arrays * block + ARRAYS * PERIOD + small + ws) + 4096)) {
		m.users = 0;
		return -1;
	}
	n2d_arena_touch(&m.arena);
	m.rows = rows, m.n = rows * WIDTH;
	for (int i = 0; i < k->arrays; i++)
		m.x[i] = n2d_arena_floats(&m.arena, block);
	m.first = n2d_arena_floats(&m.arena, ARRAYS * PERIOD);
	m.gamma = n2d_arena_floats(&m.arena, small);
	m.beta = m.gamma + WIDTH, m.dgamma = m.beta + WIDTH, m.dbeta = m.dgamma + WIDTH;
	m.mean = m.dbeta + WIDTH, m.rstd = m.mean + rows;
	m.ws = n2d_arena_floats(&m.arena, ws);
	return 0;
}

/* N(0,1); the last input positive, for it is Adam's v. */
static void fill(const struct kind *k)
{
	struct n2d_rng rng;
	n2d_rng_init(&rng, 1, 0);
	n2d_rng_fill_normal(&rng, m.first, ARRAYS * PERIOD, 0, 1);
	for (size_t i = 3 * PERIOD; i < 4 * PERIOD; i++)
		m.first[i] = fabsf(m.first[i]);
	for (int a = 0; a < k->in; a++)
		for (size_t i = 0; i < m.n; i += PERIOD)
			memcpy(m.x[a] + i, m.first + a * PERIOD, (m.n - i < PERIOD ? m.n - i : PERIOD) * sizeof(float));
	n2d_rng_fill_normal(&rng, m.gamma, 2 * WIDTH, 0, 1);
	for (size_t i = 0; i < m.rows; i++) /* what backward takes as given */
		m.mean[i] = 0.25f, m.rstd[i] = 1.25f;
}

static int check(const struct n2d_ctx *ctx, const struct kind *k)
{
	struct n2d_rng rng;
	m.k = ctx->k;
	n2d_rng_init(&rng, 2, 0);
	for (int s = 0; s < 16; s++) {
		size_t row = s ? n2d_rng_below(&rng, (uint32_t)m.rows) : m.rows - 1;
		if (k->check(row * WIDTH + (k->check == check_adam ? n2d_rng_below(&rng, WIDTH) : 0)))
			return -1;
	}
	return 0;
}

static void close_rows(struct bench_case *c)
{
	(void)c;
	if (!--m.users)
		n2d_arena_free(&m.arena);
}

static int open_rows(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	const struct kind *k = t->kind;
	if (get_memory(k))
		return -1;
	double bytes = sizeof(float) * (double)m.n;
	t->work = (struct work){k->flops * (double)m.n, k->touched * bytes, k->arrays * bytes, k->stream};
	fill(k);
	k->call(c->ctx);
	int r = check(c->ctx, k);
	if (r)
		close_rows(c);
	return r;
}

static void run_rows(struct bench_case *c, size_t calls, struct sample *s)
{
	const struct kind *k = timed_of(c)->kind;
	(void)s;
	while (calls--)
		k->call(c->ctx);
}

size_t operators_rows(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char shape[72];
		snprintf(shape, sizeof shape, "rows=%zu,D=%d", rows_of(kinds + i), WIDTH);
		struct timed *x = timed_new(t, &n, room, ctx, kinds[i].op, shape, "warm");
		if (!x)
			return n;
		x->kind = kinds + i;
		x->c.open = open_rows;
		x->c.run = run_rows;
		x->c.close = close_rows;
	}
	return n;
}
