/* LayerNorm and RMSNorm of one row. Rows are short: every pass after the first reads from cache. */
#include <math.h>

#include "simd/body.h"

/* Two-pass statistics. The first mean is off by its own rounding, which for a large offset is not small against the deviation; the
 * deviations d from it are exact or nearly so, and their mean corrects both results. */
struct stats {
	float mean, low; /* the mean is mean + low */
	float rstd;
};

/* Fetches what lies ahead of the row's source, and of the other one or NULL. */
V_INLINE struct stats statistics(const float *x, size_t n, float eps, const float *source, const float *other)
{
	size_t ahead = v_ahead(n);
	struct stats s = {N2D_FN(sum)(x, n) / (float)n, 0, 0};
	v_t mean = v_set1(s.mean), sd[2] = {v_zero(), v_zero()}, ss[2] = {v_zero(), v_zero()};
	size_t i = 0;
	for (; i + 2 * V_LANES <= n; i += 2 * V_LANES) {
		v_fetch(source + i + ahead, 2 * V_LANES);
		if (other)
			v_fetch(other + i + ahead, 2 * V_LANES);
		V_UNROLL
		for (size_t j = 0; j < 2; j++) {
			v_t d = v_sub(v_load(x + i + j * V_LANES), mean);
			sd[j] = v_add(sd[j], d);
			ss[j] = v_mac(d, d, ss[j]);
		}
	}
	for (; i < n; i += V_LANES) {
		size_t m = n - i < V_LANES ? n - i : V_LANES;
		v_t d = v_sel(m_first(m), v_sub(v_ld(x + i, m), mean), v_zero());
		sd[0] = v_add(sd[0], d);
		ss[0] = v_mac(d, d, ss[0]);
	}
	s.low = v_sum(v_add(sd[0], sd[1])) / (float)n;
	float var = v_sum(v_add(ss[0], ss[1])) / (float)n - s.low * s.low;
	s.rstd = 1 / sqrtf((var > 0 || var != var ? var : 0) + eps);
	return s;
}

void N2D_FN(layernorm_fwd)(float *y, float *s, float *mean, float *rstd, const float *x, const float *r, const float *gamma,
			   const float *beta, size_t n, float eps)
{
	if (!n)
		return;
	const float *t = x;
	float *sum = r && s ? s : y;
	if (r) {
		N2D_FN(add)(sum, x, r, n);
		t = sum;
	}
	struct stats q = statistics(t, n, eps, x, r);
	v_t mean_ = v_set1(q.mean), low = v_set1(q.low), k = v_set1(q.rstd);
	size_t ahead = v_ahead(n);
	V_ROW(n, v_fetch_at(y + ahead, i); if (sum != y) v_fetch_at(sum + ahead, i); v_t d = v_mul(v_sub(v_sub(v_ld(t + i, m), mean_), low), k);
	      v_st(y + i, v_mac(d, v_ld(gamma + i, m), v_ld(beta + i, m)), m));
	*mean = q.mean + q.low;
	*rstd = q.rstd;
}

/* With h = (x - mean) rstd and g = dy gamma: dx = rstd (g - mean(g) - h mean(g h)). */
void N2D_FN(layernorm_bwd)(float *dx, float *dgamma, float *dbeta, const float *dy, const float *x, const float *gamma,
			   float mean, float rstd, size_t n)
{
	v_t vmean = v_set1(mean), k = v_set1(rstd), sg = v_zero(), sgh = v_zero();
	V_ROW(n, v_t h = v_mul(v_sub(v_ld(x + i, m), vmean), k), e = v_ld(dy + i, m), g = v_mul(e, v_ld(gamma + i, m));
	      v_st(dgamma + i, v_mac(e, h, v_ld(dgamma + i, m)), m); v_st(dbeta + i, v_add(e, v_ld(dbeta + i, m)), m);
	      h = m == V_LANES ? h : v_sel(m_first(m), h, v_zero()); sg = v_add(sg, g); sgh = v_mac(g, h, sgh));
	v_t c1 = v_set1(v_sum(sg) / (float)n), c2 = v_set1(v_sum(sgh) / (float)n);
	V_ROW(n, v_t h = v_mul(v_sub(v_ld(x + i, m), vmean), k), g = v_mul(v_ld(dy + i, m), v_ld(gamma + i, m));
	      v_st(dx + i, v_mul(k, v_sub(v_sub(g, c1), v_mul(h, c2))), m));
}

void N2D_FN(rmsnorm_fwd)(float *y, float *s, float *rstd, const float *x, const float *r, const float *gamma, size_t n,
			 float eps)
{
	if (!n)
		return;
	if (r) {
		float *sum = s ? s : y;
		N2D_FN(add)(sum, x, r, n);
		x = sum;
	}
	*rstd = 1 / sqrtf(N2D_FN(dot)(x, x, n) / (float)n + eps);
	v_t k = v_set1(*rstd);
	V_ROW(n, v_st(y + i, v_mul(v_mul(v_ld(x + i, m), k), v_ld(gamma + i, m)), m));
}

/* With h = x rstd and g = dy gamma: dx = rstd (g - h mean(g h)). */
void N2D_FN(rmsnorm_bwd)(float *dx, float *dgamma, const float *dy, const float *x, const float *gamma, float rstd, size_t n)
{
	v_t k = v_set1(rstd), sgh = v_zero();
	V_ROW(n, v_t h = v_mul(v_ld(x + i, m), k), e = v_ld(dy + i, m);
	      v_st(dgamma + i, v_mac(e, h, v_ld(dgamma + i, m)), m); sgh = v_mac(v_mul(e, v_ld(gamma + i, m)), h, sgh));
	v_t c = v_set1(v_sum(sgh) / (float)n);
	V_ROW(n, v_t h = v_mul(v_ld(x + i, m), k), g = v_mul(v_ld(dy + i, m), v_ld(gamma + i, m));
	      v_st(dx + i, v_mul(k, v_sub(g, v_mul(h, c))), m));
}
