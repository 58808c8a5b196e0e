/* SLEEF's functions of at most 1 ulp as vocabulary, by the names that belong to an instruction set and never
 * dispatch themselves. Scalar and emulations use the version in plain C, which needs no fused multiply-add
 * and so may differ from the others in the last bit. For rows that compare with simd/vmath.h. */
#ifndef N2D_VSLEEF_H
#define N2D_VSLEEF_H

#include <sleef.h>

#include "simd/vec.h"

#if defined N2D_VEC_avx512
static inline v_t v_sleef_exp(v_t x) { return Sleef_finz_expf16_u10avx512f(x); }
static inline v_t v_sleef_log(v_t x) { return Sleef_finz_logf16_u10avx512f(x); }
static inline v_t v_sleef_tanh(v_t x) { return Sleef_finz_tanhf16_u10avx512f(x); }
#elif defined N2D_VEC_avx2
static inline v_t v_sleef_exp(v_t x) { return Sleef_finz_expf8_u10avx2(x); }
static inline v_t v_sleef_log(v_t x) { return Sleef_finz_logf8_u10avx2(x); }
static inline v_t v_sleef_tanh(v_t x) { return Sleef_finz_tanhf8_u10avx2(x); }
#elif defined N2D_VEC_neon
static inline v_t v_sleef_exp(v_t x) { return Sleef_finz_expf4_u10advsimd(x); }
static inline v_t v_sleef_log(v_t x) { return Sleef_finz_logf4_u10advsimd(x); }
static inline v_t v_sleef_tanh(v_t x) { return Sleef_finz_tanhf4_u10advsimd(x); }
#else
/* By macro: compilers disagree on the type of SLEEF's `const float` functions. */
#define V_LANEWISE_(name, f) \
	static inline v_t name(v_t x) \
	{ \
		float a[V_LANES]; \
		v_store(a, x); \
		for (size_t l = 0; l < V_LANES; l++) \
			a[l] = f(a[l]); \
		return v_load(a); \
	}
V_LANEWISE_(v_sleef_exp, Sleef_cinz_expf1_u10purec)
V_LANEWISE_(v_sleef_log, Sleef_cinz_logf1_u10purec)
V_LANEWISE_(v_sleef_tanh, Sleef_cinz_tanhf1_u10purec)
#undef V_LANEWISE_
#endif

/* 1 / (1 + exp(-x)) from SLEEF's exp, at most 3 ulp: of e = exp(-|x|), 1 / (1 + e), or e / (1 + e) for x < 0. */
static inline v_t v_sleef_sigmoid(v_t x)
{
	v_t one = v_set1(1.0f), e = v_sleef_exp(v_neg(v_abs(x)));
	return v_div(v_sel(v_lt(x, v_zero()), e, one), v_add(one, e));
}

#endif
