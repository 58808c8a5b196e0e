/* The matrix product's kernels against sums in double.
 *
 * Bound of one element E(beta c + sum of k products): k roundings of products or multiply-adds, k of sums when they are
 * apart, one each for beta c, alpha, bias and residual; each term passes at most k + 4 of them, so
 * |error| <= gamma_(k+4) (|beta c| + sum |a b| + |bias| + |residual|) (Higham, section 3.1). ReLU does not widen an error. */
#include <math.h>
#include <stdint.h>

#include "tests/problem/problem.h"

/* Bits of a mode: what beta is, and the parts of the epilogue. */
enum { BETA_1 = 1, BETA_OTHER = 2, BIAS = 4, RELU = 8, RESIDUAL = 16, IN_PLACE = 32 };

static float beta_of(size_t mode) { return mode & BETA_1 ? 1.0f : mode & BETA_OTHER ? -0.75f : 0.0f; }

/* NaN where nothing may be taken from: columns [m, w) of a panel. */
static void spoil(float *panel, size_t k, size_t m, size_t w)
{
	for (size_t p = 0; p < k; p++)
		for (size_t i = m; i < w; i++)
			panel[p * w + i] = NAN;
}

/* Floats of m rows of n with stride ld. */
static size_t extent(size_t m, size_t n, size_t ld) { return m && n ? (m - 1) * ld + n : 0; }

static double element(size_t k, const float *a, size_t sa, const float *b, size_t sb, double *abs)
{
	double sum = 0;
	*abs = 0;
	for (size_t p = 0; p < k; p++) {
		double t = (double)a[p * sa] * b[p * sb];
		sum += t;
		*abs += fabs(t);
	}
	return sum;
}

/* The element whose sum of products is `sum`: got, against the epilogue in double. */
static void check_element(struct problem *p, size_t i, double sum, double abs, size_t k, size_t mode, float c, float bias,
			  float residual, float got)
{
	double add[3] = {beta_of(mode) == 0 ? 0 : (double)beta_of(mode) * c, mode & BIAS ? bias : 0,
			 mode & RESIDUAL ? residual : 0};
	double want = sum + add[0] + add[1];
	if (mode & RELU)
		want = fmax(want, 0);
	problem_near(p, "c", i, got, want + add[2],
		     gamma_n((double)k + 4) * (abs + fabs(add[0]) + fabs(add[1]) + fabs(add[2])));
}

/* ---- gemm_tile. Buffers: a, b, c, bias, residual; c and residual have stride n + pad and n + 2 pad. Layouts: a and b are panels; or b is
 * a matrix with stride nr + pad, and a one with stride k + pad or the transpose of one with stride m + pad. */
enum { PANELS, ROWS, COLUMNS };

struct steps {
	size_t ai, ak, bk;
};

static struct steps steps(const struct problem *p)
{
	size_t pad = p->dim[3], bk = p->k->nr + pad;
	if (p->dim[5] == PANELS)
		return (struct steps){1, p->k->mr, p->k->nr};
	return p->dim[5] == ROWS ? (struct steps){p->dim[2] + pad, 1, bk} : (struct steps){1, p->dim[0] + pad, bk};
}

static void tile_setup(struct problem *p)
{
	size_t m = p->dim[0], n = p->dim[1], k = p->dim[2], pad = p->dim[3], mode = p->dim[4], nr = p->k->nr;
	struct steps s = steps(p);
	if (p->dim[5] == PANELS) {
		spoil(problem_in(p, k * p->k->mr), k, m, p->k->mr);
		spoil(problem_in(p, k * nr), k, n, nr);
	} else {
		size_t rows = p->dim[5] == ROWS ? m : k, width = p->dim[5] == ROWS ? k : m;
		spoil(problem_in(p, extent(rows, width, width + pad)), rows && width ? rows - 1 : 0, width, width + pad);
		spoil(problem_in(p, extent(k, nr, s.bk)), k ? k - 1 : 0, n, s.bk);
	}
	if (mode & (BETA_1 | BETA_OTHER))
		problem_inout(p, extent(m, n, n + pad));
	else
		problem_out(p, extent(m, n, n + pad));
	problem_in(p, n);
	problem_in(p, extent(m, n, n + 2 * pad));
}

static void tile_call(struct problem *p, const struct n2d_kernels *k)
{
	size_t n = p->dim[1], pad = p->dim[3], mode = p->dim[4];
	struct steps s = steps(p);
	struct n2d_gemm_end end = {mode & BIAS ? problem_p(p, 3) : NULL, (mode & RELU) != 0,
				   mode & RESIDUAL ? problem_p(p, 4) : NULL, n + 2 * pad};
	k->gemm_tile(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), beta_of(mode), mode >= BIAS ? &end : NULL, problem_p(p, 1), 3, p->dim[0], n,
		     p->dim[2], s.ai, s.ak, s.bk, n + pad);
}

