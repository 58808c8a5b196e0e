/* Operands of attention in the order its register tiles read them. */
#include "simd/attn_tile.h"

void N2D_FN(attn_pack)(float *p, const float *x, size_t n, size_t k, size_t ldx)
{
	for (size_t r = 0; r < n; r += V_LANES) {
		float *to = p + r / ATTN_NR * ATTN_NR * k + r % ATTN_NR;
		for (size_t c = 0; c < k; c += V_LANES) {
			v_t t[V_LANES];
			size_t h = k - c < V_LANES ? k - c : V_LANES;
			attn_square(t, x + r * ldx + c, NULL, 0, n - r, h, ldx);
			V_UNROLL for (size_t i = 0; i < V_LANES; i++)
				if (i < h)
					v_store(to + (c + i) * ATTN_NR, t[i]);
		}
	}
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
