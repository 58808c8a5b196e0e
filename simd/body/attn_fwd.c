/* Streaming softmax attention, one tile of keys (Milakov and Gimelshein 2018; Dao et al. 2022).
 *
 * A block of two register tiles' rows keeps its scores in the first-level cache; the maximum is
 * taken once a row and tile, so that the running output is rescaled once a tile at most. */
#include <math.h>

#include "simd/attn_tile.h"
#include "simd/vmath.h"

enum { SUB = 2 * ATTN_MR, SUB_VEC = (SUB + V_LANES - 1) / V_LANES * V_LANES };

/* -inf to the lanes outside [lo, hi) of the vectors that [lo, hi) touches. */
V_INLINE void hide(float *s, size_t lo, size_t hi)
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

V_INLINE float row_max(const float *s, size_t lo, size_t hi, float m)
{
	v_t a = v_set1(m);
	for (size_t j = v_whole(lo); j < hi; j += V_LANES)
		a = v_max(v_load(s + j), a);
	return v_hmax(a);
}

/* s = exp(s - m); sum[V_LANES] = c * sum + what each lane adds. */
V_INLINE void row_exp(float *s, float *sum, size_t lo, size_t hi, float m, float c)
{
	v_t mv = v_set1(m == -INFINITY ? 0 : m), a = v_mul(v_set1(c), v_load(sum));
	for (size_t j = v_whole(lo); j < hi; j += V_LANES) {
		v_t p = attn_exp(v_sub(v_load(s + j), mv));
		v_store(s + j, p);
		a = v_add(a, p);
	}
	v_store(sum, a);
}

/* c[i] = exp(mx[i] - m[i]), exactly 1 where they are equal (infinities, too); mx = m. */
V_INLINE void corrections(float *c, float *mx, const float *m, size_t rows)
{
	for (size_t i = 0; i < rows; i += V_LANES) {
		size_t n = rows - i < V_LANES ? rows - i : V_LANES;
		v_t was = v_loadn(mx + i, n), is = v_loadn(m + i, n);
		v_storen(c + i, v_sel(v_eq(was, is), v_set1(1), v_exp(v_sub(was, is))), n);
		v_storen(mx + i, is, n);
	}
}

/* y = c o; y may be o. */
V_INLINE void scale_to(float *y, const float *o, float c, size_t width)
{
	v_t cv = v_set1(c);
	size_t j = 0;
	for (; j < v_whole(width); j += V_LANES)
		v_store(y + j, v_mul(cv, v_load(o + j)));
	if (j < width)
		v_storen(y + j, v_mul(cv, v_loadn(o + j, width - j)), width - j);
}

struct fwd {
	const float *kt, *v;
	size_t keys, width, ldo;
};

/* The softmax part: scores in s to weights, statistics and output to the new maximum. */
static void weights(float *s, float *o, float *mx, float *sum, size_t rows, const struct fwd *f, ptrdiff_t first,
		    ptrdiff_t end)
{
	float m[SUB_VEC], c[SUB_VEC];
	for (size_t r = 0; r < rows; r++) {
		size_t lo = attn_clamp((ptrdiff_t)r + first, f->keys), hi = attn_clamp((ptrdiff_t)r + end, f->keys);
		m[r] = mx[r];
		if (lo < hi) {
			hide(s + r * ATTN_LD, lo, hi);
			m[r] = row_max(s + r * ATTN_LD, lo, hi, mx[r]);
		}
	}
	corrections(c, mx, m, rows);
	for (size_t r = 0; r < rows; r++) {
		size_t lo = attn_clamp((ptrdiff_t)r + first, f->keys), hi = attn_clamp((ptrdiff_t)r + end, f->keys);
		if (lo < hi)
			row_exp(s + r * ATTN_LD, sum + r * V_LANES, lo, hi, m[r], c[r]);
		if (c[r] != 1)
			scale_to(o + r * f->ldo, o + r * f->ldo, c[r], f->width);
	}
}

static void block(float *o, float *mx, float *sum, const float *qt, size_t rows, const struct fwd *f, ptrdiff_t first,
		  ptrdiff_t end)
{
	_Alignas(64) float s[SUB * ATTN_LD];
	attn_scores(s, qt, f->kt, rows, f->keys, f->width, first, end);
	weights(s, o, mx, sum, rows, f, first, end);
	struct attn_xy a = {s, ATTN_LD, 1, f->v, f->keys * ATTN_NR};
	attn_product(o, f->ldo, rows, f->width, a, f->keys, first, end);
}

void N2D_FN(attn_fwd)(float *o, float *mx, float *sum, const float *qt, const float *kt, const float *v, ptrdiff_t first,
		      ptrdiff_t end, size_t rows, size_t keys, size_t width, size_t ldo)
{
	struct fwd f = {kt, v, keys, width, ldo};
	/* The rows that see something, from the start of a packed group on. */
	size_t stop = attn_clamp((ptrdiff_t)keys - first, rows);
	for (size_t r = attn_clamp(1 - end, rows) / ATTN_MR * ATTN_MR; r < stop; r += SUB)
		block(o + r * ldo, mx + r, sum + r * V_LANES, qt + r * width, stop - r < SUB ? stop - r : SUB, &f,
		      first + (ptrdiff_t)r, end + (ptrdiff_t)r);
}

void N2D_FN(attn_end)(float *y, float *lse, const float *o, const float *mx, const float *sum, size_t rows, size_t width,
		      size_t ldy, size_t ldo)
{
	for (size_t r = 0; r < rows; r++) {
		float l = v_sum(v_load(sum + r * V_LANES));
		scale_to(y + r * ldy, o + r * ldo, 1 / l, width);
		if (lse)
			lse[r] = mx[r] + logf(l);
	}
}