static void tile_check(struct problem *p)
{
	size_t m = p->dim[0], n = p->dim[1], k = p->dim[2], pad = p->dim[3], mode = p->dim[4], ld = n + pad;
	struct steps s = steps(p);
	const float *a = problem_orig(p, 0), *b = problem_orig(p, 1), *c = problem_p(p, 2), *before = problem_orig(p, 2);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++) {
			double abs, sum = element(k, a + i * s.ai, s.ak, b + j, s.bk, &abs);
			check_element(p, i * ld + j, sum, abs, k, mode, before ? before[i * ld + j] : NAN,
				      problem_orig(p, 3)[j], problem_orig(p, 4)[i * (n + 2 * pad) + j], c[i * ld + j]);
		}
	for (size_t i = 0; i + 1 < m; i++)
		for (size_t j = n; j < ld && n; j++)
			problem_same(p, "beside c", i * ld + j, c[i * ld + j], before ? before[i * ld + j] : NAN);
}

static void tile_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	size_t v = k->lanes, modes = 0;
	for (size_t m = 0; m <= k->mr; m++)
		for (size_t n = 0; n <= k->nr; n = n % v == 1 || v < 3 ? (v < 3 ? n + 1 : n + v - 2) : n + 1)
			problem_use(u, m, n, (m + n) % 19, n % 4, modes++ % 32, PANELS);
	for (size_t m = 0; m <= k->mr; m++)
		for (size_t layout = ROWS; layout <= COLUMNS; layout++) {
			problem_use(u, m, k->nr, 17 - m, m % 4, modes++ % 32, layout);
			problem_use(u, m, k->nr - 1, 2 + m % 3, m % 3, modes++ % 32, layout);
		}
	for (size_t mode = 0; mode < 32; mode++) {
		problem_use(u, k->mr, k->nr, 33, mode % 3, mode, PANELS);
		problem_use(u, k->mr, k->nr - 1, 0, 1, mode, PANELS);
	}
	problem_use(u, k->mr, k->nr, 1025, 0, 0, PANELS);
}

/* ---- packing. Dims: wide (0: mr, 1: nr, 2: nr, past the caches) m k pad. */

static void pack_setup(struct problem *p, size_t rows, size_t width)
{
	size_t w = p->dim[0] ? p->k->nr : p->k->mr, panels = (p->dim[1] + w - 1) / w;
	problem_in(p, extent(rows, width, width + p->dim[3]));
	problem_out(p, panels * w * p->dim[2]);
}

static void pack_rows_setup(struct problem *p) { pack_setup(p, p->dim[1], p->dim[2]); }
static void pack_columns_setup(struct problem *p) { pack_setup(p, p->dim[2], p->dim[1]); }

static const float alpha = -1.5f;

/* Only what is aligned is written past the caches. */
static int past(const struct problem *p) { return p->dim[0] == 2 && (uintptr_t)problem_p(p, 1) % 64 == 0; }

static void pack_rows_call(struct problem *p, const struct n2d_kernels *k)
{
	k->gemm_pack_rows(problem_p(p, 1), problem_p(p, 0), alpha, p->dim[0] ? k->nr : k->mr, past(p), p->dim[1], p->dim[2],
			  p->dim[2] + p->dim[3]);
}

static void pack_columns_call(struct problem *p, const struct n2d_kernels *k)
{
	k->gemm_pack_columns(problem_p(p, 1), problem_p(p, 0), alpha, p->dim[0] ? k->nr : k->mr, past(p), p->dim[1], p->dim[2],
			     p->dim[1] + p->dim[3]);
}

/* x(i, q) at i * si + q * sq; one rounding, so the float product exactly. */
static void pack_check(struct problem *p, size_t si, size_t sq)
{
	size_t w = p->dim[0] ? p->k->nr : p->k->mr, m = p->dim[1], k = p->dim[2];
	for (size_t q = 0; q < k; q++)
		for (size_t i = 0; i < (m + w - 1) / w * w; i++) {
			size_t at = i / w * w * k + q * w + i % w;
			float got = problem_p(p, 1)[at];
			if (i < m)
				problem_same(p, "panel", at, got, alpha * problem_orig(p, 0)[i * si + q * sq]);
			else
				problem_near(p, "padding", at, got, 0, 0);
		}
}

static void pack_rows_check(struct problem *p) { pack_check(p, p->dim[2] + p->dim[3], 1); }
static void pack_columns_check(struct problem *p) { pack_check(p, 1, p->dim[1] + p->dim[3]); }

static void pack_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	for (size_t wide = 0; wide < 3; wide++)
		for (size_t w = wide ? k->nr : k->mr, m = 0; m <= w + 1; m++) {
			problem_use(u, wide, m, m % 4, m % 3, 0, 0);
			problem_use(u, wide, 2 * w + m, 7 + m % 11, m % 2, 0, 0);
			problem_use(u, wide, m, k->lanes + m % 3 - 1, 0, 0, 0);
			problem_use(u, wide, m, 3 * k->lanes + m % k->lanes, 1, 0, 0);
		}
}

/* ---- gemv. Dims: n k mode. Buffers: x, B, y, bias, residual. */

