/* Vector mathematics in the vocabulary, for innermost loops: a call into a library clobbers
 * every vector register, these do not. Built from operations that round once on every
 * instruction set, so results agree bit for bit across them. */
#ifndef N2D_VMATH_H
#define N2D_VMATH_H

#include "simd/vec.h"

/* exp(x), at most 1 ulp over all floats (tests/problem/math.c sweeps them): -inf -> 0, NaN -> NaN,
 * overflow -> inf, results below the smallest denormal -> 0; the same time for any x.
 *
 * x = n ln2 + r with |r| <= ln2 / 2; exp(r) = 1 + r + r^2 q(r), q of degree 4 interpolating at
 * Chebyshev nodes (relative error 1.1e-8). The clamps have x as the second operand: NaN passes. */
static inline v_t v_exp(v_t x)
{
	x = v_min(v_set1(90.0f), v_max(v_set1(-105.0f), x));
	v_t n = v_round(v_mul(x, v_set1(0x1.715476p+0f)));
	v_t r = v_fnma(n, v_set1(0x1.62e43p-1f), x);
	r = v_fnma(n, v_set1(-0x1.05c61p-29f), r);
	v_t q = v_set1(0x1.6d110ap-10f);
	q = v_fma(q, r, v_set1(0x1.120b6ep-7f));
	q = v_fma(q, r, v_set1(0x1.55551ap-5f));
	q = v_fma(q, r, v_set1(0x1.5554dcp-3f));
	q = v_fma(q, r, v_set1(0.5f));
	v_t p = v_fma(v_mul(r, r), q, r);
	return v_ldexp(v_add(p, v_set1(1.0f)), n);
}

#endif
