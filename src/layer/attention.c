/* Multi-head self-attention (paper, section 3.2.2), whole, through a stored n x n matrix, and
 * restricted to a window (section 4).
 *
 * One product projects to q, k and v side by side, [B,T,3,H,K] (layer/heads.h, parameters too); attention reads
 * them there. */
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "layer/heads.h"
#include "layer/kinds.h"
#include "layer/rows.h"

static int check(const struct n2d_layer_config *c) { return n2d_heads_check("self-attention", c); }
static int check_materialised(const struct n2d_layer_config *c) { return n2d_heads_check("self-attention-materialised", c); }

static int check_restricted(const struct n2d_layer_config *c)
{
	if (!c->R)
		return n2d_error("restricted-attention: window R = 0; it must be at least 1");
	return n2d_heads_check("restricted-attention", c);
}

static size_t packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_add(n2d_heads_in_packed(ctx, c, 3), n2d_heads_out_packed(ctx, c));
}

static const float *packed_out(const struct n2d_ctx *ctx, const struct n2d_layer *l)
{
	return l->packed + n2d_heads_in_packed(ctx, &l->c, 3);
}

static void pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p)
{
	n2d_heads_in_pack(ctx, c, to, p, 0, 3);
	n2d_heads_out_pack(ctx, c, to + n2d_heads_in_packed(ctx, c, 3), p);
}

/* Over rows of [3,H,K]: queries and keys are the same positions. */
static struct n2d_attention attention(const struct n2d_layer_config *c, size_t R, const struct n2d_sentences *s)
{
	size_t row = 3 * n2d_heads_width(c);
	struct n2d_attention a = n2d_heads_attention(c, row, row, s, s);
	a.causal = c->causal;
	a.window = R;
	return a;
}

/* What forward leaves for backward: q, k, v, the heads' outputs, and the statistics of the
 * softmax: lse[B,H,T], or all weights P[B,H,T,T]. */
struct kept {
	float *qkv, *o, *stat;
};

static struct kept kept(const struct n2d_layer_config *c, float *p, size_t B, size_t T)
{
	size_t HK = n2d_heads_width(c);
	float *o = p + n2d_floats(B, T, 3 * HK);
	return (struct kept){p, o, o + n2d_floats(B, T, HK)};
}

static size_t kept_floats(const struct n2d_layer_config *c, size_t B, size_t T)
{
	size_t HK = n2d_heads_width(c);
	return n2d_add(n2d_floats(B, T, n2d_mul(3, HK)), n2d_floats(B, T, HK));
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

/* Forward's operator, and backward's with the gradients of what is kept; their place is the rotary table's before and after. Sizes
 * too large for any memory are not passed on to the operators, which may assume that theirs fit. */
static size_t workspace_of(const struct n2d_layer_config *c, size_t B, size_t T, int train, size_t kept, size_t fwd, size_t bwd)
{
	fwd = larger(fwd, n2d_heads_table(c, T));
	bwd = larger(bwd, n2d_heads_table(c, T));
	if (!train)
		return n2d_add(kept, fwd);
	return larger(fwd, n2d_add(kept_floats(c, B, T), bwd));
}

static size_t workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	size_t keep = saved(c, B, T);
	if (n2d_mul(keep, sizeof(float)) == N2D_TOO_LARGE)
		return N2D_TOO_LARGE;
	struct n2d_attention a = attention(c, c->R, &(struct n2d_sentences){.B = B, .T = T});
	return workspace_of(c, B, T, train, keep, n2d_attention_fwd_workspace(ctx, &a), n2d_attention_bwd_workspace(ctx, &a));
}

static size_t workspace_materialised(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	size_t keep = saved_materialised(c, B, T);
	if (n2d_mul(keep, sizeof(float)) == N2D_TOO_LARGE)
		return N2D_TOO_LARGE;
	struct n2d_attention a = attention(c, 0, &(struct n2d_sentences){.B = B, .T = T});
	return workspace_of(c, B, T, train, keep, n2d_attention_mat_fwd_workspace(ctx, &a),
			    n2d_attention_mat_bwd_workspace(ctx, &a));
}

static int materialised(const struct n2d_layer *l) { return l->kind == &n2d_layer_self_attention_materialised; }
static size_t window(const struct n2d_layer_kind *k, const struct n2d_layer_config *c)
{
	return k == &n2d_layer_restricted_attention ? c->R : 0;
}

