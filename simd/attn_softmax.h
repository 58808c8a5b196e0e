/* The softmax of one row of scores against a tile of keys, of which [lo, hi) are seen. */
#ifndef N2D_ATTN_SOFTMAX_H
#define N2D_ATTN_SOFTMAX_H

#include <math.h>

#include "simd/attn_tile.h"

/* -inf to the lanes outside [lo, hi) of the vectors that [lo, hi) touches. */
V_INLINE void attn_hide(float *s, size_t lo, size_t hi)
{
	v_t none = v_set1(-INFINITY);
	if (lo % V_LANES) {
		float *p = s + v_whole(lo);
		v_store(p, v_sel(m_first(lo % V_LANES), none, v_load(p)));
	}
	if (hi % V_LANES) {
		float *p = s + v_whole(hi);
		v_store(p, v_sel(m_first(hi % V_LANES), v_load(p), none));
	}
}

V_INLINE float attn_row_max(const float *s, size_t lo, size_t hi, float m)
{
	v_t a = v_set1(m);
	for (size_t j = v_whole(lo); j < hi; j += V_LANES)
		a = v_max(v_load(s + j), a);
	return v_hmax(a);
}

/* n vectors: s = exp(s - m), each lane added to a. */
V_INLINE v_t attn_some_exp(const int n, float *s, v_t a, v_t m)
{
	v_t x[V_CHAINS];
	V_UNROLL
	for (int i = 0; i < n; i++)
		x[i] = v_sub(v_load(s + i * V_LANES), m);
	attn_exp(n, x);
	V_UNROLL
	for (int i = 0; i < n; i++) {
		v_store(s + i * V_LANES, x[i]);
		a = v_add(a, x[i]);
	}
	return a;
}

/* The same of [lo, hi). */
V_INLINE v_t attn_row_exp(float *s, v_t a, size_t lo, size_t hi, float m)
{
	v_t mv = v_set1(m == -INFINITY ? 0 : m);
	size_t j = v_whole(lo);
	for (; j + (V_CHAINS - 1) * V_LANES < hi; j += V_CHAINS * V_LANES)
		a = attn_some_exp(V_CHAINS, s + j, a, mv);
	for (; j < hi; j += V_LANES)
		a = attn_some_exp(1, s + j, a, mv);
	return a;
}

/* c[i] = exp(mx[i] - m[i]), exactly 1 where they are equal (infinities, too). */
V_INLINE void attn_corrections(float *c, const float *mx, const float *m, size_t rows)
{
	for (size_t i = 0; i < rows; i += V_LANES) {
		size_t n = rows - i < V_LANES ? rows - i : V_LANES;
		v_t was = v_loadn(mx + i, n), is = v_loadn(m + i, n);
		v_storen(c + i, v_sel(v_eq(was, is), v_set1(1), v_exp(v_sub(was, is))), n);
	}
}

/* y = c o; y may be o. */
V_INLINE void attn_scale(float *y, const float *o, float c, size_t width)
{
	v_t cv = v_set1(c);
	V_ROW(width, v_st(y + i, v_mul(cv, v_ld(o + i, m)), m));
}

#endif
