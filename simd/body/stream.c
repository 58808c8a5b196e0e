/* Bandwidth: what a kernel can read and write when it does nothing else. Eight vectors a round keep the load and
 * store units busy; eight sums hide the latency of the addition. */
#include "simd/body.h"

enum { UNROLL = 8 };
static const size_t STEP = UNROLL * V_LANES;

float N2D_FN(stream_read)(const float *x, size_t n)
{
	v_t s[UNROLL];
	size_t i = 0;
#pragma GCC unroll 8
	for (int j = 0; j < UNROLL; j++)
		s[j] = v_zero();
	for (; i + STEP <= n; i += STEP) {
#pragma GCC unroll 8
		for (int j = 0; j < UNROLL; j++)
			s[j] = v_add(s[j], v_load(x + i + j * V_LANES));
	}
	v_t sum = v_zero();
#pragma GCC unroll 8
	for (int j = 0; j < UNROLL; j++)
		sum = v_add(sum, s[j]);
	for (; i < v_whole(n); i += V_LANES)
		sum = v_add(sum, v_load(x + i));
	return v_sum(v_add(sum, v_loadn(x + i, n - i)));
}

void N2D_FN(stream_copy)(float *y, const float *x, size_t n)
{
	size_t i = 0;
	for (; i + STEP <= n; i += STEP) {
#pragma GCC unroll 8
		for (int j = 0; j < UNROLL; j++)
			v_store(y + i + j * V_LANES, v_load(x + i + j * V_LANES));
	}
	for (; i < v_whole(n); i += V_LANES)
		v_store(y + i, v_load(x + i));
	v_storen(y + i, v_loadn(x + i, n - i), n - i);
}

void N2D_FN(stream_triad)(float *z, const float *x, const float *y, float a, size_t n)
{
	const v_t va = v_set1(a);
	size_t i = 0;
	for (; i + STEP <= n; i += STEP) {
#pragma GCC unroll 8
		for (int j = 0; j < UNROLL; j++)
			v_store(z + i + j * V_LANES, v_mac(va, v_load(y + i + j * V_LANES), v_load(x + i + j * V_LANES)));
	}
	for (; i < v_whole(n); i += V_LANES)
		v_store(z + i, v_mac(va, v_load(y + i), v_load(x + i)));
	v_storen(z + i, v_mac(va, v_loadn(y + i, n - i), v_loadn(x + i, n - i)), n - i);
}

void N2D_FN(stream_update)(float *y, float a, size_t n)
{
	const v_t va = v_set1(a);
	size_t i = 0;
	for (; i + STEP <= n; i += STEP) {
#pragma GCC unroll 8
		for (int j = 0; j < UNROLL; j++)
			v_store(y + i + j * V_LANES, v_mul(va, v_load(y + i + j * V_LANES)));
	}
	for (; i < v_whole(n); i += V_LANES)
		v_store(y + i, v_mul(va, v_load(y + i)));
	v_storen(y + i, v_mul(va, v_loadn(y + i, n - i)), n - i);
}
