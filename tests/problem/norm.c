/* LayerNorm and RMSNorm of a row against double. */
#include <math.h>

#include "tests/problem/problem.h"

/* Forward: dim = n, residual (0 none, 1 added, 2 added and kept), data (0 N(0,1), 1 mean 1e4, 2 constant, 3 tiny). */
static void each(struct problem_use *u, const size_t *dim)
{
	if (!dim[0])
		return;
	for (size_t residual = 0; residual < 3; residual++)
		problem_use(u->arg, dim[0], residual, (dim[0] + residual) % 4, 0, 0, 0);
}

static void shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	struct problem_use mine = {each, u};
	problem_sizes(&mine, k);
}

enum { X, R, GAMMA, BETA, Y, S, STAT }; /* forward's buffers */
#define EPS 1e-5f

static void fwd_setup(struct problem *p)
{
	static const float scale[] = {1, 1, 0, 1e-3f}, offset[] = {0, 1e4f, 4, 0};
	size_t n = p->dim[0];
	float *x = problem_in(p, n);
	problem_in(p, n);
	for (int i = 0; i < 2; i++)
		problem_in(p, n);
	for (size_t i = 0; i < n; i++) {
		x[i] = offset[p->dim[2]] + scale[p->dim[2]] * x[i];
		problem_p(p, R)[i] *= scale[p->dim[2]];
	}
	for (int i = 0; i < 2; i++)
		problem_out(p, n);
	problem_out(p, 2);
}

/* Terms a lane adds one after another, and the tree over lanes and accumulators after them. */
static double chain(const struct problem *p, size_t accumulators)
{
	return (double)p->dim[0] / (double)(accumulators * p->k->lanes) + 9;
}

static const float *residual(const struct problem *p) { return p->dim[1] ? problem_p(p, R) : NULL; }
static float *kept(const struct problem *p) { return p->dim[1] == 2 ? problem_p(p, S) : NULL; }

/* t = x + r is one rounding: the same in the oracle. */
static double t_at(struct problem *p, size_t i)
{
	float t = problem_orig(p, X)[i] + (p->dim[1] ? problem_orig(p, R)[i] : 0);
	if (p->dim[1] == 2)
		problem_same(p, "s", i, problem_p(p, S)[i], t);
	return t;
}

static void layernorm_fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	float *stat = problem_p(p, STAT);
	k->layernorm_fwd(problem_p(p, Y), kept(p), stat, stat + 1, problem_p(p, X), residual(p), problem_p(p, GAMMA), problem_p(p, BETA),
			 p->dim[0], EPS);
}

/* The first mean is off by at most low = gamma_c mean|t|. Deviations from it, d, are rounded once, their mean is off by gamma_c mean|d| and
 * the variance by gamma_(c+3) of (var + low^2); 1/sqrt halves that and rounds three times. Then three roundings to h,
 * two to y. */
static void layernorm_fwd_check(struct problem *p)
{
	size_t n = p->dim[0];
	double sum = 0, abs = 0, var = 0, dev = 0, c = chain(p, 1), g = gamma_n(c + 3);
	for (size_t i = 0; i < n; i++) {
		sum += t_at(p, i);
		abs += fabs(t_at(p, i)) / (double)n;
	}
	double mean = sum / (double)n, low = g * abs;
	for (size_t i = 0; i < n; i++) {
		double d = t_at(p, i) - mean;
		var += d * d / (double)n;
		dev += (fabs(d) + low) / (double)n;
	}
	double rstd = 1 / sqrt(var + EPS), rel = g / 2 * (var + low * low) / (var + EPS) + 4 * U32;
	problem_near(p, "mean", 0, problem_p(p, STAT)[0], mean, g * dev + 2 * U32 * fabs(mean));
	problem_near(p, "rstd", 0, problem_p(p, STAT)[1], rstd, rel * rstd);
	for (size_t i = 0; i < n; i++) {
		double d = t_at(p, i) - mean, h = d * rstd, gamma = problem_orig(p, GAMMA)[i], beta = problem_orig(p, BETA)[i];
		double off = rstd * (2 * U32 * (fabs(d) + low) + g * dev) + fabs(h) * (rel + 2 * U32);
		problem_near(p, "y", i, problem_p(p, Y)[i], h * gamma + beta, fabs(gamma) * off + 2 * U32 * (fabs(h * gamma) + fabs(beta)));
	}
}

static void rmsnorm_fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->rmsnorm_fwd(problem_p(p, Y), kept(p), problem_p(p, STAT), problem_p(p, X), residual(p), problem_p(p, GAMMA), p->dim[0], EPS);
	problem_p(p, STAT)[1] = 0;
}

