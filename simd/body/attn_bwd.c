/* Backward of streaming attention, one tile of keys: the weights are computed again from the
 * saved log of the sum of exponentials, P = exp(S - lse); then with dP = dO V^T,
 * dS = P (dP - delta):  dV += P^T dO,  dK += dS^T Q,  dQ += dS K. */
#include "simd/attn_tile.h"
#include "simd/vmath.h"

/* Rows of a block: enough that loading and storing the tiles of dK and dV is small beside their sums. */
enum { BLOCK = 4 * ATTN_MR };

/* n vectors: s = exp(s - lse), dp = s (dp - delta). */
V_INLINE void some_grad(const int n, float *s, float *dp, v_t lse, v_t delta)
{
	v_t p[V_CHAINS];
	V_UNROLL
	for (int i = 0; i < n; i++)
		p[i] = v_sub(v_load(s + i * V_LANES), lse);
	attn_exp(n, p);
	V_UNROLL
	for (int i = 0; i < n; i++) {
		v_store(s + i * V_LANES, p[i]);
		v_store(dp + i * V_LANES, v_mul(p[i], v_sub(v_load(dp + i * V_LANES), delta)));
	}
}

/* The same on the vectors that [lo, hi) touches. */
V_INLINE void row_grad(float *s, float *dp, size_t lo, size_t hi, float lse, float delta)
{
	v_t l = v_set1(lse), d = v_set1(delta);
	size_t j = v_whole(lo);
	for (; j + (V_CHAINS - 1) * V_LANES < hi; j += V_CHAINS * V_LANES)
		some_grad(V_CHAINS, s + j, dp + j, l, d);
	for (; j < hi; j += V_LANES)
		some_grad(1, s + j, dp + j, l, d);
}

/* Key j of the tile takes the rows that see it: the band seen from the other side. */
static void product_keys(float *c, size_t ldc, const float *s, const float *y, size_t rows, const struct n2d_attn_bwd *a,
			 struct attn_terms t)
{
	size_t from = attn_clamp(t.first, t.n), to = attn_clamp((ptrdiff_t)rows - 1 + t.end, t.n);
	ptrdiff_t j = (ptrdiff_t)from + 1;
	if (from < to)
		N2D_FN(attn_keys)(c + from * ldc, ldc, s + from, (struct attn_panels){y, a->q_next}, to - from, a->width,
				  (struct attn_terms){rows, j - t.end, j - t.first}, a->ahead);
}

static void block(float *dq, float *dk, float *dv, size_t r0, size_t rows, const struct n2d_attn_bwd *a)
{
	_Alignas(64) float s[BLOCK * ATTN_LD], dp[BLOCK * ATTN_LD];
	struct attn_terms t = {a->keys, a->first + (ptrdiff_t)r0, a->end + (ptrdiff_t)r0};
	const float *q = a->q + r0 * ATTN_NR, *d = a->d + r0 * ATTN_NR;
	N2D_FN(attn_scores)(s, (struct attn_panels){q, a->q_next}, a->kt, rows, a->width, t, a->ahead);
	N2D_FN(attn_scores)(dp, (struct attn_panels){d, a->q_next}, a->vt, rows, a->width, t, a->ahead);
	for (size_t r = 0; r < rows; r++)
		row_grad(s + r * ATTN_LD, dp + r * ATTN_LD, attn_clamp((ptrdiff_t)r + t.first, t.n),
			 attn_clamp((ptrdiff_t)r + t.end, t.n), a->lse[r0 + r], a->delta[r0 + r]);
	if (dk) {
		product_keys(dv, a->lddv, s, d, rows, a, t);
		product_keys(dk, a->lddk, dp, q, rows, a, t);
	}
	if (dq)
		N2D_FN(attn_rows)(dq + r0 * a->lddq, a->lddq, 1, dp, (struct attn_panels){a->k, a->keys * ATTN_NR}, rows,
				  a->width, t, a->ahead);
}

V_INLINE void zero(float *x, size_t rows, size_t width, size_t ldx)
{
	for (size_t r = 0; r < rows; r++)
		V_ROW(width, v_st(x + r * ldx + i, v_zero(), m));
}

void N2D_FN(attn_bwd)(float *dq, float *dk, float *dv, const struct n2d_attn_bwd *a)
{
	size_t stop = attn_clamp((ptrdiff_t)a->keys - a->first, a->rows);
	if (dq && a->start)
		zero(dq, a->rows, a->width, a->lddq);
	if (dk)
		zero(dk, a->keys, a->width, a->lddk), zero(dv, a->keys, a->width, a->lddv);
	for (size_t r = attn_clamp(1 - a->end, a->rows); r < stop; r += BLOCK)
		block(dq, dk, dv, r, stop - r < BLOCK ? stop - r : BLOCK, a);
}

void N2D_FN(attn_delta)(float *delta, const float *d, const float *o, size_t rows, size_t width, size_t ld)
{
	for (size_t r = 0; r < rows; r++, d += ld, o += ld) {
		v_t s[2] = {v_zero(), v_zero()};
		size_t c = 0;
		for (; c + 2 * V_LANES <= width; c += 2 * V_LANES)
			V_UNROLL
			for (size_t j = 0; j < 2; j++)
				s[j] = v_mac(v_load(d + c + j * V_LANES), v_load(o + c + j * V_LANES), s[j]);
		for (; c < width; c += V_LANES) {
			size_t n = width - c < V_LANES ? width - c : V_LANES;
			s[0] = v_mac(v_ld(d + c, n), v_ld(o + c, n), s[0]);
		}
		delta[r] = v_sum(v_add(s[0], s[1]));
	}
}
