/* Depthwise convolution: one row of the output, and the gradient of one tap's weights. */
#include "simd/body.h"

/* m vectors from column i on, the last of `last` lanes; m is a constant at every call. */
V_INLINE void columns(const int m, float *y, const float *x, const float *w, size_t taps, size_t i, size_t n, ptrdiff_t ldx,
		      size_t last)
{
	v_t s[4];
	for (int v = 0; v < m; v++)
		s[v] = v_zero();
	for (size_t t = 0; t < taps; t++, x += ldx, w += n)
		for (int v = 0; v < m; v++) {
			size_t at = i + (size_t)v * V_LANES;
			if (v + 1 < m || last == V_LANES)
				s[v] = v_mac(v_load(x + at), v_load(w + at), s[v]);
			else
				s[v] = v_mac(v_loadn(x + at, last), v_loadn(w + at, last), s[v]);
		}
	for (int v = 0; v < m; v++) {
		size_t at = i + (size_t)v * V_LANES;
		if (v + 1 < m || last == V_LANES)
			v_store(y + at, s[v]);
		else
			v_storen(y + at, s[v], last);
	}
}

void N2D_FN(depthwise_fwd)(float *y, const float *x, const float *w, size_t taps, size_t n, ptrdiff_t ldx)
{
	size_t i = 0;
	for (; i + 4 * V_LANES <= n; i += 4 * V_LANES)
		columns(4, y, x, w, taps, i, n, ldx, V_LANES);
	for (; i < n; i += V_LANES)
		columns(1, y, x, w, taps, i, n, ldx, n - i < V_LANES ? n - i : V_LANES);
}

V_INLINE void weights(const int m, float *g, const float *a, const float *b, size_t rows, size_t ld, size_t last)
{
	v_t s[4];
	for (int v = 0; v < m; v++)
		s[v] = v_loadn(g + (size_t)v * V_LANES, v + 1 < m ? V_LANES : last);
	for (size_t r = 0; r < rows; r++, a += ld, b += ld)
		for (int v = 0; v < m; v++) {
			size_t at = (size_t)v * V_LANES;
			if (v + 1 < m || last == V_LANES)
				s[v] = v_mac(v_load(a + at), v_load(b + at), s[v]);
			else
				s[v] = v_mac(v_loadn(a + at, last), v_loadn(b + at, last), s[v]);
		}
	for (int v = 0; v < m; v++)
		v_storen(g + (size_t)v * V_LANES, s[v], v + 1 < m ? V_LANES : last);
}

void N2D_FN(depthwise_weights_acc)(float *g, const float *a, const float *b, size_t rows, size_t n, size_t ld)
{
	size_t i = 0;
	for (; i + 4 * V_LANES <= n; i += 4 * V_LANES)
		weights(4, g + i, a + i, b + i, rows, ld, V_LANES);
	for (; i < n; i += V_LANES)
		weights(1, g + i, a + i, b + i, rows, ld, n - i < V_LANES ? n - i : V_LANES);
}
