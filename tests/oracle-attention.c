#include "tests/oracle-attention.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/problem/problem.h" /* gamma_n, U32 */

static double *zeros(size_t a, size_t b, size_t c)
{
	double *p = calloc(a * b * c + 1, sizeof *p);
	if (!p)
		abort();
	return p;
}

struct oracle *oracle_new(const struct n2d_attention *a)
{
	struct oracle *o = calloc(1, sizeof *o);
	size_t heads = a->B * a->H;
	if (!o)
		abort();
	o->a = *a;
	o->P = zeros(heads, a->Tq, a->Tk), o->S = zeros(heads, a->Tq, a->Tk), o->eP = zeros(heads, a->Tq, a->Tk);
	o->lse = zeros(heads, a->Tq, 1), o->else_ = zeros(heads, a->Tq, 1);
	o->O = zeros(heads, a->Tq, a->K), o->eO = zeros(heads, a->Tq, a->K);
	o->dQ = zeros(heads, a->Tq, a->K), o->eQ = zeros(heads, a->Tq, a->K);
	o->dK = zeros(heads, a->Tk, a->K), o->eK = zeros(heads, a->Tk, a->K);
	o->dV = zeros(heads, a->Tk, a->K), o->eV = zeros(heads, a->Tk, a->K);
	return o;
}

void oracle_free(struct oracle *o)
{
	double *all[] = {o->P, o->S, o->eP, o->lse, o->else_, o->O, o->eO, o->dQ, o->eQ, o->dK, o->eK, o->dV, o->eV};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	free(o);
}

int oracle_sees(const struct n2d_attention *a, size_t b, size_t i, size_t j)
{
	int64_t at = (int64_t)i + (int64_t)a->Tk - (int64_t)a->Tq, J = (int64_t)j;
	if (a->qlen && (int64_t)i >= a->qlen[b])
		return 0;
	if (a->klen && J >= a->klen[b])
		return 0;
	if (a->causal && J > at)
		return 0;
	return !a->window || llabs(at - J) <= (int64_t)a->window;
}

/* What one row of one head is. */
struct row {
	const struct n2d_attention *a;
	size_t b, i, at; /* at: (b * H + h) * Tq + i */
	double *S, *P, *eP;
};

static size_t off(struct n2d_strides s, size_t b, size_t h, size_t t) { return b * s.sb + h * s.sh + t * s.st; }

/* Scores and their error bounds (into eP): K products of (scale q) k, each q rounded once more. Returns the maximum. */
static double scores(struct row *r, const float *q, const float *K, struct n2d_strides s, double *worst, double *least)
{
	double max = -INFINITY;
	*worst = 0, *least = INFINITY;
	for (size_t j = 0; j < r->a->Tk; j++) {
		double sum = 0, abs = 0;
		if (!oracle_sees(r->a, r->b, r->i, j))
			continue;
		for (size_t k = 0; k < r->a->K; k++) {
			double t = (double)q[k] * K[j * s.st + k];
			sum += t, abs += fabs(t);
		}
		r->S[j] = r->a->scale * sum;
		r->eP[j] = gamma_n((double)r->a->K + 2) * fabs(r->a->scale) * abs;
		max = r->S[j] > max ? r->S[j] : max;
		*least = r->S[j] < *least ? r->S[j] : *least;
		*worst = r->eP[j] > *worst ? r->eP[j] : *worst;
	}
	return max;
}

/* Row i of the output. Let e bound the error of the row's scores and D = max - min. A weight
 * exp(s - m) has relative error at most expm1(E) with
 *	E = 2 e + (2.5 D + 3) u     score and maximum; roundings of s - m and of its scaling by log2(e); exp itself
 *	  + tiles (4 u) + D u       rescaling for each tile: exp, product, and the roundings of its arguments,
 *	                            which sum to at most D
 * and numerator and denominator are sums of n terms: gamma_{n + tiles + 4} each, with the division. */
static void row_forward(struct oracle *o, struct row *r, size_t h, const float *q, const float *K, const float *V)
{
	const struct n2d_attention *a = r->a;
	double e, least, max = scores(r, q, K + off(a->k, r->b, h, 0), a->k, &e, &least), sum = 0;
	o->lse[r->at] = -INFINITY, o->else_[r->at] = 0;
	if (max == -INFINITY)
		return;
	double n = (double)a->Tk, tiles = n / 192 + 1, D = max - least;
	double E = expm1(2 * e + (3.5 * D + 3 + 4 * tiles) * U32), g = gamma_n(n + tiles + 4);
	for (size_t j = 0; j < a->Tk; j++)
		if (oracle_sees(a, r->b, r->i, j))
			sum += r->P[j] = exp(r->S[j] - max);
	for (size_t j = 0; j < a->Tk; j++) {
		if (!oracle_sees(a, r->b, r->i, j))
			continue;
		r->P[j] /= sum;
		for (size_t k = 0; k < a->K; k++) {
			double t = r->P[j] * V[off(a->v, r->b, h, j) + k];
			o->O[r->at * a->K + k] += t;
			o->eO[r->at * a->K + k] += fabs(t) * 2 * (E + g) * 1.01;
		}
	}
	o->lse[r->at] = max + log(sum);
	o->else_[r->at] = (E + g) * 1.01 + e + 4 * U32 * (fabs(max) + fabs(log(sum)));
}

