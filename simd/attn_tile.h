/* What the attention kernels share: products in register tiles, V_ATTN_MR rows by V_ATTN_NV vectors, and the
 * exponential. Every element is one chain of v_mac over its terms in ascending order, whatever rows and columns
 * surround it: results do not depend on blocking. */
#ifndef N2D_ATTN_TILE_H
#define N2D_ATTN_TILE_H

#include "simd/attention.h"
#include "simd/body.h"
#include "simd/vmath.h"

enum {
	ATTN_MR = V_ATTN_MR,           /* rows of the tile, at most */
	ATTN_NR = V_ATTN_NV * V_LANES, /* columns of the tile and of panels */
	ATTN_LD = N2D_ATTN_KEYS,       /* row stride of score blocks, constant for the address arithmetic */
};

/* Row panels, as attn_panel leaves them: column c of row r at p[c / ATTN_NR * next + r * ATTN_NR + c % ATTN_NR]. */
struct attn_panels {
	const float *p;
	size_t next;
};

/* What the rows of a product take: row i the terms [i + first, i + end) of [0, n). */
struct attn_terms {
	size_t n;
	ptrdiff_t first, end;
};

/* s[rows][ATTN_LD] = products of rows of x with the transposed keys kt (attn_pack by ATTN_NR), in whole vectors covering
 * the keys that some row of a register tile sees. */
void N2D_FN(attn_scores)(float *s, struct attn_panels x, const float *kt, size_t rows, size_t width, struct attn_terms keys,
			 struct n2d_attn_ahead *ahead);
/* c[rows][width] (+)= sum over the keys j that row i sees of s[i][j] y[j]. */
void N2D_FN(attn_rows)(float *c, size_t ldc, int add, const float *s, struct attn_panels y, size_t rows, size_t width,
		       struct attn_terms t, struct n2d_attn_ahead *ahead);
/* c[keys][width] += sum over the rows i that key j takes of s[i][j] y[i]. */
void N2D_FN(attn_keys)(float *c, size_t ldc, const float *s, struct attn_panels y, size_t keys, size_t width,
		       struct attn_terms t, struct n2d_attn_ahead *ahead);

/* i in [0, n]. */
V_INLINE size_t attn_clamp(ptrdiff_t i, size_t n) { return i < 0 ? 0 : (size_t)i < n ? (size_t)i : n; }

/* Row i of x: by its stride, or where a list has it. */
V_INLINE const float *attn_at(const float *x, const size_t *at, size_t i, size_t ldx) { return x + (at ? at[i] : i * ldx); }

/* V_LANES columns of V_LANES rows, transposed: rows outside [lo, hi) read as 0. */
V_INLINE void attn_square(v_t t[V_LANES], const float *x, const size_t *at, size_t lo, size_t hi, size_t cols, size_t ldx)
{
	if (!lo && hi >= V_LANES && cols >= V_LANES)
		V_UNROLL
		for (size_t i = 0; i < V_LANES; i++)
			t[i] = v_load(attn_at(x, at, i, ldx));
	else
		V_UNROLL
		for (size_t i = 0; i < V_LANES; i++) {
			t[i] = v_zero();
			if (i >= lo && i < hi)
				t[i] = cols >= V_LANES ? v_load(attn_at(x, at, i, ldx)) : v_loadn(attn_at(x, at, i, ldx), cols);
		}
	v_transpose(t);
}

/* x = exp(x) for weights, n vectors, x <= 88. Relative error 1.5 u, and u |x| of the argument's scaling. */
V_INLINE void attn_exp(const int n, v_t x[V_CHAINS])
{
	V_UNROLL
	for (int i = 0; i < n; i++)
		x[i] = v_mul(x[i], v_set1(0x1.715476p+0f));
	v_weights(n, x);
}

#endif
