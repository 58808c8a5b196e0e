/* Position-wise feed-forward network (paper, section 3.3): y = max(0, x W1 + b1) W2 + b2.
 *
 * Parameters, as PyTorch's linear1 and linear2: w1[F,D] b1[F] w2[D,F] b2[D]. */
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "layer/kinds.h"
#include "layer/linear.h"
#include "layer/rows.h"
#include "op/activation.h"

static size_t params(const struct n2d_layer_config *c)
{
	return n2d_add(n2d_mul(n2d_mul(2, c->D), c->F), n2d_add(c->F, c->D));
}

static int check(const struct n2d_layer_config *c)
{
	if (!c->D || !c->F)
		return n2d_error("ffn: width D = %zu and inner width F = %zu must be at least 1", c->D, c->F);
	if (c->activation != N2D_FFN_RELU)
		return n2d_error("ffn: only ReLU is there yet");
	return n2d_layer_check_params("ffn", params(c));
}

/* The four parameter arrays within an array of the layout of params. */
struct weights {
	float *w1, *b1, *w2, *b2;
};

static struct weights weights(const struct n2d_layer_config *c, const float *p)
{
	float *w1 = (float *)p, *b1 = w1 + c->F * c->D, *w2 = b1 + c->F, *b2 = w2 + c->D * c->F;
	return (struct weights){w1, b1, w2, b2};
}

static void init(const struct n2d_layer_config *c, float *p, struct n2d_rng *rng)
{
	struct weights w = weights(c, p);
	n2d_linear_init(w.w1, c->D, c->F, rng);
	n2d_linear_init(w.w2, c->F, c->D, rng);
	memset(w.b1, 0, c->F * sizeof(float));
	memset(w.b2, 0, c->D * sizeof(float));
}

static size_t packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_add(n2d_linear_packed(ctx, c->D, c->F), n2d_linear_packed(ctx, c->F, c->D));
}

static void pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p)
{
	struct weights w = weights(c, p);
	n2d_linear_pack(ctx, to, w.w1, c->D, c->F);
	n2d_linear_pack(ctx, to + n2d_linear_packed(ctx, c->D, c->F), w.w2, c->F, c->D);
}

/* The inner activations. */
static size_t saved(const struct n2d_layer_config *c, size_t B, size_t T) { return n2d_floats(B, T, c->F); }

/* Inference: the inner activations; training: their gradient. */
static size_t workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	(void)ctx, (void)train;
	return n2d_floats(B, T, c->F);
}

static void forward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
		    const int32_t *len, size_t B, size_t T, float *ws)
{
	size_t D = l->c.D, F = l->c.F;
	struct weights w = weights(&l->c, l->params);
	const float *packed2 = l->packed + n2d_linear_packed(ctx, D, F);
	float *h = keep ? keep : ws;
	len = n2d_rows_dirty(&l->c, len);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, y, x, len, B, T, D); /* y is not needed yet */
	n2d_linear_fwd(ctx, h, x, l->packed, w.b1, 1, B * T, D, F);
	n2d_linear_fwd(ctx, y, h, packed2, w.b2, 0, B * T, F, D);
	n2d_rows_clear(ctx, y, len, B, T, D);
	n2d_trace_part(ctx, part);
}

static void backward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, const float *dy,
		     const float *x, const float *h, const int32_t *len, size_t B, size_t T, float *dh)
{
	size_t D = l->c.D, F = l->c.F, n = B * T;
	struct weights d = weights(&l->c, dparams);
	const float *packed2 = l->packed + n2d_linear_packed(ctx, D, F);
	len = n2d_rows_dirty(&l->c, len);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	/* dx is written last: until then it holds first dy, then x without their padding. */
	dy = n2d_rows_clean(ctx, dx, dy, len, B, T, D);
	n2d_linear_bwd(ctx, dh, 0, dy, packed2, n, F, D);
	n2d_linear_weights_acc(ctx, d.w2, d.b2, dy, h, n, F, D);
	n2d_relu_bwd(ctx, dh, dh, h, n, F);
	x = n2d_rows_clean(ctx, dx, x, len, B, T, D);
	n2d_linear_weights_acc(ctx, d.w1, d.b1, dh, x, n, D, F);
	n2d_linear_bwd(ctx, dx, 0, dh, l->packed, n, D, F); /* 0 in the padding, where dh is */
	n2d_trace_part(ctx, part);
}

static double flops(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return (back ? 8.0 : 4.0) * (double)B * (double)T * (double)c->D * (double)c->F;
}

static double mixing_flops(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return (void)c, (void)B, (void)T, (void)back, 0;
}

static double bytes(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return n2d_layer_bytes(params(c), c->D, B, T, back);
}

const struct n2d_layer_kind n2d_layer_ffn = {
	.name = "ffn", .check = check, .params = params, .init = init, .packed = packed, .pack = pack, .saved = saved,
	.workspace = workspace, .forward = forward, .backward = backward, .flops = flops, .mixing_flops = mixing_flops,
	.bytes = bytes,
};