void oracle_forward(struct oracle *o, const float *Q, const float *K, const float *V)
{
	const struct n2d_attention *a = &o->a;
	for (size_t b = 0; b < a->B; b++)
		for (size_t h = 0; h < a->H; h++)
			for (size_t i = 0; i < a->Tq; i++) {
				size_t at = (b * a->H + h) * a->Tq + i;
				struct row r = {a, b, i, at, o->S + at * a->Tk, o->P + at * a->Tk, o->eP + at * a->Tk};
				row_forward(o, &r, h, Q + off(a->q, b, h, i), K, V);
			}
}

/* The backward of one row: adds to dK and dV, sets dQ. Errors to first order (times 1.01):
 *	P      recomputed as exp(s - lse): relative E = e + (error of lse) + 2.5 u |s - lse| + 3 u
 *	dP     gamma_K sum |dO v|
 *	delta  gamma_K sum |dO O| + sum |dO| (error of O); as sum P dP instead (materialised):
 *	       sum P (2 (E + g) |dP| + error of dP) + gamma_n sum P |dP|, E and g as in row_forward:
 *	       the first part is no more than the above's last, the others come on top
 *	dS     = P (dP - delta): P (E |dP - delta| + both errors + 3 u |dP - delta|)
 * and each gradient is a sum of n products of these, n + 3 roundings with the scale. */
static void row_backward(struct oracle *o, struct row *r, size_t h, const float *dO, const float *q, const float *K,
			 const float *V)
{
	const struct n2d_attention *a = r->a;
	size_t head = r->b * a->H + h;
	double delta = 0, ed = 0, gq = gamma_n((double)a->Tk + 3), gk = gamma_n((double)a->Tq + 3), gK = gamma_n((double)a->K);
	for (size_t k = 0; k < a->K; k++) {
		double O = o->O[r->at * a->K + k], e = o->eO[r->at * a->K + k];
		delta += dO[k] * O, ed += fabs((double)dO[k]) * (e + gK * (fabs(O) + e));
	}
	for (size_t j = 0; o->materialised && j < a->Tk; j++) {
		const float *vj = V + off(a->v, r->b, h, j);
		for (size_t k = 0; k < a->K && r->P[j] != 0; k++)
			ed += 1.01 * r->P[j] * (gK + gq) * fabs((double)dO[k] * vj[k]);
	}
	for (size_t j = 0; j < a->Tk; j++) {
		const float *kj = K + off(a->k, r->b, h, j), *vj = V + off(a->v, r->b, h, j);
		double dP = 0, f = 0, P = r->P[j], scale = a->scale, mag = fabs(scale);
		if (!oracle_sees(a, r->b, r->i, j))
			continue;
		for (size_t k = 0; k < a->K; k++)
			dP += (double)dO[k] * vj[k], f += gK * fabs((double)dO[k] * vj[k]);
		double E = expm1(1.01 * (r->eP[j] + o->else_[r->at] + 2.5 * U32 * fabs(r->S[j] - o->lse[r->at]) + 3 * U32));
		double dS = P * (dP - delta), eS = 1.01 * P * ((E + 3 * U32) * fabs(dP - delta) + (1 + E) * (f + ed));
		size_t row = (head * a->Tk + j) * a->K, at = r->at * a->K;
		for (size_t k = 0; k < a->K; k++) {
			o->dQ[at + k] += scale * dS * kj[k];
			o->eQ[at + k] += mag * fabs((double)kj[k]) * (eS + gq * (fabs(dS) + eS));
			o->dK[row + k] += scale * dS * q[k];
			o->eK[row + k] += mag * fabs((double)q[k]) * (eS + gk * (fabs(dS) + eS));
			o->dV[row + k] += P * dO[k];
			o->eV[row + k] += fabs(P * dO[k]) * (E + gk * (1 + E));
		}
	}
}

void oracle_backward(struct oracle *o, const float *dO, const float *Q, const float *K, const float *V)
{
	const struct n2d_attention *a = &o->a;
	for (size_t b = 0; b < a->B; b++)
		for (size_t h = 0; h < a->H; h++)
			for (size_t i = 0; i < a->Tq; i++) {
				size_t at = (b * a->H + h) * a->Tq + i;
				struct row r = {a, b, i, at, o->S + at * a->Tk, o->P + at * a->Tk, o->eP + at * a->Tk};
				row_backward(o, &r, h, dO + off(a->o, b, h, i), Q + off(a->q, b, h, i), K, V);
			}
}
