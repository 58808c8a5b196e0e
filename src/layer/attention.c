/* Multi-head self-attention (paper, section 3.2.2), whole, through a stored n x n matrix, and
 * restricted to a window (section 4).
 *
 * Parameters, as PyTorch's MultiheadAttention: in_proj_weight[3D,D] in_proj_bias[3D]
 * out_proj.weight[D,D] out_proj.bias[D]. One product projects to q, k and v side by side,
 * [B,T,3,H,K]; attention reads them there. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "layer/kinds.h"
#include "layer/linear.h"
#include "layer/rows.h"
#include "op/attention.h"

static size_t params(const struct n2d_layer_config *c)
{
	return n2d_add(n2d_mul(n2d_mul(4, c->D), c->D), n2d_mul(4, c->D));
}

static int check_as(const char *kind, const struct n2d_layer_config *c)
{
	if (!c->D || !c->H || c->D % c->H)
		return n2d_error("%s: width D = %zu must be a positive multiple of the number of heads H = %zu", kind, c->D, c->H);
	return n2d_layer_check_params(kind, params(c));
}

static int check(const struct n2d_layer_config *c) { return check_as("self-attention", c); }
static int check_materialised(const struct n2d_layer_config *c) { return check_as("self-attention-materialised", c); }

static int check_restricted(const struct n2d_layer_config *c)
{
	if (!c->R)
		return n2d_error("restricted-attention: window R = 0; it must be at least 1");
	return check_as("restricted-attention", c);
}

struct weights {
	float *in, *in_bias, *out, *out_bias;
};

static struct weights weights(const struct n2d_layer_config *c, const float *p)
{
	float *in = (float *)p, *in_bias = in + 3 * c->D * c->D, *out = in_bias + 3 * c->D;
	return (struct weights){in, in_bias, out, out + c->D * c->D};
}

static void init(const struct n2d_layer_config *c, float *p, struct n2d_rng *rng)
{
	struct weights w = weights(c, p);
	n2d_linear_init(w.in, c->D, 3 * c->D, rng);
	n2d_linear_init(w.out, c->D, c->D, rng);
	memset(w.in_bias, 0, 3 * c->D * sizeof(float));
	memset(w.out_bias, 0, c->D * sizeof(float));
}

static size_t packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_add(n2d_linear_packed(ctx, c->D, n2d_mul(3, c->D)), n2d_linear_packed(ctx, c->D, c->D));
}

static const float *packed_out(const struct n2d_ctx *ctx, const struct n2d_layer *l)
{
	return l->packed + n2d_linear_packed(ctx, l->c.D, 3 * l->c.D);
}

static void pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p)
{
	struct weights w = weights(c, p);
	n2d_linear_pack(ctx, to, w.in, c->D, 3 * c->D);
	n2d_linear_pack(ctx, to + n2d_linear_packed(ctx, c->D, 3 * c->D), w.out, c->D, c->D);
}

/* The attention of all heads over [B,T,3,H,K]. len: of queries and keys alike. */
static struct n2d_attention attention(const struct n2d_layer_config *c, size_t R, const int32_t *len, size_t B, size_t T)
{
	size_t D = c->D, K = c->H ? D / c->H : 0;
	struct n2d_strides in = {T * 3 * D, K, 3 * D}, out = {T * D, K, D};
	return (struct n2d_attention){
		.B = B, .H = c->H, .Tq = T, .Tk = T, .K = K, .q = in, .k = in, .v = in, .o = out, .klen = len, .qlen = len,
		.causal = c->causal, .window = R, .scale = (float)(1 / sqrt((double)K)),
	};
}

/* What forward leaves for backward: q, k, v, the heads' outputs, and the statistics of the
 * softmax: lse[B,H,T], or all weights P[B,H,T,T]. */
struct kept {
	float *qkv, *o, *stat;
};

