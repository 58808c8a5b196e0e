/* Softmax of a row and its backward. Sizes: n, first, end, and a case of values. */
#include <math.h>
#include <stdint.h>

#include "tests/problem/problem.h"

enum { NORMAL, HUGE_SCORES, LOW_SCORES, HIDDEN_NAN, SEEN_NAN, NEGATIVE, CASES };

static float scale_of(const struct problem *p) { return p->dim[3] == NEGATIVE ? -0.37f : 0.37f; }

static void shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	size_t v = k->lanes, n[] = {0, 1, 2, 3, v - 1, v, v + 1, 2 * v - 1, 2 * v, 2 * v + 1, 5 * v + 3, 257, 1025};
	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (size_t c = 0; c < CASES; c++) {
			problem_use(u, n[i], 0, n[i], c, 0, 0);
			problem_use(u, n[i], n[i] / 3, n[i], c, 0, 0);
			problem_use(u, n[i], 0, n[i] - n[i] / 3, c, 0, 0);
			problem_use(u, n[i], n[i] / 2, n[i] / 2 + (n[i] > 1), c, 0, 0);
			problem_use(u, n[i], n[i] / 2, n[i] / 2, c, 0, 0); /* nothing seen */
		}
}

static int seen(const struct problem *p, size_t j) { return j >= p->dim[1] && j < p->dim[2]; }

static void setup(struct problem *p)
{
	size_t n = p->dim[0];
	float *x = problem_in(p, n);
	for (size_t j = 0; j < n; j++) {
		x[j] *= p->dim[3] == HUGE_SCORES || p->dim[3] == NEGATIVE ? 1000 : 3;
		x[j] -= p->dim[3] == LOW_SCORES ? 1e30f : 0;
		if (p->dim[3] == HIDDEN_NAN && !seen(p, j))
			x[j] = NAN;
	}
	if (p->dim[3] == SEEN_NAN && p->dim[1] < p->dim[2])
		x[(p->dim[1] + p->dim[2]) / 2] = NAN;
	problem_out(p, n);
}

static void fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->softmax_fwd(problem_p(p, 1), problem_p(p, 0), scale_of(p), p->dim[1], p->dim[2], p->dim[0]);
}

/* With D = scale (max x - x), the scaled distance from the greatest score: a weight exp(-D) has relative error e = 3 u D + 4 u (the
 * difference, the constant scale / ln 2 and their product rounded, the exponential within 2 ulp), the sum of them max e + gamma of one
 * accumulator's additions, and the division by way of a reciprocal 2 u. Weights below the normal range are 0, in y and in the sum. */
static void fwd_check(struct problem *p)
{
	const float *x = problem_orig(p, 0), *y = problem_p(p, 1);
	double max = -INFINITY, sum = 0, worst = 0;
	int nan = 0;
	for (size_t j = p->dim[1]; j < p->dim[2]; j++) {
		max = fmax(max, (double)scale_of(p) * x[j]);
		nan |= isnan(x[j]);
	}
	for (size_t j = p->dim[1]; j < p->dim[2]; j++) {
		double D = max - (double)scale_of(p) * x[j];
		sum += exp(-D);
		worst += (D < 200 ? expm1(3 * U32 * D + 4 * U32) * exp(-D) : 0) + 0x1p-126;
	}
	for (size_t j = 0; j < p->dim[0]; j++) {
		if (!seen(p, j)) {
			problem_near(p, "y", j, y[j], 0, 0);
			continue;
		}
		double D = max - (double)scale_of(p) * x[j], want = nan ? NAN : exp(-D) / sum;
		double e = D < 200 ? expm1(3 * U32 * D + 4 * U32) : 1;
		double bound = e + worst / sum + gamma_n(additions(p->k, (double)p->dim[0], 1) + 3);
		problem_near(p, "y", j, y[j], want, fabs(want) * bound + 0x1p-126);
	}
}

static void bwd_setup(struct problem *p)
{
	size_t n = p->dim[0];
	float *dy = problem_in(p, n), *y = problem_in(p, n);
	for (size_t j = 0; j < n; j++) {
		y[j] = seen(p, j) ? fabsf(y[j]) / (float)n : 0;
		if (p->dim[3] == HIDDEN_NAN && !seen(p, j))
			dy[j] = NAN;
	}
	problem_out(p, n);
}

static void bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->softmax_bwd(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), scale_of(p), p->dim[1], p->dim[2], p->dim[0]);
}

/* mean = sum dy y in one accumulator at least, each product rounded: gamma of so many times sum |dy y|; then a difference and two
 * products: 3 u. */
static void bwd_check(struct problem *p)
{
	const float *dy = problem_orig(p, 0), *y = problem_orig(p, 1);
	double mean = 0, abs = 0;
	for (size_t j = p->dim[1]; j < p->dim[2]; j++) {
		mean += (double)dy[j] * y[j];
		abs += fabs((double)dy[j] * y[j]);
	}
	double e = gamma_n(additions(p->k, (double)p->dim[0], 1) + 1) * abs;
	for (size_t j = 0; j < p->dim[0]; j++) {
		double want = seen(p, j) ? (double)scale_of(p) * (y[j] * (dy[j] - mean)) : 0, a = fabs((double)scale_of(p) * y[j]);
		double bound = seen(p, j) ? a * e * (1 + gamma_n(3)) + gamma_n(3) * fabs(want) + 0x1p-148 : 0;
		problem_near(p, "dx", j, problem_p(p, 2)[j], want, bound);
	}
}

static double zero(const size_t *dim) { return (void)dim, 0; }
static double fwd_bytes(const size_t *dim) { return 8.0 * (double)dim[0]; }
static double bwd_bytes(const size_t *dim) { return 12.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{512, 0, 512}, {4096, 0, 4096}, {(size_t)1 << 26, 0, (size_t)1 << 26}, {SIZE_MAX}};

const struct problem_kind problem_softmax_fwd = {
	.kernel = "softmax_fwd", .dims = "n first end case", .shapes = shapes, .bench = bench, .setup = setup, .call = fwd_call,
	.check = fwd_check, .flops = zero, .bytes = fwd_bytes, .sparse = 1,
};
const struct problem_kind problem_softmax_bwd = {
	.kernel = "softmax_bwd", .dims = "n first end case", .shapes = shapes, .bench = bench, .setup = bwd_setup,
	.call = bwd_call, .check = bwd_check, .flops = zero, .bytes = bwd_bytes, .sparse = 1,
};
