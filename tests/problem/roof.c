/* The kernels that measure the machine's limits. */
#include <math.h>
#include <stdint.h>

#include "tests/problem/problem.h"

static const float A = 0.984375f, B = 0.0390625f; /* exact; the fixed point is 2.5 */

static void fma_setup(struct problem *p) { (void)p; }

static void fma_call(struct problem *p, const struct n2d_kernels *k) { p->scalar[0] = k->fma_peak(A, B, p->dim[0]); }

/* A step rounds at most twice, and passes on what it got times a < 1: n steps are off by at most 2 n u max|x|, max|x| <
 * 16. Then 191 sums of positive terms. */
static void fma_check(struct problem *p)
{
	double sum = 0, n = (double)p->dim[0];
	for (int c = 0; c < 192; c++) {
		double x = c / 12 + (c % 12) / 16.0;
		for (size_t i = 0; i < p->dim[0]; i++)
			x = A * x + B;
		sum += x;
	}
	problem_near(p, "sum", 0, p->scalar[0], sum, 192 * 2 * n * U32 * 16 + gamma_n(191) * sum);
}

static void one_in(struct problem *p) { problem_in(p, p->dim[0]); }

static void read_call(struct problem *p, const struct n2d_kernels *k)
{
	p->scalar[0] = k->stream_read(problem_p(p, 0), p->dim[0]);
}

/* Eight accumulators. */
static void read_check(struct problem *p)
{
	double sum = 0, abs = 0;
	for (size_t i = 0; i < p->dim[0]; i++) {
		sum += (double)problem_orig(p, 0)[i];
		abs += fabs((double)problem_orig(p, 0)[i]);
	}
	problem_near(p, "sum", 0, p->scalar[0], sum, gamma_n(additions(p->k, (double)p->dim[0], 8)) * abs);
}

static void in_out(struct problem *p)
{
	problem_in(p, p->dim[0]);
	problem_out(p, p->dim[0]);
}

static void copy_call(struct problem *p, const struct n2d_kernels *k)
{
	k->stream_copy(problem_p(p, 1), problem_p(p, 0), p->dim[0]);
}

static void copy_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[0]; i++)
		problem_same(p, "y", i, problem_p(p, 1)[i], problem_orig(p, 0)[i]);
}

static void triad_setup(struct problem *p)
{
	problem_in(p, p->dim[0]);
	problem_in(p, p->dim[0]);
	problem_out(p, p->dim[0]);
}

static void triad_call(struct problem *p, const struct n2d_kernels *k)
{
	k->stream_triad(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), A, p->dim[0]);
}

/* A product and a sum: two roundings. */
static void triad_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[0]; i++) {
		double x = (double)problem_orig(p, 0)[i], y = A * (double)problem_orig(p, 1)[i];
		problem_near(p, "z", i, problem_p(p, 2)[i], x + y, gamma_n(2) * (fabs(x) + fabs(y)));
	}
}

static void one_inout(struct problem *p) { problem_inout(p, p->dim[0]); }

/* a = -1: as many calls as a timing needs leave normal numbers. */
static void update_call(struct problem *p, const struct n2d_kernels *k)
{
	k->stream_update(problem_p(p, 0), -1, p->dim[0]);
}

static void update_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[0]; i++)
		problem_same(p, "y", i, problem_p(p, 0)[i], -problem_orig(p, 0)[i]);
}

static double chains(const size_t *dim) { return 2 * 192.0 * (double)dim[0]; }
static double none(const size_t *dim) { return (void)dim, 0; }
static double one_n(const size_t *dim) { return (double)dim[0]; }
static double two_n(const size_t *dim) { return 2.0 * (double)dim[0]; }
static double one_array(const size_t *dim) { return 4.0 * (double)dim[0]; }
static double two_arrays(const size_t *dim) { return 8.0 * (double)dim[0]; }
static double three_arrays(const size_t *dim) { return 12.0 * (double)dim[0]; }
static const size_t steps[][PROBLEM_DIMS] = {{4096}, {SIZE_MAX}};
static const size_t bench[][PROBLEM_DIMS] = {{2048}, {1 << 22}, {SIZE_MAX}}; /* the nearest cache, and memory */

const struct problem_kind problem_fma_peak = {
	.kernel = "fma_peak", .dims = "n", .shapes = problem_sizes, .bench = steps,
	.setup = fma_setup, .call = fma_call, .check = fma_check, .flops = chains, .bytes = none,
};
const struct problem_kind problem_stream_read = {
	.kernel = "stream_read", .dims = "n", .shapes = problem_sizes, .bench = bench,
	.setup = one_in, .call = read_call, .check = read_check, .flops = one_n, .bytes = one_array,
};
const struct problem_kind problem_stream_copy = {
	.kernel = "stream_copy", .dims = "n", .shapes = problem_sizes, .bench = bench,
	.setup = in_out, .call = copy_call, .check = copy_check, .flops = none, .bytes = two_arrays,
};
const struct problem_kind problem_stream_triad = {
	.kernel = "stream_triad", .dims = "n", .shapes = problem_sizes, .bench = bench,
	.setup = triad_setup, .call = triad_call, .check = triad_check, .flops = two_n, .bytes = three_arrays,
};
const struct problem_kind problem_stream_update = {
	.kernel = "stream_update", .dims = "n", .shapes = problem_sizes, .bench = bench,
	.setup = one_inout, .call = update_call, .check = update_check, .flops = one_n, .bytes = two_arrays,
};
