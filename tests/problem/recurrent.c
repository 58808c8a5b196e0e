/* Gates of the recurrent cells against their formulas in double.
 *
 * Bounds: sigmoid and tanh are within 2.5 ulp, at most 5 u of their value; every other operation rounds once, u of its
 * result. Counted along each formula, an output's error is gamma_(count) of the terms it is made of. */
#include <math.h>
#include <stdint.h>

#include "tests/problem/problem.h"

#define ULPS 2.5

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	problem_sizes(u, k);
	for (size_t n = 1; n <= 2 * k->lanes + 1; n += 3) /* gates apart by more than their width */
		problem_use(u, n, 1 + n % 7, 0, 0, 0, 0);
}

static size_t stride(const struct problem *p) { return p->dim[0] + p->dim[1]; }
static size_t extent(const struct problem *p, size_t gates) { return p->dim[0] ? (gates - 1) * stride(p) + p->dim[0] : 0; }

/* What lies between the gates must be left alone. */
static void check_gaps(struct problem *p, int buf, size_t gates)
{
	const float *was = problem_orig(p, buf);
	for (size_t g = 0; p->dim[0] && g + 1 < gates; g++)
		for (size_t i = g * stride(p) + p->dim[0]; i < (g + 1) * stride(p); i++)
			problem_same(p, "between gates", i, problem_p(p, buf)[i], was ? was[i] : NAN);
}

static float *gates_out(struct problem *p, size_t gates) { return problem_out(p, extent(p, gates)); }

/* Activations as a forward pass leaves them: gate g through sigmoid where the bit is set, else tanh or as it is. */
static void activations(struct problem *p, float *a, size_t gates, unsigned sigmoids, unsigned tanhs)
{
	for (size_t g = 0; g < gates; g++)
		for (size_t i = 0; i < p->dim[0]; i++) {
			float *x = a + g * stride(p) + i;
			*x = sigmoids >> g & 1 ? (float)sigmoid(*x) : tanhs >> g & 1 ? (float)tanh(*x) : *x;
		}
}

/* ---- rnn_bwd: dy, dh, h, da */

static void rnn_bwd_setup(struct problem *p)
{
	problem_in(p, p->dim[0]);
	problem_in(p, p->dim[0]);
	float *h = problem_in(p, p->dim[0]);
	for (size_t i = 0; i < p->dim[0]; i++)
		h[i] = tanhf(h[i]);
	problem_out(p, p->dim[0]);
}

static void rnn_bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->rnn_bwd(problem_p(p, 3), problem_p(p, 0), problem_p(p, 1), problem_p(p, 2), p->dim[0]);
}

static void rnn_bwd_check(struct problem *p)
{
	for (size_t i = 0; i < p->dim[0]; i++) {
		double h = problem_orig(p, 2)[i];
		double want = ((double)problem_orig(p, 0)[i] + problem_orig(p, 1)[i]) * (1 - h * h);
		problem_near(p, "da", i, problem_p(p, 3)[i], want, gamma_n(3) * fabs(want));
	}
}

/* ---- lstm_fwd: a, cp, h, c */

static void lstm_fwd_setup(struct problem *p)
{
	problem_inout(p, extent(p, 4));
	problem_in(p, p->dim[0]);
	problem_out(p, p->dim[0]);
	problem_out(p, p->dim[0]);
}

static void lstm_fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	/* A benchmark calls again and again: the gates then pass through their functions each time, which changes no timing. */
	k->lstm_fwd(problem_p(p, 2), problem_p(p, 3), problem_p(p, 0), problem_p(p, 1), p->dim[0], stride(p));
}

