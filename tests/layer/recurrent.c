/* RNN, LSTM and GRU of one sentence, step after step, with the error of a float evaluation carried along.
 *
 * A worst-case bound grows with every step by the slopes times sum |U|, while real errors mostly
 * cancel: with wide layers it says much about the first ten steps and little about the thirtieth (it
 * never exceeds the range of tanh), with narrow ones it stays sharp throughout. */
#include <stdlib.h>

#include "tests/layer/oracle.h"

enum cell { RNN, LSTM, GRU };

/* A function of bounded range; slope: its largest slope within a.e of a.v. 2 ulp are at most 4 u. */
static struct num bounded(double v, double slope, double e, double range)
{
	return (struct num){v, fmin(slope * e, range) + 4 * ORACLE_U * fabs(v) + ORACLE_TINY};
}

static struct num num_sigmoid(struct num a)
{
	double s = 1 / (1 + exp(-fmax(fabs(a.v) - a.e, 0)));
	return bounded(1 / (1 + exp(-a.v)), s * (1 - s), a.e, 1);
}

static struct num num_tanh(struct num a)
{
	double t = tanh(fmax(fabs(a.v) - a.e, 0));
	return bounded(tanh(a.v), 1 - t * t, a.e, 2);
}

static struct num slope_sigmoid(struct num s) { return num_mul(s, num_sub(exact(1), s)); }
static struct num slope_tanh(struct num t) { return rounded(1 - t.v * t.v, 2 * fabs(t.v) * t.e + t.e * t.e); }

/* A sentence: g[t][4][D]: h / i f g o / r z n q; c, h, tanh(c): [t + 1][D], entry 0 the zeros before the first step. */
struct run {
	enum cell cell;
	size_t D, G, n;
	const double *w, *u, *b_w, *b_u;
	struct num *g, *c, *h, *tc;
};

static struct num *gate(const struct run *r, size_t t, size_t g) { return r->g + (t * 4 + g) * r->D; }

/* Row i of gate g: the input part, the recurrent part, or both in one sum. */
static struct num sum(const struct run *r, size_t g, size_t i, const double *x, const struct num *h)
{
	struct acc s = {0};
	size_t row = g * r->D + i;
	for (size_t k = 0; x && k < r->D; k++)
		acc_mul(&s, exact(r->w[row * r->D + k]), exact(x[k]));
	for (size_t k = 0; h && k < r->D; k++)
		acc_mul(&s, exact(r->u[row * r->D + k]), h[k]);
	if (x)
		acc_add(&s, exact(r->b_w[row]));
	if (h)
		acc_add(&s, exact(r->b_u[row]));
	return acc_end(&s);
}

static void unit(const struct run *r, size_t t, size_t i, const double *x)
{
	const struct num *hp = r->h + t * r->D, *cp = r->c + t * r->D;
	struct num *h = r->h + (t + 1) * r->D + i, *c = r->c + (t + 1) * r->D + i, *tc = r->tc + (t + 1) * r->D + i, v[4];
	size_t joined = r->cell == GRU ? 2 : r->G;
	for (size_t g = 0; g < joined; g++)
		v[g] = r->cell != RNN && !(r->cell == LSTM && g == 2) ? num_sigmoid(sum(r, g, i, x, hp)) : num_tanh(sum(r, g, i, x, hp));
	switch (r->cell) {
	case RNN: *h = v[0]; break;
	case LSTM:
		*c = num_add(num_mul(v[1], cp[i]), num_mul(v[0], v[2]));
		*tc = num_tanh(*c);
		*h = num_mul(v[3], *tc);
		break;
	case GRU:
		v[3] = sum(r, 2, i, NULL, hp);
		v[2] = num_tanh(num_add(sum(r, 2, i, x, NULL), num_mul(v[0], v[3])));
		*h = num_add(num_mul(v[1], num_sub(hp[i], v[2])), v[2]);
	}
	for (size_t g = 0; g < 4; g++)
		gate(r, t, g)[i] = v[g];
}

/* Gradients before the functions of unit i at step t: da[4]; dh and dc are of this step, and leave as what goes on to
 * the step before by other ways than U. */
