/* The math rows: the functions of vmath.h over arrays. */
#include "simd/body.h"
#include "simd/vmath.h"

#define UNARY(name) \
	void N2D_FN(name)(float *y, const float *x, size_t n) \
	{ \
		size_t i = 0; \
		for (; i < v_whole(n); i += V_LANES) \
			v_store(y + i, v_##name(v_load(x + i))); \
		v_storen(y + i, v_##name(v_loadn(x + i, n - i)), n - i); \
	}

UNARY(exp)
UNARY(log)
UNARY(tanh)
UNARY(sigmoid)
