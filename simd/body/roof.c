/* The peak of the multiply-add: twelve independent chains of vectors hide its latency on every processor known
 * (latency 4, two units: eight are enough), and no memory is touched inside. */
#include "simd/body.h"

enum { CHAINS = 192, VECTORS = 12 };

float N2D_FN(fma_peak)(float a, float b, size_t n)
{
	static const float start[CHAINS / VECTORS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	const v_t va = v_set1(a), vb = v_set1(b);
	v_t sum = v_zero();
	/* Sixteen lanes' worth of chains, V_LANES (which divides 16) at a time. Their starts differ: equal chains would be
	 * computed once. */
	for (size_t block = 0; block < CHAINS / VECTORS; block += V_LANES) {
		v_t x[VECTORS];
#pragma GCC unroll 12
		for (int j = 0; j < VECTORS; j++)
			x[j] = v_add(v_load(start + block), v_set1(0.0625f * (float)j));
		for (size_t i = 0; i < n; i++) {
#pragma GCC unroll 12
			for (int j = 0; j < VECTORS; j++)
				x[j] = v_mac(va, x[j], vb);
		}
#pragma GCC unroll 12
		for (int j = 0; j < VECTORS; j++)
			sum = v_add(sum, x[j]);
	}
	return v_sum(sum);
}
