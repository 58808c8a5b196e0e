/* Sums and extrema. */
#include <math.h>
#include <stdint.h>

#include "tests/problem/problem.h"

static void dot_setup(struct problem *p)
{
	problem_in(p, p->dim[0]);
	problem_in(p, p->dim[0]);
}

static void dot_call(struct problem *p, const struct n2d_kernels *k)
{
	p->scalar[0] = k->dot(problem_p(p, 0), problem_p(p, 1), p->dim[0]);
}

/* Each term is rounded as a product, where that is not fused, and passes the sums of four accumulators: sharp enough for rows of 2^24 and
 * more, where n roundings would allow anything. */
static void dot_check(struct problem *p)
{
	double sum = 0, abs = 0;
	for (size_t i = 0; i < p->dim[0]; i++) {
		double t = (double)problem_orig(p, 0)[i] * problem_orig(p, 1)[i];
		sum += t;
		abs += fabs(t);
	}
	problem_near(p, "dot", 0, p->scalar[0], sum, gamma_n(additions(p->k, (double)p->dim[0], 4) + 1) * abs);
}

static double two_n(const size_t *dim) { return 2.0 * (double)dim[0]; }
static double two_arrays(const size_t *dim) { return 8.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{4096}, {SIZE_MAX}};

const struct problem_kind problem_dot = {
	.kernel = "dot", .dims = "n", .shapes = problem_sizes, .bench = bench,
	.setup = dot_setup, .call = dot_call, .check = dot_check, .flops = two_n, .bytes = two_arrays,
};

static void one_setup(struct problem *p) { problem_in(p, p->dim[0]); }

static void sum_call(struct problem *p, const struct n2d_kernels *k) { p->scalar[0] = k->sum(problem_p(p, 0), p->dim[0]); }

/* Four accumulators. */
static void sum_check(struct problem *p)
{
	double sum = 0, abs = 0;
	for (size_t i = 0; i < p->dim[0]; i++) {
		sum += (double)problem_orig(p, 0)[i];
		abs += fabs((double)problem_orig(p, 0)[i]);
	}
	problem_near(p, "sum", 0, p->scalar[0], sum, gamma_n(additions(p->k, (double)p->dim[0], 4)) * abs);
}

/* One in three has a NaN somewhere, and one in three only values below zero: what pads the last vector must not win. */
static void max_setup(struct problem *p)
{
	size_t n = p->dim[0];
	float *x = problem_in(p, n);
	uint32_t kind = n2d_rng_below(&p->rng, 3);
	for (size_t i = 0; kind && i < n; i++)
		x[i] = -1 - fabsf(x[i]);
	if (n && kind == 2)
		x[n2d_rng_below(&p->rng, (uint32_t)n)] = NAN;
}

static void max_call(struct problem *p, const struct n2d_kernels *k) { p->scalar[0] = k->max(problem_p(p, 0), p->dim[0]); }

static void max_check(struct problem *p)
{
	double max = -INFINITY;
	for (size_t i = 0; i < p->dim[0]; i++)
		if (!(problem_orig(p, 0)[i] <= max)) /* NaN stays: nothing is <= it */
			max = isnan(max) ? max : problem_orig(p, 0)[i];
	problem_near(p, "max", 0, p->scalar[0], max, 0);
}

static double one_n(const size_t *dim) { return (double)dim[0]; }
static double zero(const size_t *dim) { return (void)dim, 0; }
static double one_array(const size_t *dim) { return 4.0 * (double)dim[0]; }
static const size_t bench_large[][PROBLEM_DIMS] = {{4096}, {(size_t)1 << 25}, {SIZE_MAX}};

const struct problem_kind problem_sum = {
	.kernel = "sum", .dims = "n", .shapes = problem_sizes, .bench = bench_large,
	.setup = one_setup, .call = sum_call, .check = sum_check, .flops = one_n, .bytes = one_array,
};
const struct problem_kind problem_max = {
	.kernel = "max", .dims = "n", .shapes = problem_sizes, .bench = bench_large,
	.setup = max_setup, .call = max_call, .check = max_check, .flops = zero, .bytes = one_array,
};
