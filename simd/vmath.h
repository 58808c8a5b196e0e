/* Vector mathematics in the vocabulary, for innermost loops: a call into a library clobbers
 * every vector register, these do not. Built from operations that round once on every
 * instruction set, so results agree bit for bit across them. */
#ifndef N2D_VMATH_H
#define N2D_VMATH_H

#include <math.h>

#include "simd/vec.h"

/* x = n ln2 + r with |r| <= ln2 / 2; returns exp(r) - 1 = r + r^2 q(r), q of degree 4, minimax in the
 * relative error of the whole (1.6e-8). NaN gives NaN. */
static inline v_t v_expm1r_(v_t x, v_t *n)
{
	*n = v_round(v_mul(x, v_set1(0x1.715476p+0f)));
	v_t r = v_fnma(*n, v_set1(0x1.62e43p-1f), x);
	r = v_fnma(*n, v_set1(-0x1.05c61p-29f), r);
	v_t q = v_set1(0x1.6d9916p-10f);
	q = v_fma(q, r, v_set1(0x1.12280cp-7f));
	q = v_fma(q, r, v_set1(0x1.555486p-5f));
	q = v_fma(q, r, v_set1(0x1.5554bp-3f));
	q = v_fma(q, r, v_set1(0.5f));
	return v_fma(v_mul(r, r), q, r);
}

/* exp(x), at most 1.1 ulp over all floats: -inf -> 0, NaN -> NaN, overflow -> inf, results below
 * the smallest denormal -> 0; the same time for any x. The clamps have x as the second operand: NaN passes. */
static inline v_t v_exp(v_t x)
{
	v_t n, p = v_expm1r_(v_min(v_set1(90.0f), v_max(v_set1(-105.0f), x)), &n);
	return v_ldexp(v_add(p, v_set1(1.0f)), n);
}

/* Vectors whose exponentials are computed side by side: each is a chain of some 50 cycles, and the processor looks only so far ahead. */
enum { V_CHAINS = V_LANES >= 16 ? 4 : V_LANES > 1 ? 2 : 1 };

/* t = 2^t for weights, n vectors, t < 128: NaN -> NaN; below 2^-126, -inf included, 0. Cheaper than v_exp by what only other
 * arguments need. Relative error 1.5 u.
 *
 * t = n + r: adding 1.5 * 2^23 + 127 rounds t to the integer n and leaves n + 127, the exponent of 2^n as a float stores it, in the sum's
 * last bits. 2^r = 1 + r q(r), q of degree 5 interpolating at Chebyshev nodes (relative error 1e-8). */
V_INLINE void v_weights(const int n, v_t t[V_CHAINS])
{
	static const float q[] = {0x1.5f0890p-10f, 0x1.3b2a54p-7f, 0x1.c6af6cp-5f, 0x1.ebfbe0p-3f, 0x1.62e430p-1f, 1};
	const v_t round = v_set1(0x1.8p23f + 127);
	v_t x[V_CHAINS], p[V_CHAINS];
	V_UNROLL
	for (int i = 0; i < n; i++)
		t[i] = v_max(v_set1(-127), t[i]);
	V_UNROLL
	for (int i = 0; i < n; i++)
		x[i] = v_add(t[i], round);
	V_UNROLL
	for (int i = 0; i < n; i++)
		t[i] = v_sub(t[i], v_sub(x[i], round)), p[i] = v_set1(0x1.44138ap-13f);
	V_UNROLL
	for (int k = 0; k < 6; k++)
		V_UNROLL
		for (int i = 0; i < n; i++)
			p[i] = v_mac(p[i], t[i], v_set1(q[k]));
	V_UNROLL
	for (int i = 0; i < n; i++)
		t[i] = v_mul(p[i], i_bits(i_shl(v_bits(x[i]), 23)));
}

/* 2^n for integral n in [-126, 127]. */
static inline v_t v_pow2_(v_t n) { return i_bits(i_shl(i_add(v_toi(n), i_set1(127)), 23)); }

/* 1 / (1 + exp(-x)), at most 2 ulp, also where it is denormal. exp(-|x|) = 2^n (1 + p) cannot overflow; with
 * c = 1 / d, d = 1 + exp(-|x|), the value is c for x >= 0, else (c + c p) 2^n, where the exponential is rounded
 * only as part of the result; there p also takes up what d lost by rounding, t. */
