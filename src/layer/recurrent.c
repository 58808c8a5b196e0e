/* The recurrent layers of Table 1: RNN with tanh, LSTM, GRU, forward in time (op/recurrent.h has the
 * formulas).
 *
 * Parameters, as PyTorch's nn.RNN, nn.LSTM and nn.GRU with as many units as inputs:
 * weight_ih[G D,D] weight_hh[G D,D] bias_ih[G D] bias_hh[G D], G = 1, 4 (i f g o), 3 (r z n). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "layer/kinds.h"
#include "layer/linear.h"
#include "layer/recurrent.h"
#include "layer/rows.h"
#include "op/gemm.h"

static int check_as(enum n2d_cell cell, const char *kind, size_t D)
{
	if (!D || D > N2D_RECURRENT_MAX_D)
		return n2d_error("%s: width D = %zu is not in 1 .. %zu", kind, D, N2D_RECURRENT_MAX_D);
	return n2d_layer_check_params(kind, n2d_recurrent_params(cell, D));
}

/* Uniform in +-1/sqrt(D), biases too, as PyTorch does. */
static void init_of(enum n2d_cell cell, size_t D, float *p, struct n2d_rng *rng)
{
	double limit = 1 / sqrt((double)D);
	for (size_t i = 0; i < n2d_recurrent_params(cell, D); i++)
		p[i] = (float)(limit * (2 * n2d_rng_uniform(rng) - 1));
}

/* ---- what is kept: h[B,T,D]; lstm's c[B,T,D]; a[B,T,S,D] but for rnn, whose a becomes h */

struct kept {
	float *h, *c, *a;
};

static size_t gates_floats(enum n2d_cell cell, size_t D, size_t B, size_t T)
{
	return cell == N2D_RNN ? 0 : n2d_floats(B, T, n2d_mul(n2d_recurrent_segments(cell), D));
}

static size_t saved_of(enum n2d_cell cell, size_t D, size_t B, size_t T)
{
	return n2d_add(n2d_mul(n2d_recurrent_states(cell), n2d_floats(B, T, D)), gates_floats(cell, D, B, T));
}

static struct kept kept(enum n2d_cell cell, size_t D, float *p, size_t B, size_t T)
{
	float *c = p + n2d_floats(B, T, D), *a = cell == N2D_LSTM ? c + n2d_floats(B, T, D) : c;
	return (struct kept){p, cell == N2D_LSTM ? c : NULL, cell == N2D_RNN ? p : a};
}

/* Inference: h is y itself, c one step, a whole; for rnn, whose a is h, clean x instead. Training: the biases' sums, da. */
static size_t workspace_of(enum n2d_cell cell, size_t D, size_t B, size_t T, int train)
{
	struct n2d_recurrent r = {cell, B, T, D};
	size_t run = n2d_recurrent_workspace(&r);
	if (train)
		return n2d_add(n2d_add(run, n2d_recurrent_bias(cell, D)), n2d_floats(B, T, n2d_mul(n2d_recurrent_segments(cell), D)));
	if (cell == N2D_RNN)
		return n2d_add(run, n2d_floats(B, T, D));
	return n2d_add(n2d_add(run, gates_floats(cell, D, B, T)), cell == N2D_LSTM ? n2d_floats(B, D, 1) : 0);
}

/* ---- forward */

static void forward_of(enum n2d_cell cell, const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep,
		       const float *x, const struct n2d_sentences *at, float *ws)
{
	size_t B = at->B, T = at->T, D = l->c.D, GD = n2d_recurrent_gates(cell) * D, S = n2d_recurrent_segments(cell);
	struct n2d_recurrent r = {cell, B, T, D};
	struct n2d_recurrent_parts p = n2d_recurrent_parts(cell, ctx, D, l->packed);
	float *state = ws, *more = ws + n2d_recurrent_workspace(&r);
	struct kept s = {y, more, cell == N2D_RNN ? y : cell == N2D_LSTM ? more + n2d_floats(B, D, 1) : more};
	if (keep)
		s = kept(cell, D, keep, B, T);
	const int32_t *len = n2d_rows_dirty(&l->c, at); /* steps do not look ahead: padding needs no more than to be finite */
	struct n2d_gemm g = n2d_gemm_plain(0, 1, B * T, GD, D);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	/* y is not needed yet, unless rnn's product goes there */
	x = n2d_rows_clean(ctx, s.a == y ? more : y, x, len, B, T, D);
	g.ldc = S * D;
	g.bias = p.bias;
	n2d_gemm_packed(ctx, &g, n2d_recurrent_input(cell, D, s.a), x, p.w);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	n2d_recurrent_fwd(ctx, &r, s.h, cell == N2D_LSTM ? s.c : NULL, keep != NULL, s.a, p.u,
			  cell == N2D_GRU ? n2d_recurrent_weights(cell, D, l->params).b_u + 2 * D : NULL, state);
	n2d_trace_part(ctx, part);
	if (keep)
		n2d_rows_copy(ctx, y, s.h, len, B, T, D);
	else
		n2d_rows_clear(ctx, y, len, B, T, D);
}

