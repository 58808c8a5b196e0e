/* The register tile under the attention kernels: a product whose accumulators, V_ATTN_MR rows by
 * V_ATTN_NV vectors, stay in registers. Every element is one chain of v_mac over its terms in
 * ascending order, whatever rows and columns surround it: results do not depend on blocking. */
#ifndef N2D_ATTN_TILE_H
#define N2D_ATTN_TILE_H

#include "simd/attention.h"
#include "simd/body.h"

enum {
	ATTN_MR = V_ATTN_MR,             /* rows of the tile, and of attn_pack's groups of rows */
	ATTN_MID = (V_ATTN_MR + 2) / 3,  /* rows of the smaller tile for what is left */
	ATTN_NR = V_ATTN_NV * V_LANES,   /* columns of the tile and of panels */
	ATTN_LD = N2D_ATTN_KEYS,         /* row stride of score blocks, constant for the address arithmetic */
};

/* Where the terms of a product lie. Term k of row i: x[i * xi + k * xk]; of column j: y[k * ATTN_NR + j]
 * in panels of ATTN_NR columns, yp floats apart. */
struct attn_xy {
	const float *x;
	size_t xi, xk;
	const float *y;
	size_t yp;
};

/* exp(x) for weights, x <= 88: NaN -> NaN; below 2^-126, -inf included, 0. Cheaper than v_exp by
 * what only other arguments need. Relative error 1.5 u, and u |x| of the argument's scaling.
 *
 * t = x log2(e) = n + r: adding 1.5 * 2^23 + 127 rounds t to the integer n and leaves n + 127, the
 * exponent of 2^n as a float stores it, in the sum's last bits. 2^r = 1 + r q(r), q of degree 5
 * interpolating at Chebyshev nodes (relative error 1e-8). */
V_INLINE v_t attn_exp(v_t x)
{
	const v_t round = v_set1(0x1.8p23f + 127);
	v_t t = v_max(v_set1(-127), v_mul(x, v_set1(0x1.715476p+0f)));
	v_t n = v_add(t, round), r = v_sub(t, v_sub(n, round));
	v_t p = v_set1(0x1.44138ap-13f);
	p = v_mac(p, r, v_set1(0x1.5f0890p-10f));
	p = v_mac(p, r, v_set1(0x1.3b2a54p-7f));
	p = v_mac(p, r, v_set1(0x1.c6af6cp-5f));
	p = v_mac(p, r, v_set1(0x1.ebfbe0p-3f));
	p = v_mac(p, r, v_set1(0x1.62e430p-1f));
	p = v_mac(p, r, v_set1(1));
	return v_mul(p, i_bits(i_shl(v_bits(n), 23)));
}

/* c[i][0 .. (nv - 1) * V_LANES + last) (+)= sum over k < n. m and nv are constants at every call. */
V_INLINE void attn_tile(int m, int nv, int add, float *c, size_t ldc, size_t last, struct attn_xy a, size_t n)
{
	v_t acc[V_ATTN_MR][V_ATTN_NV];
	V_UNROLL for (int i = 0; i < m; i++)
		V_UNROLL for (int v = 0; v < nv; v++)
		{
			const float *p = c + (size_t)i * ldc + (size_t)v * V_LANES;
			acc[i][v] = !add ? v_zero() : v + 1 < nv || last == V_LANES ? v_load(p) : v_loadn(p, last);
		}
	for (size_t k = 0; k < n; k++) {
		v_t y[V_ATTN_NV];
		V_UNROLL for (int v = 0; v < nv; v++)
			y[v] = v_load(a.y + k * ATTN_NR + (size_t)v * V_LANES);
		V_UNROLL for (int i = 0; i < m; i++)
		{
			v_t x = v_set1(a.x[(size_t)i * a.xi + k * a.xk]);
			V_UNROLL for (int v = 0; v < nv; v++)
				acc[i][v] = v_mac(x, y[v], acc[i][v]);
		}
	}
	V_UNROLL for (int i = 0; i < m; i++)
		V_UNROLL for (int v = 0; v < nv; v++)
		{
			float *p = c + (size_t)i * ldc + (size_t)v * V_LANES;
			if (v + 1 < nv || last == V_LANES)
				v_store(p, acc[i][v]);
			else
				v_storen(p, acc[i][v], last);
		}
}

/* c[m][width] += sum over k < n, panel by panel. */
V_INLINE void attn_panels(int m, float *c, size_t ldc, size_t width, struct attn_xy a, size_t n)
{
	size_t full = (V_ATTN_NV - 1) * V_LANES;
	for (; width > full; a.y += a.yp, c += ATTN_NR) {
		size_t w = width < ATTN_NR ? width : ATTN_NR;
		attn_tile(m, V_ATTN_NV, 1, c, ldc, w - full, a, n);
		width -= w;
	}
	while (width) {
		size_t w = width < V_LANES ? width : V_LANES;
		attn_tile(m, 1, 1, c, ldc, w, a, n);
		a.y += V_LANES, c += V_LANES, width -= w;
	}
}

