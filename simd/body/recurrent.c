/* Gates of the recurrent cells on n units of one row. The matrix products are done; what is left is elementwise. */
#include "simd/body.h"
#include "simd/vmath.h"

V_INLINE v_t load_upto(const float *p, const size_t n) { return n == V_LANES ? v_load(p) : v_loadn(p, n); }

V_INLINE void store_upto(float *p, v_t a, const size_t n)
{
	if (n == V_LANES)
		v_store(p, a);
	else
		v_storen(p, a, n);
}

/* x (1 - x) and 1 - x^2: the slopes of sigmoid and tanh in terms of their values. */
V_INLINE v_t slope_sigmoid(v_t x) { return v_mul(x, v_sub(v_set1(1.0f), x)); }
V_INLINE v_t slope_tanh(v_t x) { return v_fnma(x, x, v_set1(1.0f)); }

/* Calls part(..., lanes) for whole vectors with the constant V_LANES, then for the rest. */
#define EACH_VECTOR(n, call) \
	do { \
		size_t i = 0; \
		for (; i < v_whole(n); i += V_LANES) \
			call(i, V_LANES); \
		if (i < (n)) \
			call(i, (n) - i); \
	} while (0)

V_INLINE void rnn_bwd(float *da, const float *dy, const float *dh, const float *h, const size_t n)
{
	v_t d = v_add(load_upto(dy, n), load_upto(dh, n));
	store_upto(da, v_mul(d, slope_tanh(load_upto(h, n))), n);
}

void N2D_FN(rnn_bwd)(float *da, const float *dy, const float *dh, const float *h, size_t n)
{
#define PART(i, m) rnn_bwd(da + (i), dy + (i), dh + (i), h + (i), m)
	EACH_VECTOR(n, PART);
#undef PART
}

V_INLINE void lstm_fwd(float *h, float *c, float *a, const float *cp, const size_t n, size_t s)
{
	v_t i = v_sigmoid(load_upto(a, n)), f = v_sigmoid(load_upto(a + s, n));
	v_t g = v_tanh(load_upto(a + 2 * s, n)), o = v_sigmoid(load_upto(a + 3 * s, n));
	v_t cell = v_fma(f, load_upto(cp, n), v_mul(i, g));
	store_upto(a, i, n);
	store_upto(a + s, f, n);
	store_upto(a + 2 * s, g, n);
	store_upto(a + 3 * s, o, n);
	store_upto(c, cell, n);
	store_upto(h, v_mul(o, v_tanh(cell)), n);
}

void N2D_FN(lstm_fwd)(float *h, float *c, float *a, const float *cp, size_t n, size_t s)
{
#define PART(i, m) lstm_fwd(h + (i), c + (i), a + (i), cp + (i), m, s)
	EACH_VECTOR(n, PART);
#undef PART
}

V_INLINE void lstm_bwd(float *da, float *dc, const float *dy, const float *dh, const float *a, const float *c, const float *cp,
		       const size_t n, size_t s)
{
	v_t i = load_upto(a, n), f = load_upto(a + s, n), g = load_upto(a + 2 * s, n), o = load_upto(a + 3 * s, n);
	v_t d = v_add(load_upto(dy, n), load_upto(dh, n)), tc = v_tanh(load_upto(c, n));
	v_t cell = v_fma(v_mul(d, o), slope_tanh(tc), load_upto(dc, n));
	store_upto(da, v_mul(v_mul(cell, g), slope_sigmoid(i)), n);
	store_upto(da + s, v_mul(v_mul(cell, load_upto(cp, n)), slope_sigmoid(f)), n);
	store_upto(da + 2 * s, v_mul(v_mul(cell, i), slope_tanh(g)), n);
	store_upto(da + 3 * s, v_mul(v_mul(d, tc), slope_sigmoid(o)), n);
	store_upto(dc, v_mul(cell, f), n);
}

void N2D_FN(lstm_bwd)(float *da, float *dc, const float *dy, const float *dh, const float *a, const float *c, const float *cp,
		      size_t n, size_t s)
{
#define PART(i, m) lstm_bwd(da + (i), dc + (i), dy + (i), dh + (i), a + (i), c + (i), cp + (i), m, s)
	EACH_VECTOR(n, PART);
#undef PART
}

V_INLINE void gru_fwd(float *h, float *a, const float *hp, const size_t n, size_t s)
{
	v_t q = load_upto(a, n), r = v_sigmoid(load_upto(a + s, n)), z = v_sigmoid(load_upto(a + 2 * s, n));
	v_t m = v_tanh(v_fma(r, q, load_upto(a + 3 * s, n)));
	store_upto(a + s, r, n);
	store_upto(a + 2 * s, z, n);
	store_upto(a + 3 * s, m, n);
	store_upto(h, v_fma(z, v_sub(load_upto(hp, n), m), m), n);
}

void N2D_FN(gru_fwd)(float *h, float *a, const float *hp, size_t n, size_t s)
{
#define PART(i, m) gru_fwd(h + (i), a + (i), hp + (i), m, s)
	EACH_VECTOR(n, PART);
#undef PART
}

V_INLINE void gru_bwd(float *da, float *dh, const float *dy, const float *a, const float *hp, const size_t n, size_t s)
{
	v_t q = load_upto(a, n), r = load_upto(a + s, n), z = load_upto(a + 2 * s, n), m = load_upto(a + 3 * s, n);
	v_t d = v_add(load_upto(dy, n), load_upto(dh, n));
	v_t dm = v_mul(v_mul(d, v_sub(v_set1(1.0f), z)), slope_tanh(m));
	store_upto(da, v_mul(dm, r), n);
	store_upto(da + s, v_mul(v_mul(dm, q), slope_sigmoid(r)), n);
	store_upto(da + 2 * s, v_mul(v_mul(d, v_sub(load_upto(hp, n), m)), slope_sigmoid(z)), n);
	store_upto(da + 3 * s, dm, n);
	store_upto(dh, v_mul(d, z), n);
}

void N2D_FN(gru_bwd)(float *da, float *dh, const float *dy, const float *a, const float *hp, size_t n, size_t s)
{
#define PART(i, m) gru_bwd(da + (i), dh + (i), dy + (i), a + (i), hp + (i), m, s)
	EACH_VECTOR(n, PART);
#undef PART
}
