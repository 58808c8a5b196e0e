/* Claims about scores, softmax and positions, which need no model. */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "bench/claims.h"
#include "op/position.h"

enum { KEYS = 64, QUERIES = 256, WIDTHS = 3, WIDEST = 256 };
static const size_t widths[WIDTHS] = {16, 64, 256};

/* Each score of a query and a key of its own, so that all are independent. */
static void scores(const struct n2d_ctx *ctx, float *x, size_t d_k)
{
	float q[WIDEST], k[WIDEST];
	struct n2d_rng r;
	n2d_rng_init(&r, 1, d_k);
	for (size_t i = 0; i < KEYS * QUERIES; i++) {
		n2d_rng_fill_normal(&r, q, d_k, 0, 1);
		n2d_rng_fill_normal(&r, k, d_k, 0, 1);
		x[i] = ctx->k->dot(q, k, d_k);
	}
}

static double variance(const float *x, size_t n)
{
	double sum = 0, square = 0;
	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		square += (double)x[i] * x[i];
	}
	return square / (double)n - sum / (double)n * (sum / (double)n);
}

/* Means over queries of softmax's entropy, nats, and of the trace of its Jacobian, sum p (1 - p): 0 where nothing can be learnt. */
struct softness {
	double entropy, gradient;
};

static struct softness softness(const struct n2d_ctx *ctx, const float *x, float scale)
{
	struct softness s = {0, 0};
	float p[KEYS];
	for (size_t i = 0; i < QUERIES; i++) {
		ctx->k->softmax_fwd(p, x + i * KEYS, scale, 0, KEYS, KEYS);
		for (size_t j = 0; j < KEYS; j++) {
			s.entropy -= p[j] > 0 ? p[j] * log(p[j]) / QUERIES : 0;
			s.gradient += p[j] * (1 - p[j]) / QUERIES;
		}
	}
	return s;
}

/* A variance of n products of d_k terms is off by sqrt((2 + 6 / d_k) / n) of itself (their kurtosis is 3 + 6 / d_k); five times that is
 * allowed. Scaled, entropy and gradient may differ between widths by a tenth; unscaled they fall, at the greatest width below half. */
void claims_attention(const struct claims *c)
{
	static const struct claim spread = {"scores q.k of unit variance have variance d_k, scaled by 1/sqrt(d_k) variance 1", "3.2.1"};
	static const struct claim soft = {"unscaled scores of wide keys push softmax to where it has hardly a gradient; scaled ones do not", "3.2.1"};
	static float x[KEYS * QUERIES];
	struct softness first = {0, 0}, last = {INFINITY, INFINITY};
	for (int i = 0; i < WIDTHS; i++) {
		double d_k = (double)widths[i], n = KEYS * QUERIES, bound = 5 * sqrt((2 + 6 / d_k) / n);
		char what[96];
		scores(c->ctx, x, widths[i]);
		double v = variance(x, KEYS * QUERIES);
		struct softness raw = softness(c->ctx, x, 1), scaled = softness(c->ctx, x, (float)(1 / sqrt(d_k)));
		first = i ? first : scaled;
		snprintf(what, sizeof what, "variance, d_k = %g", d_k);
		c->say(c->arg, &spread, what, v, fabs(v / d_k - 1) <= bound);
		snprintf(what, sizeof what, "scaled, d_k = %g", d_k);
		c->say(c->arg, &spread, what, v / d_k, fabs(v / d_k - 1) <= bound);
		snprintf(what, sizeof what, "entropy of %d keys (nats), d_k = %g", KEYS, d_k);
		c->say(c->arg, &soft, what, raw.entropy, raw.entropy < last.entropy && (i + 1 < WIDTHS || raw.entropy < first.entropy / 2));
		snprintf(what, sizeof what, "scaled entropy, d_k = %g", d_k);
		c->say(c->arg, &soft, what, scaled.entropy, fabs(scaled.entropy / first.entropy - 1) <= 0.1);
		snprintf(what, sizeof what, "gradient, d_k = %g", d_k);
		c->say(c->arg, &soft, what, raw.gradient, raw.gradient < last.gradient && (i + 1 < WIDTHS || raw.gradient < first.gradient / 2));
		snprintf(what, sizeof what, "scaled gradient, d_k = %g", d_k);
		c->say(c->arg, &soft, what, scaled.gradient, fabs(scaled.gradient / first.gradient - 1) <= 0.1);
		last = raw;
	}
}

/* A pair (sin, cos) of rate w turned by k w is the pair k positions on. Entries of the table are right to 2^-25, so a turned one, whose
 * two factors add up to at most sqrt(2), differs from the table's by at most (sqrt(2) + 1) 2^-25, and 1e-11 for each angle. */
void claims_positions(const struct claims *c)
{
	static const struct claim linear = {"sinusoidal PE(pos + k) is a linear function of PE(pos)", "3.5"};
	enum { D = 128, POSITIONS = 2000 };
	static float pe[POSITIONS * D];
	n2d_position_sinusoidal(pe, 0, POSITIONS, D);
	for (size_t k = 1; k <= 1000; k *= 10) {
		double worst = 0;
		char what[64];
		for (size_t i = 0; i < D; i += 2) {
			double angle = (double)k * pow(10000, -(double)i / D), s = sin(angle), co = cos(angle);
			for (size_t pos = 0; pos + k < POSITIONS; pos++) {
				const float *a = pe + pos * D + i, *b = a + k * D;
				worst = fmax(worst, fmax(fabs(a[0] * co + a[1] * s - b[0]), fabs(a[1] * co - a[0] * s - b[1])));
			}
		}
		snprintf(what, sizeof what, "largest error, k = %zu", k);
		c->say(c->arg, &linear, what, worst, worst <= (sqrt(2) + 1) * 0x1p-25 + 4e-11);
	}
}
