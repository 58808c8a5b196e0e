/* The streaming attention kernels on one tile of keys: one head's rows forward and backward, one row of several heads. The
 * packed operands are made here, by loops of their own. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/problem/problem.h"

/* Floats of rows x width with row stride ld, to the last element and no further. */
static size_t strided(size_t rows, size_t width, size_t ld) { return rows ? (rows - 1) * ld + width : 0; }
static size_t groups(size_t n, size_t u) { return (n + u - 1) / u * u; }

/* Dimension 3: who sees whom. Dimension 4: whether this is the first tile. */
static const struct {
	ptrdiff_t first, end;
} bands[] = {
	{-100000, 100000}, /* everything */
	{-100000, 1},      /* causal */
	{-100000, -20},    /* causal, a later tile: the first rows see nothing */
	{-7, 8},           /* a window narrower than the register tile */
	{-30, 31},         /* a wider one */
	{-40, -25},        /* one that starts below */
	{10, 40},          /* and above: the last rows see nothing */
};
enum { BANDS = sizeof bands / sizeof *bands };

static int sees(const struct problem *p, size_t r, size_t j)
{
	ptrdiff_t d = (ptrdiff_t)j - (ptrdiff_t)r;
	return d >= bands[p->dim[3]].first && d < bands[p->dim[3]].end;
}

static void tile_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	static const size_t width[] = {1, 3, 7, 9, 16, 33, 63, 64, 65};
	size_t rows[] = {1, k->attn_mr - 1, k->attn_mr, 2 * k->attn_mr + 1, 4 * k->attn_mr + 5, 97};
	size_t keys[] = {1, k->lanes + 1, k->attn_nr, k->attn_nr + 3, 97, 191, 192};
	for (size_t i = 0, w = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
			for (size_t b = 0; b < BANDS; b++, w++)
				problem_use(u, rows[i], keys[j], width[w % (sizeof width / sizeof *width)], b, w % 3 == 0, 0);
	for (size_t start = 0; start < 2; start++) {
		problem_use(u, 0, 5, 3, 0, start, 0);
		problem_use(u, 5, 5, 0, 0, start, 0);
	}
}

/* x[n][k] (the raw matrix) as attn_pack leaves it. */
static void pack_groups(float *to, const float *x, size_t n, size_t k, size_t u)
{
	for (size_t r = 0; r < (n + u - 1) / u * u; r++)
		for (size_t c = 0; c < k; c++)
			to[r / u * u * k + c * u + r % u] = r < n ? x[r * k + c] : 0;
}

static void pack_panels(float *to, const float *x, size_t n, size_t k, size_t w)
{
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < (k + w - 1) / w * w; c++)
			to[c / w * w * n + r * w + c % w] = c < k ? x[r * k + c] : 0;
}

/* o[rows][width], mx, sum. The running maximum of every third row is above, of every third below what this tile has, and the
 * others start from nothing. On the first tile they all do, and what is there must not be read. */
static void running(struct problem *p, size_t rows, size_t width, size_t ld, int start)
{
	float *o = problem_inout(p, strided(rows, width, ld)), *mx = problem_inout(p, rows), *sum = problem_inout(p, rows * p->k->lanes);
	for (size_t r = 0; r < rows; r++) {
		int none = start || r % 3 == 0;
		mx[r] = start ? NAN : none ? -INFINITY : r % 3 == 1 ? 6.5f : -1.0f;
		for (size_t l = 0; l < p->k->lanes; l++)
			sum[r * p->k->lanes + l] = start ? NAN : none ? 0 : fabsf(sum[r * p->k->lanes + l]);
		for (size_t c = 0; none && c < width; c++)
			o[r * ld + c] = start ? NAN : 0;
	}
}

/* Buffers: raw q, k, v; o, mx, sum; packed q, k, v. */
static void fwd_setup(struct problem *p)
{
	size_t rows = p->dim[0], keys = p->dim[1], K = p->dim[2], nr = p->k->attn_nr;
	float *q = problem_in(p, rows * K), *k = problem_in(p, keys * K), *v = problem_in(p, keys * K);
	for (size_t i = 0; i < rows * K; i++)
		q[i] /= sqrtf((float)K);
	running(p, rows, K, K + 2, p->dim[4] != 0);
	pack_panels(problem_in(p, groups(K, nr) * rows), q, rows, K, nr);
	pack_groups(problem_in(p, groups(keys, nr) * K), k, keys, K, nr);
	pack_panels(problem_in(p, groups(K, nr) * keys), v, keys, K, nr);
}