static void unit_backward(const struct run *r, size_t t, size_t i, struct num da[4], struct num *dh, struct num *dc)
{
	struct num v[4], d = *dh;
	for (size_t g = 0; g < 4; g++)
		v[g] = gate(r, t, g)[i];
	*dh = exact(0);
	if (r->cell == RNN) {
		da[0] = num_mul(d, slope_tanh(r->h[(t + 1) * r->D + i]));
	} else if (r->cell == LSTM) {
		struct num tc = r->tc[(t + 1) * r->D + i], c = num_add(num_mul(num_mul(d, v[3]), slope_tanh(tc)), *dc);
		da[0] = num_mul(num_mul(c, v[2]), slope_sigmoid(v[0]));
		da[1] = num_mul(num_mul(c, r->c[t * r->D + i]), slope_sigmoid(v[1]));
		da[2] = num_mul(num_mul(c, v[0]), slope_tanh(v[2]));
		da[3] = num_mul(num_mul(d, tc), slope_sigmoid(v[3]));
		*dc = num_mul(c, v[1]);
	} else {
		struct num dn = num_mul(num_mul(d, num_sub(exact(1), v[1])), slope_tanh(v[2]));
		da[0] = num_mul(num_mul(dn, v[3]), slope_sigmoid(v[0]));
		da[1] = num_mul(num_mul(d, num_sub(r->h[t * r->D + i], v[2])), slope_sigmoid(v[1]));
		da[2] = dn;
		da[3] = num_mul(dn, v[0]); /* of q */
		*dh = num_mul(d, v[1]);
	}
}

/* The gradient that the recurrent product of gate g takes. */
static size_t through(const struct run *r, size_t g) { return r->cell == GRU && g == 2 ? 3 : g; }

static void step_backward(const struct run *r, size_t t, const double *x, const double *dy, struct num *dh, struct num *dc,
			  struct num *dx, struct acc *dp)
{
	size_t D = r->D, G = r->G;
	struct num (*da)[4] = oracle_alloc(D, sizeof *da);
	struct acc *dw = dp, *du = dw + G * D * D, *db_w = du + G * D * D, *db_u = db_w + G * D;
	for (size_t i = 0; i < D; i++) {
		dh[i] = num_add(dh[i], exact(dy[i]));
		unit_backward(r, t, i, da[i], dh + i, dc + i);
	}
	for (size_t g = 0; g < G; g++)
		for (size_t i = 0; i < D; i++) {
			struct num a = da[i][g], q = da[i][through(r, g)];
			acc_add(db_w + g * D + i, a);
			acc_add(db_u + g * D + i, q);
			for (size_t k = 0; k < D; k++) {
				acc_mul(dw + (g * D + i) * D + k, a, exact(x[k]));
				if (t)
					acc_mul(du + (g * D + i) * D + k, q, r->h[t * D + k]);
			}
		}
	for (size_t k = 0; k < D; k++) {
		struct acc sx = {0}, sh = {0};
		acc_add(&sh, dh[k]);
		for (size_t g = 0; g < G; g++)
			for (size_t i = 0; i < D; i++) {
				acc_mul(&sx, da[i][g], exact(r->w[(g * D + i) * D + k]));
				acc_mul(&sh, da[i][through(r, g)], exact(r->u[(g * D + i) * D + k]));
			}
		dx[k] = acc_end(&sx);
		dh[k] = acc_end(&sh);
	}
	free(da);
}

static void sentence(enum cell cell, size_t G, const struct n2d_layer_config *c, size_t n, struct num *y, const double *x,
		     const double *p, const double *dy, struct num *dx, struct acc *dp)
{
	size_t D = c->D;
	const double *u = p + G * D * D, *b_w = u + G * D * D;
	struct run r = {cell, D, G, n, p, u, b_w, b_w + G * D, oracle_alloc(n * 4 * D, sizeof *r.g),
			oracle_alloc((n + 1) * D, sizeof *r.c), oracle_alloc((n + 1) * D, sizeof *r.h),
			oracle_alloc((n + 1) * D, sizeof *r.tc)};
	struct num *dh = oracle_alloc(D, sizeof *dh), *dc = oracle_alloc(D, sizeof *dc);
	for (size_t t = 0; t < n; t++)
		for (size_t i = 0; i < D; i++) {
			unit(&r, t, i, x + t * D);
			y[t * D + i] = r.h[(t + 1) * D + i];
		}
	for (size_t t = n; dy && t-- > 0;)
		step_backward(&r, t, x + t * D, dy + t * D, dh, dc, dx + t * D, dp);
	free(r.g), free(r.c), free(r.h), free(r.tc), free(dh), free(dc);
}

#define CELL(id, cell, gates) \
	static void id(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p, \
		       const double *dy, struct num *dx, struct acc *dp) \
	{ \
		sentence(cell, gates, c, n, y, x, p, dy, dx, dp); \
	} \
	const struct layer_oracle oracle_##id = {#id, variants, id};

/* Causal by nature: the flag only says so to the test of it. */
static const struct layer_variant variants[] = {{1, {.causal = 1}}, {0, {0}}};

CELL(rnn, RNN, 1)
CELL(lstm, LSTM, 4)
CELL(gru, GRU, 3)