static struct kept kept(const struct n2d_layer_config *c, float *p, size_t B, size_t T)
{
	float *o = p + n2d_floats(B, T, 3 * c->D);
	return (struct kept){p, o, o + n2d_floats(B, T, c->D)};
}

static size_t kept_floats(const struct n2d_layer_config *c, size_t B, size_t T)
{
	return n2d_add(n2d_floats(B, T, n2d_mul(3, c->D)), n2d_floats(B, T, c->D));
}

static size_t saved(const struct n2d_layer_config *c, size_t B, size_t T)
{
	return n2d_add(kept_floats(c, B, T), n2d_floats(B, c->H, T));
}

static size_t saved_materialised(const struct n2d_layer_config *c, size_t B, size_t T)
{
	return n2d_add(kept_floats(c, B, T), n2d_floats(n2d_mul(B, c->H), T, T));
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Forward's operator, and backward's with the gradients of what is kept. Sizes too large for any memory
 * are not passed on to the operators, which may assume that theirs fit. */
static size_t workspace_of(const struct n2d_layer_config *c, size_t B, size_t T, int train, size_t kept, size_t fwd, size_t bwd)
{
	if (!train)
		return n2d_add(kept, fwd);
	return larger(fwd, n2d_add(kept_floats(c, B, T), bwd));
}

static size_t workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	size_t keep = saved(c, B, T);
	if (n2d_mul(keep, sizeof(float)) == N2D_TOO_LARGE)
		return N2D_TOO_LARGE;
	struct n2d_attention a = attention(c, c->R, NULL, B, T);
	return workspace_of(c, B, T, train, keep, n2d_attention_fwd_workspace(ctx, &a), n2d_attention_bwd_workspace(ctx, &a));
}

static size_t workspace_materialised(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	size_t keep = saved_materialised(c, B, T);
	if (n2d_mul(keep, sizeof(float)) == N2D_TOO_LARGE)
		return N2D_TOO_LARGE;
	struct n2d_attention a = attention(c, 0, NULL, B, T);
	return workspace_of(c, B, T, train, keep, n2d_attention_mat_fwd_workspace(ctx, &a),
			    n2d_attention_mat_bwd_workspace(ctx, &a));
}

static int materialised(const struct n2d_layer *l) { return l->kind == &n2d_layer_self_attention_materialised; }
static size_t window(const struct n2d_layer_kind *k, const struct n2d_layer_config *c)
{
	return k == &n2d_layer_restricted_attention ? c->R : 0;
}

static void forward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
		    const int32_t *len, size_t B, size_t T, float *ws)
{
	size_t D = l->c.D;
	struct weights w = weights(&l->c, l->params);
	struct n2d_attention a = attention(&l->c, window(l->kind, &l->c), len, B, T);
	struct kept s = kept(&l->c, keep ? keep : ws, B, T);
	if (!keep)
		ws += materialised(l) ? saved_materialised(&l->c, B, T) : saved(&l->c, B, T);
	const float *q = s.qkv, *k = q + D, *v = k + D;
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, y, x, len, B, T, D); /* y is not needed yet */
	n2d_linear_fwd(ctx, s.qkv, x, l->packed, w.in_bias, 0, B * T, D, 3 * D);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	if (materialised(l))
		n2d_attention_mat_fwd(ctx, &a, s.o, s.stat, q, k, v, ws);
	else
		n2d_attention_fwd(ctx, &a, s.o, s.stat, q, k, v, ws);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	n2d_linear_fwd(ctx, y, s.o, packed_out(ctx, l), w.out_bias, 0, B * T, D, D);
	n2d_rows_clear(ctx, y, len, B, T, D);
	n2d_trace_part(ctx, part);
}

