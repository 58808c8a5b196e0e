/* Elementwise rows against double. Each size with its own output and in place (dim[1]). */
#include <math.h>

#include "tests/problem/problem.h"

static void both(struct problem_use *u, const size_t *dim)
{
	problem_use(u->arg, dim[0], 0, 0, 0, 0, 0);
	problem_use(u->arg, dim[0], 1, 0, 0, 0, 0);
}

static void sizes(struct problem_use *u, const struct n2d_kernels *k)
{
	struct problem_use mine = {both, u};
	problem_sizes(&mine, k);
}

/* N(0,1) times 4 with a special value in every seventh place. */
static void season(struct problem *p, float *x, size_t n)
{
	static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-41f, -1e-41f, -13.5f, 15.5f, -0.75f, 1e30f, -1e30f, -0.55f};
	for (size_t i = 0; i < n; i++) {
		x[i] *= 4;
		if (n2d_rng_below(&p->rng, 7) == 0)
			x[i] = special[n2d_rng_below(&p->rng, sizeof special / sizeof *special)];
	}
}

/* Buffers 0 and 1: inputs x and y (y == x[1]); the output is buffer 0 in place, else 2. */
static void binary_setup(struct problem *p)
{
	size_t n = p->dim[0];
	season(p, p->dim[1] ? problem_inout(p, n) : problem_in(p, n), n);
	season(p, problem_in(p, n), n);
	if (!p->dim[1])
		problem_out(p, n);
	p->scalar[0] = (float)n2d_rng_normal(&p->rng);
}

static float *out(const struct problem *p) { return problem_p(p, p->dim[1] ? 0 : 2); }

static double one_n(const size_t *dim) { return (double)dim[0]; }
static double two_n(const size_t *dim) { return 2.0 * (double)dim[0]; }
static double zero(const size_t *dim) { return (void)dim, 0; }
static double two_arrays(const size_t *dim) { return 8.0 * (double)dim[0]; }
static double three_arrays(const size_t *dim) { return 12.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{4096}, {(size_t)1 << 25}, {SIZE_MAX}};

/* A problem of row NAME, called as CALL with z, x, y, a, n; VALUE in the doubles x, y, a is right to BOUND. */
#define ELEMENTWISE(name, callexpr, value, bound, flops_, bytes_) \
	static void name##_call(struct problem *p, const struct n2d_kernels *k) \
	{ \
		float *z = out(p); \
		const float *x = problem_p(p, 0), *y = problem_p(p, 1), a = p->scalar[0]; \
		size_t n = p->dim[0]; \
		(void)y, (void)a; \
		k->name callexpr; \
	} \
	static void name##_check(struct problem *p) \
	{ \
		for (size_t i = 0; i < p->dim[0]; i++) { \
			double x = problem_orig(p, 0)[i], y = problem_orig(p, 1)[i], a = p->scalar[0]; \
			(void)x, (void)y, (void)a; \
			problem_near(p, "out", i, out(p)[i], value, bound); \
		} \
	} \
	const struct problem_kind problem_##name = { \
		.kernel = #name, .dims = "n inplace", .shapes = sizes, .bench = bench, .setup = binary_setup, .call = name##_call, \
		.check = name##_check, .flops = flops_, .bytes = bytes_, .sparse = 1, \
	};

/* One rounding of value, or half the smallest denormal; the sum in double may itself round, by far less. A value
 * beyond the floats is infinite. */
static double rounded(double value) { return isfinite(value) ? 0.51 * fmax(0x1p-149, 0x1p-23 * fabs(value)) : 0; }
static double to_float(double value) { return fabs(value) >= 0x1.ffffffp127 ? copysign(INFINITY, value) : value; }