static void forward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
		    const struct n2d_sentences *at, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t HK = n2d_heads_width(c), B = at->B, T = at->T, n = n2d_sentences_rows(at);
	struct n2d_attention a = attention(c, window(l->kind, c), at);
	struct kept s = kept(c, keep ? keep : ws, B, T);
	if (!keep)
		ws += materialised(l) ? saved_materialised(c, B, T) : saved(c, B, T);
	const float *q = s.qkv, *k = q + HK, *v = k + HK;
	const int32_t *dirty = n2d_rows_dirty(c, at);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, y, x, dirty, B, T, c->D); /* y is not needed yet */
	n2d_heads_in_fwd(ctx, c, s.qkv, x, l->packed, 3, n);
	n2d_heads_turn(ctx, c, s.qkv, 3, 0, at, 0, ws);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	if (materialised(l))
		n2d_attention_mat_fwd(ctx, &a, s.o, s.stat, q, k, v, ws);
	else
		n2d_attention_fwd(ctx, &a, s.o, s.stat, q, k, v, ws);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	n2d_heads_out_fwd(ctx, c, y, s.o, packed_out(ctx, l), l->params, n);
	n2d_rows_clear(ctx, y, dirty, B, T, c->D);
	n2d_trace_part(ctx, part);
}

static void weights(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *P, const float *keep, const struct n2d_sentences *s)
{
	struct n2d_attention a = attention(&l->c, window(l->kind, &l->c), s);
	const float *q = kept(&l->c, (float *)keep, s->B, s->T).qkv;
	n2d_attention_weights(ctx, &a, P, q, q + n2d_heads_width(&l->c));
}

static void backward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add, const float *dy,
		     const float *x, const float *keep, const struct n2d_sentences *at, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t HK = n2d_heads_width(c), B = at->B, T = at->T, n = n2d_sentences_rows(at);
	struct n2d_attention a = attention(c, window(l->kind, c), at);
	struct kept s = kept(c, (float *)keep, B, T), d = kept(c, ws, B, T); /* d.stat: the operator's workspace */
	const float *q = s.qkv, *k = q + HK, *v = k + HK;
	float *dq = d.qkv, *dk = dq + HK, *dv = dk + HK;
	const int32_t *dirty = n2d_rows_dirty(c, at);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	/* dx is written last: until then it holds first dy, then x without their padding. */
	dy = n2d_rows_clean(ctx, dx, dy, dirty, B, T, c->D);
	n2d_heads_out_bwd(ctx, c, d.o, dy, packed_out(ctx, l), n);
	n2d_heads_out_weights(ctx, c, dparams, add, dy, s.o, n);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	if (materialised(l))
		n2d_attention_mat_bwd(ctx, &a, dq, dk, dv, d.o, s.stat, q, k, v, d.stat);
	else
		n2d_attention_bwd(ctx, &a, dq, dk, dv, d.o, s.o, s.stat, q, k, v, d.stat);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	n2d_heads_turn(ctx, c, d.qkv, 3, 0, at, 1, d.stat);
	x = n2d_rows_clean(ctx, dx, x, dirty, B, T, c->D);
	n2d_heads_in_weights(ctx, c, dparams, add, d.qkv, x, 0, 3, n);
	n2d_heads_in_bwd(ctx, c, dx, 0, d.qkv, l->packed, 3, n); /* 0 in the padding, where d.qkv is */
	n2d_trace_part(ctx, part);
}

/* ---- decoding: the cache is [room,width,2,H,K] */

static size_t cache(const struct n2d_layer_config *c, size_t width, size_t room)
{
	return n2d_floats(n2d_mul(room, width), 2, n2d_heads_width(c));
}

/* q, k, v; the heads' outputs; the operator's, or the rotary table's */
static size_t step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t width, size_t room)
{
	return n2d_add(kept_floats(c, width, 1), larger(n2d_heads_step_workspace(ctx, c, room), n2d_heads_table(c, 1)));
}

