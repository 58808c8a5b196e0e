/* The streaming attention kernels: one head, one tile of keys. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/problem/problem.h"

static double zero(const size_t *dim) { return (void)dim, 0; }

/* Floats of rows x width with row stride ld, to the last element and no further. */
static size_t strided(size_t rows, size_t width, size_t ld) { return rows ? (rows - 1) * ld + width : 0; }

/* ---- packing: pure data movement and one product, so exact */

static const float alpha = 0.37f;

static size_t unit(const struct problem *p) { return p->dim[2] ? p->k->attn_nr : p->k->attn_mr; }
static size_t groups(const struct problem *p, size_t n, size_t u) { return (void)p, (n + u - 1) / u * u; }

static void pack_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	static const size_t width[] = {0, 1, 3, 7, 8, 9, 16, 17, 31, 33, 64, 65};
	size_t n[] = {0, 1, 2, k->attn_mr - 1, k->attn_mr, k->attn_mr + 1, k->attn_nr, k->attn_nr + 1, 2 * k->attn_nr - 1, 97};
	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (size_t j = 0; j < sizeof width / sizeof *width; j++)
			for (size_t nr = 0; nr < 2; nr++)
				problem_use(u, n[i], width[j], nr, 0, 0, 0);
}

static void pack_setup(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1];
	problem_in(p, strided(n, k, k + 3));
	problem_out(p, groups(p, n, unit(p)) * k);
}

static void pack_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_pack(problem_p(p, 1), problem_p(p, 0), alpha, p->dim[0], p->dim[1], unit(p), p->dim[1] + 3);
}

static void pack_check(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1], u = unit(p);
	for (size_t r = 0; r < groups(p, n, u); r++)
		for (size_t c = 0; c < k; c++) {
			size_t at = r / u * u * k + c * u + r % u;
			problem_same(p, "p", at, problem_p(p, 1)[at], r < n ? alpha * problem_orig(p, 0)[r * (k + 3) + c] : 0);
		}
}

static void panel_setup(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1];
	problem_in(p, strided(n, k, k + 3));
	problem_out(p, groups(p, k, p->k->attn_nr) * n);
}

static void panel_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_panel(problem_p(p, 1), problem_p(p, 0), alpha, p->dim[0], p->dim[1], p->dim[1] + 3);
}

static void panel_check(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1], w = p->k->attn_nr;
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < groups(p, k, w); c++) {
			size_t at = c / w * w * n + r * w + c % w;
			problem_same(p, "p", at, problem_p(p, 1)[at], c < k ? alpha * problem_orig(p, 0)[r * (k + 3) + c] : 0);
		}
}

static double pack_bytes(const size_t *dim) { return 8.0 * (double)dim[0] * (double)dim[1]; }
static const size_t pack_bench[][PROBLEM_DIMS] = {{192, 64, 1}, {192, 64, 0}, {SIZE_MAX}};
static const size_t panel_bench[][PROBLEM_DIMS] = {{192, 64}, {SIZE_MAX}};

const struct problem_kind problem_attn_pack = {
	.kernel = "attn_pack", .dims = "n k nr", .shapes = pack_shapes, .bench = pack_bench, .sparse = 1,
	.setup = pack_setup, .call = pack_call, .check = pack_check, .flops = zero, .bytes = pack_bytes,
};
const struct problem_kind problem_attn_panel = {
	.kernel = "attn_panel", .dims = "n k", .shapes = pack_shapes, .bench = panel_bench, .sparse = 1,
	.setup = panel_setup, .call = panel_call, .check = panel_check, .flops = zero, .bytes = pack_bytes,
};

/* ---- a tile. The packed operands are made here, by loops of their own. */

/* Dimension 3: who sees whom. */
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
				problem_use(u, rows[i], keys[j], width[w % (sizeof width / sizeof *width)], b, 0, 0);
	problem_use(u, 0, 5, 3, 0, 0, 0);
	problem_use(u, 5, 5, 0, 0, 0, 0);
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

/* Buffers: raw q, k, v; o, mx, sum; packed q, k, v. The running maximum of every third row is
 * above, of every third below what this tile has, and the others start from nothing. */
static void fwd_setup(struct problem *p)
{
	size_t rows = p->dim[0], keys = p->dim[1], K = p->dim[2], ld = K + 2, mr = p->k->attn_mr, nr = p->k->attn_nr;
	float *q = problem_in(p, rows * K), *k = problem_in(p, keys * K), *v = problem_in(p, keys * K);
	for (size_t i = 0; i < rows * K; i++)
		q[i] /= sqrtf((float)K);
	float *o = problem_inout(p, strided(rows, K, ld)), *mx = problem_inout(p, rows), *sum = problem_inout(p, rows * p->k->lanes);
	for (size_t r = 0; r < rows; r++) {
		mx[r] = r % 3 == 0 ? -INFINITY : r % 3 == 1 ? 6.5f : -1.0f;
		for (size_t l = 0; l < p->k->lanes; l++)
			sum[r * p->k->lanes + l] = r % 3 == 0 ? 0 : fabsf(sum[r * p->k->lanes + l]);
		for (size_t c = 0; r % 3 == 0 && c < K; c++)
			o[r * ld + c] = 0;
	}
	pack_groups(problem_in(p, groups(p, rows, mr) * K), q, rows, K, mr);
	pack_groups(problem_in(p, groups(p, keys, nr) * K), k, keys, K, nr);
	pack_panels(problem_in(p, groups(p, K, nr) * keys), v, keys, K, nr);
}