static void fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	struct n2d_attn_fwd a = {
		.q = problem_p(p, 6), .kt = problem_p(p, 7), .v = problem_p(p, 8),
		.first = bands[p->dim[3]].first, .end = bands[p->dim[3]].end, .q_next = p->dim[0] * k->attn_nr,
		.rows = p->dim[0], .keys = p->dim[1], .width = p->dim[2], .ldo = p->dim[2] + 2, .start = p->dim[4] != 0,
	};
	k->attn_fwd(problem_p(p, 3), problem_p(p, 4), problem_p(p, 5), &a);
}

/* One row of one head: its operands, who it sees of n keys, and its place r in buffers 3 to 5. */
struct line {
	const float *q, *k, *v;
	size_t ldk, ldv, n, width, r, ldo;
	const size_t *at; /* where the keys lie in k and v; NULL: ldk, ldv apart */
	ptrdiff_t first, end;
	int start;
};

static size_t key_at(const struct line *x, size_t j, size_t ld) { return x->at ? x->at[j] : j * ld; }
static int in_line(const struct line *x, size_t j) { return (ptrdiff_t)j >= x->first && (ptrdiff_t)j < x->end; }

/* s[n] and the bound e of its errors; returns the maximum over what is seen. */
static double line_scores(const struct line *x, double max, double *s, double *e)
{
	*e = 0;
	for (size_t j = 0; j < x->n; j++) {
		double abs = 0;
		s[j] = 0;
		for (size_t c = 0; c < x->width; c++) {
			double t = (double)x->q[c] * x->k[key_at(x, j, x->ldk) + c];
			s[j] += t, abs += fabs(t);
		}
		if (!in_line(x, j))
			continue;
		max = s[j] > max ? s[j] : max;
		*e = fmax(*e, gamma_n((double)x->width + 1) * abs); /* and one for the scale, where the kernel applies it */
	}
	return max;
}

/* The maximum is off by e at most, and what is compared with it is rescaled exactly to it: errors
 * of o and sum are those of a weight, relative expm1(2 e + 3.5 u |s - m| + 4 u), where |s - m| <= D, and
 * of sums of n + 3 terms. The result at our maximum differs from the oracle's by exp(e). */
static void line_check(struct problem *p, const struct line *x)
{
	size_t lanes = p->k->lanes, r = x->r;
	double s[192], e, was = x->start ? -INFINITY : problem_orig(p, 4)[r], m = line_scores(x, was, s, &e);
	double c = was == m ? 1 : exp(was - m), D = 0, sum = 0, got = 0;
	problem_near(p, "mx", r, problem_p(p, 4)[r], m, e);
	for (size_t j = 0; j < x->n; j++)
		D = in_line(x, j) ? fmax(D, m - s[j]) : D;
	D = fmax(D, was > -INFINITY ? m - was : 0);
	double E = 1.01 * (expm1(4 * e + (3.5 * D + 4) * U32) + gamma_n((double)x->n + 3));
	for (size_t l = 0; l < lanes; l++)
		sum += x->start ? 0 : c * problem_orig(p, 5)[r * lanes + l], got += problem_p(p, 5)[r * lanes + l];
	for (size_t j = 0; j < x->n; j++)
		sum += in_line(x, j) ? exp(s[j] - m) : 0;
	problem_near(p, "sum", r, got, sum, E * sum);
	for (size_t k = 0; k < x->width; k++) {
		double o = x->start ? 0 : c * problem_orig(p, 3)[r * x->ldo + k], abs = fabs(o);
		for (size_t j = 0; j < x->n; j++)
			if (in_line(x, j)) {
				double t = exp(s[j] - m) * x->v[key_at(x, j, x->ldv) + k];
				o += t, abs += fabs(t);
			}
		problem_near(p, "o", r * x->ldo + k, problem_p(p, 3)[r * x->ldo + k], o, E * abs);
	}
}

static void fwd_check(struct problem *p)
{
	size_t K = p->dim[2];
	struct line x = {.k = problem_orig(p, 1), .v = problem_orig(p, 2), .ldk = K, .ldv = K, .n = p->dim[1], .width = K};
	x.ldo = K + 2, x.start = p->dim[4] != 0;
	for (size_t r = 0; r < p->dim[0]; r++) {
		x.q = problem_orig(p, 0) + r * K, x.r = r;
		x.first = bands[p->dim[3]].first + (ptrdiff_t)r, x.end = bands[p->dim[3]].end + (ptrdiff_t)r;
		line_check(p, &x);
	}
}

