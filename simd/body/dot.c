/* Sum of products. Four accumulators hide the latency of the multiply-add. */
#include "simd/body.h"

float N2D_FN(dot)(const float *x, const float *y, size_t n)
{
	v_t s[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
	size_t i = 0;
	for (; i + 4 * V_LANES <= n; i += 4 * V_LANES)
#pragma GCC unroll 4
		for (size_t j = 0; j < 4; j++)
			s[j] = v_mac(v_load(x + i + j * V_LANES), v_load(y + i + j * V_LANES), s[j]);
	for (; i < v_whole(n); i += V_LANES)
		s[0] = v_mac(v_load(x + i), v_load(y + i), s[0]);
	s[1] = v_mac(v_loadn(x + i, n - i), v_loadn(y + i, n - i), s[1]);
	return v_sum(v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
}
