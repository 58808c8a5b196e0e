/* Streaming softmax attention, one tile of keys (Milakov and Gimelshein 2018; Dao et al. 2022).
 *
 * A block of two register tiles' rows keeps its scores in the first-level cache; the maximum is
 * taken once a row and tile, so that the running output is rescaled once a tile at most. */
#include "simd/attn_softmax.h"

enum { SUB = 2 * ATTN_MR, SUB_VEC = (SUB + V_LANES - 1) / V_LANES * V_LANES };

/* The softmax part: scores in s to weights, statistics and output to the new maximum. */
static void weights(float *s, float *o, float *mx, float *sum, size_t rows, const struct n2d_attn_fwd *a, struct attn_terms t)
{
	float m[SUB_VEC], c[SUB_VEC];
	for (size_t r = 0; r < rows; r++) {
		size_t lo = attn_clamp((ptrdiff_t)r + t.first, t.n), hi = attn_clamp((ptrdiff_t)r + t.end, t.n);
		m[r] = a->start ? -INFINITY : mx[r];
		if (lo < hi) {
			attn_hide(s + r * ATTN_LD, lo, hi);
			m[r] = attn_row_max(s + r * ATTN_LD, lo, hi, m[r]);
		}
	}
	if (!a->start)
		attn_corrections(c, mx, m, rows);
	for (size_t r = 0; r < rows; r++) {
		size_t lo = attn_clamp((ptrdiff_t)r + t.first, t.n), hi = attn_clamp((ptrdiff_t)r + t.end, t.n);
		float *l = sum + r * V_LANES;
		v_t before = a->start ? v_zero() : v_mul(v_set1(c[r]), v_load(l));
		mx[r] = m[r];
		v_store(l, attn_row_exp(s + r * ATTN_LD, before, lo, lo < hi ? hi : 0, m[r]));
		if (!a->start && c[r] != 1)
			attn_scale(o + r * a->ldo, o + r * a->ldo, c[r], a->width);
	}
}

static void block(float *o, float *mx, float *sum, size_t r0, size_t rows, const struct n2d_attn_fwd *a)
{
	_Alignas(64) float s[SUB * ATTN_LD];
	struct attn_terms t = {a->keys, a->first + (ptrdiff_t)r0, a->end + (ptrdiff_t)r0};
	N2D_FN(attn_scores)(s, (struct attn_panels){a->q + r0 * ATTN_NR, a->q_next}, a->kt, rows, a->width, t, a->ahead);
	weights(s, o, mx, sum, rows, a, t);
	N2D_FN(attn_rows)(o, a->ldo, !a->start, s, (struct attn_panels){a->v, a->keys * ATTN_NR}, rows, a->width, t, a->ahead);
}

/* Rows [from, to) have seen nothing yet. */
static void nothing(float *o, float *mx, float *sum, size_t from, size_t to, const struct n2d_attn_fwd *a)
{
	for (size_t r = from; r < to; r++) {
		mx[r] = -INFINITY;
		v_store(sum + r * V_LANES, v_zero());
		V_ROW(a->width, v_st(o + r * a->ldo + i, v_zero(), m));
	}
}

void N2D_FN(attn_fwd)(float *o, float *mx, float *sum, const struct n2d_attn_fwd *a)
{
	size_t r = attn_clamp(1 - a->end, a->rows), stop = attn_clamp((ptrdiff_t)a->keys - a->first, a->rows);
	if (a->start)
		nothing(o, mx, sum, 0, r, a), nothing(o, mx, sum, stop > r ? stop : r, a->rows, a);
	for (; r < stop; r += SUB)
		block(o + r * a->ldo, mx + r, sum + r * V_LANES, r, stop - r < SUB ? stop - r : SUB, a);
}

void N2D_FN(attn_end)(float *y, float *lse, const float *o, const float *mx, const float *sum, size_t rows, size_t width,
		      size_t ldy, size_t ldo)
{
	for (size_t r = 0; r < rows; r += V_LANES) {
		float l[V_LANES], c[V_LANES];
		size_t n = rows - r < V_LANES ? rows - r : V_LANES;
		for (size_t i = 0; i < n; i++)
			l[i] = v_sum(v_load(sum + (r + i) * V_LANES));
		v_t lv = v_loadn(l, n);
		v_storen(c, v_div(v_set1(1), lv), n);
		for (size_t i = 0; i < n; i++)
			attn_scale(y + (r + i) * ldy, o + (r + i) * ldo, c[i], width);
		if (lse)
			v_storen(lse + r, v_add(v_loadn(mx + r, n), v_log(lv)), n);
	}
}
