/* The streaming attention kernels beside the tiles: packing, the end of a row, delta. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/problem/problem.h"

static double zero(const size_t *dim) { return (void)dim, 0; }

/* Floats of rows x width with row stride ld, to the last element and no further. */
static size_t strided(size_t rows, size_t width, size_t ld) { return rows ? (rows - 1) * ld + width : 0; }

/* ---- packing: pure data movement and one product, so exact */

static const float alpha = 0.37f;

static size_t groups(size_t n, size_t u) { return (n + u - 1) / u * u; }

static void pack_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	static const size_t width[] = {0, 1, 3, 7, 8, 9, 16, 17, 31, 33, 64, 65};
	size_t n[] = {0, 1, 2, k->lanes - 1, k->lanes, k->lanes + 1, k->attn_nr, k->attn_nr + 1, 2 * k->attn_nr - 1, 97};
	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (size_t j = 0; j < sizeof width / sizeof *width; j++)
			problem_use(u, n[i], width[j], 0, 0, 0, 0);
}

/* Rows of the last group that lie in no vector with a row are not written: they keep what they held. */
static void pack_setup(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1];
	problem_in(p, strided(n, k, k + 3));
	problem_inout(p, groups(n, p->k->attn_nr) * k);
}

static void pack_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_pack(problem_p(p, 1), problem_p(p, 0), p->dim[0], p->dim[1], p->dim[1] + 3);
}

static void pack_check(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1], u = p->k->attn_nr;
	for (size_t r = 0; r < groups(n, u); r++)
		for (size_t c = 0; c < k; c++) {
			size_t at = r / u * u * k + c * u + r % u;
			float missing = r < groups(n, p->k->lanes) ? 0 : problem_orig(p, 1)[at];
			problem_same(p, "p", at, problem_p(p, 1)[at], r < n ? problem_orig(p, 0)[r * (k + 3) + c] : missing);
		}
}

static void panel_setup(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1];
	problem_in(p, strided(n, k, k + 3));
	problem_out(p, groups(k, p->k->attn_nr) * n);
}

static void panel_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_panel(problem_p(p, 1), problem_p(p, 0), alpha, p->dim[0], p->dim[1], p->dim[1] + 3);
}

static void panel_check(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1], w = p->k->attn_nr;
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < groups(k, w); c++) {
			size_t at = c / w * w * n + r * w + c % w;
			problem_same(p, "p", at, problem_p(p, 1)[at], c < k ? alpha * problem_orig(p, 0)[r * (k + 3) + c] : 0);
		}
}

static double pack_bytes(const size_t *dim) { return 8.0 * (double)dim[0] * (double)dim[1]; }
static const size_t pack_bench[][PROBLEM_DIMS] = {{192, 64}, {14, 32}, {SIZE_MAX}};

const struct problem_kind problem_attn_pack = {
	.kernel = "attn_pack", .dims = "n k", .shapes = pack_shapes, .bench = pack_bench, .sparse = 1,
	.setup = pack_setup, .call = pack_call, .check = pack_check, .flops = zero, .bytes = pack_bytes,
};
const struct problem_kind problem_attn_panel = {
	.kernel = "attn_panel", .dims = "n k", .shapes = pack_shapes, .bench = pack_bench, .sparse = 1,
	.setup = panel_setup, .call = panel_call, .check = panel_check, .flops = zero, .bytes = pack_bytes,
};

/* ---- the end of a row */

static void end_shapes(struct problem_use *u, const struct n2d_kernels *k)
{
	(void)k;
	static const size_t width[] = {0, 1, 7, 8, 9, 16, 17, 64, 65};
	for (size_t i = 0; i < sizeof width / sizeof *width; i++)
		problem_use(u, i, width[i], 0, 0, 0, 0), problem_use(u, 33, width[i], 0, 0, 0, 0);
}

static void end_setup(struct problem *p)
{
	size_t rows = p->dim[0], K = p->dim[1];
	problem_in(p, strided(rows, K, K + 1));
	problem_in(p, rows);
	float *sum = problem_in(p, rows * p->k->lanes);
	for (size_t i = 0; i < rows * p->k->lanes; i++)
		sum[i] = sum[i] * sum[i];
	problem_out(p, rows);
	problem_inout(p, strided(rows, K, K + 2));
}

static void end_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_end(problem_p(p, 4), problem_p(p, 3), problem_p(p, 0), problem_p(p, 1), problem_p(p, 2), p->dim[0], p->dim[1],
		    p->dim[1] + 2, p->dim[1] + 1);
}

/* Sum of `lanes` positive terms, reciprocal, product; log within 1 ulp. */
static void end_check(struct problem *p)
{
	size_t rows = p->dim[0], K = p->dim[1], lanes = p->k->lanes;
	for (size_t r = 0; r < rows; r++) {
		double sum = 0, mx = problem_orig(p, 1)[r];
		for (size_t l = 0; l < lanes; l++)
			sum += problem_orig(p, 2)[r * lanes + l];
		problem_near(p, "lse", r, problem_p(p, 3)[r], mx + log(sum),
			     gamma_n((double)lanes) + 4 * U32 * (fabs(mx) + fabs(log(sum))));
		for (size_t k = 0; k < K; k++) {
			double want = problem_orig(p, 0)[r * (K + 1) + k] / sum;
			problem_near(p, "y", r * (K + 2) + k, problem_p(p, 4)[r * (K + 2) + k], want,
				     gamma_n((double)lanes + 3) * fabs(want));
		}
	}
}

static const size_t end_bench[][PROBLEM_DIMS] = {{192, 64}, {SIZE_MAX}};

const struct problem_kind problem_attn_end = {
	.kernel = "attn_end", .dims = "rows width", .shapes = end_shapes, .bench = end_bench,
	.setup = end_setup, .call = end_call, .check = end_check, .flops = zero, .bytes = pack_bytes,
};

/* ---- delta: a dot product a row */

static void delta_setup(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1];
	problem_in(p, strided(n, k, k + 3)), problem_in(p, strided(n, k, k + 3)), problem_out(p, n);
}

static void delta_call(struct problem *p, const struct n2d_kernels *k)
{
	k->attn_delta(problem_p(p, 2), problem_p(p, 0), problem_p(p, 1), p->dim[0], p->dim[1], p->dim[1] + 3);
}

static void delta_check(struct problem *p)
{
	size_t n = p->dim[0], k = p->dim[1];
	for (size_t r = 0; r < n; r++) {
		double sum = 0, abs = 0;
		for (size_t c = 0; c < k; c++) {
			double t = (double)problem_orig(p, 0)[r * (k + 3) + c] * problem_orig(p, 1)[r * (k + 3) + c];
			sum += t, abs += fabs(t);
		}
		problem_near(p, "delta", r, problem_p(p, 2)[r], sum, gamma_n((double)k) * abs);
	}
}

static double delta_flops(const size_t *dim) { return 2.0 * (double)dim[0] * (double)dim[1]; }

const struct problem_kind problem_attn_delta = {
	.kernel = "attn_delta", .dims = "rows width", .shapes = end_shapes, .bench = end_bench, .sparse = 1,
	.setup = delta_setup, .call = delta_call, .check = delta_check, .flops = delta_flops, .bytes = pack_bytes,
};
