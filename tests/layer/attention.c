/* Multi-head self-attention of one sentence, with the error of a float evaluation carried along. */
#include <stdlib.h>

#include "tests/layer/oracle.h"

/* exp(x - m) up to the common factor of a row: |error of the exponent| <= E, exp within 2 ulp (4 u) and the roundings of a
 * streaming evaluation (a rescaling or two for each of the tiles, each by a rounded exponential). */
static double weight_error(double E, double spread, size_t n)
{
	double tiles = (double)n / 128 + 2;
	return expm1(2 * E + (2 * spread + 4 + 8 * tiles) * ORACLE_U);
}

struct head {
	size_t n, D, K;
	const struct num *qkv; /* [n][3D], this head's columns */
	double scale, *P, *eP; /* [n][n]; eP: relative error of a weight */
	double *far;           /* absolute error of the exponent s - lse when P is computed again */
};

static int sees(const struct n2d_layer_config *c, size_t R, size_t i, size_t j)
{
	size_t far = i > j ? i - j : j - i;
	return !(c->causal && j > i) && !(R && far > R);
}

static struct num score(const struct head *h, size_t i, size_t j)
{
	struct acc s = {0};
	for (size_t k = 0; k < h->K; k++)
		acc_mul(&s, h->qkv[i * 3 * h->D + k], h->qkv[j * 3 * h->D + h->D + k]);
	struct num r = acc_end(&s);
	/* the scale is rounded, and multiplied in before or after the sum */
	return rounded(r.v * h->scale, (r.e + 2 * ORACLE_U * s.abs) * h->scale);
}

static void row_weights(const struct n2d_layer_config *c, size_t R, struct head *h, size_t i)
{
	double max = -INFINITY, min = INFINITY, e = 0, sum = 0, *P = h->P + i * h->n;
	for (size_t j = 0; j < h->n; j++) {
		struct num s = sees(c, R, i, j) ? score(h, i, j) : (struct num){-INFINITY, 0};
		P[j] = s.v;
		max = s.v > max ? s.v : max;
		min = isfinite(s.v) && s.v < min ? s.v : min;
		e = s.e > e ? s.e : e;
	}
	for (size_t j = 0; j < h->n; j++)
		sum += P[j] = exp(P[j] - max);
	double spread = max - min, w = weight_error(e, spread, h->n);
	/* numerator and denominator each off by w and the sums' roundings; recomputed from lse:
	 * the exponent's own errors and those of max + log(sum) instead */
	double rel = 2 * (w + oracle_gamma((double)h->n + 8));
	h->far[i] = rel + expm1(2 * e + ORACLE_U * (8 * fabs(max) + 8 * fabs(log(sum)) + 2 * spread + 8));
	for (size_t j = 0; j < h->n; j++)
		P[j] /= sum, h->eP[i * h->n + j] = rel;
}

static void head_forward(struct num *o, const struct head *h)
{
	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < h->K; k++) {
			struct acc s = {0};
			for (size_t j = 0; j < h->n; j++) {
				double p = h->P[i * h->n + j];
				acc_mul(&s, (struct num){p, p * h->eP[i * h->n + j]}, h->qkv[j * 3 * h->D + 2 * h->D + k]);
			}
			o[i * h->D + k] = acc_end(&s);
		}
}

/* delta as sum dO O (streaming) or as sum P dP (materialised): the larger of the two bounds. */
static struct num row_delta(const struct num *dO, const struct num *o, const struct num *dP, const struct head *h, size_t i)
{
	struct acc a = {0}, b = {0};
	for (size_t k = 0; k < h->K; k++)
		acc_mul(&a, dO[i * h->D + k], o[i * h->D + k]);
	for (size_t j = 0; j < h->n; j++) {
		double p = h->P[i * h->n + j];
		acc_mul(&b, (struct num){p, p * h->eP[i * h->n + j]}, dP[j]);
	}
	struct num x = acc_end(&a), y = acc_end(&b);
	return (struct num){x.v, fmax(x.e, y.e)};
}

/* dS = P (dP - delta), and the three sums; dqkv in the layout of qkv. */
static void head_backward(struct acc *dqkv, const struct num *dO, const struct num *o, const struct head *h)
{
	size_t D = h->D, n = h->n;
	struct num *dP = oracle_alloc(n, sizeof *dP);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			struct acc s = {0};
			for (size_t k = 0; k < h->K; k++)
				acc_mul(&s, dO[i * D + k], h->qkv[j * 3 * D + 2 * D + k]);
			dP[j] = acc_end(&s);
		}
		struct num delta = row_delta(dO, o, dP, h, i);
		for (size_t j = 0; j < n; j++) {
			double v = h->P[i * n + j];
			struct num p = {v, v * (h->eP[i * n + j] + h->far[i])};
			if (v == 0)
				continue;
			struct num ds = num_mul(num_mul(p, num_sub(dP[j], delta)), rounded(h->scale, 0));
			for (size_t k = 0; k < h->K; k++) {
				acc_mul(dqkv + i * 3 * D + k, ds, h->qkv[j * 3 * D + D + k]);
				acc_mul(dqkv + j * 3 * D + D + k, ds, h->qkv[i * 3 * D + k]);
				acc_mul(dqkv + j * 3 * D + 2 * D + k, p, dO[i * D + k]);
			}
		}
	}
	free(dP);
}

