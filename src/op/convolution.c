#include "op/convolution.h"

#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/gemm.h"

/* Zero rows before each sentence: c, or seen backwards W - 1 - c. */
static size_t before(const struct n2d_convolution *c, int backward)
{
	size_t centre = c->causal ? c->W - 1 : (c->W - 1) / 2;
	return backward ? c->W - 1 - centre : centre;
}

/* Positions t < T with t mod dilation == phase. */
static size_t class_rows(const struct n2d_convolution *c, size_t phase)
{
	return phase < c->T ? (c->T - phase - 1) / c->dilation + 1 : 0;
}

static size_t phases(const struct n2d_convolution *c) { return c->dilation < c->T ? c->dilation : c->T; }

static size_t spread_floats(const struct n2d_convolution *c)
{
	return n2d_floats(c->B, n2d_add(c->T, n2d_mul(phases(c), c->W - 1)), c->D);
}

size_t n2d_convolution_workspace(const struct n2d_convolution *c) { return spread_floats(c); }

size_t n2d_convolution_weights_workspace(const struct n2d_convolution *c)
{
	return n2d_add(n2d_mul(2, spread_floats(c)), n2d_floats(n2d_mul(c->W, c->D), c->D, 1));
}

/* ---- weights */

size_t n2d_convolution_packed(const struct n2d_ctx *ctx, size_t D, size_t W)
{
	size_t WD = n2d_mul(W, D); /* forward, backward, and a reordered copy to pack from */
	return n2d_add(n2d_mul(2, n2d_packed_floats(ctx, WD, D)), n2d_floats(WD, D, 1));
}

/* Between PyTorch's order (out, in, tap) and those of the products, row by row of `out`. */
struct reorder {
	float *to;
	const float *from;
	size_t D, W;
	int add;
};

/* [out][tap][in] */
static void taps_before_inputs(void *arg, size_t o, int thread)
{
	const struct reorder *r = arg;
	float *to = r->to + o * r->W * r->D;
	const float *from = r->from + o * r->D * r->W;
	(void)thread;
	for (size_t w = 0; w < r->W; w++)
		for (size_t i = 0; i < r->D; i++)
			to[w * r->D + i] = from[i * r->W + w];
}

/* [tap][out][in], last tap first */
static void taps_backwards(void *arg, size_t o, int thread)
{
	const struct reorder *r = arg;
	const float *from = r->from + o * r->D * r->W;
	(void)thread;
	for (size_t w = 0; w < r->W; w++)
		for (size_t i = 0; i < r->D; i++)
			r->to[((r->W - 1 - w) * r->D + o) * r->D + i] = from[i * r->W + w];
}

/* An output's taps to PyTorch's order. The paper's width gets code of its own: with a width that the compiler does not know, this takes
 * longer than the product it follows where sentences are short. */
static inline void put_row(float *restrict to, const float *restrict from, size_t D, size_t W, int add)
{
	for (size_t i = 0; i < D; i++)
		for (size_t w = 0; w < W; w++)
			to[i * W + w] = (add ? to[i * W + w] : 0) + from[w * D + i];
}

/* [out][tap][in] to PyTorch's. */
static void put_taps(void *arg, size_t o, int thread)
{
	const struct reorder *r = arg;
	float *to = r->to + o * r->D * r->W;
	const float *from = r->from + o * r->W * r->D;
	(void)thread;
	if (r->W == 3 && r->add)
		put_row(to, from, r->D, 3, 1);
	else if (r->W == 3)
		put_row(to, from, r->D, 3, 0);
	else
		put_row(to, from, r->D, r->W, r->add);
}

void n2d_convolution_pack(const struct n2d_ctx *ctx, float *packed, const float *weight, size_t D, size_t W)
{
	size_t one = n2d_packed_floats(ctx, W * D, D);
	struct reorder r = {packed + 2 * one, weight, D, W, 0};
	n2d_parallel(ctx, D, taps_before_inputs, &r);
	n2d_pack(ctx, packed, 1, W * D, D, r.to, W * D);
	n2d_parallel(ctx, D, taps_backwards, &r);
	n2d_pack(ctx, packed + one, 0, W * D, D, r.to, D);
}

/* ---- the copy with W - 1 rows of zeros round each sentence, class by class: [phase][B][W - 1 + rows][D] */

struct spread {
	const struct n2d_convolution *c;
	float *to;
	const float *x;
	size_t zeros; /* of the W - 1, before the sentence */
};

/* Floats of the classes before this one. */
static size_t class_at(const struct n2d_convolution *c, size_t phase)
{
	size_t q = c->T / c->dilation, longer = c->T % c->dilation; /* that many classes have a row more */
	size_t rows = phase * (q + c->W - 1) + (phase < longer ? phase : longer);
	return c->B * rows * c->D;
}

static void spread_sentence(void *arg, size_t b, int thread)
{
	(void)thread;
	const struct spread *s = arg;
	const struct n2d_convolution *c = s->c;
	size_t n = c->len ? (size_t)c->len[b] : c->T, D = c->D;
	for (size_t p = 0; p < phases(c); p++) {
		size_t rows = class_rows(c, p) + c->W - 1;
		float *to = s->to + class_at(c, p) + b * rows * D;
		for (size_t r = 0; r < rows; r++, to += D) {
			size_t t = p + (r - s->zeros) * c->dilation;
			if (r >= s->zeros && t < n)
				memcpy(to, s->x + (b * c->T + t) * D, D * sizeof *to);
			else
				memset(to, 0, D * sizeof *to);
		}
	}
}

