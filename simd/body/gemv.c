/* One row times packed panels: y = x B, at the speed at which B can be read.
 *
 * Lanes run over columns, so every element is one chain of multiply-adds in the order of k, as in
 * gemm_tile, and has the same bits. A chain alone waits for its own latency: GROUP panels go side by
 * side. They take turns of RUN rows, because the hardware follows one long stream better than
 * several that alternate at every line. */
#include "simd/body.h"

enum { NV = V_GEMM_NV, NR = NV * V_LANES, GROUP = 4, RUN = 16 };

struct vector {
	float *y;
	const float *x;
	float beta;
	const struct n2d_gemm_end *end;
	size_t k, row, panel;
};

V_INLINE void finish(const struct vector *t, v_t c, size_t at, size_t n)
{
	const struct n2d_gemm_end *end = t->end;
	if (end && end->bias)
		c = v_add(c, v_loadn(end->bias + at, n));
	if (end && end->relu)
		c = v_max(v_zero(), c); /* in this order NaN stays NaN */
	if (end && end->residual)
		c = v_add(c, v_loadn(end->residual + at, n));
	v_storen(t->y + at, c, n);
}

V_INLINE v_t start(const struct vector *t, size_t at, size_t n)
{
	if (t->beta == 0)
		return v_zero();
	v_t c = v_loadn(t->y + at, n);
	return t->beta == 1 ? c : v_mul(v_set1(t->beta), c);
}

/* G whole panels from column `at` on. */
V_INLINE void panels(const size_t G, const struct vector *t, const float *b, size_t at)
{
	v_t c[GROUP][NV];
	V_UNROLL
	for (size_t g = 0; g < G; g++)
		V_UNROLL
		for (size_t j = 0; j < NV; j++)
			c[g][j] = start(t, at + g * NR + j * V_LANES, V_LANES);
	for (size_t p = 0; p < t->k; p += RUN) {
		size_t run = t->k - p < RUN ? t->k - p : RUN;
		V_UNROLL
		for (size_t g = 0; g < G; g++) {
			const float *r = b + g * t->panel + p * t->row;
			for (size_t q = 0; q < run; q++, r += t->row) {
				v_t x = v_set1(t->x[p + q]);
				V_UNROLL
				for (size_t j = 0; j < NV; j++)
					c[g][j] = v_mac(x, v_load(r + j * V_LANES), c[g][j]);
			}
		}
	}
	V_UNROLL
	for (size_t g = 0; g < G; g++)
		V_UNROLL
		for (size_t j = 0; j < NV; j++)
			finish(t, c[g][j], at + g * NR + j * V_LANES, V_LANES);
}

/* The first n columns, n < NR, of one panel. */
static void part(const struct vector *t, const float *b, size_t at, size_t n)
{
	for (size_t j = 0; j < n; j += V_LANES) {
		size_t w = n - j < V_LANES ? n - j : V_LANES;
		v_t c = start(t, at + j, w);
		for (size_t p = 0; p < t->k; p++)
			c = v_mac(v_set1(t->x[p]), v_loadn(b + p * t->row + j, w), c);
		finish(t, c, at + j, w);
	}
}

void N2D_FN(gemv)(float *y, const float *x, const float *b, float beta, const struct n2d_gemm_end *end, size_t n,
		  size_t k, size_t row, size_t panel)
{
	struct vector t = {y, x, beta, end, k, row, panel};
	size_t at = 0;
	for (; at + GROUP * NR <= n; at += GROUP * NR, b += GROUP * panel)
		panels(GROUP, &t, b, at);
	for (; at + NR <= n; at += NR, b += panel)
		panels(1, &t, b, at);
	if (at < n)
		part(&t, b, at, n - at);
}