static void step(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache, const float *x,
		 const struct n2d_step *s, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t HK = n2d_heads_width(c), R = window(l->kind, c);
	struct kept w = kept(c, ws, s->rows, 1);
	struct n2d_attention_step a = n2d_heads_step(c, s->rows, 3 * HK, s->at + 1);
	a.slot_st = 2 * HK, a.key_st = s->width * 2 * HK;
	a.slots = s->slots, a.slots_row = s->room, a.slots_key = 1;
	a.first = R && s->at > R ? s->at - R : 0;
	n2d_heads_in_fwd(ctx, c, w.qkv, x, l->packed, 3, s->rows);
	n2d_heads_turn(ctx, c, w.qkv, 3, s->at, &(struct n2d_sentences){.B = s->rows, .T = 1}, 0, w.stat);
	for (size_t r = 0; r < s->rows; r++)
		memcpy(cache + (s->at * s->width + r) * 2 * HK, w.qkv + r * 3 * HK + HK, 2 * HK * sizeof *cache);
	n2d_attention_step(ctx, &a, w.o, w.qkv, cache, cache + HK, w.stat);
	n2d_heads_out_fwd(ctx, c, y, w.o, packed_out(ctx, l), l->params, s->rows);
}

/* ---- cost */

/* The two products of a forward pass; backward four, and without the kept weights a fifth, which makes them anew. */
static double mixing(const struct n2d_layer_config *c, size_t R, size_t B, size_t T, int products)
{
	struct n2d_attention a = attention(c, R, &(struct n2d_sentences){.B = B, .T = T});
	return n2d_heads_mixing_flops(c, &a, products);
}

static double projections(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	double rows = (double)B * (double)T;
	return n2d_heads_flops(c, rows, rows, back);
}

static double mixing_flops(const struct n2d_layer_config *c, size_t B, size_t T, int back) { return mixing(c, 0, B, T, back ? 5 : 2); }
static double flops(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return projections(c, B, T, back) + mixing_flops(c, B, T, back);
}

static double mixing_flops_materialised(const struct n2d_layer_config *c, size_t B, size_t T, int back) { return mixing(c, 0, B, T, back ? 4 : 2); }
static double flops_materialised(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return projections(c, B, T, back) + mixing_flops_materialised(c, B, T, back);
}

static double mixing_flops_restricted(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return mixing(c, c->R, B, T, back ? 5 : 2);
}

static double flops_restricted(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return projections(c, B, T, back) + mixing_flops_restricted(c, B, T, back);
}

static double bytes(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return n2d_layer_bytes(n2d_heads_params(c), c->D, B, T, back);
}

/* n x n weights written and read once a pass and head; twice as much backward. */
static double bytes_materialised(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return bytes(c, B, T, back) + (back ? 16.0 : 8.0) * (double)B * (double)c->H * (double)T * (double)T;
}

const struct n2d_layer_kind n2d_layer_self_attention = {
	.name = "self-attention", .ragged = 1, .table1 = "O(n^2 d)", .sequential = "O(1)", .path = "O(1)", .check = check,
	.params = n2d_heads_params, .init = n2d_heads_init, .packed = packed, .pack = pack, .saved = saved, .workspace = workspace,
	.forward = forward, .backward = backward, .weights = weights, .flops = flops, .mixing_flops = mixing_flops, .bytes = bytes,
	.cache = cache, .step_workspace = step_workspace, .step = step,
};

const struct n2d_layer_kind n2d_layer_self_attention_materialised = {
	.name = "self-attention-materialised", .ragged = 1, .table1 = "O(n^2 d)", .sequential = "O(1)", .path = "O(1)",
	.check = check_materialised, .params = n2d_heads_params, .init = n2d_heads_init, .packed = packed, .pack = pack,
	.saved = saved_materialised, .workspace = workspace_materialised, .forward = forward, .backward = backward,
	.flops = flops_materialised, .mixing_flops = mixing_flops_materialised, .bytes = bytes_materialised,
};

const struct n2d_layer_kind n2d_layer_restricted_attention = {
	.name = "restricted-attention", .ragged = 1, .table1 = "O(r n d)", .sequential = "O(1)", .path = "O(n/r)", .check = check_restricted,
	.params = n2d_heads_params, .init = n2d_heads_init, .packed = packed, .pack = pack, .saved = saved, .workspace = workspace,
	.forward = forward, .backward = backward, .weights = weights, .flops = flops_restricted, .mixing_flops = mixing_flops_restricted,
	.bytes = bytes,
	.cache = cache, .step_workspace = step_workspace, .step = step,
};
