/* The convolutional layers of Table 1.
 *
 * convolution: y = x * weight + bias, weight[D,D,W] bias[D] as PyTorch's Conv1d (op/convolution.h).
 * separable-convolution (paper, section 4): a depthwise convolution and a product of each position with a
 * D x D matrix; depth[W,D] point[D,D] bias[D]. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "layer/kinds.h"
#include "layer/linear.h"
#include "layer/rows.h"
#include "op/convolution.h"
#include "op/depthwise.h"

static int check_as(const char *kind, const struct n2d_layer_config *c, size_t params)
{
	if (!c->D)
		return n2d_error("%s: width D = 0; it must be at least 1", kind);
	if (!c->W || (!c->causal && c->W % 2 == 0))
		return n2d_error("%s: W = %zu; the convolution's width must be at least 1%s", kind, c->W,
				 c->causal ? "" : ", and odd unless causal");
	if (!c->dilation || n2d_mul(c->W, c->dilation) > INT32_MAX)
		return n2d_error("%s: dilation = %zu must be at least 1, and W times it below 2^31", kind, c->dilation);
	return n2d_layer_check_params(kind, params);
}

static struct n2d_convolution shape(const struct n2d_layer_config *c, const int32_t *len, size_t B, size_t T)
{
	return (struct n2d_convolution){B, T, c->D, c->W, c->dilation, c->causal, len};
}

/* Taps and bias uniform in +-1/sqrt(inputs an output sees), as PyTorch's Conv1d. */
static void init_uniform(float *w, size_t n, size_t inputs, struct n2d_rng *rng)
{
	double limit = 1 / sqrt((double)inputs);
	for (size_t i = 0; i < n; i++)
		w[i] = (float)(limit * (2 * n2d_rng_uniform(rng) - 1));
}

/* ---- dense */

static size_t params(const struct n2d_layer_config *c) { return n2d_add(n2d_mul(n2d_mul(c->W, c->D), c->D), c->D); }
static int check(const struct n2d_layer_config *c) { return check_as("convolution", c, params(c)); }

static void init(const struct n2d_layer_config *c, float *p, struct n2d_rng *rng)
{
	init_uniform(p, params(c), c->W * c->D, rng);
}

static size_t packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_convolution_packed(ctx, c->D, c->W);
}

static void pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p)
{
	n2d_convolution_pack(ctx, to, p, c->D, c->W);
}

/* Nothing: x itself is all that backward needs. */
static size_t saved(const struct n2d_layer_config *c, size_t B, size_t T) { return (void)c, (void)B, (void)T, 0; }

static size_t workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	struct n2d_convolution s = shape(c, NULL, B, T);
	return (void)ctx, train ? n2d_convolution_weights_workspace(&s) : n2d_convolution_workspace(&s);
}

static void forward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
		    const struct n2d_sentences *at, float *ws)
{
	size_t B = at->B, T = at->T;
	struct n2d_convolution s = shape(&l->c, at->len, B, T);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_MIXING);
	(void)keep;
	n2d_convolution_fwd(ctx, &s, y, x, l->packed, l->params + l->c.W * l->c.D * l->c.D, ws);
	n2d_rows_clear(ctx, y, n2d_rows_dirty(&l->c, at), B, T, l->c.D);
	n2d_trace_part(ctx, part);
}

static void backward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add, const float *dy,
		     const float *x, const float *keep, const struct n2d_sentences *at, float *ws)
{
	size_t B = at->B, T = at->T, D = l->c.D;
	struct n2d_convolution s = shape(&l->c, at->len, B, T);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_MIXING);
	(void)keep;
	dy = n2d_rows_clean(ctx, dx, dy, n2d_rows_dirty(&l->c, at), B, T, D);
	n2d_convolution_weights(ctx, &s, dparams, add, dy, x, ws);
	n2d_column_sums(ctx, dparams + l->c.W * D * D, add, dy, B * T, D, D);
	n2d_convolution_bwd(ctx, &s, dx, dy, l->packed, ws); /* copies dy before it writes dx */
	n2d_rows_clear(ctx, dx, at->len, B, T, D); /* windows reach into the padding */
	n2d_trace_part(ctx, part);
}

/* ---- decoding: the cache is a ring of inputs, [ring,width,D] */

static size_t ring(const struct n2d_layer_config *c) { return (c->W - 1) * c->dilation + 1; }

static size_t cache(const struct n2d_layer_config *c, size_t width, size_t room)
{
	return n2d_floats(ring(c) < room ? ring(c) : room, width, c->D);
}

static size_t step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t width, size_t room)
{
	return (void)ctx, (void)room, n2d_floats(width, c->W, c->D);
}

/* The W inputs that each row sees side by side, then one product. */
static void step(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache, const float *x,
		 const struct n2d_step *s, float *seen)
{
	size_t D = l->c.D, W = l->c.W, floats = D * sizeof *seen;
	memcpy(cache + s->at % ring(&l->c) * s->width * D, x, s->rows * floats);
	for (size_t r = 0; r < s->rows; r++)
		for (size_t w = 0; w < W; w++) {
			size_t back = (W - 1 - w) * l->c.dilation, j = s->at - back;
			float *to = seen + (r * W + w) * D;
			if (back > s->at)
				memset(to, 0, floats);
			else
				memcpy(to, cache + (j % ring(&l->c) * s->width + (size_t)s->slots[r * s->room + j]) * D, floats);
		}
	n2d_convolution_windows(ctx, y, seen, l->packed, l->params + W * D * D, s->rows, D, W);
}

