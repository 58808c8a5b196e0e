/* Cross entropy and Adam against double. */
#include <math.h>

#include "tests/problem/problem.h"

static const float smoothing[] = {0, 0.1f}, weight = 0.125f;

/* dim = n, target, index of smoothing, in place, data (0 N(0,3), 1 the target far below the largest, 2 far above the rest) */
static void each(struct problem_use *u, const size_t *dim)
{
	size_t n = dim[0];
	if (!n)
		return;
	for (size_t data = 0; data < 3; data++)
		problem_use(u->arg, n, data ? n - 1 : 0, (n + data) % 2, (n / 2 + data) % 2, data, 0);
}

static void shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	struct problem_use mine = {each, u};
	problem_sizes(&mine, k);
}

static void xent_setup(struct problem *p)
{
	size_t n = p->dim[0];
	float *z = p->dim[3] ? problem_inout(p, n) : problem_in(p, n);
	for (size_t i = 0; i < n; i++)
		z[i] *= 3;
	if (p->dim[4])
		z[p->dim[1]] = p->dim[4] == 1 ? -431 : 427;
	if (!p->dim[3])
		problem_out(p, n);
}

static float *dz(const struct problem *p) { return problem_p(p, p->dim[3] ? 0 : 1); }

static void xent_call(struct problem *p, const struct n2d_kernels *k)
{
	p->scalar[0] = k->xent(dz(p), p->scalar + 1, problem_p(p, 0), p->dim[1], smoothing[p->dim[2]], weight, p->dim[0]);
}

/* d = z - max is rounded once, so exp(d) is off by (2.2 + |d|) u of itself and S = sum exp(d) by rel: sums of c terms a lane and a tree.
 * The logarithm turns rel into an absolute error; the target's d and the mean of d come on top. */
static void xent_check(struct problem *p)
{
	size_t n = p->dim[0], t = p->dim[1];
	const float *z = problem_orig(p, 0);
	double eps = smoothing[p->dim[2]], top = -INFINITY, s = 0, sd = 0, sed = 0;
	for (size_t i = 0; i < n; i++)
		top = fmax(top, z[i]);
	for (size_t i = 0; i < n; i++) {
		double d = z[i] - top;
		s += exp(d);
		sd += d;
		sed -= d * exp(d);
	}
	double c = (double)n / (double)p->k->lanes + 9, rel = gamma_n(c) + U32 * (2.2 + sed / s), dt = z[t] - top;
	double nll = log(s) - dt, loss = log(s) - (1 - eps) * dt - eps * sd / (double)n;
	double off = rel + 2 * U32 * log(s) + 2 * U32 * fabs(dt) + U32 * nll;
	problem_near(p, "nll", 0, p->scalar[1], nll, off);
	problem_near(p, "loss", 0, p->scalar[0], loss, off + 4 * U32 * (fabs(dt) + fabs(loss)) + eps * gamma_n(c + 3) * -sd / (double)n);
	for (size_t i = 0; i < n; i++) {
		double q = eps / (double)n, y = exp(z[i] - top) / s, mine = i == t ? 1 - eps : 0;
		double bound = weight * (y * (rel + U32 * (6 + top - z[i])) + 4 * U32 * q + 3 * U32 * mine) + 0x1p-149;
		problem_near(p, "dz", i, dz(p)[i], weight * (y - q - mine), bound);
	}
}

static double zero(const size_t *dim) { return (void)dim, 0; }
static double xent_bytes(const size_t *dim) { return 8.0 * (double)dim[0]; }
static const size_t xent_bench[][PROBLEM_DIMS] = {{4096, 7, 1, 1}, {32000, 7, 1, 1}, {SIZE_MAX}};

const struct problem_kind problem_xent = {
	.kernel = "xent", .dims = "V target smoothing inplace data", .shapes = shapes, .bench = xent_bench,
	.setup = xent_setup, .call = xent_call, .check = xent_check, .flops = zero, .bytes = xent_bytes, .sparse = 1,
};

/* ---- Adam */
enum { W, M, V, G };

static struct n2d_adam_step step7(void)
{
	double b1 = 0.9, b2 = 0.98;
	return (struct n2d_adam_step){(float)b1, (float)(1 - b1), (float)b2, (float)(1 - b2), (float)(1e-2 / (1 - pow(b1, 7))),
				      (float)(1 / sqrt(1 - pow(b2, 7))), 1e-6f, 0.5f};
}

