/* Streaming attention, forward and backward, plain and causal, on the heads of the base model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/size.h"
#include "bench/operators.h"
#include "op/attention.h"
#include "tests/problem/problem.h"

enum { H = 8, K = 64 };

struct variant {
	const char *op;
	int causal, backward;
};

static const struct variant variants[] = {
	{"attention-fwd", 0, 0}, {"attention-causal-fwd", 1, 0}, {"attention-bwd", 0, 1}, {"attention-causal-bwd", 1, 1},
};
static const size_t lengths[] = {128, 512, 1024, 2048, 4096};

/* Arrays [n,H,K]: as a fused projection leaves them. */
struct heads {
	struct n2d_arena arena;
	struct n2d_attention a;
	int backward;
	float *Q, *K, *V, *O, *dO, *dQ, *dK, *dV, *lse, *ws;
};

static void call(struct heads *m, const struct n2d_ctx *ctx)
{
	if (m->backward)
		n2d_attention_bwd(ctx, &m->a, m->dQ, m->dK, m->dV, m->dO, m->O, m->lse, m->Q, m->K, m->V, m->ws);
	else
		n2d_attention_fwd(ctx, &m->a, m->O, m->lse, m->Q, m->K, m->V, m->ws);
}

static const float *row(const float *p, size_t h, size_t t) { return p + (t * H + h) * K; }

static double dot(const float *x, const float *y)
{
	double s = 0;
	for (size_t k = 0; k < K; k++)
		s += (double)x[k] * (double)y[k];
	return s;
}

static size_t keys(const struct heads *m, size_t i) { return m->a.causal ? i + 1 : m->a.Tk; }

/* P[h,i,j] and dS[h,i,j] = P (dO_i . V_j - dO_i . O_i), from the kernel's own O and lse, which check_forward holds. */
static double weight(const struct heads *m, size_t h, size_t i, size_t j)
{
	if (j >= keys(m, i))
		return 0;
	return exp((double)m->a.scale * dot(row(m->Q, h, i), row(m->K, h, j)) - (double)m->lse[h * m->a.Tq + i]);
}

static double slope(const struct heads *m, size_t h, size_t i, size_t j)
{
	const float *d = row(m->dO, h, i);
	return weight(m, h, i, j) * (dot(d, row(m->V, h, j)) - dot(d, row(m->O, h, i)));
}

/* |got - want| <= bound * sum |terms|: the terms are sums of K products through an exponential. For inputs of N(0,1) scores stay
 * below 6, so that some 2^-24 (K + 6 K) of relative error in a weight, and n terms beside it, give less than 1e-4. */
static int near(const char *what, size_t h, size_t i, const float *got, const double *want, const double *size)
{
	for (size_t k = 0; k < K; k++)
		if (!(fabs((double)got[k] - want[k]) <= 1e-4 * size[k]))
			return n2d_error("failed its check: %s[%zu,%zu,%zu] = %.9g, should be %.9g", what, h, i, k, (double)got[k],
					 want[k]);
	return 0;
}

static void add(double *sum, double *size, double w, const float *x)
{
	for (size_t k = 0; k < K; k++) {
		sum[k] += w * (double)x[k];
		size[k] += fabs(w * (double)x[k]);
	}
}

/* One row of O from scratch. */
static int check_forward(const struct heads *m, size_t h, size_t i)
{
	double most = -INFINITY, total = 0, sum[K] = {0}, size[K] = {0};
	for (size_t j = 0; j < keys(m, i); j++)
		most = fmax(most, (double)m->a.scale * dot(row(m->Q, h, i), row(m->K, h, j)));
	for (size_t j = 0; j < keys(m, i); j++)
		total += exp((double)m->a.scale * dot(row(m->Q, h, i), row(m->K, h, j)) - most);
	for (size_t j = 0; j < keys(m, i); j++)
		add(sum, size, exp((double)m->a.scale * dot(row(m->Q, h, i), row(m->K, h, j)) - most) / total, row(m->V, h, j));
	if (!(fabs((double)m->lse[h * m->a.Tq + i] - most - log(total)) <= 1e-5 * (1 + fabs(most))))
		return n2d_error("failed its check: lse[%zu,%zu]", h, i);
	return near("O", h, i, row(m->O, h, i), sum, size);
}

