/* Backward of streaming attention, one tile of keys: the weights are computed again from the
 * saved log of the sum of exponentials, P = exp(S - lse); then with dP = dO V^T,
 * dS = P (dP - delta):  dV += P^T dO,  dK += dS^T Q,  dQ += dS K. */
#include "simd/attn_tile.h"
#include "simd/vmath.h"

/* Rows of a block: enough that loading and storing the tiles of dK and dV is small beside their sums. */
enum { BLOCK = 4 * ATTN_MR };

/* s = exp(s - lse), dp = s (dp - delta) on the vectors that [lo, hi) touches. */
V_INLINE void row_grad(float *s, float *dp, size_t lo, size_t hi, float lse, float delta)
{
	v_t l = v_set1(lse), d = v_set1(delta);
	for (size_t j = v_whole(lo); j < hi; j += V_LANES) {
		v_t p = attn_exp(v_sub(v_load(s + j), l));
		v_store(s + j, p);
		v_store(dp + j, v_mul(p, v_sub(v_load(dp + j), d)));
	}
}

static __attribute__((noinline)) void product_rows(float *c, size_t ldc, size_t rows, const float *s,
						   const struct n2d_attn_bwd *a, ptrdiff_t first, ptrdiff_t end)
{
	struct attn_xy x = {s, ATTN_LD, 1, a->k, a->keys * ATTN_NR};
	attn_product(c, ldc, rows, a->width, x, a->keys, first, end);
}

/* Key j of the tile takes the rows that see it: the band seen from the other side. */
static __attribute__((noinline)) void product_keys(float *c, size_t ldc, size_t rows, const float *s, const float *y,
						   const struct n2d_attn_bwd *a, ptrdiff_t first, ptrdiff_t end)
{
	size_t from = attn_clamp(first, a->keys), to = attn_clamp((ptrdiff_t)rows - 1 + end, a->keys);
	struct attn_xy x = {s + from, 1, ATTN_LD, y, a->rows * ATTN_NR};
	ptrdiff_t j = (ptrdiff_t)from + 1;
	if (from < to)
		attn_product(c + from * ldc, ldc, to - from, a->width, x, rows, j - end, j - first);
}

static void block(float *dq, float *dk, float *dv, size_t r0, size_t rows, const struct n2d_attn_bwd *a)
{
	_Alignas(64) float s[BLOCK * ATTN_LD], dp[BLOCK * ATTN_LD];
	ptrdiff_t first = a->first + (ptrdiff_t)r0, end = a->end + (ptrdiff_t)r0;
	attn_scores(s, a->qt + r0 * a->width, a->kt, rows, a->keys, a->width, first, end);
	attn_scores(dp, a->dt + r0 * a->width, a->vt, rows, a->keys, a->width, first, end);
	for (size_t r = 0; r < rows; r++)
		row_grad(s + r * ATTN_LD, dp + r * ATTN_LD, attn_clamp((ptrdiff_t)r + first, a->keys),
			 attn_clamp((ptrdiff_t)r + end, a->keys), a->lse[r0 + r], a->delta[r0 + r]);
	if (dk) {
		product_keys(dv, a->lddv, rows, s, a->d + r0 * ATTN_NR, a, first, end);
		product_keys(dk, a->lddk, rows, dp, a->q + r0 * ATTN_NR, a, first, end);
	}
	if (dq)
		product_rows(dq + r0 * a->lddq, a->lddq, rows, dp, a, first, end);
}

void N2D_FN(attn_bwd)(float *dq, float *dk, float *dv, const struct n2d_attn_bwd *a)
{
	size_t stop = attn_clamp((ptrdiff_t)a->keys - a->first, a->rows);
	for (size_t r = attn_clamp(1 - a->end, a->rows) / ATTN_MR * ATTN_MR; r < stop; r += BLOCK)
		block(dq, dk, dv, r, stop - r < BLOCK ? stop - r : BLOCK, a);
}
