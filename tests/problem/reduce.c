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

/* n products and n - 1 sums in any order: |error| <= gamma_n sum |x y| (Higham, section 3.1). */
static void dot_check(struct problem *p)
{
	double sum = 0, abs = 0;
	for (size_t i = 0; i < p->dim[0]; i++) {
		double t = (double)problem_orig(p, 0)[i] * problem_orig(p, 1)[i];
		sum += t;
		abs += fabs(t);
	}
	problem_near(p, "dot", 0, p->scalar[0], sum, gamma_n((double)p->dim[0]) * abs);
}

static double two_n(const size_t *dim) { return 2.0 * (double)dim[0]; }
static double two_arrays(const size_t *dim) { return 8.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{4096}, {SIZE_MAX}};

const struct problem_kind problem_dot = {
	.kernel = "dot", .dims = "n", .shapes = problem_sizes, .bench = bench,
	.setup = dot_setup, .call = dot_call, .check = dot_check, .flops = two_n, .bytes = two_arrays,
};