/* The limits at infinity, where the formulas have inf * 0. */
static double phi(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
static double density(double x) { return exp(-x * x / 2) * 0.5 * M_SQRT1_2 * M_2_SQRTPI; }
static double gelu(double x) { return isinf(x) ? fmax(x, 0) : x * phi(x); }
static double slope(double x) { return isinf(x) ? x > 0 : phi(x) + x * density(x); }

/* 7 ulp of the value: over all floats tests/sweep-math.c finds 6.4. Roundings that count: exp 1.6 with its argument's low part,
 * R 2, three products 0.5 each, in units that may be twice as large in the result as where they arise. */
static double gelu_bound(double x) { return 7 * fmax(0x1p-149, 0x1p-23 * fabs(gelu(x))); }

/* Phi and x phi, each to 5 units 2^-23, and the two roundings after them. */
static double slope_bound(double x, double dy)
{
	double xx = fmin(fabs(x), 15), size = phi(x) + xx * density(xx);
	return isfinite(dy) ? fabs(dy) * (7 * 0x1p-23 * size + 16 * 0x1p-149) + 0x1p-149 : 0;
}

ELEMENTWISE(add, (z, x, y, n), to_float(x + y), rounded(x + y), one_n, three_arrays)
ELEMENTWISE(scale, (z, x, a, n), to_float(a * x), rounded(a * x), one_n, two_arrays)
ELEMENTWISE(axpy, (z, x, y, a, n), to_float(a * x + y), rounded(a * x + y), two_n, three_arrays)
ELEMENTWISE(relu_fwd, (z, x, n), x < 0 ? 0 : x, 0, zero, two_arrays)
ELEMENTWISE(relu_bwd, (z, x, y, n), y <= 0 ? 0 : x, 0, zero, three_arrays)
ELEMENTWISE(gelu_fwd, (z, x, n), gelu(x), gelu_bound(x), zero, two_arrays)
ELEMENTWISE(gelu_bwd, (z, x, y, n), to_float(x * slope(y)), slope_bound(y, x), zero, three_arrays)

/* ---- SwiGLU. s is within 2.5 ulp, 5 u, of its value; a product rounds once, to u or half the smallest denormal, which
 * what follows multiplies. */
#define TINY 0x1p-148

static double silu(double x) { return isinf(x) ? fmax(x, 0) : x / (1 + exp(-x)); }

static double silu_slope(double x)
{
	double s = 1 / (1 + exp(-x));
	return isinf(x) ? x > 0 : s * (1 + x * (1 - s));
}

/* What can be lost to denormals: of s, times x; of their product. */
static double silu_tiny(double x) { return TINY * (1 + 3 * fmin(fabs(x), 128)); }

static double swiglu_bound(double x, double u) { return isfinite(u) ? 7 * U32 * fabs(silu(x) * u) + silu_tiny(x) * fabs(u) + TINY : 0; }

/* s (1 + x (1 - s)): 1 - s is off by 5 u s and its rounding; with s itself, the sum and the product 13 u of the absolute values. */
static double silu_slope_bound(double x)
{
	double c = fmin(fabs(x), 128), s = 1 / (1 + exp(-x));
	return 13 * U32 * s * (1 + c) + silu_tiny(x);
}

ELEMENTWISE(swiglu_fwd, (z, x, y, n), to_float(silu(x) * y), swiglu_bound(x, y), zero, three_arrays)

/* Buffers dy, x, u and the outputs, in place in x and u when dim[1]. */
static void swiglu_bwd_setup(struct problem *p)
{
	size_t n = p->dim[0];
	season(p, problem_in(p, n), n);
	for (int i = 0; i < 2; i++)
		season(p, p->dim[1] ? problem_inout(p, n) : problem_in(p, n), n);
	for (int i = 0; i < 2 && !p->dim[1]; i++)
		problem_out(p, n);
}

static float *swiglu_out(const struct problem *p, int which) { return problem_p(p, (p->dim[1] ? 1 : 3) + which); }

static void swiglu_bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->swiglu_bwd(swiglu_out(p, 0), swiglu_out(p, 1), problem_p(p, 0), problem_p(p, 1), problem_p(p, 2), p->dim[0]);
}

static void swiglu_bwd_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[0]; i++) {
		double dy = problem_orig(p, 0)[i], x = problem_orig(p, 1)[i], u = problem_orig(p, 2)[i];
		double dx = dy * (u * silu_slope(x)), e = fabs(dy) * (fabs(u) * silu_slope_bound(x) + TINY);
		problem_near(p, "dx", i, swiglu_out(p, 0)[i], to_float(dx), isfinite(e) ? e + 2 * U32 * fabs(dx) + TINY : 0);
		problem_near(p, "du", i, swiglu_out(p, 1)[i], to_float(dy * silu(x)), swiglu_bound(x, dy));
	}
}