/* ---- cost */

static double flops(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	struct n2d_convolution s = shape(c, NULL, B, T);
	return (back ? 2 : 1) * n2d_convolution_flops(&s);
}

static double bytes(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return n2d_layer_bytes(params(c), c->D, B, T, back);
}

const struct n2d_layer_kind n2d_layer_convolution = {
	.name = "convolution", .table1 = "O(k n d^2)", .sequential = "O(1)", .path = "O(n/k), dilated O(log_k n)", .check = check,
	.params = params, .init = init, .packed = packed, .pack = pack, .saved = saved, .workspace = workspace,
	.forward = forward, .backward = backward, .flops = flops, .mixing_flops = flops, .bytes = bytes,
	.cache = cache, .step_workspace = step_workspace, .step = step,
};

/* ---- separable */

static size_t params_separable(const struct n2d_layer_config *c)
{
	return n2d_mul(c->D, n2d_add(n2d_add(c->W, c->D), 1));
}

static int check_separable(const struct n2d_layer_config *c)
{
	return check_as("separable-convolution", c, params_separable(c));
}

struct weights {
	float *depth, *point, *bias;
};

static struct weights weights(const struct n2d_layer_config *c, const float *p)
{
	float *depth = (float *)p, *point = depth + c->W * c->D;
	return (struct weights){depth, point, point + c->D * c->D};
}

static void init_separable(const struct n2d_layer_config *c, float *p, struct n2d_rng *rng)
{
	struct weights w = weights(c, p);
	init_uniform(w.depth, c->W * c->D, c->W, rng);
	init_uniform(w.point, c->D * c->D + c->D, c->D, rng);
}

static size_t packed_separable(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_linear_packed(ctx, c->D, c->D);
}

static void pack_separable(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p)
{
	n2d_linear_pack(ctx, to, weights(c, p).point, c->D, c->D);
}

/* What the depthwise part gives; backward, the gradient of it. */
static size_t middle(const struct n2d_layer_config *c, size_t B, size_t T) { return n2d_floats(B, T, c->D); }

static size_t workspace_separable(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	return (void)ctx, (void)train, middle(c, B, T);
}

static void forward_separable(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
			      const struct n2d_sentences *at, float *ws)
{
	size_t B = at->B, T = at->T;
	struct n2d_convolution s = shape(&l->c, at->len, B, T);
	struct weights w = weights(&l->c, l->params);
	float *z = keep ? keep : ws;
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_MIXING);
	n2d_depthwise_fwd(ctx, &s, z, x, w.depth);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	n2d_linear_fwd(ctx, y, z, l->packed, w.bias, 0, B * T, l->c.D, l->c.D, l->c.D, l->c.D);
	n2d_rows_clear(ctx, y, n2d_rows_dirty(&l->c, at), B, T, l->c.D);
	n2d_trace_part(ctx, part);
}

static void backward_separable(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add,
			       const float *dy, const float *x, const float *z, const struct n2d_sentences *at, float *dz)
{
	size_t B = at->B, T = at->T, D = l->c.D;
	struct n2d_convolution s = shape(&l->c, at->len, B, T);
	struct weights w = weights(&l->c, l->params), dw = weights(&l->c, dparams);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	dy = n2d_rows_clean(ctx, dx, dy, n2d_rows_dirty(&l->c, at), B, T, D); /* dx is written last */
	n2d_linear_weights(ctx, dw.point, dw.bias, add, dy, z, B * T, D, D, D, D);
	n2d_linear_bwd(ctx, dz, 0, dy, l->packed, B * T, D, D, D, D);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	n2d_depthwise_weights(ctx, &s, dw.depth, add, dz, x);
	n2d_depthwise_bwd(ctx, &s, dx, dz, w.depth);
	n2d_trace_part(ctx, part);
}

static double mixing_separable(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	struct n2d_convolution s = shape(c, NULL, B, T);
	return (back ? 2 : 1) * n2d_depthwise_flops(&s);
}

static double flops_separable(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return mixing_separable(c, B, T, back) + (back ? 4.0 : 2.0) * (double)B * (double)T * (double)c->D * (double)c->D;
}

static double bytes_separable(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return n2d_layer_bytes(params_separable(c), c->D, B, T, back);
}

const struct n2d_layer_kind n2d_layer_separable_convolution = {
	.name = "separable-convolution", .table1 = "O(k n d + n d^2)", .sequential = "O(1)", .path = "O(n/k), dilated O(log_k n)",
	.check = check_separable, .params = params_separable, .init = init_separable, .packed = packed_separable,
	.pack = pack_separable, .saved = middle, .workspace = workspace_separable, .forward = forward_separable,
	.backward = backward_separable, .flops = flops_separable, .mixing_flops = mixing_separable, .bytes = bytes_separable,
};
