/* Cross entropy of one row of logits, and its denominator alone. */
#include <math.h>

#include "simd/attn_tile.h"
#include "simd/body.h"
#include "simd/vmath.h"

/* The next row's turn comes soon, and the exponentials leave memory idle: the same place of it is fetched.
 * With m = max z, d = z - m, S = sum exp(d): nll = log S - d[target], loss = log S - (1 - eps) d[target] - eps mean(d): no
 * term is larger than the spread of the logits. */
float N2D_FN(xent)(float *dz, float *nll, const float *z, size_t target, float eps, float weight, size_t n)
{
	float top = N2D_FN(max)(z, n), dt = z[target] - top;
	v_t vtop = v_set1(top), sd[2] = {v_zero(), v_zero()}, se[2] = {v_zero(), v_zero()};
	size_t at = 0;
	for (; at + 2 * V_LANES <= n; at += 2 * V_LANES)
		V_UNROLL
		for (size_t j = 0; j < 2; j++) {
			v_fetch_at(z + n, at + j * V_LANES);
			v_t d = v_sub(v_load(z + at + j * V_LANES), vtop), e = v_exp(d);
			sd[j] = v_add(sd[j], d);
			se[j] = v_add(se[j], e);
			v_store(dz + at + j * V_LANES, e);
		}
	for (; at < n; at += V_LANES) {
		size_t m = n - at < V_LANES ? n - at : V_LANES;
		v_t d = v_sub(v_ld(z + at, m), vtop), e = v_exp(d);
		sd[0] = v_add(sd[0], v_sel(m_first(m), d, v_zero()));
		se[0] = v_add(se[0], v_sel(m_first(m), e, v_zero()));
		v_st(dz + at, e, m);
	}
	float s = v_sum(v_add(se[0], se[1])), mean = v_sum(v_add(sd[0], sd[1])) / (float)n, log_s = logf(s);
	v_t a = v_set1(weight / s), b = v_set1(-weight * eps / (float)n);
	V_ROW(n, v_st(dz + i, v_mac(a, v_ld(dz + i, m), b), m));
	dz[target] -= weight * (1 - eps);
	*nll = log_s - dt;
	return eps > 0 ? log_s - (1 - eps) * dt - eps * mean : *nll;
}

float N2D_FN(sum_exp)(const float *x, float top, size_t n)
{
	v_t vtop = v_set1(top), sum = v_zero();
	size_t at = 0;
	for (; at + V_CHAINS * V_LANES <= n; at += V_CHAINS * V_LANES) {
		v_t e[V_CHAINS];
		V_UNROLL
		for (size_t i = 0; i < V_CHAINS; i++)
			e[i] = v_sub(v_load(x + at + i * V_LANES), vtop);
		attn_exp(V_CHAINS, e);
		V_UNROLL
		for (size_t i = 0; i < V_CHAINS; i++)
			sum = v_add(sum, e[i]);
	}
	for (; at < n; at += V_LANES) {
		size_t m = n - at < V_LANES ? n - at : V_LANES;
		v_t e[V_CHAINS] = {v_sub(v_ld(x + at, m), vtop)};
		attn_exp(1, e);
		sum = v_add(sum, v_sel(m_first(m), e[0], v_zero()));
	}
	return v_sum(sum);
}