/* i in [0, n]. */
V_INLINE size_t attn_clamp(ptrdiff_t i, size_t n) { return i < 0 ? 0 : (size_t)i < n ? (size_t)i : n; }

/* One row over terms [from, to). */
V_INLINE void attn_row(float *c, size_t width, struct attn_xy a, size_t from, size_t to)
{
	a.x += from * a.xk, a.y += from * ATTN_NR;
	if (from < to)
		attn_panels(1, c, width, width, a, to - from);
}

/* As attn_panels, row i taking the terms [i + first, i + end) of [0, n). The terms that all rows
 * take go through the tile, those before and after row by row: nothing is multiplied by a
 * weight of 0 that only stands for "not seen". */
V_INLINE void attn_band(int m, float *c, size_t ldc, size_t width, struct attn_xy a, size_t n, ptrdiff_t first,
			ptrdiff_t end)
{
	size_t from = attn_clamp(m - 1 + first, n), to = attn_clamp(end, n);
	if (from > to)
		from = to = n; /* nothing in common: all terms of each row are "before" */
	for (int i = 0; i < m && from > attn_clamp(first, n); i++) {
		struct attn_xy r = {a.x + (size_t)i * a.xi, a.xi, a.xk, a.y, a.yp};
		size_t stop = attn_clamp(i + end, n);
		attn_row(c + (size_t)i * ldc, width, r, attn_clamp(i + first, n), stop < from ? stop : from);
	}
	struct attn_xy t = {a.x + from * a.xk, a.xi, a.xk, a.y + from * ATTN_NR, a.yp};
	if (from < to)
		attn_panels(m, c, ldc, width, t, to - from);
	for (int i = 0; i < m && to < attn_clamp(m - 1 + end, n); i++) {
		struct attn_xy r = {a.x + (size_t)i * a.xi, a.xi, a.xk, a.y, a.yp};
		attn_row(c + (size_t)i * ldc, width, r, to, attn_clamp(i + end, n));
	}
}

/* Any number of rows; xi and xk are constants at every call. */
V_INLINE void attn_product(float *c, size_t ldc, size_t rows, size_t width, struct attn_xy a, size_t n, ptrdiff_t first,
			   ptrdiff_t end)
{
	for (; rows >= ATTN_MR; rows -= ATTN_MR, c += ATTN_MR * ldc, a.x += ATTN_MR * a.xi) {
		attn_band(ATTN_MR, c, ldc, width, a, n, first, end);
		first += ATTN_MR, end += ATTN_MR;
	}
	for (; rows >= ATTN_MID; rows -= ATTN_MID, c += ATTN_MID * ldc, a.x += ATTN_MID * a.xi) {
		attn_band(ATTN_MID, c, ldc, width, a, n, first, end);
		first += ATTN_MID, end += ATTN_MID;
	}
	for (; rows; rows--, c += ldc, a.x += a.xi)
		attn_band(1, c, ldc, width, a, n, first++, end++);
}

/* s[rows][ATTN_LD] = products of the packed rows xt with the packed keys yt, whole panels
 * covering the keys that some row of a group of ATTN_MR sees. */
static inline void attn_scores(float *s, const float *xt, const float *yt, size_t rows, size_t keys, size_t width,
			ptrdiff_t first, ptrdiff_t end)
{
	for (size_t r = 0; r < rows; r += ATTN_MR) {
		size_t m = rows - r < ATTN_MR ? rows - r : ATTN_MR;
		size_t from = attn_clamp((ptrdiff_t)r + first, keys) / ATTN_NR * ATTN_NR;
		size_t to = attn_clamp((ptrdiff_t)(r + m) - 1 + end, keys);
		for (size_t j = from; j < to; j += ATTN_NR) {
			struct attn_xy a = {xt + r * width, 1, ATTN_MR, yt + j * width, 0};
			float *c = s + r * ATTN_LD + j;
			size_t i = 0;
			if (m == ATTN_MR) {
				attn_tile(ATTN_MR, V_ATTN_NV, 0, c, ATTN_LD, V_LANES, a, width);
				continue;
			}
			for (; i + ATTN_MID <= m; i += ATTN_MID, a.x += ATTN_MID)
				attn_tile(ATTN_MID, V_ATTN_NV, 0, c + i * ATTN_LD, ATTN_LD, V_LANES, a, width);
			for (; i < m; i++, a.x++)
				attn_tile(1, V_ATTN_NV, 0, c + i * ATTN_LD, ATTN_LD, V_LANES, a, width);
		}
	}
}

#endif