static void lstm_fwd_check(struct problem *p)
{
	size_t s = stride(p);
	for (size_t j = 0; j < p->dim[0]; j++) {
		const float *x = problem_orig(p, 0) + j, *a = problem_p(p, 0) + j;
		double i = sigmoid(x[0]), f = sigmoid(x[s]), g = tanh(x[2 * s]), o = sigmoid(x[3 * s]);
		double fc = f * problem_orig(p, 1)[j], c = fc + i * g, h = o * tanh(c);
		problem_ulp(p, "i", j, a[0], i, ULPS);
		problem_ulp(p, "f", j, a[s], f, ULPS);
		problem_ulp(p, "g", j, a[2 * s], g, ULPS);
		problem_ulp(p, "o", j, a[3 * s], o, ULPS);
		/* f cp: 5 of f; i g: 5 + 5 and the product; the sum; tanh passes c's error on at most once. */
		double ec = gamma_n(6) * fabs(fc) + gamma_n(12) * fabs(i * g);
		problem_near(p, "c", j, problem_p(p, 3)[j], c, ec);
		problem_near(p, "h", j, problem_p(p, 2)[j], h, o * ec * (1 + gamma_n(11)) + gamma_n(11) * fabs(h));
	}
	check_gaps(p, 0, 4);
}

/* ---- lstm_bwd: dy, dh, a, c, cp, dc, da */

static void lstm_bwd_setup(struct problem *p)
{
	problem_in(p, p->dim[0]);
	problem_in(p, p->dim[0]);
	activations(p, problem_in(p, extent(p, 4)), 4, 0xb, 0x4);
	problem_in(p, p->dim[0]);
	problem_in(p, p->dim[0]);
	problem_inout(p, p->dim[0]);
	gates_out(p, 4);
}

static void lstm_bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->lstm_bwd(problem_p(p, 6), problem_p(p, 5), problem_p(p, 0), problem_p(p, 1), problem_p(p, 2), problem_p(p, 3),
		    problem_p(p, 4), p->dim[0], stride(p));
}

static void lstm_bwd_check(struct problem *p)
{
	size_t s = stride(p);
	for (size_t j = 0; j < p->dim[0]; j++) {
		const float *a = problem_orig(p, 2) + j, *da = problem_p(p, 6) + j;
		double i = a[0], f = a[s], g = a[2 * s], o = a[3 * s], tc = tanh(problem_orig(p, 3)[j]);
		double dh = (double)problem_orig(p, 0)[j] + problem_orig(p, 1)[j], cp = problem_orig(p, 4)[j];
		double dc = problem_orig(p, 5)[j] + dh * o * (1 - tc * tc), ig = i * (1 - i), fg = f * (1 - f);
		/* 1 - tanh^2: tanh's 5 u twice, of tanh^2, and a rounding of the difference: together under 10 u of 1. With
		 * dh, dh o and the product 13, and a rounding of the sum. */
		double ec = gamma_n(13) * fabs(dh * o) + gamma_n(1) * fabs(dc), od = dh * tc * o * (1 - o);
		problem_near(p, "di", j, da[0], dc * g * ig, ec * fabs(g * ig) + gamma_n(5) * (fabs(dc) + ec) * fabs(g * ig));
		problem_near(p, "df", j, da[s], dc * cp * fg, ec * fabs(cp * fg) + gamma_n(5) * (fabs(dc) + ec) * fabs(cp * fg));
		problem_near(p, "dg", j, da[2 * s], dc * i * (1 - g * g),
			     (ec + gamma_n(4) * (fabs(dc) + ec)) * fabs(i * (1 - g * g)));
		problem_near(p, "do", j, da[3 * s], od, gamma_n(10) * fabs(od));
		problem_near(p, "dc", j, problem_p(p, 5)[j], dc * f, (ec + gamma_n(1) * (fabs(dc) + ec)) * f);
	}
	check_gaps(p, 6, 4);
}

/* ---- gru_fwd: a, hp, h */

static void gru_fwd_setup(struct problem *p)
{
	problem_inout(p, extent(p, 4));
	problem_in(p, p->dim[0]);
	problem_out(p, p->dim[0]);
}

static void gru_fwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->gru_fwd(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), p->dim[0], stride(p));
}