static void gemv_setup(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1], mode = p->dim[2], nr = p->k->nr, panels = (n + nr - 1) / nr;
	problem_in(p, k);
	float *b = problem_in(p, mode & IN_PLACE ? extent(k, n, n + 3) : panels * nr * k);
	if (!(mode & IN_PLACE) && n % nr)
		spoil(b + (panels - 1) * nr * k, k, n % nr, nr);
	if (mode & (BETA_1 | BETA_OTHER))
		problem_inout(p, n);
	else
		problem_out(p, n);
	problem_in(p, n);
	problem_in(p, n);
}

static void gemv_call(struct problem *p, const struct n2d_kernels *k)
{
	size_t n = p->dim[0], mode = p->dim[2] & ~(size_t)IN_PLACE;
	int in_place = (p->dim[2] & IN_PLACE) != 0;
	struct n2d_gemm_end end = {mode & BIAS ? problem_p(p, 3) : NULL, (mode & RELU) != 0,
				   mode & RESIDUAL ? problem_p(p, 4) : NULL, 0};
	k->gemv(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), beta_of(mode), mode >= BIAS ? &end : NULL, n, p->dim[1],
		in_place ? n + 3 : k->nr, in_place ? k->nr : p->dim[1] * k->nr);
}

static void gemv_check(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1], mode = p->dim[2], nr = p->k->nr;
	const float *before = problem_orig(p, 2);
	for (size_t j = 0; j < n; j++) {
		const float *b = problem_orig(p, 1) + (mode & IN_PLACE ? j : j / nr * nr * k + j % nr);
		double abs, sum = element(k, problem_orig(p, 0), 1, b, mode & IN_PLACE ? n + 3 : nr, &abs);
		check_element(p, j, sum, abs, k, mode, before ? before[j] : NAN, problem_orig(p, 3)[j], problem_orig(p, 4)[j],
			      problem_p(p, 2)[j]);
	}
}

static void gemv_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	size_t nr = k->nr, modes = 0;
	for (size_t n = 0; n <= nr + 1; n++)
		problem_use(u, n, n % 21, modes++ % 64, 0, 0, 0);
	for (size_t panels = 2; panels <= 9; panels++)
		for (size_t n = panels * nr - 1; n <= panels * nr + 1; n++)
			problem_use(u, n, n % 41, modes++ % 64, 0, 0, 0);
	for (size_t q = 0; q <= 70; q++)
		problem_use(u, 5 * nr, q, q % 64, 0, 0, 0);
	problem_use(u, 5 * nr + 3, 1025, IN_PLACE, 0, 0, 0);
}

/* ---- the kinds. The tile and the packing are timed in the product they make: the problem gemm. */

static double zero(const size_t *dim) { return (void)dim, 0; }
static double tile_flops(const size_t *d) { return 2.0 * (double)d[0] * (double)d[1] * (double)d[2]; }
static double tile_bytes(const size_t *d)
{
	return 4.0 * ((double)d[0] * (double)d[2] + (double)d[1] * (double)d[2] + (double)d[0] * (double)d[1]);
}
static double pack_bytes(const size_t *d) { return 8.0 * (double)d[1] * (double)d[2]; }
static double gemv_flops(const size_t *d) { return 2.0 * (double)d[0] * (double)d[1]; }
static double gemv_bytes(const size_t *d) { return 4.0 * ((double)d[0] * (double)d[1] + (double)d[0] + (double)d[1]); }
static const size_t none[][PROBLEM_DIMS] = {{SIZE_MAX}};
static const size_t gemv_bench[][PROBLEM_DIMS] = {{512, 256}, {512, 512}, {2048, 512}, {512, 2048}, {2048, 2048}, {SIZE_MAX}};

const struct problem_kind problem_gemm_tile = {
	.kernel = "gemm_tile", .dims = "m n k pad mode layout", .shapes = tile_shapes, .bench = none, .setup = tile_setup,
	.call = tile_call, .check = tile_check, .flops = tile_flops, .bytes = tile_bytes, .sparse = 1,
};

const struct problem_kind problem_gemm_pack_rows = {
	.kernel = "gemm_pack_rows", .dims = "wide m k pad", .shapes = pack_shapes, .bench = none, .setup = pack_rows_setup,
	.call = pack_rows_call, .check = pack_rows_check, .flops = zero, .bytes = pack_bytes, .sparse = 1,
};

const struct problem_kind problem_gemm_pack_columns = {
	.kernel = "gemm_pack_columns", .dims = "wide m k pad", .shapes = pack_shapes, .bench = none,
	.setup = pack_columns_setup, .call = pack_columns_call, .check = pack_columns_check, .flops = zero, .bytes = pack_bytes,
	.sparse = 1,
};

const struct problem_kind problem_gemv = {
	.kernel = "gemv", .dims = "n k mode", .shapes = gemv_shapes, .bench = gemv_bench, .setup = gemv_setup,
	.call = gemv_call, .check = gemv_check, .flops = gemv_flops, .bytes = gemv_bytes, .sparse = 1,
};
