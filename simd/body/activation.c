/* ReLU, GELU and SwiGLU, forward and backward. */
#include "simd/body.h"
#include "simd/vmath.h"

/* v_max(0, x): NaN, the second operand, stays. */
void N2D_FN(relu_fwd)(float *y, const float *x, size_t n) { V_ROW(n, v_st(y + i, v_max(v_zero(), v_ld(x + i, m)), m)); }

void N2D_FN(relu_bwd)(float *dx, const float *dy, const float *y, size_t n)
{
	V_ROW(n, v_st(dx + i, v_sel(v_le(v_ld(y + i, m), v_zero()), v_zero(), v_ld(dy + i, m)), m));
}

/* Phi, the distribution function of N(0,1), at -|x| is e r for |x| <= 15: e = exp(-x^2 / 2), r = erfcx(|x| / sqrt 2) / 2, a smooth
 * function that is a polynomial of degree 9 in t = (4 - |x|) / (4 + |x|) to 3e-8 (minimax). What x^2 loses
 * by rounding is put back. */
static inline v_t v_phi_(v_t x, v_t *e)
{
	v_t half = v_set1(-0.5f), a = v_abs(x), h = v_mul(a, a), low = v_fma(a, a, v_neg(h));
	v_t n, p = v_expm1r_(v_mul(half, h), &n), u = v_add(p, v_set1(1.0f));
	*e = v_ldexp(v_fma(v_mul(half, low), u, u), n);
	v_t four = v_set1(4.0f), t = v_div(v_sub(four, a), v_add(four, a));
	v_t r = v_set1(0x1.0da534p-14f);
	r = v_fma(r, t, v_set1(-0x1.5c6fap-13f));
	r = v_fma(r, t, v_set1(-0x1.58d38cp-11f));
	r = v_fma(r, t, v_set1(0x1.06e47ep-11f));
	r = v_fma(r, t, v_set1(0x1.16773ep-7f));
	r = v_fma(r, t, v_set1(0x1.f9b458p-6f));
	r = v_fma(r, t, v_set1(0x1.25b5eep-4f));
	r = v_fma(r, t, v_set1(0x1.fd7506p-4f));
	r = v_fma(r, t, v_set1(0x1.5cf97ep-3f));
	return v_fma(r, t, v_set1(0x1.82b4bcp-4f));
}

/* Beyond +-15 Phi is 0 or 1 to the last denormal, so the limits at infinity come without a special case. For x < 0 the
 * small factor comes last: e r may be denormal where x e r is not. */
static inline v_t v_gelu(v_t x)
{
	v_t e, lo = v_max(v_set1(-15.0f), x), r = v_phi_(v_min(v_set1(15.0f), lo), &e);
	return v_sel(v_lt(lo, v_zero()), v_mul(v_mul(lo, r), e), v_mul(lo, v_fnma(e, r, v_set1(1.0f))));
}

static inline v_t v_gelu_slope(v_t x)
{
	v_t e, c = v_min(v_set1(15.0f), v_max(v_set1(-15.0f), x)), r = v_phi_(c, &e);
	v_t phi = v_sel(v_lt(c, v_zero()), v_mul(e, r), v_fnma(e, r, v_set1(1.0f)));
	return v_fma(v_mul(c, v_set1(0x1.988454p-2f)), e, phi); /* density e / sqrt(2 pi) */
}

void N2D_FN(gelu_fwd)(float *y, const float *x, size_t n) { V_ROW(n, v_st(y + i, v_gelu(v_ld(x + i, m)), m)); }

void N2D_FN(gelu_bwd)(float *dx, const float *dy, const float *x, size_t n)
{
	V_ROW(n, v_st(dx + i, v_mul(v_ld(dy + i, m), v_gelu_slope(v_ld(x + i, m))), m));
}

/* A factor of sigmoid that keeps infinity from meeting 0: where it is cut, sigmoid is 0 or 1 to the last denormal. */
static inline v_t v_silu(v_t x, v_t s) { return v_mul(v_max(v_set1(-1e30f), x), s); }

static inline v_t v_silu_slope(v_t x, v_t s)
{
	v_t one = v_set1(1.0f), c = v_min(v_set1(128.0f), v_max(v_set1(-128.0f), x));
	return v_mul(s, v_fma(c, v_sub(one, s), one));
}

void N2D_FN(swiglu_fwd)(float *y, const float *x, const float *u, size_t n)
{
	V_ROW(n, {
		v_t g = v_ld(x + i, m);
		v_st(y + i, v_mul(v_silu(g, v_sigmoid(g)), v_ld(u + i, m)), m);
	});
}

void N2D_FN(swiglu_bwd)(float *dx, float *du, const float *dy, const float *x, const float *u, size_t n)
{
	V_ROW(n, {
		v_t g = v_ld(x + i, m), s = v_sigmoid(g), d = v_ld(dy + i, m), up = v_ld(u + i, m);
		v_st(dx + i, v_mul(d, v_mul(up, v_silu_slope(g, s))), m);
		v_st(du + i, v_mul(d, v_silu(g, s)), m);
	});
}