static double pairs(const size_t *dim)
{
	double n = 0;
	for (size_t r = 0; r < dim[0]; r++)
		for (size_t j = 0; j < dim[1]; j++)
			n += (ptrdiff_t)(j - r) >= bands[dim[3]].first && (ptrdiff_t)(j - r) < bands[dim[3]].end;
	return n;
}
static double fwd_flops(const size_t *dim) { return 4 * pairs(dim) * (double)dim[2]; }
static double bwd_flops(const size_t *dim) { return 10 * pairs(dim) * (double)dim[2]; }
static double fwd_bytes(const size_t *dim) { return 8.0 * (double)(dim[0] + dim[1]) * (double)dim[2]; }
static double bwd_bytes(const size_t *dim) { return 16.0 * (double)(dim[0] + dim[1]) * (double)dim[2]; }
static const size_t tile_bench[][PROBLEM_DIMS] = {{192, 192, 64, 0}, {192, 192, 64, 1}, {14, 14, 32, 0, 1}, {14, 14, 32, 1, 1}, {SIZE_MAX}};

const struct problem_kind problem_attn_fwd = {
	.kernel = "attn_fwd", .dims = "rows keys width band start", .shapes = tile_shapes, .bench = tile_bench, .sparse = 1,
	.setup = fwd_setup, .call = fwd_call, .check = fwd_check, .flops = fwd_flops, .bytes = fwd_bytes,
};

/* ---- one row of several heads, side by side in rows of K, V and Q. Dimension 3: the keys that are seen; from 3 on the same, in another
 * order and found by a list. */

static const float row_scale = 0.37f;

static void row_seen(const size_t *dim, size_t *first, size_t *end)
{
	size_t n = dim[1], seen = dim[3] % 3;
	*first = seen == 0 ? 0 : seen == 1 ? n / 2 : n - 1;
	*end = seen == 1 ? n - n / 4 : n;
}

/* Floats from row to row of K and of V. */
static size_t row_ldk(const size_t *dim) { return dim[0] * (dim[2] + 1); }
static size_t row_ldv(const size_t *dim) { return row_ldk(dim) + (dim[3] < 3 ? 2 : 0); }

/* Where the keys lie, in at[192]; NULL without a list. */
static const size_t *row_list(const size_t *dim, size_t *at)
{
	for (size_t j = 0; j < dim[1]; j++)
		at[j] = (2 * dim[1] - 1 - j - dim[1] / 3) % dim[1] * row_ldk(dim);
	return dim[3] < 3 ? NULL : at;
}

static void row_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	static const size_t width[] = {1, 3, 7, 9, 16, 33, 63, 64, 65, 128};
	size_t keys[] = {1, 2, k->lanes - 1 ? k->lanes - 1 : 1, k->lanes, k->lanes + 1, 97, 191, 192};
	for (size_t i = 0; i < sizeof width / sizeof *width; i++)
		for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
			for (size_t seen = 0; seen < 6; seen++)
				problem_use(u, 1 + (i + j) % 4, keys[j], width[i], seen, (i + j + seen) % 2, 0);
	problem_use(u, 0, 5, 3, 0, 1, 0);
	problem_use(u, 3, 5, 0, 0, 1, 0);
}

/* Buffers: q as given, k, v; o, mx, sum; scratch. What is not seen is NaN. */
static void row_setup(struct problem *p)
{
	size_t heads = p->dim[0], keys = p->dim[1], K = p->dim[2], first, end, ldk = row_ldk(p->dim), ldv = row_ldv(p->dim), list[192];
	const size_t *at = row_list(p->dim, list);
	problem_in(p, strided(heads, K, K + 1));
	float *k = problem_in(p, heads ? strided(keys, ldk - 1, ldk) : 0), *v = problem_in(p, heads ? strided(keys, ldk - 1, ldv) : 0);
	row_seen(p->dim, &first, &end);
	for (size_t j = 0; heads && j < keys; j++)
		for (size_t c = 0; (j < first || j >= end) && c < ldk - 1; c++)
			k[(at ? at[j] : j * ldk) + c] = v[(at ? at[j] : j * ldv) + c] = NAN;
	running(p, heads, K, K, p->dim[4] != 0);
	problem_out(p, heads * 192);
}

