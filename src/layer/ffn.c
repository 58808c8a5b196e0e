/* Position-wise feed-forward network (paper, section 3.3): y = f(x W1 + b1) W2 + b2, f = ReLU, GELU or SwiGLU: then W1 makes
 * two halves of F, and f(z) = silu(first half) * second half (Shazeer 2020).
 *
 * Parameters, as PyTorch's linear1 and linear2: w1[Z,D] b1[Z] w2[D,F] b2[D], Z = F, or 2 F with SwiGLU. */
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "layer/kinds.h"
#include "layer/linear.h"
#include "layer/rows.h"
#include "op/activation.h"

/* From row to row of h. Rows of whole 4 KiB all fall on the same sets of the first cache, which holds twelve of them, and a tile of the products has fourteen. */
static size_t stride(const struct n2d_layer_config *c)
{
	return c->activation == N2D_FFN_RELU && c->F % 1024 == 0 ? n2d_add(c->F, 16) : c->F;
}

/* Z */
static size_t inner(const struct n2d_layer_config *c) { return c->activation == N2D_FFN_SWIGLU ? n2d_mul(2, c->F) : c->F; }

/* From row to row of z, which is h with ReLU. */
static size_t z_stride(const struct n2d_layer_config *c) { return c->activation == N2D_FFN_RELU ? stride(c) : inner(c); }

static size_t params(const struct n2d_layer_config *c)
{
	return n2d_add(n2d_mul(inner(c), n2d_add(c->D, 1)), n2d_mul(c->D, n2d_add(c->F, 1)));
}

static int check(const struct n2d_layer_config *c)
{
	if (!c->D || !c->F)
		return n2d_error("ffn: width D = %zu and inner width F = %zu must be at least 1", c->D, c->F);
	if (c->activation < N2D_FFN_RELU || c->activation > N2D_FFN_SWIGLU)
		return n2d_error("ffn: activation %d is not one of 0 (ReLU), 1 (GELU), 2 (SwiGLU)", (int)c->activation);
	return n2d_layer_check_params("ffn", params(c));
}

/* The four parameter arrays within an array of the layout of params. */
struct weights {
	float *w1, *b1, *w2, *b2;
};

static struct weights weights(const struct n2d_layer_config *c, const float *p)
{
	float *w1 = (float *)p, *b1 = w1 + inner(c) * c->D, *w2 = b1 + inner(c), *b2 = w2 + c->D * c->F;
	return (struct weights){w1, b1, w2, b2};
}

static void init(const struct n2d_layer_config *c, float *p, struct n2d_rng *rng)
{
	struct weights w = weights(c, p);
	for (size_t row = 0; row < inner(c); row += c->F) /* SwiGLU's two matrices each by its own size */
		n2d_linear_init(w.w1 + row * c->D, c->D, c->F, rng);
	n2d_linear_init(w.w2, c->F, c->D, rng);
	memset(w.b1, 0, inner(c) * sizeof(float));
	memset(w.b2, 0, c->D * sizeof(float));
}

static size_t packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_add(n2d_linear_packed(ctx, c->D, inner(c)), n2d_linear_packed(ctx, c->F, c->D));
}

static const float *packed2(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, const float *packed)
{
	return packed + n2d_linear_packed(ctx, c->D, inner(c));
}

static void pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *p)
{
	struct weights w = weights(c, p);
	n2d_linear_pack(ctx, to, w.w1, c->D, inner(c));
	n2d_linear_pack(ctx, (float *)packed2(ctx, c, to), w.w2, c->F, c->D);
}

/* Before and after f: z[rows,Z], h[rows,F], h's rows stride() apart. ReLU is done as part of the product, z is h. Backward has the gradients
 * in the same places; GELU's z and h, too, share theirs where nothing is kept. */
struct middle {
	float *h, *z;
};

static size_t z_floats(const struct n2d_layer_config *c, size_t B, size_t T, int keep)
{
	int shared = c->activation == N2D_FFN_RELU || (c->activation == N2D_FFN_GELU && !keep);
	return shared ? 0 : n2d_floats(B, T, inner(c));
}

static struct middle middle(const struct n2d_layer_config *c, float *p, size_t B, size_t T, int keep)
{
	return (struct middle){p, z_floats(c, B, T, keep) ? p + n2d_floats(B, T, stride(c)) : p};
}