static void backward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, const float *dy,
		     const float *x, const float *keep, const int32_t *len, size_t B, size_t T, float *ws)
{
	size_t D = l->c.D, n = B * T;
	struct weights dw = weights(&l->c, dparams);
	struct n2d_attention a = attention(&l->c, window(l->kind, &l->c), len, B, T);
	struct kept s = kept(&l->c, (float *)keep, B, T), d = kept(&l->c, ws, B, T); /* d.stat: the operator's workspace */
	const float *q = s.qkv, *k = q + D, *v = k + D;
	float *dq = d.qkv, *dk = dq + D, *dv = dk + D;
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	/* dx is written last: until then it holds first dy, then x without their padding. */
	dy = n2d_rows_clean(ctx, dx, dy, len, B, T, D);
	n2d_linear_bwd(ctx, d.o, dy, packed_out(ctx, l), n, D, D);
	n2d_linear_weights_acc(ctx, dw.out, dw.out_bias, dy, s.o, n, D, D);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	if (materialised(l))
		n2d_attention_mat_bwd(ctx, &a, dq, dk, dv, d.o, s.stat, q, k, v, d.stat);
	else
		n2d_attention_bwd(ctx, &a, dq, dk, dv, d.o, s.o, s.stat, q, k, v, d.stat);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, dx, x, len, B, T, D);
	n2d_linear_weights_acc(ctx, dw.in, dw.in_bias, d.qkv, x, n, D, 3 * D);
	n2d_linear_bwd(ctx, dx, d.qkv, l->packed, n, D, 3 * D); /* 0 in the padding, where d.qkv is */
	n2d_trace_part(ctx, part);
}

static double mixing(const struct n2d_layer_config *c, size_t R, size_t B, size_t T, int back)
{
	struct n2d_attention a = attention(c, R, NULL, B, T);
	return (back ? 2.5 : 1) * n2d_attention_flops(&a);
}

static double projections(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return (back ? 16.0 : 8.0) * (double)B * (double)T * (double)c->D * (double)c->D;
}

static double mixing_flops(const struct n2d_layer_config *c, size_t B, size_t T, int back) { return mixing(c, 0, B, T, back); }
static double flops(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return projections(c, B, T, back) + mixing(c, 0, B, T, back);
}

static double mixing_flops_restricted(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return mixing(c, c->R, B, T, back);
}

static double flops_restricted(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return projections(c, B, T, back) + mixing(c, c->R, B, T, back);
}

static double bytes(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return n2d_layer_bytes(params(c), c->D, B, T, back);
}

/* n x n weights written and read once a pass and head; twice as much backward. */
static double bytes_materialised(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return bytes(c, B, T, back) + (back ? 16.0 : 8.0) * (double)B * (double)c->H * (double)T * (double)T;
}

const struct n2d_layer_kind n2d_layer_self_attention = {
	.name = "self-attention", .table1 = "O(n^2 d)", .sequential = "O(1)", .path = "O(1)", .check = check, .params = params,
	.init = init, .packed = packed, .pack = pack, .saved = saved, .workspace = workspace, .forward = forward,
	.backward = backward, .flops = flops, .mixing_flops = mixing_flops, .bytes = bytes,
};

const struct n2d_layer_kind n2d_layer_self_attention_materialised = {
	.name = "self-attention-materialised", .table1 = "O(n^2 d)", .sequential = "O(1)", .path = "O(1)",
	.check = check_materialised, .params = params, .init = init, .packed = packed, .pack = pack,
	.saved = saved_materialised, .workspace = workspace_materialised, .forward = forward, .backward = backward,
	.flops = flops, .mixing_flops = mixing_flops, .bytes = bytes_materialised,
};

const struct n2d_layer_kind n2d_layer_restricted_attention = {
	.name = "restricted-attention", .table1 = "O(r n d)", .sequential = "O(1)", .path = "O(n/r)", .check = check_restricted,
	.params = params, .init = init, .packed = packed, .pack = pack, .saved = saved, .workspace = workspace,
	.forward = forward, .backward = backward, .flops = flops_restricted, .mixing_flops = mixing_flops_restricted,
	.bytes = bytes,
};