/* ---- backward */

struct grad {
	const struct n2d_ctx *ctx;
	enum n2d_cell cell;
	size_t B, T, D, S;
	float *da;
	int add;
};

/* dw[rows,D], or += when add: da's columns from segment `s` on, transposed, times x, over all steps. */
static void input_weights(const struct grad *d, float *dw, size_t s, size_t rows, const float *x)
{
	struct n2d_gemm g = n2d_gemm_plain(1, 0, rows, d->D, d->B * d->T);
	g.lda = d->S * d->D;
	g.beta = d->add ? 1 : 0;
	n2d_gemm(d->ctx, &g, dw, d->da + s * d->D, x);
}

/* du[rows,D] in the same way, times h of the step before: one product, in which the row before a sentence's first, which belongs to the
 * sentence before, meets a gradient of 0. */
static void recurrent_weights(const struct grad *d, float *du, size_t s, size_t rows, const float *h)
{
	size_t n = d->B * d->T;
	struct n2d_gemm g = n2d_gemm_plain(1, 0, rows, d->D, d->T < 2 || !n ? 0 : n - 1);
	g.lda = d->S * d->D;
	g.beta = d->add ? 1 : 0;
	n2d_gemm(d->ctx, &g, du, d->da + (d->S + s) * d->D, h);
}

/* Gradients of the first steps, which have no step before. */
static void clear_first(const struct grad *d)
{
	size_t row = d->S * d->D;
	for (size_t b = 0; b < d->B && d->T; b++)
		memset(d->da + b * d->T * row, 0, row * sizeof *d->da);
}

/* The biases' gradients: both have the same, but for gru's new state, whose recurrent one is of q. sum: workspace. */
static void bias_grad(const struct grad *d, const struct n2d_recurrent_weights *dw, float *sum)
{
	size_t D = d->D, GD = n2d_recurrent_gates(d->cell) * D, shared = n2d_recurrent_shared_bias(d->cell, D), n = d->B * d->T, ld = d->S * D;
	n2d_column_sums(d->ctx, sum, 0, n2d_recurrent_input(d->cell, D, d->da), n, GD, ld);
	if (!d->add)
		memset(dw->b_w, 0, GD * sizeof *sum), memset(dw->b_u, 0, GD * sizeof *sum);
	d->ctx->k->add(dw->b_w, dw->b_w, sum, GD);
	d->ctx->k->add(dw->b_u, dw->b_u, sum, shared);
	if (shared < GD)
		n2d_column_sums(d->ctx, dw->b_u + shared, 1, d->da, n, D, ld);
}

static void recurrent_grad(const struct grad *d, const struct n2d_recurrent_weights *dw, const float *h)
{
	size_t D = d->D, GD = n2d_recurrent_gates(d->cell) * D, first = d->cell == N2D_GRU;
	clear_first(d);
	recurrent_weights(d, dw->u, first, first ? 2 * D : GD, h);
	if (first)
		recurrent_weights(d, dw->u + 2 * D * D, 0, D, h);
}

static void backward_of(enum n2d_cell cell, const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add,
			const float *dy, const float *x, const float *keep, const struct n2d_sentences *at, float *ws)
{
	size_t B = at->B, T = at->T, D = l->c.D, G = n2d_recurrent_gates(cell), S = n2d_recurrent_segments(cell), first = cell == N2D_GRU;
	struct n2d_recurrent r = {cell, B, T, D};
	struct n2d_recurrent_parts p = n2d_recurrent_parts(cell, ctx, D, l->packed);
	struct n2d_recurrent_weights dw = n2d_recurrent_weights(cell, D, dparams);
	struct kept s = kept(cell, D, (float *)keep, B, T);
	float *sum = ws + n2d_recurrent_workspace(&r), *da = sum + n2d_recurrent_bias(cell, D);
	struct grad d = {ctx, cell, B, T, D, S, da, add};
	const int32_t *len = n2d_rows_dirty(&l->c, at);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_MIXING);
	/* dx is written last: until then it holds first dy, then x without their padding. */
	dy = n2d_rows_clean(ctx, dx, dy, len, B, T, D);
	n2d_recurrent_bwd(ctx, &r, da, dy, s.h, s.c, s.a, p.u, ws);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, dx, x, len, B, T, D);
	input_weights(&d, dw.w, first, G * D, x);
	bias_grad(&d, &dw, sum);
	struct n2d_gemm g = n2d_gemm_plain(0, 0, B * T, D, G * D);
	g.lda = S * D;
	n2d_gemm_packed(ctx, &g, dx, n2d_recurrent_input(cell, D, da), p.w + n2d_packed_floats(ctx, D, G * D)); /* 0 in the padding */
	n2d_trace_part(ctx, N2D_PART_MIXING);
	recurrent_grad(&d, &dw, s.h); /* uses da up */
	n2d_trace_part(ctx, part);
}