static size_t saved(const struct n2d_layer_config *c, size_t B, size_t T)
{
	return n2d_add(n2d_floats(B, T, stride(c)), z_floats(c, B, T, 1));
}

static size_t workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train)
{
	(void)ctx, (void)train;
	return n2d_add(n2d_floats(B, T, stride(c)), z_floats(c, B, T, 0));
}

static void forward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
		    const struct n2d_sentences *s, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t B = s->B, T = s->T, D = c->D, F = c->F, n = n2d_sentences_rows(s), ldz = z_stride(c);
	struct weights w = weights(c, l->params);
	struct middle m = middle(c, keep ? keep : ws, B, T, keep != NULL);
	const int32_t *dirty = n2d_rows_dirty(c, s);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, y, x, dirty, B, T, D); /* y is not needed yet */
	n2d_linear_fwd(ctx, m.z, x, l->packed, w.b1, c->activation == N2D_FFN_RELU, n, D, inner(c), D, ldz);
	if (c->activation == N2D_FFN_GELU)
		n2d_gelu_fwd(ctx, m.h, m.z, n, F);
	else if (c->activation == N2D_FFN_SWIGLU)
		n2d_swiglu_fwd(ctx, m.h, m.z, n, F);
	n2d_linear_fwd(ctx, y, m.h, packed2(ctx, c, l->packed), w.b2, 0, n, F, D, stride(c), D);
	n2d_rows_clear(ctx, y, dirty, B, T, D);
	n2d_trace_part(ctx, part);
}

static void backward(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add, const float *dy,
		     const float *x, const float *keep, const struct n2d_sentences *s, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t B = s->B, T = s->T, D = c->D, F = c->F, n = n2d_sentences_rows(s), ldz = z_stride(c);
	struct weights d = weights(c, dparams);
	struct middle m = middle(c, (float *)keep, B, T, 1), dm = middle(c, ws, B, T, 0);
	const int32_t *dirty = n2d_rows_dirty(c, s);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	/* dx is written last: until then it holds first dy, then x without their padding. */
	dy = n2d_rows_clean(ctx, dx, dy, dirty, B, T, D);
	n2d_linear_bwd(ctx, dm.h, 0, dy, packed2(ctx, c, l->packed), n, F, D, stride(c), D);
	n2d_linear_weights(ctx, d.w2, d.b2, add, dy, m.h, n, F, D, stride(c), D);
	switch (c->activation) {
	case N2D_FFN_RELU: n2d_relu_bwd(ctx, dm.z, dm.h, m.h, n, F, stride(c)); break;
	case N2D_FFN_GELU: n2d_gelu_bwd(ctx, dm.z, dm.h, m.z, n, F); break;
	case N2D_FFN_SWIGLU: n2d_swiglu_bwd(ctx, dm.z, dm.h, m.z, n, F); break;
	}
	x = n2d_rows_clean(ctx, dx, x, dirty, B, T, D);
	n2d_linear_weights(ctx, d.w1, d.b1, add, dm.z, x, n, D, inner(c), D, ldz);
	n2d_linear_bwd(ctx, dx, 0, dm.z, l->packed, n, D, inner(c), D, ldz); /* 0 in the padding, where dz is */
	n2d_trace_part(ctx, part);
}

/* Decoding: rows do not depend on each other, and leave nothing. */
static size_t cache(const struct n2d_layer_config *c, size_t width, size_t room) { return (void)c, (void)width, (void)room, 0; }

static size_t step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t width, size_t room)
{
	return (void)room, workspace(ctx, c, width, 1, 0);
}

static void step(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache, const float *x,
		 const struct n2d_step *s, float *ws)
{
	(void)cache;
	forward(ctx, l, y, NULL, x, &(struct n2d_sentences){.B = s->rows, .T = 1}, ws);
}

static double flops(const struct n2d_layer_config *c, size_t B, size_t T, int back)
{
	return (back ? 4.0 : 2.0) * (double)B * (double)T * (double)c->D * (double)(inner(c) + c->F);
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
	.name = "ffn", .ragged = 1, .check = check, .params = params, .init = init, .packed = packed, .pack = pack, .saved = saved,
	.workspace = workspace, .forward = forward, .backward = backward, .flops = flops, .mixing_flops = mixing_flops,
	.bytes = bytes, .cache = cache, .step_workspace = step_workspace, .step = step,
};
