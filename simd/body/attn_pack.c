/* Operands of attention in the order its register tiles read them. */
#include "simd/attn_tile.h"

/* V_LANES columns of V_LANES rows; the rows from m on read as 0. */
V_INLINE void load_square(v_t t[V_LANES], const float *x, size_t m, size_t cols, size_t ldx)
{
	V_UNROLL for (size_t i = 0; i < V_LANES; i++)
		t[i] = i >= m ? v_zero() : cols >= V_LANES ? v_load(x + i * ldx) : v_loadn(x + i * ldx, cols);
	v_transpose(t);
}

/* Rows [0, m) of x, of a group of u, as p[k][u]. */
static void pack_group(float *p, const float *x, v_t alpha, size_t m, size_t k, size_t u, size_t ldx)
{
	for (size_t c = 0; c < k; c += V_LANES)
		for (size_t r = 0; r < u; r += V_LANES) {
			v_t t[V_LANES];
			load_square(t, x + r * ldx + c, m > r ? m - r : 0, k - c, ldx);
			size_t w = u - r < V_LANES ? u - r : V_LANES, h = k - c < V_LANES ? k - c : V_LANES;
			float *to = p + c * u + r;
			V_UNROLL for (size_t i = 0; i < V_LANES; i++)
				if (i < h)
					v_storen(to + i * u, v_mul(alpha, t[i]), w);
		}
}

void N2D_FN(attn_pack)(float *p, const float *x, float alpha, size_t n, size_t k, size_t u, size_t ldx)
{
	for (size_t r = 0; r < n; r += u)
		pack_group(p + r * k, x + r * ldx, v_set1(alpha), n - r < u ? n - r : u, k, u, ldx);
}

void N2D_FN(attn_panel)(float *p, const float *x, float alpha, size_t n, size_t k, size_t ldx)
{
	v_t a = v_set1(alpha);
	for (size_t c = 0; c < k; c += ATTN_NR)
		for (size_t r = 0; r < n; r++, p += ATTN_NR)
			for (size_t v = 0; v < ATTN_NR; v += V_LANES) {
				size_t left = c + v < k ? k - c - v : 0;
				const float *s = x + r * ldx + c + v;
				v_store(p + v, left >= V_LANES ? v_mul(a, v_load(s)) : left ? v_mul(a, v_loadn(s, left)) : v_zero());
			}
}