static inline v_t v_sigmoid(v_t x)
{
	v_t n, one = v_set1(1.0f), p = v_expm1r_(v_max(v_set1(-105.0f), v_neg(v_abs(x))), &n);
	v_t s = v_pow2_(v_max(n, v_set1(-100.0f))); /* below, d is 1 */
	v_t s1 = v_add(one, s), d = v_fma(s, p, s1), t = v_fma(s, p, v_sub(s1, d));
	v_t c = v_div(one, d);
	return v_sel(v_lt(x, v_zero()), v_ldexp(v_fma(c, v_fnma(t, c, p), c), n), c);
}

/* tanh(x), at most 2 ulp: x + x^3 c(x^2) for |x| < 0.55, c of degree 4 minimax (relative error 3e-9), so tanh(x) = x down
 * to the last denormal; else 1 - 2u / (1 + u) with u = exp(-2|x|), and the sign of x. At |x| >= 10 tanh is 1 to
 * rounding: the clamp keeps 2^n normal. */
static inline v_t v_tanh(v_t x)
{
	v_t n, one = v_set1(1.0f), a = v_min(v_set1(10.0f), v_abs(x)), z = v_mul(a, a);
	v_t p = v_expm1r_(v_mul(v_set1(-2.0f), a), &n), s = v_pow2_(n), u = v_fma(s, p, s);
	v_t far = v_sub(one, v_div(v_add(u, u), v_add(one, u)));
	v_t c = v_set1(-0x1.9abd32p-8f);
	c = v_fma(c, z, v_set1(0x1.5929dep-6f));
	c = v_fma(c, z, v_set1(-0x1.b9264ep-5f));
	c = v_fma(c, z, v_set1(0x1.110d1ap-3f));
	c = v_fma(c, z, v_set1(-0x1.55554ap-2f));
	v_t t = v_sel(v_lt(a, v_set1(0.55f)), v_fma(v_mul(a, z), c, a), far);
	return i_bits(i_or(i_and(v_bits(x), i_set1(INT32_MIN)), v_bits(t)));
}

/* log(x), at most 1 ulp over all floats: 0 -> -inf, x < 0 -> NaN, inf -> inf, NaN -> NaN, denormals as they are.
 *
 * x = 2^e (1 + f) with 1 + f in [2/3, 4/3), log(1 + f) = f - f^2/2 + f^3 c(f), c of degree 7 minimax
 * (relative error 4.6e-9). e is kept 2^23 times as large, as it lies in the bits, and ln2 so much smaller. */
static inline v_t v_log(v_t x)
{
	m_t tiny = v_lt(x, v_set1(0x1p-126f));
	v_t y = v_sel(tiny, v_mul(x, v_set1(0x1p23f)), x);
	i_t b = v_bits(y), e = i_and(i_sub(b, i_set1(0x3f2aaaab)), i_set1((int32_t)0xff800000));
	v_t f = v_sub(i_bits(i_sub(b, e)), v_set1(1.0f));
	v_t n = v_sub(i_tov(e), v_sel(tiny, v_set1(0x17p23f), v_zero()));
	v_t c = v_set1(-0x1.0804d8p-3f);
	c = v_fma(c, f, v_set1(0x1.1e6654p-3f));
	c = v_fma(c, f, v_set1(-0x1.f3119ap-4f));
	c = v_fma(c, f, v_set1(0x1.1ed72cp-3f));
	c = v_fma(c, f, v_set1(-0x1.559dc8p-3f));
	c = v_fma(c, f, v_set1(0x1.99d026p-3f));
	c = v_fma(c, f, v_set1(-0x1.fffefp-3f));
	c = v_fma(c, f, v_set1(0x1.555506p-2f));
	c = v_mul(v_mul(f, f), v_fma(c, f, v_set1(-0.5f)));
	c = v_fma(n, v_set1(-0x1.05c61p-52f), c);
	c = v_fma(n, v_set1(0x1.62e43p-24f), v_add(f, c));
	c = v_sel(v_lt(x, v_set1(INFINITY)), c, x); /* inf and NaN pass */
	c = v_sel(v_lt(x, v_zero()), v_set1(NAN), c);
	return v_sel(v_eq(x, v_zero()), v_set1(-INFINITY), c);
}

#endif
