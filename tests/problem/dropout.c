/* Dropout against the sequential generator, bit for bit. */
#include <math.h>

#include "tests/problem/problem.h"

static const float probability[] = {0.1f, 0, 0x1.fffffep-1f, 0.5f};

/* dim: n, first element, index of probability, in place */
static void sizes(struct problem_use *u, const size_t *dim)
{
	static const size_t first[] = {0, 1, 63, 64, ((size_t)1 << 34) - 64, ((size_t)1 << 36) + 21};
	for (size_t f = 0; f < sizeof first / sizeof *first; f++)
		if (f == 0 || dim[0] <= 40 || dim[0] == 257)
			problem_use(u->arg, dim[0], first[f], (dim[0] + f) % 4, f % 2, 0, 0);
}

static void shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	struct problem_use mine = {sizes, u};
	problem_sizes(&mine, k);
}

static struct n2d_dropout params(const struct problem *p)
{
	return (struct n2d_dropout){{0x12345678u, 0x9abcdef0u}, {7, 0xfffffff9u}, probability[p->dim[2]]};
}

static void setup(struct problem *p)
{
	size_t n = p->dim[0];
	float *x = p->dim[3] ? problem_inout(p, n) : problem_in(p, n);
	for (size_t i = 5; i < n; i += 9)
		x[i] = i % 2 ? NAN : INFINITY;
	if (!p->dim[3])
		problem_out(p, n);
}

static float *out(const struct problem *p) { return problem_p(p, p->dim[3] ? 0 : 1); }

static void call(struct problem *p, const struct n2d_kernels *k)
{
	struct n2d_dropout d = params(p);
	k->dropout(out(p), problem_p(p, 0), &d, p->dim[1], p->dim[0]);
}

static void check(struct problem *p)
{
	struct n2d_dropout d = params(p);
	float scale = (float)(1 / (1 - (double)d.p));
	for (size_t i = 0; i < p->dim[0]; i++) {
		uint64_t e = p->dim[1] + i, counter = e / 64 * 16 + e % 16;
		uint32_t ctr[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), d.stream[0], d.stream[1]}, word[4];
		n2d_philox(word, ctr, d.key);
		float x = problem_orig(p, 0)[i], want = word[e % 64 / 16] < d.p * 0x1p32 ? 0 : scale * x;
		if (isnan(want))
			problem_near(p, "y", i, out(p)[i], want, 0);
		else
			problem_same(p, "y", i, out(p)[i], want);
	}
}

static double zero(const size_t *dim) { return (void)dim, 0; }
static double two_arrays(const size_t *dim) { return 8.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{4096}, {(size_t)1 << 25}, {SIZE_MAX}};

const struct problem_kind problem_dropout = {
	.kernel = "dropout", .dims = "n first p inplace", .shapes = shapes, .bench = bench,
	.setup = setup, .call = call, .check = check, .flops = zero, .bytes = two_arrays, .sparse = 1,
};
