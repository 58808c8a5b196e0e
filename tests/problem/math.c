/* Elementwise mathematics against libm in double. */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/problem/problem.h"

/* Every special value, the edges of exp's range, and then floats drawn from all bit patterns
 * and from the range where exp is neither 0 nor inf. */
static void fill_floats(struct n2d_rng *rng, float *x, size_t n)
{
	static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, -1.0f, 0x1p-149f, -0x1p-149f, 0x1p-126f, 88.72283f, 88.72284f, 89.0f, -87.33654f, -87.33655f, -103.27892f, -103.97208f, -103.97209f, -104.0f, -105.0f, -1e30f, 1e30f, 0x1.62e43p-2f, -0x1.62e43p-2f};
	size_t s = sizeof special / sizeof *special, shift = n2d_rng_below(rng, (uint32_t)s);
	for (size_t i = 0; i < n; i++) {
		uint32_t bits = n2d_rng_u32(rng);
		memcpy(x + i, &bits, sizeof bits);
		if (i % 3 == 1)
			x[i] = (float)(n2d_rng_uniform(rng) * 194 - 105);
		if (i % 3 == 2 && i / 3 < s)
			x[i] = special[(i / 3 + shift) % s];
	}
}

static void unary_setup(struct problem *p)
{
	float *x = problem_in(p, p->dim[0]);
	fill_floats(&p->rng, x, p->dim[0]);
	problem_out(p, p->dim[0]);
}

static double zero(const size_t *dim) { return (void)dim, 0; }
static double two_arrays(const size_t *dim) { return 8.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{4096}, {(size_t)1 << 25}, {SIZE_MAX}};

/* A problem of the row NAME whose value at the double x is EXPR, and the bound of its contract. */
#define UNARY(name, expr, ulps) \
	static void name##_call(struct problem *p, const struct n2d_kernels *k) \
	{ \
		k->name(problem_p(p, 1), problem_p(p, 0), p->dim[0]); \
	} \
	static void name##_check(struct problem *p) \
	{ \
		for (size_t i = 0; i < p->dim[0]; i++) { \
			double x = problem_orig(p, 0)[i], y = expr; \
			problem_ulp(p, "y", i, problem_p(p, 1)[i], y, ulps); \
			if (y == 0) /* and the sign of zero */ \
				problem_same(p, "y", i, problem_p(p, 1)[i], (float)y); \
		} \
	} \
	const struct problem_kind problem_##name = { \
		.kernel = #name, .dims = "n", .shapes = problem_sizes, .bench = bench, .setup = unary_setup, .call = name##_call, \
		.check = name##_check, .flops = zero, .bytes = two_arrays, .sparse = 1, \
	};

UNARY(exp, exp(x), 1.1)
UNARY(log, log(x), 1)
UNARY(tanh, tanh(x), 2)
UNARY(sigmoid, 1 / (1 + exp(-x)), 2)

#ifdef HAVE_SLEEF
UNARY(exp_sleef, exp(x), 1)
UNARY(log_sleef, log(x), 1)
UNARY(tanh_sleef, tanh(x), 1.001)
UNARY(sigmoid_sleef, 1 / (1 + exp(-x)), 3)
#endif