static double five_arrays(const size_t *dim) { return 20.0 * (double)dim[0]; }

const struct problem_kind problem_swiglu_bwd = {
	.kernel = "swiglu_bwd", .dims = "n inplace", .shapes = sizes, .bench = bench, .setup = swiglu_bwd_setup,
	.call = swiglu_bwd_call, .check = swiglu_bwd_check, .flops = zero, .bytes = five_arrays, .sparse = 1,
};

/* ---- matrices: dim = rows, n, slack of x's rows, slack of y's */
static void matrix_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	size_t v = k->lanes;
	const size_t rows[] = {0, 1, 3, 4, 5, 9}, widths[] = {0, 1, v - 1, v, v + 1, 3 * v + 2, 67};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t j = 0; j < sizeof widths / sizeof *widths; j++)
			problem_use(u, rows[i], widths[j], (i + j) % 3, j % 4, 0, 0);
}

static size_t extent(size_t rows, size_t n, size_t ld) { return rows ? (rows - 1) * ld + n : 0; }

static void bias_setup(struct problem *p)
{
	size_t rows = p->dim[0], n = p->dim[1];
	problem_in(p, extent(rows, n, n + p->dim[2]));
	problem_in(p, n);
	problem_inout(p, extent(rows, n, n + p->dim[3]));
}

static void bias_call(struct problem *p, const struct n2d_kernels *k)
{
	size_t n = p->dim[1];
	k->bias_add(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), p->dim[0], n, n + p->dim[3], n + p->dim[2]);
}

/* The gaps between rows keep what they held. */
static void bias_check(struct problem *p)
{
	size_t rows = p->dim[0], n = p->dim[1], ldx = n + p->dim[2], ldy = n + p->dim[3];
	for (size_t i = 0; i < extent(rows, n, ldy); i++) {
		size_t r = i / ldy, j = i % ldy;
		if (j >= n) {
			problem_same(p, "gap", i, problem_p(p, 2)[i], problem_orig(p, 2)[i]);
			continue;
		}
		double want = (double)problem_orig(p, 0)[r * ldx + j] + problem_orig(p, 1)[j];
		problem_near(p, "y", i, problem_p(p, 2)[i], want, rounded(want));
	}
}

static void colsum_setup(struct problem *p)
{
	problem_in(p, extent(p->dim[0], p->dim[1], p->dim[1] + p->dim[2]));
	problem_inout(p, p->dim[1]);
}

static void colsum_call(struct problem *p, const struct n2d_kernels *k)
{
	k->colsum_acc(problem_p(p, 1), problem_p(p, 0), p->dim[0], p->dim[1], p->dim[1] + p->dim[2]);
}

/* rows sums in order, one rounding each: gamma_rows of the sum of absolute values (Higham, section 4.2). */
static void colsum_check(struct problem *p)
{
	size_t rows = p->dim[0], n = p->dim[1], ld = n + p->dim[2];
	for (size_t j = 0; j < n; j++) {
		double s = problem_orig(p, 1)[j], abs = fabs(s);
		for (size_t r = 0; r < rows; r++) {
			s += (double)problem_orig(p, 0)[r * ld + j];
			abs += fabs((double)problem_orig(p, 0)[r * ld + j]);
		}
		problem_near(p, "s", j, problem_p(p, 1)[j], s, gamma_n((double)rows) * abs);
	}
}

static double elements(const size_t *dim) { return (double)dim[0] * (double)dim[1]; }
static double read_write(const size_t *dim) { return 8 * elements(dim); }
static double read_only(const size_t *dim) { return 4 * elements(dim); }
static const size_t matrix_bench[][PROBLEM_DIMS] = {{8, 512}, {65536, 512}, {SIZE_MAX}};

const struct problem_kind problem_bias_add = {
	.kernel = "bias_add", .dims = "rows n slackx slacky", .shapes = matrix_shapes, .bench = matrix_bench,
	.setup = bias_setup, .call = bias_call, .check = bias_check, .flops = elements, .bytes = read_write,
};
const struct problem_kind problem_colsum_acc = {
	.kernel = "colsum_acc", .dims = "rows n slack", .shapes = matrix_shapes, .bench = matrix_bench,
	.setup = colsum_setup, .call = colsum_call, .check = colsum_check, .flops = elements, .bytes = read_only,
};
