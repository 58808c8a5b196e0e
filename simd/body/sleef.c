/* The math rows by SLEEF, for comparison with the inline versions. */
#include "simd/body.h"

#ifdef HAVE_SLEEF
#include "simd/vsleef.h"

#define UNARY(name) \
	void N2D_FN(name##_sleef)(float *y, const float *x, size_t n) \
	{ \
		size_t i = 0; \
		for (; i < v_whole(n); i += V_LANES) \
			v_store(y + i, v_sleef_##name(v_load(x + i))); \
		if (i < n) \
			v_storen(y + i, v_sleef_##name(v_loadn(x + i, n - i)), n - i); \
	}

UNARY(exp)
UNARY(log)
UNARY(tanh)
UNARY(sigmoid)
#endif
