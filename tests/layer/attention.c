/* Multi-head attention of one sentence, to itself or to another, with the error of a float evaluation carried along. */
#include <stdlib.h>
#include <string.h>

#include "tests/layer/oracle.h"

/* exp(x - m) up to the common factor of a row: |error of the exponent| <= E, exp within 2 ulp (4 u) and the roundings of a
 * streaming evaluation (a rescaling or two for each of the tiles, each by a rounded exponential). */
static double weight_error(double E, double spread, size_t n)
{
	double tiles = (double)n / 128 + 2;
	return expm1(2 * E + (2 * spread + 4 + 8 * tiles) * ORACLE_U);
}

struct head {
	size_t n, m, dk, dv, ldk, ldv;
	const struct num *q, *k, *v; /* this head's columns, rows ldk, ldk and ldv apart */
	double scale, *P, *eP;       /* [n][m]; eP: relative error of a weight */
	double *far;                 /* absolute error of the exponent s - lse when P is computed again */
};

static int sees(const struct n2d_layer_config *c, size_t R, size_t i, size_t j)
{
	size_t far = i > j ? i - j : j - i;
	return !(c->causal && j > i) && !(R && far > R);
}

static struct num score(const struct head *h, size_t i, size_t j)
{
	struct acc s = {0};
	for (size_t k = 0; k < h->dk; k++)
		acc_mul(&s, h->q[i * h->ldk + k], h->k[j * h->ldk + k]);
	struct num r = acc_end(&s);
	/* the scale is rounded, and multiplied in before or after the sum */
	return rounded(r.v * h->scale, (r.e + 2 * ORACLE_U * s.abs) * h->scale);
}

static void row_weights(const struct n2d_layer_config *c, size_t R, struct head *h, size_t i)
{
	double max = -INFINITY, min = INFINITY, e = 0, sum = 0, *P = h->P + i * h->m;
	for (size_t j = 0; j < h->m; j++) {
		struct num s = sees(c, R, i, j) ? score(h, i, j) : (struct num){-INFINITY, 0};
		P[j] = s.v;
		max = s.v > max ? s.v : max;
		min = isfinite(s.v) && s.v < min ? s.v : min;
		e = s.e > e ? s.e : e;
	}
	for (size_t j = 0; j < h->m; j++)
		sum += P[j] = exp(P[j] - max);
	double spread = max - min, w = weight_error(e, spread, h->m);
	/* numerator and denominator each off by w and the sums' roundings; recomputed from lse:
	 * the exponent's own errors and those of max + log(sum) instead */
	double rel = 2 * (w + oracle_gamma((double)h->m + 8));
	h->far[i] = rel + expm1(2 * e + ORACLE_U * (8 * fabs(max) + 8 * fabs(log(sum)) + 2 * spread + 8));
	for (size_t j = 0; j < h->m; j++)
		P[j] /= sum, h->eP[i * h->m + j] = rel;
}

static struct num weight(const struct head *h, size_t i, size_t j)
{
	double p = h->P[i * h->m + j];
	return (struct num){p, p * h->eP[i * h->m + j]};
}

static void head_forward(struct num *o, const struct head *h)
{
	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < h->dv; k++) {
			struct acc s = {0};
			for (size_t j = 0; j < h->m; j++)
				acc_mul(&s, weight(h, i, j), h->v[j * h->ldv + k]);
			o[i * h->ldv + k] = acc_end(&s);
		}
}

/* delta as sum dO O (streaming) or as sum P dP (materialised): the larger of the two bounds. */
static struct num row_delta(const struct num *dO, const struct num *o, const struct num *dP, const struct head *h, size_t i)
{
	struct acc a = {0}, b = {0};
	for (size_t k = 0; k < h->dv; k++)
		acc_mul(&a, dO[i * h->ldv + k], o[i * h->ldv + k]);
	for (size_t j = 0; j < h->m; j++)
		acc_mul(&b, weight(h, i, j), dP[j]);
	struct num x = acc_end(&a), y = acc_end(&b);
	return (struct num){x.v, fmax(x.e, y.e)};
}

/* dS = P (dP - delta), and the three sums; gradients in the layout of q, k and v. */
static void head_backward(struct acc *dq, struct acc *dk, struct acc *dv, const struct num *dO, const struct num *o,
			  const struct head *h)
{
	struct num *dP = oracle_alloc(h->m, sizeof *dP);
	for (size_t i = 0; i < h->n; i++) {
		for (size_t j = 0; j < h->m; j++) {
			struct acc s = {0};
			for (size_t k = 0; k < h->dv; k++)
				acc_mul(&s, dO[i * h->ldv + k], h->v[j * h->ldv + k]);
			dP[j] = acc_end(&s);
		}
		struct num delta = row_delta(dO, o, dP, h, i);
		for (size_t j = 0; j < h->m; j++) {
			struct num p = weight(h, i, j);
			p.e += p.v * h->far[i];
			if (p.v == 0)
				continue;
			struct num ds = num_mul(num_mul(p, num_sub(dP[j], delta)), rounded(h->scale, 0));
			for (size_t k = 0; k < h->dk; k++) {
				acc_mul(dq + i * h->ldk + k, ds, h->k[j * h->ldk + k]);
				acc_mul(dk + j * h->ldk + k, ds, h->q[i * h->ldk + k]);
			}
			for (size_t k = 0; k < h->dv; k++)
				acc_mul(dv + j * h->ldv + k, p, dO[i * h->ldv + k]);
		}
	}
	free(dP);
}

