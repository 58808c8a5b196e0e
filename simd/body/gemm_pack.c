/* Packing for gemm_tile: panels [k][w] that the inner loop reads in order, w = MR or NR.
 *
 * MR may be less than a vector (14 of 16 lanes). Rows are still stored as whole vectors: what is written
 * too much belongs to the next row, which is written after. Only at the panel's end the store is masked. */
#include "simd/body.h"

enum { MR = V_GEMM_MR, NR = V_GEMM_NV * V_LANES };

_Static_assert(MR < V_LANES || MR % V_LANES == 0, "a row's last vector would be overwritten by its neighbours");

/* Lanes [i, i + V_LANES) of row p. */
V_INLINE void put(float *panel, v_t x, const size_t w, const int past, size_t i, size_t p, size_t k)
{
	float *to = panel + p * w + i;
	if (past)
		v_stream(to, x);
	else if (w >= V_LANES || p * w + V_LANES <= k * w)
		v_store(to, x);
	else
		v_storen(to, x, w);
}

/* Rows [i, i + rows) of x become lanes of the panel, V_LANES columns at a time. */
V_INLINE void transpose(float *panel, const float *x, v_t alpha, const size_t w, const int past, size_t i, const size_t rows, size_t k,
			size_t ldx)
{
	for (size_t p = 0; p < k; p += V_LANES) {
		size_t n = k - p < V_LANES ? k - p : V_LANES;
		v_t r[V_LANES];
		if (n == V_LANES) {
			V_UNROLL
			for (size_t l = 0; l < V_LANES; l++)
				r[l] = l < rows ? v_mul(alpha, v_load(x + l * ldx + p)) : v_zero();
		} else {
			V_UNROLL
			for (size_t l = 0; l < V_LANES; l++)
				r[l] = l < rows ? v_mul(alpha, v_loadn(x + l * ldx + p, n)) : v_zero();
		}
		v_transpose(r);
		V_UNROLL
		for (size_t l = 0; l < V_LANES; l++)
			if (l < n)
				put(panel, r[l], w, past, i, p + l, k);
	}
}

V_INLINE void rows_to_panel(float *panel, const float *x, float alpha, const size_t w, const int past, size_t m, size_t k, size_t ldx)
{
	const size_t whole = w < V_LANES ? w : V_LANES;
	for (size_t i = 0; i < w; i += V_LANES, x += V_LANES * ldx) {
		size_t rows = m <= i ? 0 : m - i < whole ? m - i : whole;
		if (rows == whole)
			transpose(panel, x, v_set1(alpha), w, past, i, whole, k, ldx);
		else
			transpose(panel, x, v_set1(alpha), w, past, i, rows, k, ldx);
	}
}

/* Rows [p, last) of x. */
V_INLINE void columns_to_panel(float *panel, const float *x, float alpha, const size_t w, const int past, const size_t m, size_t p,
			       size_t last, size_t k, size_t ldx)
{
	v_t a = v_set1(alpha);
	for (; p < last; p++)
		V_UNROLL
		for (size_t i = 0; i < w; i += V_LANES) {
			size_t n = m <= i ? 0 : m - i < V_LANES ? m - i : V_LANES;
			const float *from = x + p * ldx + i;
			put(panel, v_mul(a, n == V_LANES ? v_load(from) : v_loadn(from, n)), w, past, i, p, k);
		}
}

V_INLINE void all_rows(float *panel, const float *x, float alpha, const size_t w, const int past, size_t m, size_t k, size_t ldx)
{
	for (size_t i = 0; i < m; i += w, panel += k * w)
		rows_to_panel(panel, x + i * ldx, alpha, w, past, m - i < w ? m - i : w, k, ldx);
}

/* RUN rows of all panels at a time: a row of x is read to its end while its cache lines are there, and each panel is written
 * in long pieces. The next rows are fetched by hand, since the hardware does not follow rows that are pages apart. */
V_INLINE void all_columns(float *panel, const float *x, float alpha, const size_t w, const int past, size_t m, size_t k, size_t ldx)
{
	enum { RUN = 16, AHEAD = 16, LINE = 16 };
	for (size_t p = 0; p < k; p += RUN) {
		size_t last = k - p < RUN ? k : p + RUN, i = 0;
		for (size_t q = p + AHEAD; q < last + AHEAD && q < k; q++)
			for (size_t j = 0; j < m; j += LINE)
				v_prefetch(x + q * ldx + j);
		for (; i + w <= m; i += w)
			columns_to_panel(panel + i * k, x + i, alpha, w, past, w, p, last, k, ldx);
		if (i < m)
			columns_to_panel(panel + i * k, x + i, alpha, w, past, m - i, p, last, k, ldx);
	}
}

/* Each width is a constant in code of its own. */
#define PACK(all) \
	do { \
		if (w != NR) \
			all(panel, x, alpha, MR, 0, m, k, ldx); \
		else if (!past) \
			all(panel, x, alpha, NR, 0, m, k, ldx); \
		else \
			all(panel, x, alpha, NR, 1, m, k, ldx), v_stream_end(); \
	} while (0)

void N2D_FN(gemm_pack_rows)(float *panel, const float *x, float alpha, size_t w, int past, size_t m, size_t k, size_t ldx)
{
	PACK(all_rows);
}

void N2D_FN(gemm_pack_columns)(float *panel, const float *x, float alpha, size_t w, int past, size_t m, size_t k, size_t ldx)
{
	PACK(all_columns);
}
