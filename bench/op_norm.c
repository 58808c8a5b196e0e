/* Layer normalisation and softmax of rows, forward and backward, and oneDNN's on the same buffers. Softmax is no operator of ours: the kernel, row
 * by row, threads by blocks of rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/size.h"
#include "base/threads.h"
#include "bench/blas.h"
#include "bench/check.h"
#include "bench/onednn.h"
#include "bench/operators.h"
#include "op/norm.h"

#define EPS 1e-5f
/* Relative error in the Euclidean norm. Sums of 10000 floats are off by some 1e-6 of theirs; a wrong row, scale or statistic by 1e-2 and more. */
#define BOUND 1e-5

struct variant {
	const char *op;
	int softmax, backward;
};
enum { VARIANTS = 4 };
static const struct variant variants[VARIANTS] = {
	{"layernorm-fwd", 0, 0}, {"layernorm-bwd", 0, 1}, {"softmax-rows-fwd", 1, 0}, {"softmax-rows-bwd", 1, 1},
};

/* Activations of a batch; scores of 8 heads of 512 positions, and the vocabulary. */
static const size_t shapes[2][3][2] = {{{256, 512}, {4096, 512}, {1024, 1024}}, {{4096, 64}, {4096, 512}, {256, 10000}}};

struct rows {
	struct n2d_arena arena;
	const struct variant *v;
	struct n2d_norm n;
	const struct blas *peer;
	struct onednn_op op;
	float *x, *dy, *gamma, *beta; /* inputs */
	float *y, *mean, *rstd;       /* forward's; oneDNN has a variance for rstd */
	float *dx, *dgamma, *dbeta, *ws;
	const struct n2d_ctx *ctx; /* of the call */
};

/* ---- ours */

/* Rows of a task: some microseconds' worth. */
static size_t block(const struct rows *m) { return 1 + 65536 / m->n.D; }

static void softmax_block(void *arg, size_t task, int thread)
{
	const struct rows *m = arg;
	size_t D = m->n.D, from = task * block(m), end = from + block(m) < m->n.rows ? from + block(m) : m->n.rows;
	(void)thread;
	for (size_t i = from; i < end; i++)
		if (m->v->backward)
			m->ctx->k->softmax_bwd(m->dx + i * D, m->dy + i * D, m->y + i * D, 1, 0, D, D);
		else
			m->ctx->k->softmax_fwd(m->y + i * D, m->x + i * D, 1, 0, D, D);
}

static void call(struct rows *m, const struct n2d_ctx *ctx)
{
	struct n2d_norm_grads g = {.dx = m->dx, .dgamma = m->dgamma, .dbeta = m->dbeta, .dy = m->dy};
	m->ctx = ctx;
	if (m->peer) {
		blas_threads(m->peer, ctx->threads);
		onednn_run(&m->op);
	} else if (m->v->softmax) {
		n2d_parallel(ctx, (m->n.rows + block(m) - 1) / block(m), softmax_block, m);
	} else if (m->v->backward) {
		n2d_norm_bwd(ctx, &m->n, &g, m->x, m->gamma, m->mean, m->rstd, m->ws);
	} else {
		n2d_norm_fwd(ctx, &m->n, m->y, NULL, m->mean, m->rstd, m->x, NULL, m->gamma, m->beta);
	}
}

/* ---- oneDNN's */

static void open_softmax(struct rows *m, const struct onednn *f, struct onednn_op *forward)
{
	static struct onednn_desc desc;
	struct onednn_md md = onednn_plain(f, 2, (size_t[]){m->n.rows, m->n.D}, NULL);
	struct onednn_op *first = m->v->backward ? forward : &m->op;
	onednn_make(first, f, f->softmax_forward(&desc, m->v->backward ? ONEDNN_TRAINING : ONEDNN_INFERENCE, &md, 1), &desc, NULL);
	onednn_give(first, ONEDNN_SRC, m->x);
	onednn_give(first, ONEDNN_DST, m->y);
	if (!m->v->backward)
		return;
	onednn_make(&m->op, f, forward->bad ? forward->bad : f->softmax_backward(&desc, &md, &md, 1), &desc, forward);
	onednn_give(&m->op, ONEDNN_DST, m->y);
	onednn_give(&m->op, ONEDNN_DIFF_DST, m->dy);
	onednn_give(&m->op, ONEDNN_DIFF_SRC, m->dx);
}

