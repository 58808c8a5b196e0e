/* The register tile of the matrix product: m x NR elements of C stay in registers over the whole of k.
 *
 * For each height m up to MR there is a kernel of its own, so that a short tile costs what it computes.
 * Every element is one chain of multiply-adds in the order of k, starting from beta * C: its bits
 * depend neither on m nor on how the caller cuts k. */
#include "simd/body.h"

enum { MR = V_GEMM_MR, NV = V_GEMM_NV, NR = NV * V_LANES };

struct tile {
	float *c;
	const float *a, *b;
	float beta;
	const struct n2d_gemm_end *end;
	const float *ahead;
	size_t step, n, k, ai, ak, bk, ldc;
};

/* Whole vectors are not masked: masked stores are slow on some AVX2 processors. */
V_INLINE v_t load_upto(const float *p, size_t n) { return n >= V_LANES ? v_load(p) : v_loadn(p, n); }

V_INLINE void start(const size_t m, v_t c[MR][NV], const struct tile *t)
{
	V_UNROLL
	for (size_t i = 0; i < m; i++)
		V_UNROLL
		for (size_t j = 0; j < NV; j++)
			c[i][j] = v_zero();
	if (t->beta == 0)
		return;
	V_UNROLL
	for (size_t j = 0; j < NV; j++)
		if (t->n >= (j + 1) * V_LANES) {
			V_UNROLL
			for (size_t i = 0; i < m; i++)
				c[i][j] = v_load(t->c + i * t->ldc + j * V_LANES);
		} else if (t->n > j * V_LANES) {
			V_UNROLL
			for (size_t i = 0; i < m; i++)
				c[i][j] = v_loadn(t->c + i * t->ldc + j * V_LANES, t->n - j * V_LANES);
		}
	if (t->beta == 1)
		return;
	v_t beta = v_set1(t->beta);
	V_UNROLL
	for (size_t i = 0; i < m; i++)
		V_UNROLL
		for (size_t j = 0; j < NV; j++)
			c[i][j] = v_mul(beta, c[i][j]);
}

/* c += a b. Element (i, p) of a is at r[i / 3][i % 3 * ai] plus p steps of ak: with a pointer to every third row the processor's addressing
 * reaches the two after it. ai or ak is the constant 1 at every call. */
V_INLINE void multiply(const size_t m, v_t c[MR][NV], const struct tile *t, const size_t ai, const size_t ak)
{
	enum { THIRDS = (MR + 2) / 3 };
	const float *b = t->b, *ahead = t->ahead, *r[THIRDS];
	const size_t bk = t->bk, step = t->step;
	V_UNROLL
	for (size_t i = 0; i < THIRDS; i++)
		r[i] = t->a + (3 * i < m ? 3 * i : 0) * ai;
	for (size_t p = t->k; p; p--, b += bk, ahead += step) {
		v_prefetch(ahead);
		v_t bv[NV];
		V_UNROLL
		for (size_t j = 0; j < NV; j++)
			bv[j] = v_load(b + j * V_LANES);
		V_UNROLL
		for (size_t i = 0; i < m; i++) {
			v_t av = v_set1(r[i / 3][i % 3 * ai]);
			V_UNROLL
			for (size_t j = 0; j < NV; j++)
				c[i][j] = v_mac(av, bv[j], c[i][j]);
		}
		V_UNROLL
		for (size_t i = 0; i < THIRDS; i++)
			r[i] += ak;
	}
}

/* The epilogue of vector column j, n lanes of it inside C. */
V_INLINE void finish(const size_t m, v_t c[MR][NV], const size_t j, const struct n2d_gemm_end *end, size_t n)
{
	if (end->bias) {
		v_t bias = load_upto(end->bias + j * V_LANES, n);
		V_UNROLL
		for (size_t i = 0; i < m; i++)
			c[i][j] = v_add(c[i][j], bias);
	}
	if (end->relu) {
		V_UNROLL
		for (size_t i = 0; i < m; i++)
			c[i][j] = v_max(v_zero(), c[i][j]); /* in this order NaN stays NaN */
	}
	if (end->residual) {
		V_UNROLL
		for (size_t i = 0; i < m; i++)
			c[i][j] = v_add(c[i][j], load_upto(end->residual + i * end->ldr + j * V_LANES, n));
	}
}

V_INLINE void store(const size_t m, v_t c[MR][NV], const size_t j, const struct tile *t, size_t n)
{
	float *p = t->c + j * V_LANES;
	if (n >= V_LANES) {
		V_UNROLL
		for (size_t i = 0; i < m; i++)
			v_store(p + i * t->ldc, c[i][j]);
	} else {
		V_UNROLL
		for (size_t i = 0; i < m; i++)
			v_storen(p + i * t->ldc, c[i][j], n);
	}
}

V_INLINE void tile(const size_t m, const struct tile *t)
{
	v_t c[MR][NV];
	start(m, c, t);
	if (t->ai == 1)
		multiply(m, c, t, 1, t->ak);
	else
		multiply(m, c, t, t->ai, 1);
	V_UNROLL
	for (size_t j = 0; j < NV; j++)
		if (t->n > j * V_LANES) {
			if (t->end)
				finish(m, c, j, t->end, t->n - j * V_LANES);
			store(m, c, j, t, t->n - j * V_LANES);
		}
}

/* A function for each height; those above MR are never called. */
#define TILE(h) \
	static void tile_##h(const struct tile *t) { tile(h <= MR ? h : MR, t); }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6) TILE(7) TILE(8)
TILE(9) TILE(10) TILE(11) TILE(12) TILE(13) TILE(14)

static void (*const tiles[])(const struct tile *t) = {
	tile_1, tile_2, tile_3, tile_4, tile_5, tile_6, tile_7, tile_8,
	tile_9, tile_10, tile_11, tile_12, tile_13, tile_14,
};

_Static_assert(MR <= sizeof tiles / sizeof *tiles, "a height without a kernel");

void N2D_FN(gemm_tile)(float *c, const float *a, const float *b, float beta, const struct n2d_gemm_end *end, const float *ahead,
		       size_t step, size_t m, size_t n, size_t k, size_t ai, size_t ak, size_t bk, size_t ldc)
{
	if (!m || !n)
		return;
	struct tile t = {c, a, b, beta, end, ahead, step, n, k, ai, ak, bk, ldc};
	tiles[m - 1](&t);
}