/* Row i of dQ, and rows i of dK and dV. */
static int check_backward(const struct heads *m, size_t h, size_t i)
{
	double q[K] = {0}, qs[K] = {0}, k[K] = {0}, ks[K] = {0}, v[K] = {0}, vs[K] = {0}, scale = (double)m->a.scale;
	for (size_t j = 0; j < m->a.Tk; j++) {
		add(q, qs, scale * slope(m, h, i, j), row(m->K, h, j));
		add(k, ks, scale * slope(m, h, j, i), row(m->Q, h, j));
		add(v, vs, weight(m, h, j, i), row(m->dO, h, j));
	}
	return near("dQ", h, i, row(m->dQ, h, i), q, qs) || near("dK", h, i, row(m->dK, h, i), k, ks) ||
	       near("dV", h, i, row(m->dV, h, i), v, vs);
}

static int check(const struct heads *m, struct n2d_rng *rng)
{
	for (int s = 0; s < 24; s++) {
		size_t h = n2d_rng_below(rng, H), i = s ? n2d_rng_below(rng, (uint32_t)m->a.Tq) : m->a.Tq - 1;
		if (check_forward(m, h, i) || (m->backward && check_backward(m, h, i)))
			return -1;
	}
	return 0;
}

static float *get(struct heads *m, size_t n, struct n2d_rng *rng)
{
	float *p = n2d_arena_floats(&m->arena, n);
	if (rng)
		n2d_rng_fill_normal(rng, p, n, 0, 1);
	return p;
}

static int open_attention(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	const struct variant *v = t->kind;
	size_t n = t->dim[0], all = n2d_floats(n, H, K);
	const struct n2d_strides s = {n * H * K, K, H * K};
	struct n2d_rng rng;
	struct heads *m = calloc(1, sizeof *m);
	t->memory = m;
	if (!m)
		return n2d_error("no memory");
	m->a = (struct n2d_attention){.B = 1, .H = H, .Tq = n, .Tk = n, .K = K, .q = s, .k = s, .v = s, .o = s,
				      .causal = v->causal, .scale = 0.125f};
	size_t f = n2d_attention_fwd_workspace(c->ctx, &m->a), b = n2d_attention_bwd_workspace(c->ctx, &m->a);
	size_t ws = n2d_floats(1, 1, f > b ? f : b);
	if (n2d_arena_init(&m->arena, n2d_mul(n2d_add(n2d_mul(8, all), n2d_add(n2d_floats(1, H, n), ws)), sizeof(float)))) {
		free(m);
		return -1;
	}
	n2d_arena_touch(&m->arena);
	n2d_rng_init(&rng, 1, 0);
	m->Q = get(m, all, &rng), m->K = get(m, all, &rng), m->V = get(m, all, &rng), m->dO = get(m, all, &rng);
	m->O = get(m, all, NULL), m->dQ = get(m, all, NULL), m->dK = get(m, all, NULL), m->dV = get(m, all, NULL);
	m->lse = get(m, n2d_floats(1, H, n), NULL), m->ws = get(m, ws, NULL);
	call(m, c->ctx);
	if (v->backward) {
		m->backward = 1;
		call(m, c->ctx);
	}
	double passes = v->backward ? 2.5 : 1;
	t->work = (struct work){passes * n2d_attention_flops(&m->a), passes * n2d_attention_bytes(&m->a), n2d_attention_bytes(&m->a),
				ROOF_READ};
	int r = check(m, &rng);
	if (r)
		c->close(c);
	return r;
}

static void run_attention(struct bench_case *c, size_t calls, struct sample *s)
{
	(void)s;
	while (calls--)
		call(timed_of(c)->memory, c->ctx);
}

static void close_attention(struct bench_case *c)
{
	struct heads *m = timed_of(c)->memory;
	n2d_arena_free(&m->arena);
	free(m);
	timed_of(c)->memory = NULL;
}

size_t operators_attention(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx)
{
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		for (size_t j = 0; j < sizeof variants / sizeof *variants; j++) {
			char shape[72];
			snprintf(shape, sizeof shape, "H=8,K=64,n=%zu", lengths[i]);
			struct timed *x = timed_new(t, &n, room, ctx, variants[j].op, shape, "warm");
			if (!x)
				return n;
			x->dim[0] = lengths[i];
			snprintf(x->group, sizeof x->group, "attention/%s", shape);
			x->kind = variants + j;
			x->c.open = open_attention;
			x->c.run = run_attention;
			x->c.close = close_attention;
		}
	return n;
}