static void gru_fwd_check(struct problem *p)
{
	size_t s = stride(p);
	for (size_t j = 0; j < p->dim[0]; j++) {
		const float *x = problem_orig(p, 0) + j, *a = problem_p(p, 0) + j;
		double q = x[0], r = sigmoid(x[s]), z = sigmoid(x[2 * s]), in = x[3 * s] + r * q, n = tanh(in);
		double hp = problem_orig(p, 1)[j];
		problem_same(p, "q", j, a[0], x[0]);
		problem_ulp(p, "r", j, a[s], r, ULPS);
		problem_ulp(p, "z", j, a[2 * s], z, ULPS);
		/* n + r q: 5 of r, a rounding; tanh passes it on at most once and adds its own 5. */
		double en = gamma_n(5) * fabs(r * q) + gamma_n(1) * (fabs(in) + gamma_n(5) * fabs(r * q));
		en += gamma_n(5) * (fabs(n) + en);
		problem_near(p, "n", j, a[3 * s], n, en);
		/* n + z (hp - n): n's error with weight 1 - z; z's 5 and the difference's of the product; the sum's. */
		double h = n + z * (hp - n), eh = (1 - z) * en + gamma_n(6) * z * (fabs(hp - n) + en);
		problem_near(p, "h", j, problem_p(p, 2)[j], h, eh + gamma_n(1) * (fabs(h) + eh));
	}
	check_gaps(p, 0, 4);
}

/* ---- gru_bwd: dy, a, hp, dh, da */

static void gru_bwd_setup(struct problem *p)
{
	problem_in(p, p->dim[0]);
	activations(p, problem_in(p, extent(p, 4)), 4, 0x6, 0x8);
	problem_in(p, p->dim[0]);
	problem_inout(p, p->dim[0]);
	gates_out(p, 4);
}

static void gru_bwd_call(struct problem *p, const struct n2d_kernels *k)
{
	k->gru_bwd(problem_p(p, 4), problem_p(p, 3), problem_p(p, 0), problem_p(p, 1), problem_p(p, 2), p->dim[0], stride(p));
}

/* Products throughout: a rounding for each factor that is a sum and for each product. */
static void gru_bwd_check(struct problem *p)
{
	size_t s = stride(p);
	for (size_t j = 0; j < p->dim[0]; j++) {
		const float *a = problem_orig(p, 1) + j, *da = problem_p(p, 4) + j;
		double q = a[0], r = a[s], z = a[2 * s], n = a[3 * s];
		double dh = (double)problem_orig(p, 0)[j] + problem_orig(p, 3)[j];
		double dn = dh * (1 - z) * (1 - n * n), dz = dh * (problem_orig(p, 2)[j] - n) * z * (1 - z);
		problem_near(p, "dn", j, da[3 * s], dn, gamma_n(5) * fabs(dn));
		problem_near(p, "dq", j, da[0], dn * r, gamma_n(6) * fabs(dn * r));
		problem_near(p, "dr", j, da[s], dn * q * r * (1 - r), gamma_n(9) * fabs(dn * q * r * (1 - r)));
		problem_near(p, "dz", j, da[2 * s], dz, gamma_n(6) * fabs(dz));
		problem_near(p, "dh", j, problem_p(p, 3)[j], dh * z, gamma_n(2) * fabs(dh * z));
	}
	check_gaps(p, 4, 4);
}

/* ---- the kinds. FLOPs of elementwise work are not counted; bytes: every array once, twice where it changes. */

static double zero(const size_t *dim) { return (void)dim, 0; }
static double bytes4(const size_t *dim) { return 16.0 * (double)dim[0]; }
static double bytes11(const size_t *dim) { return 44.0 * (double)dim[0]; }
static double bytes14(const size_t *dim) { return 56.0 * (double)dim[0]; }
static double bytes9(const size_t *dim) { return 36.0 * (double)dim[0]; }
static double bytes12(const size_t *dim) { return 48.0 * (double)dim[0]; }
static const size_t bench[][PROBLEM_DIMS] = {{512}, {SIZE_MAX}};

#define KIND(name, b) \
	const struct problem_kind problem_##name = { \
		.kernel = #name, .dims = "n gap", .shapes = shapes, .bench = bench, \
		.setup = name##_setup, .call = name##_call, .check = name##_check, .flops = zero, .bytes = b, \
	}
KIND(rnn_bwd, bytes4);
KIND(lstm_fwd, bytes11);
KIND(lstm_bwd, bytes14);
KIND(gru_fwd, bytes9);
KIND(gru_bwd, bytes12);