/* Forward as in training, which keeps the statistics, as ours does. */
static void open_layernorm(struct rows *m, const struct onednn *f, struct onednn_op *forward)
{
	static struct onednn_desc desc;
	struct onednn_md md = onednn_plain(f, 2, (size_t[]){m->n.rows, m->n.D}, NULL), stat = onednn_plain(f, 1, &m->n.rows, NULL);
	struct onednn_op *o = m->v->backward ? forward : &m->op;
	onednn_make(o, f, f->norm_forward(&desc, ONEDNN_TRAINING, &md, &stat, EPS, ONEDNN_SCALE_AND_SHIFT), &desc, NULL);
	for (int back = 0; back <= m->v->backward; back++) {
		if (back)
			onednn_make(o = &m->op, f,
				    forward->bad ? forward->bad
						 : f->norm_backward(&desc, ONEDNN_BACKWARD, &md, &md, &stat, EPS, ONEDNN_SCALE_AND_SHIFT),
				    &desc, forward);
		onednn_give(o, ONEDNN_SRC, m->x);
		onednn_give(o, ONEDNN_MEAN, m->mean);
		onednn_give(o, ONEDNN_VARIANCE, m->rstd);
		onednn_give(o, ONEDNN_SCALE, m->gamma);
		onednn_give(o, ONEDNN_SHIFT, m->beta);
		onednn_give(o, back ? ONEDNN_DIFF_DST : ONEDNN_DST, back ? m->dy : m->y);
	}
	if (!m->v->backward)
		return;
	onednn_give(o, ONEDNN_DIFF_SRC, m->dx);
	onednn_give(o, ONEDNN_DIFF_SCALE, m->dgamma);
	onednn_give(o, ONEDNN_DIFF_SHIFT, m->dbeta);
}

/* The primitive, after the forward one that a backward one needs was made and run. */
static int open_peer(struct rows *m, int threads)
{
	const struct onednn *f = onednn_open(m->peer->handle);
	struct onednn_op forward = {.f = f};
	if (!f)
		return -1;
	blas_threads(m->peer, threads);
	(m->v->softmax ? open_softmax : open_layernorm)(m, f, &forward);
	if (m->v->backward && !forward.bad)
		onednn_run(&forward);
	int bad = (m->v->backward && onednn_done(&forward, m->v->op)) || onednn_done(&m->op, m->v->op);
	onednn_free(&forward);
	return bad ? -1 : 0;
}

/* ---- the check, all rows in double */

static void softmax_row(const struct rows *m, size_t i, float *y, float *dx)
{
	size_t D = m->n.D;
	const float *x = m->x + i * D, *dy = m->dy + i * D;
	double max = -INFINITY, sum = 0, dot = 0;
	for (size_t j = 0; j < D; j++)
		max = fmax(max, (double)x[j]);
	for (size_t j = 0; j < D; j++)
		sum += exp((double)x[j] - max);
	for (size_t j = 0; j < D; j++) {
		double p = exp((double)x[j] - max) / sum;
		y[j] = (float)p;
		dot += (double)dy[j] * p;
	}
	for (size_t j = 0; j < D; j++)
		dx[j] = (float)((double)y[j] * ((double)dy[j] - dot)); /* y is rounded to float: far below BOUND */
}

static void layernorm_row(const struct rows *m, size_t i, float *y, float *dx, double *dgamma, double *dbeta)
{
	size_t D = m->n.D;
	const float *x = m->x + i * D, *dy = m->dy + i * D;
	double n = (double)D, mean = 0, var = 0, c1 = 0, c2 = 0;
	for (size_t j = 0; j < D; j++)
		mean += (double)x[j] / n;
	for (size_t j = 0; j < D; j++)
		var += ((double)x[j] - mean) * ((double)x[j] - mean) / n;
	double rstd = 1 / sqrt(var + (double)EPS);
	for (size_t j = 0; j < D; j++) {
		double h = ((double)x[j] - mean) * rstd, e = (double)dy[j] * (double)m->gamma[j];
		c1 += e / n;
		c2 += e * h / n;
		dgamma[j] += (double)dy[j] * h;
		dbeta[j] += (double)dy[j];
		y[j] = (float)(h * (double)m->gamma[j] + (double)m->beta[j]);
	}
	for (size_t j = 0; j < D; j++)
		dx[j] = (float)(rstd * ((double)dy[j] * (double)m->gamma[j] - c1 - ((double)x[j] - mean) * rstd * c2));
}

static int compare(const struct rows *m, const float *y, const float *dx, const float *dgamma, const float *dbeta)
{
	size_t D = m->n.D, n = m->n.rows * D;
	if (!m->v->backward)
		return check_close("y", m->y, y, n, BOUND);
	return check_close("dx", m->dx, dx, n, BOUND) ||
	       (!m->v->softmax && (check_close("dgamma", m->dgamma, dgamma, D, BOUND) || check_close("dbeta", m->dbeta, dbeta, D, BOUND)));
}

static int check(struct rows *m)
{
	size_t D = m->n.D, n = m->n.rows * D;
	float *y = malloc((2 * n + 2 * D) * sizeof *y), *dx = y + n, *dgamma = dx + n, *dbeta = dgamma + D;
	double *sums = calloc(2 * D, sizeof *sums);
	int bad = y && sums ? 0 : n2d_error("no memory for the check");
	for (size_t i = 0; i < m->n.rows && !bad; i++)
		if (m->v->softmax)
			softmax_row(m, i, y + i * D, dx + i * D);
		else
			layernorm_row(m, i, y + i * D, dx + i * D, sums, sums + D);
	for (size_t j = 0; j < D && !bad; j++) {
		dgamma[j] = (float)sums[j];
		dbeta[j] = (float)sums[D + j];
	}
	bad = bad || compare(m, y, dx, dgamma, dbeta);
	free(y);
	free(sums);
	return bad ? -1 : 0;
}

