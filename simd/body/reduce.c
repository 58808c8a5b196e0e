/* Sums and extrema of a row. Four accumulators hide the latency of the operation. */
#include <math.h>

#include "simd/body.h"

float N2D_FN(dot)(const float *x, const float *y, size_t n)
{
	v_t s[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
	size_t i = 0;
	for (; i + 4 * V_LANES <= n; i += 4 * V_LANES)
		V_UNROLL
		for (size_t j = 0; j < 4; j++)
			s[j] = v_mac(v_load(x + i + j * V_LANES), v_load(y + i + j * V_LANES), s[j]);
	for (; i < v_whole(n); i += V_LANES)
		s[0] = v_mac(v_load(x + i), v_load(y + i), s[0]);
	s[1] = v_mac(v_loadn(x + i, n - i), v_loadn(y + i, n - i), s[1]);
	return v_sum(v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
}

float N2D_FN(sum)(const float *x, size_t n)
{
	v_t s[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
	size_t i = 0;
	for (; i + 4 * V_LANES <= n; i += 4 * V_LANES)
		V_UNROLL
		for (size_t j = 0; j < 4; j++)
			s[j] = v_add(s[j], v_load(x + i + j * V_LANES));
	for (; i < v_whole(n); i += V_LANES)
		s[0] = v_add(s[0], v_load(x + i));
	s[1] = v_add(s[1], v_loadn(x + i, n - i));
	return v_sum(v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
}

/* v_max would lose a NaN when the next element comes: they are looked for apart. */
float N2D_FN(max)(const float *x, size_t n)
{
	v_t low = v_set1(-INFINITY), s[4] = {low, low, low, low};
	m_t nan = m_first(0);
	size_t i = 0;
	for (; i + 4 * V_LANES <= n; i += 4 * V_LANES)
		V_UNROLL
		for (size_t j = 0; j < 4; j++) {
			v_t a = v_load(x + i + j * V_LANES);
			s[j] = v_max(a, s[j]);
			nan = m_or(nan, m_not(v_eq(a, a)));
		}
	for (; i < n; i += V_LANES) {
		size_t m = n - i < V_LANES ? n - i : V_LANES;
		v_t a = v_sel(m_first(m), v_loadn(x + i, m), low);
		s[0] = v_max(a, s[0]);
		nan = m_or(nan, m_not(v_eq(a, a)));
	}
	return m_any(nan) ? NAN : v_hmax(v_max(v_max(s[0], s[1]), v_max(s[2], s[3])));
}