static void fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_fwd(problem_p(p, 3), problem_p(p, 4), problem_p(p, 5), problem_p(p, 6), problem_p(p, 7), problem_p(p, 8),
		    bands[p->dim[3]].first, bands[p->dim[3]].end, p->dim[0], p->dim[1], p->dim[2], p->dim[2] + 2);
}

/* s[keys] and the bound e of its errors; returns the maximum over what row r sees. */
static double fwd_scores(const struct problem *p, size_t r, double *s, double *e)
{
	size_t K = p->dim[2];
	double max = problem_orig(p, 4)[r];
	*e = 0;
	for (size_t j = 0; j < p->dim[1]; j++) {
		double abs = 0;
		s[j] = 0;
		for (size_t c = 0; c < K; c++) {
			double t = (double)problem_orig(p, 0)[r * K + c] * problem_orig(p, 1)[j * K + c];
			s[j] += t, abs += fabs(t);
		}
		if (!sees(p, r, j))
			continue;
		max = s[j] > max ? s[j] : max;
		*e = fmax(*e, gamma_n((double)K) * abs);
	}
	return max;
}

/* The maximum is off by e at most, and what is compared with it is rescaled exactly to it: errors
 * of o and sum are those of a weight, relative expm1(2 e + 3.5 u |s - m| + 4 u), where |s - m| <= D, and
 * of sums of keys + 3 terms. The result at our maximum differs from the oracle's by exp(e). */
static void fwd_check(struct problem *p)
{
	size_t rows = p->dim[0], keys = p->dim[1], K = p->dim[2], ld = K + 2, lanes = p->k->lanes;
	double s[192];
	for (size_t r = 0; r < rows; r++) {
		double e, m = fwd_scores(p, r, s, &e), was = problem_orig(p, 4)[r], c = was == m ? 1 : exp(was - m), D = 0;
		problem_near(p, "mx", r, problem_p(p, 4)[r], m, e);
		for (size_t j = 0; j < keys; j++)
			D = sees(p, r, j) ? fmax(D, m - s[j]) : D;
		D = fmax(D, was > -INFINITY ? m - was : 0);
		double E = 1.01 * (expm1(4 * e + (3.5 * D + 4) * U32) + gamma_n((double)keys + 3)), sum = 0, got = 0;
		for (size_t l = 0; l < lanes; l++)
			sum += c * problem_orig(p, 5)[r * lanes + l], got += problem_p(p, 5)[r * lanes + l];
		for (size_t j = 0; j < keys; j++)
			sum += sees(p, r, j) ? exp(s[j] - m) : 0;
		problem_near(p, "sum", r, got, sum, E * sum);
		for (size_t k = 0; k < K; k++) {
			double o = c * problem_orig(p, 3)[r * ld + k], abs = fabs(o);
			for (size_t j = 0; j < keys; j++)
				if (sees(p, r, j)) {
					double t = exp(s[j] - m) * problem_orig(p, 2)[j * K + k];
					o += t, abs += fabs(t);
				}
			problem_near(p, "o", r * ld + k, problem_p(p, 3)[r * ld + k], o, E * abs);
		}
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
static const size_t tile_bench[][PROBLEM_DIMS] = {{192, 192, 64, 0}, {192, 192, 64, 1}, {1, 192, 64, 0}, {SIZE_MAX}};

const struct problem_kind problem_attn_fwd = {
	.kernel = "attn_fwd", .dims = "rows keys width band", .shapes = tile_shapes, .bench = tile_bench, .sparse = 1,
	.setup = fwd_setup, .call = fwd_call, .check = fwd_check, .flops = fwd_flops, .bytes = fwd_bytes,
};

/* ---- the end of a row */

static void end_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	(void)k;
	static const size_t width[] = {0, 1, 7, 8, 9, 16, 17, 64, 65};
	for (size_t i = 0; i < sizeof width / sizeof *width; i++)
		problem_use(u, i, width[i], 0, 0, 0, 0), problem_use(u, 33, width[i], 0, 0, 0, 0);
}

static void end_setup(struct problem *p)
{
	size_t rows = p->dim[0], K = p->dim[1];
	problem_in(p, strided(rows, K, K + 1));
	problem_in(p, rows);
	float *sum = problem_in(p, rows * p->k->lanes);
	for (size_t i = 0; i < rows * p->k->lanes; i++)
		sum[i] = sum[i] * sum[i];
	problem_out(p, rows);
	problem_inout(p, strided(rows, K, K + 2));
}

static void end_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_end(problem_p(p, 4), problem_p(p, 3), problem_p(p, 0), problem_p(p, 1), problem_p(p, 2), p->dim[0], p->dim[1],
		    p->dim[1] + 2, p->dim[1] + 1);
}

