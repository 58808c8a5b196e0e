/* The products of attention. For each height up to ATTN_MR there is a kernel of its own, so that a short tile costs what
 * it computes, and rows are divided evenly: two tiles of 7, not 12 and 2.
 *
 * Who is not seen is not multiplied. Where a tile's rows begin or end one key after the other (causal, a window) the
 * corners are triangles of known shape, unrolled between the tile's common terms. */
#include "simd/attn_tile.h"

/* One product of the tile: term k of row i is x[i * xi + k * xk], of column j y[k * ATTN_NR + j]. */
struct product {
	float *c;
	const float *x, *y;
	size_t ldc, cols; /* cols: of c, at most the tile's */
	size_t xp, width; /* of scores */
	int add;
	struct attn_terms t;
	struct n2d_attn_ahead *ahead;
};

/* Term k, of which the pointers are given, to rows [lo, hi). */
V_INLINE void step(const int lo, const int hi, const int nv, v_t acc[ATTN_MR][V_ATTN_NV], const float *x, const size_t xi,
		   const float *y)
{
	v_t b[V_ATTN_NV];
	V_UNROLL
	for (int v = 0; v < nv; v++)
		b[v] = v_load(y + v * V_LANES);
	V_UNROLL
	for (int i = lo; i < hi; i++) {
		v_t a = v_set1(x[(size_t)i * xi]);
		V_UNROLL
		for (int v = 0; v < nv; v++)
			acc[i][v] = v_mac(a, b[v], acc[i][v]);
	}
}

/* Terms of rows [0, m): n of them, from x and y on. The loop that fetches is apart, because its two instructions a term cost AVX2 3 % where there is
 * nothing to fetch. */
V_INLINE void terms(const int m, const int nv, v_t acc[ATTN_MR][V_ATTN_NV], const float *x, const size_t xi, const size_t xk, const float *y,
		    size_t n, struct n2d_attn_ahead *a)
{
	enum { LINE = 64 / sizeof(float) };
	if (!a || !a->parts) {
		for (size_t k = 0; k < n; k++, x += xk, y += ATTN_NR)
			step(0, m, nv, acc, x, xi, y);
		return;
	}
	const float *ahead = a->part[a->parts - 1].p;
	for (size_t k = 0; k < n; k++, x += xk, y += ATTN_NR, ahead += LINE) {
		v_prefetch_far(ahead);
		step(0, m, nv, acc, x, xi, y);
	}
	a->part[a->parts - 1].p = ahead;
	a->parts -= ahead >= a->part[a->parts - 1].end;
}

/* Columns of c in vector v of the tile. */
V_INLINE size_t lanes(const struct product *p, const int v)
{
	size_t before = (size_t)v * V_LANES;
	return p->cols >= before + V_LANES ? V_LANES : p->cols > before ? p->cols - before : 0;
}

V_INLINE void start(const int m, const int nv, v_t acc[ATTN_MR][V_ATTN_NV], const struct product *p)
{
	V_UNROLL
	for (int i = 0; i < m; i++)
		V_UNROLL
		for (int v = 0; v < nv; v++)
			acc[i][v] = v_zero();
	V_UNROLL
	for (int v = 0; v < nv; v++)
		if (p->add && lanes(p, v))
			V_UNROLL
			for (int i = 0; i < m; i++)
				acc[i][v] = v_ld(p->c + (size_t)i * p->ldc + v * V_LANES, lanes(p, v));
}

V_INLINE void finish(const int m, const int nv, v_t acc[ATTN_MR][V_ATTN_NV], const struct product *p)
{
	V_UNROLL
	for (int v = 0; v < nv; v++)
		if (lanes(p, v))
			V_UNROLL
			for (int i = 0; i < m; i++)
				v_st(p->c + (size_t)i * p->ldc + v * V_LANES, acc[i][v], lanes(p, v));
}

/* Scores: the terms are columns of a row's panels. */
V_INLINE void scores(const int m, const int nv, const struct product *p)
{
	v_t acc[ATTN_MR][V_ATTN_NV];
	const float *x = p->x, *y = p->y;
	start(m, nv, acc, p);
	for (size_t left = p->width; left;) {
		size_t n = left < ATTN_NR ? left : ATTN_NR;
		terms(m, nv, acc, x, ATTN_NR, 1, y, n, p->ahead);
		x += p->xp, y += n * ATTN_NR, left -= n;
	}
	finish(m, nv, acc, p);
}