/* ---- cost */

static double mixing_flops_of(enum n2d_cell cell, size_t D, size_t B, size_t T, int back)
{
	struct n2d_recurrent r = {cell, B, T, D};
	return (back ? 2 : 1) * n2d_recurrent_flops(&r);
}

static double flops_of(enum n2d_cell cell, size_t D, size_t B, size_t T, int back)
{
	double d = (double)D, rows = (double)B * (double)T;
	return (back ? 4 : 2) * rows * d * d * (double)n2d_recurrent_gates(cell) + mixing_flops_of(cell, D, B, T, back);
}

/* U is read once a step. */
static double bytes_of(enum n2d_cell cell, size_t D, size_t B, size_t T, int back)
{
	double again = T ? (double)(T - 1) : 0, u = 4 * (double)n2d_recurrent_gates(cell) * (double)D * (double)D;
	return n2d_layer_bytes(n2d_recurrent_params(cell, D), D, B, T, back) + again * u;
}

/* The functions of one kind: all the above with its cell. */
#define RECURRENT(id, cell, label) \
	static int id##_check(const struct n2d_layer_config *c) { return check_as(cell, label, c->D); } \
	static size_t id##_params(const struct n2d_layer_config *c) { return n2d_recurrent_params(cell, c->D); } \
	static void id##_init(const struct n2d_layer_config *c, float *p, struct n2d_rng *rng) { init_of(cell, c->D, p, rng); } \
	static size_t id##_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c) \
	{ \
		return n2d_recurrent_layer_packed(cell, ctx, c->D); \
	} \
	static void id##_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p) \
	{ \
		n2d_recurrent_layer_pack(cell, ctx, c->D, to, p); \
	} \
	static size_t id##_saved(const struct n2d_layer_config *c, size_t B, size_t T) { return saved_of(cell, c->D, B, T); } \
	static size_t id##_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train) \
	{ \
		return (void)ctx, workspace_of(cell, c->D, B, T, train); \
	} \
	static void id##_forward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x, \
				 const struct n2d_sentences *s, float *ws) \
	{ \
		forward_of(cell, ctx, l, y, keep, x, s, ws); \
	} \
	static void id##_backward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add, \
				  const float *dy, const float *x, const float *keep, const struct n2d_sentences *s, float *ws) \
	{ \
		backward_of(cell, ctx, l, dx, dparams, add, dy, x, keep, s, ws); \
	} \
	static double id##_flops(const struct n2d_layer_config *c, size_t B, size_t T, int back) \
	{ \
		return flops_of(cell, c->D, B, T, back); \
	} \
	static double id##_mixing(const struct n2d_layer_config *c, size_t B, size_t T, int back) \
	{ \
		return mixing_flops_of(cell, c->D, B, T, back); \
	} \
	static double id##_bytes(const struct n2d_layer_config *c, size_t B, size_t T, int back) \
	{ \
		return bytes_of(cell, c->D, B, T, back); \
	} \
	static size_t id##_cache(const struct n2d_layer_config *c, size_t width, size_t room) \
	{ \
		return (void)room, n2d_recurrent_cache(cell, c->D, width); \
	} \
	static size_t id##_step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t width, size_t room) \
	{ \
		return (void)ctx, (void)room, n2d_recurrent_layer_step_workspace(cell, c->D, width); \
	} \
	static void id##_step(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache, const float *x, \
			      const struct n2d_step *s, float *ws) \
	{ \
		n2d_recurrent_layer_step(cell, ctx, l, y, cache, x, s, ws); \
	} \
	const struct n2d_layer_kind n2d_layer_##id = { \
		.name = label, .table1 = "O(n d^2)", .sequential = "O(n)", .path = "O(n)", .check = id##_check, \
		.params = id##_params, .init = id##_init, .packed = id##_packed, .pack = id##_pack, .saved = id##_saved, \
		.workspace = id##_workspace, .forward = id##_forward, .backward = id##_backward, .flops = id##_flops, \
		.mixing_flops = id##_mixing, .bytes = id##_bytes, .cache = id##_cache, .step_workspace = id##_step_workspace, \
		.step = id##_step, \
	};

RECURRENT(rnn, N2D_RNN, "rnn")
RECURRENT(lstm, N2D_LSTM, "lstm")
RECURRENT(gru, N2D_GRU, "gru")