/* Sum of `lanes` positive terms, reciprocal, product; logf within 2 ulp. */
static void end_check(struct problem *p)
{
	size_t rows = p->dim[0], K = p->dim[1], lanes = p->k->lanes;
	for (size_t r = 0; r < rows; r++) {
		double sum = 0, mx = problem_orig(p, 1)[r];
		for (size_t l = 0; l < lanes; l++)
			sum += problem_orig(p, 2)[r * lanes + l];
		problem_near(p, "lse", r, problem_p(p, 3)[r], mx + log(sum),
			     gamma_n((double)lanes) + 4 * U32 * (fabs(mx) + fabs(log(sum))));
		for (size_t k = 0; k < K; k++) {
			double want = problem_orig(p, 0)[r * (K + 1) + k] / sum;
			problem_near(p, "y", r * (K + 2) + k, problem_p(p, 4)[r * (K + 2) + k], want,
				     gamma_n((double)lanes + 3) * fabs(want));
		}
	}
}

static const size_t end_bench[][PROBLEM_DIMS] = {{192, 64}, {SIZE_MAX}};

const struct problem_kind problem_attn_end = {
	.kernel = "attn_end", .dims = "rows width", .shapes = end_shapes, .bench = end_bench,
	.setup = end_setup, .call = end_call, .check = end_check, .flops = zero, .bytes = pack_bytes,
};

/* ---- backward. Buffers: raw q, d (dO), k, v; lse, delta; dq, dk, dv; packed qt, dt, q, d; kt, vt, k. */

static void bwd_setup(struct problem *p)
{
	size_t rows = p->dim[0], keys = p->dim[1], K = p->dim[2], mr = p->k->attn_mr, nr = p->k->attn_nr;
	float *q = problem_in(p, rows * K), *d = problem_in(p, rows * K), *k = problem_in(p, keys * K), *v = problem_in(p, keys * K);
	for (size_t i = 0; i < rows * K; i++)
		q[i] /= sqrtf((float)K);
	float *lse = problem_in(p, rows);
	for (size_t r = 0; r < rows; r++)
		lse[r] = 1.5f + fabsf(lse[r]);
	problem_in(p, rows);
	problem_inout(p, strided(rows, K, K + 1)), problem_inout(p, strided(keys, K, K + 2)), problem_inout(p, strided(keys, K, K + 3));
	pack_groups(problem_in(p, groups(p, rows, mr) * K), q, rows, K, mr);
	pack_groups(problem_in(p, groups(p, rows, mr) * K), d, rows, K, mr);
	pack_panels(problem_in(p, groups(p, K, nr) * rows), q, rows, K, nr);
	pack_panels(problem_in(p, groups(p, K, nr) * rows), d, rows, K, nr);
	pack_groups(problem_in(p, groups(p, keys, nr) * K), k, keys, K, nr);
	pack_groups(problem_in(p, groups(p, keys, nr) * K), v, keys, K, nr);
	pack_panels(problem_in(p, groups(p, K, nr) * keys), k, keys, K, nr);
}

static void bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	size_t K = p->dim[2];
	struct n2d_attn_bwd a = {
		.qt = problem_p(p, 9), .dt = problem_p(p, 10), .q = problem_p(p, 11), .d = problem_p(p, 12),
		.lse = problem_p(p, 4), .delta = problem_p(p, 5),
		.kt = problem_p(p, 13), .vt = problem_p(p, 14), .k = problem_p(p, 15),
		.first = bands[p->dim[3]].first, .end = bands[p->dim[3]].end,
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

/* got = orig + sum of n products w x, w known to ew. */
static void bwd_near(struct problem *p, const char *what, int buf, size_t at, double sum, double abs, double err, size_t n)
{
	double orig = problem_orig(p, buf)[at];
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

static const size_t bwd_bench[][PROBLEM_DIMS] = {{96, 192, 64, 0}, {96, 192, 64, 1}, {SIZE_MAX}};

const struct problem_kind problem_attn_bwd = {
	.kernel = "attn_bwd", .dims = "rows keys width band", .shapes = tile_shapes, .bench = bwd_bench, .sparse = 1,
	.setup = bwd_setup, .call = bwd_call, .check = bwd_check, .flops = bwd_flops, .bytes = bwd_bytes,
};
