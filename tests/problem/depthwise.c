/* Depthwise convolution: one row of outputs, and the gradient of one tap's weights. */
#include <math.h>
#include <stdint.h>

#include "tests/problem/problem.h"

/* Sizes: taps (or rows), n, and the stride less n; the rows of x run backwards when the last is 1. */
static void shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	size_t v = k->lanes, n[] = {0, 1, v - 1, v, v + 1, 4 * v - 1, 4 * v, 4 * v + 1, 9 * v + 3, 512};
	for (size_t taps = 0; taps <= 7; taps += taps < 3 ? 1 : 2)
		for (size_t i = 0; i < sizeof n / sizeof *n; i++)
			for (size_t back = 0; back < 2 && (taps || n[i] < 16); back++) /* no taps: all zeros */
				problem_use(u, taps, n[i], i % 3, back, 0, 0);
}

static size_t ld(const struct problem *p) { return p->dim[1] + p->dim[2]; }
static size_t extent(const struct problem *p) { return p->dim[0] ? (p->dim[0] - 1) * ld(p) + p->dim[1] : 0; }

static void fwd_setup(struct problem *p)
{
	problem_in(p, extent(p));
	problem_in(p, p->dim[0] * p->dim[1]);
	problem_out(p, p->dim[1]);
}

/* Row of x of tap t, in the buffer's order. */
static size_t tap_row(const struct problem *p, size_t t) { return (p->dim[3] ? p->dim[0] - 1 - t : t) * ld(p); }

static void fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	ptrdiff_t step = (ptrdiff_t)ld(p);
	k->depthwise_fwd(problem_p(p, 2), problem_p(p, 0) + (p->dim[0] ? tap_row(p, 0) : 0), problem_p(p, 1), p->dim[0], p->dim[1],
			 p->dim[3] ? -step : step);
}

/* A sum of `taps` products: gamma_taps sum |x w|. */
static void fwd_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[1]; i++) {
		double sum = 0, abs = 0;
		for (size_t t = 0; t < p->dim[0]; t++) {
			double a = (double)problem_orig(p, 0)[tap_row(p, t) + i] * problem_orig(p, 1)[t * p->dim[1] + i];
			sum += a, abs += fabs(a);
		}
		problem_near(p, "y", i, problem_p(p, 2)[i], sum, gamma_n((double)p->dim[0]) * abs);
	}
}

static void weights_setup(struct problem *p)
{
	problem_in(p, extent(p));
	problem_in(p, extent(p));
	problem_inout(p, p->dim[1]);
}

static void weights_call(struct problem *p, const struct n2d_kernels *k)
{
	k->depthwise_weights_acc(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), p->dim[0], p->dim[1], ld(p));
}

/* The same with one term more, what was there. */
static void weights_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[1]; i++) {
		double sum = problem_orig(p, 2)[i], abs = fabs(sum);
		for (size_t t = 0; t < p->dim[0]; t++) {
			double a = (double)problem_orig(p, 0)[t * ld(p) + i] * problem_orig(p, 1)[t * ld(p) + i];
			sum += a, abs += fabs(a);
		}
		problem_near(p, "g", i, problem_p(p, 2)[i], sum, gamma_n((double)p->dim[0] + 1) * abs);
	}
}

static double flops(const size_t *dim) { return 2.0 * (double)dim[0] * (double)dim[1]; }
static double fwd_bytes(const size_t *dim) { return 4.0 * (double)dim[1] * (2 * (double)dim[0] + 1); }
static double weights_bytes(const size_t *dim) { return 4.0 * (double)dim[1] * (2 * (double)dim[0] + 2); }
static const size_t fwd_bench[][PROBLEM_DIMS] = {{3, 512}, {SIZE_MAX}};
static const size_t weights_bench[][PROBLEM_DIMS] = {{512, 64, 448}, {SIZE_MAX}};

const struct problem_kind problem_depthwise_fwd = {
	.kernel = "depthwise_fwd", .dims = "taps n gap back", .shapes = shapes, .bench = fwd_bench, .setup = fwd_setup,
	.call = fwd_call, .check = fwd_check, .flops = flops, .bytes = fwd_bytes,
};
const struct problem_kind problem_depthwise_weights_acc = {
	.kernel = "depthwise_weights_acc", .dims = "rows n gap case", .shapes = shapes, .bench = weights_bench,
	.setup = weights_setup, .call = weights_call, .check = weights_check, .flops = flops, .bytes = weights_bytes,
};