static void row_call(struct problem *p, const struct n2d_kernels *k)
{
	size_t heads = p->dim[0], K = p->dim[2], at[192];
	struct n2d_attn_row a = {
		.q = problem_p(p, 0), .k = problem_p(p, 1), .v = problem_p(p, 2), .s = problem_p(p, 6), .q_sh = K + 1, .k_sh = K + 1,
		.v_sh = K + 1, .k_st = row_ldk(p->dim), .v_st = row_ldv(p->dim), .at = row_list(p->dim, at), .heads = heads, .width = K,
		.scale = row_scale, .start = p->dim[4] != 0,
	};
	row_seen(p->dim, &a.first, &a.end);
	k->attn_row(problem_p(p, 3), problem_p(p, 4), problem_p(p, 5), &a);
}

static void row_check(struct problem *p)
{
	size_t heads = p->dim[0], K = p->dim[2], first, end, at[192];
	float q[128];
	row_seen(p->dim, &first, &end);
	struct line x = {.q = q, .ldk = row_ldk(p->dim), .ldv = row_ldv(p->dim), .at = row_list(p->dim, at), .n = p->dim[1], .width = K, .ldo = K};
	x.first = (ptrdiff_t)first, x.end = (ptrdiff_t)end, x.start = p->dim[4] != 0;
	for (size_t h = 0; h < heads; h++) {
		for (size_t c = 0; c < K; c++)
			q[c] = row_scale * problem_orig(p, 0)[h * (K + 1) + c];
		x.k = problem_orig(p, 1) + h * (K + 1), x.v = problem_orig(p, 2) + h * (K + 1), x.r = h;
		line_check(p, &x);
	}
}

static double row_flops(const size_t *dim) { return 4.0 * (double)dim[0] * (double)dim[1] * (double)dim[2]; }
static double row_bytes(const size_t *dim) { return 8.0 * (double)dim[0] * (double)(dim[1] + 1) * (double)dim[2]; }
static const size_t row_bench[][PROBLEM_DIMS] = {{4, 192, 32, 0, 1}, {8, 192, 64, 0, 1}, {SIZE_MAX}};

const struct problem_kind problem_attn_row = {
	.kernel = "attn_row", .dims = "heads keys width seen start", .shapes = row_shapes, .bench = row_bench, .sparse = 1,
	.setup = row_setup, .call = row_call, .check = row_check, .flops = row_flops, .bytes = row_bytes,
};

/* ---- backward. Buffers: raw q, d (dO), k, v; lse, delta; dq, dk, dv; packed q, d; kt, vt, k. */

static void bwd_setup(struct problem *p)
{
	size_t rows = p->dim[0], keys = p->dim[1], K = p->dim[2], nr = p->k->attn_nr;
	float *q = problem_in(p, rows * K), *d = problem_in(p, rows * K), *k = problem_in(p, keys * K), *v = problem_in(p, keys * K);
	for (size_t i = 0; i < rows * K; i++)
		q[i] /= sqrtf((float)K);
	float *lse = problem_in(p, rows);
	for (size_t r = 0; r < rows; r++)
		lse[r] = 1.5f + fabsf(lse[r]);
	problem_in(p, rows);
	float *dq = problem_inout(p, strided(rows, K, K + 1));
	for (size_t r = 0; p->dim[4] && r < rows; r++)
		for (size_t c = 0; c < K; c++)
			dq[r * (K + 1) + c] = NAN; /* written, not read */
	problem_inout(p, strided(keys, K, K + 2)), problem_inout(p, strided(keys, K, K + 3));
	pack_panels(problem_in(p, groups(K, nr) * rows), q, rows, K, nr);
	pack_panels(problem_in(p, groups(K, nr) * rows), d, rows, K, nr);
	pack_groups(problem_in(p, groups(keys, nr) * K), k, keys, K, nr);
	pack_groups(problem_in(p, groups(keys, nr) * K), v, keys, K, nr);
	pack_panels(problem_in(p, groups(K, nr) * keys), k, keys, K, nr);
}

static void bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	size_t K = p->dim[2];
	struct n2d_attn_bwd a = {
		.q = problem_p(p, 9), .d = problem_p(p, 10),
		.lse = problem_p(p, 4), .delta = problem_p(p, 5),
		.kt = problem_p(p, 11), .vt = problem_p(p, 12), .k = problem_p(p, 13),
		.first = bands[p->dim[3]].first, .end = bands[p->dim[3]].end,
		.q_next = p->dim[0] * k->attn_nr, .start = p->dim[4] != 0,
		.rows = p->dim[0], .keys = p->dim[1], .width = K, .lddq = K + 1, .lddk = K + 2, .lddv = K + 3,
	};
	k->attn_bwd(problem_p(p, 6), problem_p(p, 7), problem_p(p, 8), &a);
}