static void adam_setup(struct problem *p)
{
	size_t n = p->dim[0];
	problem_inout(p, n);
	problem_inout(p, n);
	float *v = problem_inout(p, n), *g = problem_in(p, n);
	for (size_t i = 0; i < n; i++) {
		v[i] = v[i] * v[i];
		if (i % 5 == 0) /* a parameter that never had a gradient does not move */
			g[i] = v[i] = problem_p(p, M)[i] = 0;
	}
}

static void adam_call(struct problem *p, const struct n2d_kernels *k)
{
	struct n2d_adam_step s = step7();
	k->adam(problem_p(p, W), problem_p(p, M), problem_p(p, V), problem_p(p, G), &s, p->dim[0]);
}

/* m: two products and a sum; v: four roundings of terms >= 0; the denominator: v's error halved, a root, a sum; a quotient; the last
 * multiply-add. */
static void adam_check(struct problem *p)
{
	struct n2d_adam_step s = step7();
	for (size_t i = 0; i < p->dim[0]; i++) {
		double g = (double)problem_orig(p, G)[i] * s.gscale, w = problem_orig(p, W)[i];
		double a = (double)s.beta1 * problem_orig(p, M)[i], b = s.rest1 * g, m = a + b;
		double v = (double)s.beta2 * problem_orig(p, V)[i] + s.rest2 * g * g, d = sqrt(v) * s.root + s.eps;
		double off = 3 * U32 * (fabs(a) + fabs(b)), step = s.rate * m / d;
		problem_near(p, "m", i, problem_p(p, M)[i], m, off);
		problem_near(p, "v", i, problem_p(p, V)[i], v, 4 * U32 * v);
		problem_near(p, "w", i, problem_p(p, W)[i], w - step, s.rate * off / d + 6 * U32 * fabs(step) + U32 * fabs(w - step));
	}
}

static double adam_flops(const size_t *dim) { return 12.0 * (double)dim[0]; }
static double adam_bytes(const size_t *dim) { return 28.0 * (double)dim[0]; }
static const size_t adam_bench[][PROBLEM_DIMS] = {{4096}, {(size_t)1 << 24}, {SIZE_MAX}};

const struct problem_kind problem_adam = {
	.kernel = "adam", .dims = "n", .shapes = problem_sizes, .bench = adam_bench,
	.setup = adam_setup, .call = adam_call, .check = adam_check, .flops = adam_flops, .bytes = adam_bytes,
};

/* ---- the denominator alone. Logits some spread apart, a -inf and, one time in three, a NaN among them. */

static void sum_exp_setup(struct problem *p)
{
	size_t n = p->dim[0];
	float *x = problem_in(p, n), top = -INFINITY;
	for (size_t i = 0; i < n; i++)
		x[i] = 8 * x[i] + 100;
	if (n > 1)
		x[n2d_rng_below(&p->rng, (uint32_t)n)] = -INFINITY;
	for (size_t i = 0; i < n; i++)
		top = x[i] > top ? x[i] : top;
	p->scalar[1] = n ? (double)top : 0;
	if (n && n2d_rng_below(&p->rng, 3) == 0)
		x[n2d_rng_below(&p->rng, (uint32_t)n)] = NAN;
}

static void sum_exp_call(struct problem *p, const struct n2d_kernels *k)
{
	p->scalar[0] = k->sum_exp(problem_p(p, 0), (float)p->scalar[1], p->dim[0]);
}

/* A term's argument d is rounded once and its exponential is off by 1.5 u + u |d| (v_weights in simd/vmath.h): (2 + 2 |d|) u; below 2^-126 it is 0.
 * Each then passes the additions of one chain a lane. */
static void sum_exp_check(struct problem *p)
{
	double sum = 0, off = 0;
	for (size_t i = 0; i < p->dim[0]; i++) {
		double d = (double)problem_orig(p, 0)[i] - p->scalar[1], t = exp(d);
		sum += t;
		off += t > 0 ? t * (2 + 2 * fabs(d)) * 0x1p-24 + 0x1p-126 : 0;
	}
	problem_near(p, "sum_exp", 0, p->scalar[0], sum, 1.01 * (off + gamma_n(additions(p->k, (double)p->dim[0], 1)) * sum));
}

static double sum_exp_flops(const size_t *dim) { return 3.0 * (double)dim[0]; }
static double sum_exp_bytes(const size_t *dim) { return 4.0 * (double)dim[0]; }
static const size_t sum_exp_bench[][PROBLEM_DIMS] = {{4096}, {SIZE_MAX}};

const struct problem_kind problem_sum_exp = {
	.kernel = "sum_exp", .dims = "n", .shapes = problem_sizes, .bench = sum_exp_bench,
	.setup = sum_exp_setup, .call = sum_exp_call, .check = sum_exp_check, .flops = sum_exp_flops, .bytes = sum_exp_bytes,
};