/* ---- the layer: three projections, all heads, the output */

struct layer {
	const struct n2d_layer_config *c;
	size_t R, n, m, qk, v; /* qk, v: widths of all heads */
	const double *x, *memory, *p;
	struct num *block[3], *o;
	struct head *heads;
};

static size_t block_rows(const struct layer *l, int i) { return i ? l->m : l->n; }
static size_t block_width(const struct layer *l, int i) { return i < 2 ? l->qk : l->v; }
static const double *block_input(const struct layer *l, int i) { return i ? l->memory : l->x; }
static size_t bias_at(const struct layer *l) { return (2 * l->qk + l->v) * l->c->D; }
static size_t out_at(const struct layer *l) { return (2 * l->qk + l->v) * (l->c->D + 1); }

/* block[rows][width] = input W^T + b, or backward. */
static void project(struct layer *l, int i)
{
	size_t D = l->c->D, row = (size_t)i * l->qk, width = block_width(l, i);
	struct num *in = oracle_alloc(D, sizeof *in);
	for (size_t t = 0; t < block_rows(l, i); t++) {
		for (size_t k = 0; k < D; k++)
			in[k] = exact(block_input(l, i)[t * D + k]);
		oracle_linear(l->block[i] + t * width, in, l->p + row * D, l->p + bias_at(l) + row, D, width);
	}
	free(in);
}

static void project_backward(const struct layer *l, int i, const struct acc *dblock, struct acc *dx, struct acc *dp)
{
	size_t D = l->c->D, row = (size_t)i * l->qk, width = block_width(l, i);
	for (size_t t = 0; t < block_rows(l, i); t++)
		for (size_t o = 0; o < width; o++) {
			struct num d = acc_end(dblock + t * width + o);
			acc_add(dp + bias_at(l) + row + o, d);
			for (size_t k = 0; k < D; k++) {
				acc_mul(dp + (row + o) * D + k, d, exact(block_input(l, i)[t * D + k]));
				acc_mul(dx + t * D + k, d, exact(l->p[(row + o) * D + k]));
			}
		}
}

/* Rotary positions: a pair turned by t 10000^(-2i / d), cosine and sine rounded. back: by the negative angle. */
static void turn(const struct layer *l, struct num *block, int back)
{
	size_t dk = l->qk / l->c->H;
	for (size_t t = 0; t < l->n; t++)
		for (size_t i = 0; i < l->qk; i += 2) {
			double angle = (double)t * pow(10000, -(double)(i % dk) / (double)dk);
			struct num *x = block + t * l->qk + i, cs = rounded(cos(angle), 0), sn = rounded(back ? -sin(angle) : sin(angle), 0);
			struct acc a = {0}, b = {0};
			acc_mul(&a, x[0], cs), acc_mul(&a, x[1], (struct num){-sn.v, sn.e});
			acc_mul(&b, x[0], sn), acc_mul(&b, x[1], cs);
			x[0] = acc_end(&a), x[1] = acc_end(&b);
		}
}

static void turn_back(const struct layer *l, struct acc *dblock)
{
	struct num *d = oracle_alloc(l->n * l->qk, sizeof *d);
	for (size_t i = 0; i < l->n * l->qk; i++)
		d[i] = acc_end(dblock + i);
	turn(l, d, 1);
	memset(dblock, 0, l->n * l->qk * sizeof *dblock);
	for (size_t i = 0; i < l->n * l->qk; i++)
		acc_add(dblock + i, d[i]);
	free(d);
}

static void forward(struct layer *l, struct num *y)
{
	size_t D = l->c->D, H = l->c->H, n = l->n, m = l->m, dk = l->qk / H, dv = l->v / H;
	for (int i = 0; i < 3; i++) {
		l->block[i] = oracle_alloc(block_rows(l, i) * block_width(l, i), sizeof **l->block);
		project(l, i);
		if (l->c->rotary && i < 2)
			turn(l, l->block[i], 0);
	}
	for (size_t h = 0; h < H; h++) {
		l->heads[h] = (struct head){n, m, dk, dv, l->qk, l->v, l->block[0] + h * dk, l->block[1] + h * dk,
					    l->block[2] + h * dv, 1 / sqrt((double)dk), oracle_alloc(n * m, 8),
					    oracle_alloc(n * m, 8), oracle_alloc(n, 8)};
		for (size_t i = 0; i < n; i++)
			row_weights(l->c, l->R, l->heads + h, i);
		head_forward(l->o + h * dv, l->heads + h);
	}
	const double *out = l->p + out_at(l);
	for (size_t t = 0; t < n; t++)
		oracle_linear(y + t * D, l->o + t * l->v, out, out + D * l->v, l->v, D);
}