/* A sum of squares, halved by the root, and three roundings; then two products. */
static void rmsnorm_fwd_check(struct problem *p)
{
	size_t n = p->dim[0];
	double ss = 0;
	for (size_t i = 0; i < n; i++)
		ss += t_at(p, i) * t_at(p, i);
	double rstd = 1 / sqrt(ss / (double)n + EPS), rel = gamma_n(chain(p, 1) + 2) / 2 + 4 * U32;
	problem_near(p, "rstd", 0, problem_p(p, STAT)[0], rstd, rel * rstd);
	for (size_t i = 0; i < n; i++) {
		double y = t_at(p, i) * rstd * problem_orig(p, GAMMA)[i];
		problem_near(p, "y", i, problem_p(p, Y)[i], y, (rel + 2 * U32) * fabs(y));
	}
}

/* ---- backward: dim = n. The statistics are taken as given. */
enum { B_DY, B_X, B_GAMMA, B_DX, B_DGAMMA, B_DBETA };
static const float mean_ = 0.25f, rstd_ = 1.25f;

static void bwd_setup(struct problem *p)
{
	size_t n = p->dim[0];
	for (int i = 0; i < 3; i++)
		problem_in(p, n);
	problem_out(p, n);
	for (int i = 0; i < 2; i++)
		problem_inout(p, n);
}

static void layernorm_bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->layernorm_bwd(problem_p(p, B_DX), problem_p(p, B_DGAMMA), problem_p(p, B_DBETA), problem_p(p, B_DY), problem_p(p, B_X),
			 problem_p(p, B_GAMMA), mean_, rstd_, p->dim[0]);
}

static void rmsnorm_bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->rmsnorm_bwd(problem_p(p, B_DX), problem_p(p, B_DGAMMA), problem_p(p, B_DY), problem_p(p, B_X), problem_p(p, B_GAMMA), rstd_,
		       p->dim[0]);
}

/* h is within 2 roundings, g within 1; c1 and c2 are sums of n terms; then a product and two differences, and the product with rstd. */
static void bwd_check(struct problem *p, double mean, int layer)
{
	size_t n = p->dim[0];
	double c1 = 0, c2 = 0, a1 = 0, a2 = 0, g = gamma_n(chain(p, 1) + 5);
	const float *dy = problem_orig(p, B_DY), *x = problem_orig(p, B_X), *gamma = problem_orig(p, B_GAMMA);
	for (size_t i = 0; i < n; i++) {
		double e = (double)dy[i] * gamma[i], h = (x[i] - mean) * rstd_;
		c1 += layer ? e / (double)n : 0;
		c2 += e * h / (double)n;
		a1 += layer ? fabs(e) / (double)n : 0;
		a2 += fabs(e * h) / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double e = (double)dy[i] * gamma[i], h = (x[i] - mean) * rstd_, term = dy[i] * h;
		double off = 5 * U32 * (fabs(e) + fabs(c1) + fabs(h * c2)) + g * (a1 + fabs(h) * a2);
		problem_near(p, "dx", i, problem_p(p, B_DX)[i], rstd_ * (e - c1 - h * c2), rstd_ * off);
		double dg = problem_orig(p, B_DGAMMA)[i], db = problem_orig(p, B_DBETA)[i];
		problem_near(p, "dgamma", i, problem_p(p, B_DGAMMA)[i], dg + term, 4 * U32 * fabs(term) + U32 * fabs(dg));
		double want = db + (layer ? (double)dy[i] : 0);
		problem_near(p, "dbeta", i, problem_p(p, B_DBETA)[i], want, U32 * fabs(want));
	}
}

static void layernorm_bwd_check(struct problem *p) { bwd_check(p, mean_, 1); }
static void rmsnorm_bwd_check(struct problem *p) { bwd_check(p, 0, 0); }

static double fwd_flops(const size_t *dim) { return 8.0 * (double)dim[0]; }
static double bwd_flops(const size_t *dim) { return 12.0 * (double)dim[0]; }
static double fwd_bytes(const size_t *dim) { return (16.0 + 4 * (double)dim[1]) * (double)dim[0]; }
static double bwd_bytes(const size_t *dim) { return 32.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{512}, {1024}, {SIZE_MAX}};

#define NORM(name, dims_, shapes_, setup_, flops_, bytes_) \
	const struct problem_kind problem_##name = { \
		.kernel = #name, .dims = dims_, .shapes = shapes_, .bench = bench, .setup = setup_, .call = name##_call, \
		.check = name##_check, .flops = flops_, .bytes = bytes_, \
	};
NORM(layernorm_fwd, "n residual data", shapes, fwd_setup, fwd_flops, fwd_bytes)
NORM(layernorm_bwd, "n", problem_sizes, bwd_setup, bwd_flops, bwd_bytes)
NORM(rmsnorm_fwd, "n residual data", shapes, fwd_setup, fwd_flops, fwd_bytes)
NORM(rmsnorm_bwd, "n", problem_sizes, bwd_setup, bwd_flops, bwd_bytes)