/* Sums over keys or rows. Rows 0 and m - 1 have some term in common, or no term before n is missing to one of them. */
V_INLINE void sums(const int m, const struct product *p, const size_t xi, const size_t xk)
{
	enum { NV = V_ATTN_NV };
	v_t acc[ATTN_MR][NV];
	const struct attn_terms t = p->t;
	size_t from = attn_clamp(m - 1 + t.first, t.n), to = attn_clamp(t.end, t.n);
	start(m, NV, acc, p);
	if (m > 1 && from) /* the terms before, which rows [0, r) take */
		V_UNROLL
		for (int r = 1; r < m; r++) {
			ptrdiff_t k = t.first + r - 1;
			if (k >= 0 && k < (ptrdiff_t)t.n)
				step(0, r, NV, acc, p->x + (size_t)k * xk, xi, p->y + (size_t)k * ATTN_NR);
		}
	if (from < to)
		terms(m, NV, acc, p->x + from * xk, xi, xk, p->y + from * ATTN_NR, to - from, p->ahead);
	if (m > 1 && to < t.n) /* and after, which rows [r, m) take */
		V_UNROLL
		for (int r = 1; r < m; r++) {
			ptrdiff_t k = t.end + r - 1;
			if (k >= 0 && k < (ptrdiff_t)t.n)
				step(r, m, NV, acc, p->x + (size_t)k * xk, xi, p->y + (size_t)k * ATTN_NR);
		}
	finish(m, NV, acc, p);
}

/* A function for each kind and height; those above ATTN_MR are never called. Scores of few keys take one vector. */
#define UPTO(h) (h <= ATTN_MR ? h : 1)
#define TILE(h) \
	static void few_##h(const struct product *p) { scores(UPTO(h), 1, p); } \
	static void scores_##h(const struct product *p) { scores(UPTO(h), V_ATTN_NV, p); } \
	static void rows_##h(const struct product *p) { sums(UPTO(h), p, ATTN_LD, 1); } \
	static void keys_##h(const struct product *p) { sums(UPTO(h), p, 1, ATTN_LD); }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6) TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12)

typedef void (*const tiles[12])(const struct product *p);
#define TILES(f) {f##_1, f##_2, f##_3, f##_4, f##_5, f##_6, f##_7, f##_8, f##_9, f##_10, f##_11, f##_12}
static tiles few = TILES(few), many = TILES(scores), by_rows = TILES(rows), by_keys = TILES(keys);

_Static_assert(ATTN_MR <= 12, "a height without a kernel");

/* The height of the next tile of rows. */
V_INLINE size_t height(size_t rows)
{
	size_t count = (rows + ATTN_MR - 1) / ATTN_MR;
	return (rows + count - 1) / count;
}

void N2D_FN(attn_scores)(float *s, struct attn_panels x, const float *kt, size_t rows, size_t width, struct attn_terms keys,
			 struct n2d_attn_ahead *ahead)
{
	while (rows) {
		size_t m = height(rows), j = attn_clamp(keys.first, keys.n) / ATTN_NR * ATTN_NR;
		size_t to = attn_clamp((ptrdiff_t)m - 1 + keys.end, keys.n);
		struct product p = {.x = x.p, .ldc = ATTN_LD, .cols = ATTN_NR, .xp = x.next, .width = width, .ahead = ahead};
		for (; j < to; j += ATTN_NR) {
			p.c = s + j, p.y = kt + j * width;
			if (to - j > V_LANES)
				many[m - 1](&p);
			else
				few[m - 1](&p);
		}
		s += m * ATTN_LD, x.p += m * ATTN_NR, rows -= m;
		keys.first += (ptrdiff_t)m, keys.end += (ptrdiff_t)m;
	}
}

/* xi: floats from one row's terms to the next's. */
V_INLINE void products(tiles f, struct product p, struct attn_panels y, size_t rows, size_t width, const size_t xi)
{
	while (rows) {
		size_t m = height(rows), from = attn_clamp((ptrdiff_t)m - 1 + p.t.first, p.t.n);
		float *c = p.c;
		if (from > attn_clamp(p.t.end, p.t.n))
			m = 1; /* a band narrower than the tile */
		p.y = y.p;
		for (size_t left = width; left; left -= p.cols, p.c += ATTN_NR, p.y += y.next) {
			p.cols = left < ATTN_NR ? left : ATTN_NR;
			f[m - 1](&p);
		}
		p.c = c + m * p.ldc, p.x += m * xi, rows -= m;
		p.t.first += (ptrdiff_t)m, p.t.end += (ptrdiff_t)m;
	}
}

void N2D_FN(attn_rows)(float *c, size_t ldc, int add, const float *s, struct attn_panels y, size_t rows, size_t width,
		       struct attn_terms t, struct n2d_attn_ahead *ahead)
{
	struct product p = {.c = c, .x = s, .ldc = ldc, .add = add, .t = t, .ahead = ahead};
	products(by_rows, p, y, rows, width, ATTN_LD);
}

void N2D_FN(attn_keys)(float *c, size_t ldc, const float *s, struct attn_panels y, size_t keys, size_t width,
		       struct attn_terms t, struct n2d_attn_ahead *ahead)
{
	struct product p = {.c = c, .x = s, .ldc = ldc, .add = 1, .t = t, .ahead = ahead};
	products(by_keys, p, y, keys, width, 1);
}