/* Gradients of the inputs are sums still: in self-attention all three blocks add to one. */
static void backward(const struct layer *l, const double *dy, struct acc *dx, struct acc *dmemory, struct acc *dp)
{
	size_t D = l->c->D, n = l->n, out = out_at(l);
	struct num *g = oracle_alloc(D, sizeof *g), *dO = oracle_alloc(n * l->v, sizeof *dO);
	struct acc *d[3];
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++)
			g[i] = exact(dy[t * D + i]);
		oracle_linear_bwd(dO + t * l->v, dp + out, dp + out + D * l->v, g, l->o + t * l->v, l->p + out, l->v, D);
	}
	for (int i = 0; i < 3; i++)
		d[i] = oracle_alloc(block_rows(l, i) * block_width(l, i), sizeof **d);
	for (size_t h = 0; h < l->c->H; h++) {
		const struct head *a = l->heads + h;
		head_backward(d[0] + h * a->dk, d[1] + h * a->dk, d[2] + h * a->dv, dO + h * a->dv, l->o + h * a->dv, a);
	}
	for (int i = 0; i < 3; i++) {
		if (l->c->rotary && i < 2)
			turn_back(l, d[i]);
		project_backward(l, i, d[i], i ? dmemory : dx, dp);
		free(d[i]);
	}
	free(g), free(dO);
}

static void run(const struct n2d_layer_config *c, size_t R, size_t n, size_t m, struct num *y, const double *x,
		const double *memory, const double *p, const double *dy, struct acc *dx, struct acc *dmemory, struct acc *dp)
{
	struct layer l = {c, R, n, m, c->H * (c->d_k ? c->d_k : c->D / c->H), c->H * (c->d_v ? c->d_v : c->D / c->H), x, memory, p,
			  {NULL}, NULL, oracle_alloc(c->H, sizeof *l.heads)};
	l.o = oracle_alloc(n * l.v, sizeof *l.o);
	forward(&l, y);
	if (dy)
		backward(&l, dy, dx, dmemory, dp);
	for (size_t h = 0; h < c->H; h++)
		free(l.heads[h].P), free(l.heads[h].eP), free(l.heads[h].far);
	for (int i = 0; i < 3; i++)
		free(l.block[i]);
	free(l.o), free(l.heads);
}

static void self(const struct n2d_layer_config *c, size_t R, size_t n, struct num *y, const double *x, const double *p,
		 const double *dy, struct num *dx, struct acc *dp)
{
	struct acc *sum = oracle_alloc(n * c->D, sizeof *sum);
	run(c, R, n, n, y, x, x, p, dy, sum, sum, dp);
	for (size_t i = 0; dy && i < n * c->D; i++)
		dx[i] = acc_end(sum + i);
	free(sum);
}

static void whole(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		  const double *dy, struct num *dx, struct acc *dp)
{
	self(c, 0, n, y, x, p, dy, dx, dp);
}

static void restricted(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		       const double *dy, struct num *dx, struct acc *dp)
{
	self(c, c->R, n, y, x, p, dy, dx, dp);
}

void oracle_cross_attention(const struct n2d_layer_config *c, size_t n, size_t m, struct num *y, const double *x,
			    const double *memory, const double *p, const double *dy, struct num *dx, struct acc *dmemory,
			    struct acc *dp)
{
	struct acc *sum = oracle_alloc(n * c->D, sizeof *sum);
	run(c, 0, n, m, y, x, memory, p, dy, sum, dmemory, dp);
	for (size_t i = 0; dy && i < n * c->D; i++)
		dx[i] = acc_end(sum + i);
	free(sum);
}

static const struct layer_variant whole_variants[] = {
	{1, {.H = 1}},
	{1, {.H = 2, .causal = 1}},
	{1, {.H = 2, .d_k = 6, .d_v = 6}},
	{1, {.H = 3, .d_k = 4, .d_v = 7}},
	{1, {.H = 2, .d_k = 18, .d_v = 3, .causal = 1}},
	{1, {.H = 1, .rotary = 1}},
	{1, {.H = 3, .d_k = 4, .d_v = 6, .causal = 1, .rotary = 1}},
	{0, {0}},
};
static const struct layer_variant restricted_variants[] = {
	{1, {.H = 1, .R = 1}}, {1, {.H = 2, .R = 3, .causal = 1}}, {1, {.H = 2, .R = 16}}, {0, {0}},
};

const struct layer_oracle oracle_self_attention = {"self-attention", whole_variants, whole};
const struct layer_oracle oracle_self_attention_materialised = {"self-attention-materialised", whole_variants, whole};
const struct layer_oracle oracle_restricted_attention = {"restricted-attention", restricted_variants, restricted};