static void spread(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *to, const float *x, size_t zeros)
{
	struct spread s = {c, to, x, zeros};
	n2d_parallel(ctx, c->B, spread_sentence, &s);
}

/* ---- products */

static void observe(const struct n2d_ctx *ctx, struct n2d_call *call, const char *op, const struct n2d_convolution *c,
		    const float *in, const float *other, float *out, const float *packed)
{
	size_t n = c->B * c->T, D = c->D, reach = n2d_mul(c->W - 1, c->dilation), w = c->W * D * D;
	double bytes = 4 * (2 * (double)n * (double)D + (double)w);
	if (!n2d_trace_open(ctx, call, op, n2d_convolution_flops(c), bytes))
		return;
	n2d_trace_dim(call, "B", c->B);
	n2d_trace_dim(call, "T", c->T);
	n2d_trace_dim(call, "D", D);
	n2d_trace_dim(call, "W", c->W);
	n2d_trace_dim(call, "dilation", c->dilation);
	n2d_trace_read(call, in, n, D, D, other ? N2D_ALL_ROWS : c->causal ? reach : reach / 2);
	n2d_trace_read(call, other, n, D, D, N2D_ALL_ROWS);
	n2d_trace_read(call, packed, 1, w, w, N2D_ALL_ROWS);
	if (other)
		n2d_trace_write(call, out, D, c->W * D, c->W * D);
	else
		n2d_trace_write(call, out, n, D, D);
}

/* out[B,T,D] = the convolution of what is spread in ws. */
static void convolve(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *out, const float *packed,
		     const float *bias, const float *ws)
{
	for (size_t p = 0; p < phases(c); p++) {
		size_t rows = class_rows(c, p);
		struct n2d_gemm g = n2d_gemm_plain(0, 1, rows, c->D, c->W * c->D);
		g.lda = c->D; /* rows overlap */
		g.ldc = c->dilation * c->D;
		g.bias = bias;
		g.batch = c->B, g.sa = (rows + c->W - 1) * c->D, g.sc = c->T * c->D;
		n2d_gemm_packed(ctx, &g, out + p * c->D, ws + class_at(c, p), packed);
	}
}

void n2d_convolution_fwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *y, const float *x,
			 const float *packed, const float *bias, float *ws)
{
	struct n2d_call call;
	observe(ctx, &call, "convolution", c, x, NULL, y, packed);
	spread(ctx, c, ws, x, before(c, 0));
	convolve(ctx, c, y, packed, bias, ws);
	n2d_trace_close(ctx, &call);
}

void n2d_convolution_windows(const struct n2d_ctx *ctx, float *y, const float *x, const float *packed, const float *bias, size_t rows,
			     size_t D, size_t W)
{
	struct n2d_gemm g = n2d_gemm_plain(0, 1, rows, D, W * D);
	g.bias = bias;
	n2d_gemm_packed(ctx, &g, y, x, packed);
}

void n2d_convolution_bwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dx, const float *dy,
			 const float *packed, float *ws)
{
	struct n2d_call call;
	observe(ctx, &call, "convolution_bwd", c, dy, NULL, dx, packed);
	spread(ctx, c, ws, dy, before(c, 1));
	convolve(ctx, c, dx, packed + n2d_packed_floats(ctx, c->W * c->D, c->D), NULL, ws);
	n2d_trace_close(ctx, &call);
}

void n2d_convolution_weights(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dweight, int add, const float *dy,
			     const float *x, float *ws)
{
	struct n2d_call call;
	observe(ctx, &call, "convolution_weights", c, dy, x, dweight, NULL);
	/* dy is spread too, its zeros behind each sentence: they meet the windows that run into the next one, and one
	 * product takes all sentences. */
	float *ds = ws + spread_floats(c), *sum = ds + spread_floats(c);
	spread(ctx, c, ws, x, before(c, 0));
	spread(ctx, c, ds, dy, 0);
	for (size_t p = 0; c->B && p < phases(c); p++) {
		size_t rows = c->B * (class_rows(c, p) + c->W - 1) - (c->W - 1); /* the last window ends with the copy */
		struct n2d_gemm g = n2d_gemm_plain(1, 0, c->D, c->W * c->D, rows);
		g.ldb = c->D; /* rows overlap */
		g.beta = p > 0;
		g.parts = n2d_gemm_parts(g.M, g.N, g.K);
		n2d_gemm(ctx, &g, sum, ds + class_at(c, p), ws + class_at(c, p));
	}
	if (!c->B || !c->T)
		memset(sum, 0, c->D * c->W * c->D * sizeof *sum);
	struct reorder r = {dweight, sum, c->D, c->W, add};
	n2d_parallel(ctx, c->D, put_taps, &r);
	n2d_trace_close(ctx, &call);
}

double n2d_convolution_flops(const struct n2d_convolution *c)
{
	return 2 * (double)c->B * (double)c->T * (double)c->W * (double)c->D * (double)c->D;
}
