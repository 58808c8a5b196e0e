/* y = 1 / (1 + exp(-x)) elementwise. */
#include "simd/body.h"
#include "simd/vmath.h"

void N2D_FN(sigmoid)(float *y, const float *x, size_t n)
{
	size_t i = 0;
	for (; i < v_whole(n); i += V_LANES)
		v_store(y + i, v_sigmoid(v_load(x + i)));
	v_storen(y + i, v_sigmoid(v_loadn(x + i, n - i)), n - i);
}