struct layer {
	const struct n2d_layer_config *c;
	size_t R, n;
	struct num *qkv, *o;
	struct head *heads;
};

static void forward(struct layer *l, struct num *y, const double *x, const double *p)
{
	size_t D = l->c->D, n = l->n, K = D / l->c->H;
	const double *in_bias = p + 3 * D * D, *out = in_bias + 3 * D;
	struct num *row = oracle_alloc(D, sizeof *row);
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++)
			row[i] = exact(x[t * D + i]);
		oracle_linear(l->qkv + t * 3 * D, row, p, in_bias, D, 3 * D);
	}
	for (size_t h = 0; h < l->c->H; h++) {
		l->heads[h] = (struct head){n, D, K, l->qkv + h * K, 1 / sqrt((double)K), oracle_alloc(n * n, 8),
					    oracle_alloc(n * n, 8), oracle_alloc(n, 8)};
		for (size_t i = 0; i < n; i++)
			row_weights(l->c, l->R, l->heads + h, i);
		head_forward(l->o + h * K, l->heads + h);
	}
	for (size_t t = 0; t < n; t++)
		oracle_linear(y + t * D, l->o + t * D, out, out + D * D, D, D);
	free(row);
}

static void backward(struct layer *l, const double *x, const double *p, const double *dy, struct num *dx, struct acc *dp)
{
	size_t D = l->c->D, n = l->n, K = D / l->c->H, out = 3 * D * D + 3 * D;
	struct num *row = oracle_alloc(D, sizeof *row), *g = oracle_alloc(D, sizeof *g), *dO = oracle_alloc(n * D, sizeof *dO);
	struct num *end = oracle_alloc(3 * D, sizeof *end);
	struct acc *dqkv = oracle_alloc(n * 3 * D, sizeof *dqkv);
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++)
			g[i] = exact(dy[t * D + i]);
		oracle_linear_bwd(dO + t * D, dp + out, dp + out + D * D, g, l->o + t * D, p + out, D, D);
	}
	for (size_t h = 0; h < l->c->H; h++)
		head_backward(dqkv + h * K, dO + h * K, l->o + h * K, l->heads + h);
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++)
			row[i] = exact(x[t * D + i]);
		for (size_t i = 0; i < 3 * D; i++)
			end[i] = acc_end(dqkv + t * 3 * D + i);
		oracle_linear_bwd(dx + t * D, dp, dp + 3 * D * D, end, row, p, D, 3 * D);
	}
	free(row), free(g), free(dO), free(end), free(dqkv);
}

static void run(const struct n2d_layer_config *c, size_t R, size_t n, struct num *y, const double *x, const double *p,
		const double *dy, struct num *dx, struct acc *dp)
{
	struct layer l = {c, R, n, oracle_alloc(n * 3 * c->D, sizeof *l.qkv), oracle_alloc(n * c->D, sizeof *l.o),
			  oracle_alloc(c->H, sizeof *l.heads)};
	forward(&l, y, x, p);
	if (dy)
		backward(&l, x, p, dy, dx, dp);
	for (size_t h = 0; h < c->H; h++)
		free(l.heads[h].P), free(l.heads[h].eP), free(l.heads[h].far);
	free(l.qkv), free(l.o), free(l.heads);
}

static void whole(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		  const double *dy, struct num *dx, struct acc *dp)
{
	run(c, 0, n, y, x, p, dy, dx, dp);
}

static void restricted(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		       const double *dy, struct num *dx, struct acc *dp)
{
	run(c, c->R, n, y, x, p, dy, dx, dp);
}

static const struct layer_variant whole_variants[] = {{1, {.H = 1}}, {1, {.H = 2, .causal = 1}}, {0, {0}}};
static const struct layer_variant restricted_variants[] = {
	{1, {.H = 1, .R = 1}}, {1, {.H = 2, .R = 3, .causal = 1}}, {1, {.H = 2, .R = 16}}, {0, {0}},
};

const struct layer_oracle oracle_self_attention = {"self-attention", whole_variants, whole};
const struct layer_oracle oracle_self_attention_materialised = {"self-attention-materialised", whole_variants, whole};
const struct layer_oracle oracle_restricted_attention = {"restricted-attention", restricted_variants, restricted};