/* ---- the case */

static void set_work(struct timed *t, const struct rows *m)
{
	double n = (double)m->n.rows * (double)m->n.D, arrays = m->v->backward ? 3 : 2;
	double flops = m->v->softmax ? 0 : m->v->backward ? n2d_norm_bwd_flops(&m->n) : n2d_norm_fwd_flops(&m->n);
	t->work = (struct work){flops, 4 * arrays * n, 4 * arrays * n, m->v->backward ? ROOF_TRIAD : ROOF_COPY};
}

static int get_memory(struct rows *m)
{
	size_t all = n2d_floats(m->n.rows, m->n.D, 1), row = n2d_floats(m->n.D, 1, 1), stat = n2d_floats(m->n.rows, 1, 1);
	size_t ws = n2d_floats(1, 1, n2d_norm_bwd_workspace(&m->n));
	struct n2d_arena *a = &m->arena;
	if (n2d_arena_init(a, n2d_mul(n2d_add(n2d_add(4 * all, 4 * row), n2d_add(2 * stat, ws)), sizeof(float))))
		return -1;
	n2d_arena_touch(a);
	float **const place[] = {&m->x, &m->dy, &m->y, &m->dx, &m->gamma, &m->beta, &m->dgamma, &m->dbeta, &m->mean, &m->rstd, &m->ws};
	const size_t floats[] = {all, all, all, all, row, row, row, row, stat, stat, ws};
	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
		*place[i] = n2d_arena_floats(a, floats[i]);
	return 0;
}

static void close_rows(struct bench_case *c)
{
	struct rows *m = timed_of(c)->memory;
	if (m->peer)
		onednn_free(&m->op);
	n2d_arena_free(&m->arena);
	free(m);
	timed_of(c)->memory = NULL;
}

/* Backward needs what forward left. */
static int ready(struct rows *m, const struct n2d_ctx *ctx)
{
	static const struct variant before[] = {{"", 0, 0}, {"", 1, 0}};
	const struct variant *v = m->v;
	if (m->peer)
		return open_peer(m, ctx->threads);
	if (v->backward) {
		m->v = before + v->softmax;
		call(m, ctx);
		m->v = v;
	}
	return 0;
}

static int open_rows(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	struct n2d_rng rng;
	struct rows *m = calloc(1, sizeof *m);
	if (!m)
		return n2d_error("no memory");
	m->v = t->kind;
	m->peer = t->peer;
	m->n = (struct n2d_norm){.kind = N2D_LAYERNORM, .rows = t->dim[0], .D = t->dim[1], .eps = EPS};
	if (get_memory(m)) {
		free(m);
		return -1;
	}
	t->memory = m;
	n2d_rng_init(&rng, 1, 0);
	n2d_rng_fill_normal(&rng, m->x, m->n.rows * m->n.D, 0, 1);
	n2d_rng_fill_normal(&rng, m->dy, m->n.rows * m->n.D, 0, 1);
	n2d_rng_fill_normal(&rng, m->gamma, m->n.D, 1, 0.5f);
	n2d_rng_fill_normal(&rng, m->beta, m->n.D, 0, 1);
	set_work(t, m);
	int bad = ready(m, c->ctx);
	if (!bad) {
		call(m, c->ctx);
		bad = check(m);
	}
	if (bad)
		close_rows(c);
	return bad ? -1 : 0;
}

static void run_rows(struct bench_case *c, size_t calls, struct sample *s)
{
	(void)s;
	while (calls--)
		call(timed_of(c)->memory, c->ctx);
}

static size_t add(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, const struct variant *v, const char *op,
		  const struct blas *peer)
{
	for (size_t i = 0; i < 3; i++) {
		const size_t *dim = shapes[v->softmax][i];
		char shape[72];
		snprintf(shape, sizeof shape, "rows=%zu,D=%zu", dim[0], dim[1]);
		struct timed *x = timed_new(t, &n, room, ctx, op, shape, "warm");
		if (!x)
			return n;
		memcpy(x->dim, dim, sizeof shapes[0][0]);
		snprintf(x->group, sizeof x->group, "%s/%s", v->op, shape);
		x->kind = v;
		if (peer)
			timed_peer(x, peer);
		x->c.open = open_rows;
		x->c.run = run_rows;
		x->c.close = close_rows;
	}
	return n;
}

size_t operators_norm(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx)
{
	for (int i = 0; i < VARIANTS; i++)
		n = add(t, n, room, ctx, variants + i, variants[i].op, NULL);
	return n;
}

size_t operators_norm_peers(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, const struct blas *peer)
{
	static char op[VARIANTS][48];
	for (int i = 0; peer->dnnl && i < VARIANTS; i++) {
		snprintf(op[i], sizeof op[i], "%s@%s", variants[i].op, peer->name);
		n = add(t, n, room, ctx, variants + i, op[i], peer);
	}
	return n;
}