/* One pair: the weight P and dS, with their error bounds. Scores and dP are sums of K products; exp within
 * 3 u of its rounded argument; dS = P (dP - delta) rounds twice. */
static void bwd_pair(const struct problem *p, size_t r, size_t j, double *P, double *eP, double *dS, double *eS)
{
	size_t K = p->dim[2];
	double s = 0, sa = 0, dp = 0, da = 0, lse = problem_orig(p, 4)[r], g = gamma_n((double)K);
	for (size_t c = 0; c < K; c++) {
		double t = (double)problem_orig(p, 0)[r * K + c] * problem_orig(p, 2)[j * K + c];
		double u = (double)problem_orig(p, 1)[r * K + c] * problem_orig(p, 3)[j * K + c];
		s += t, sa += fabs(t), dp += u, da += fabs(u);
	}
	double x = dp - problem_orig(p, 5)[r];
	*P = exp(s - lse);
	*eP = *P * expm1(1.01 * (g * sa + 2.5 * U32 * fabs(s - lse) + 3 * U32));
	*dS = *P * x;
	*eS = 1.01 * (*eP * fabs(x) + (*P + *eP) * (g * da + 3 * U32 * fabs(x)));
}

/* got = orig + sum of n products w x, w known to ew; orig counts for dq alone, after the first tile. */
static void bwd_near(struct problem *p, const char *what, int buf, size_t at, double sum, double abs, double err, size_t n)
{
	double orig = buf == 6 && !p->dim[4] ? problem_orig(p, buf)[at] : 0;
	problem_near(p, what, at, problem_p(p, buf)[at], orig + sum,
		     1.01 * err + gamma_n((double)n + 1) * (abs + 1.01 * err + fabs(orig)));
}

struct sums {
	double sum, abs, err;
};

static void add(struct sums *s, double w, double ew, double x)
{
	s->sum += w * x, s->abs += fabs(w * x), s->err += ew * fabs(x);
}

static void bwd_check(struct problem *p)
{
	size_t rows = p->dim[0], keys = p->dim[1], K = p->dim[2];
	static struct sums q[97 * 65], k[192 * 65], v[192 * 65];
	memset(q, 0, sizeof q), memset(k, 0, sizeof k), memset(v, 0, sizeof v);
	for (size_t r = 0; r < rows; r++)
		for (size_t j = 0; j < keys; j++) {
			double P, eP, dS, eS;
			if (!sees(p, r, j))
				continue;
			bwd_pair(p, r, j, &P, &eP, &dS, &eS);
			for (size_t c = 0; c < K; c++) {
				add(q + r * K + c, dS, eS, problem_orig(p, 2)[j * K + c]);
				add(k + j * K + c, dS, eS, problem_orig(p, 0)[r * K + c]);
				add(v + j * K + c, P, eP, problem_orig(p, 1)[r * K + c]);
			}
		}
	for (size_t c = 0; c < K; c++) {
		for (size_t r = 0; r < rows; r++)
			bwd_near(p, "dq", 6, r * (K + 1) + c, q[r * K + c].sum, q[r * K + c].abs, q[r * K + c].err, keys);
		for (size_t j = 0; j < keys; j++) {
			bwd_near(p, "dk", 7, j * (K + 2) + c, k[j * K + c].sum, k[j * K + c].abs, k[j * K + c].err, rows);
			bwd_near(p, "dv", 8, j * (K + 3) + c, v[j * K + c].sum, v[j * K + c].abs, v[j * K + c].err, rows);
		}
	}
}

static const size_t bwd_bench[][PROBLEM_DIMS] = {{96, 192, 64, 0}, {96, 192, 64, 1}, {14, 14, 32, 0, 1}, {14, 14, 32, 1, 1}, {SIZE_MAX}};

const struct problem_kind problem_attn_bwd = {
	.kernel = "attn_bwd", .dims = "rows keys width band start", .shapes = tile_shapes, .bench = bwd_bench, .sparse = 1,
	.setup = bwd_setup, .call = bwd_call, .check = bwd_check, .flops = bwd_flops, .bytes = bwd_bytes,
};
