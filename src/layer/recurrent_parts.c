#include "layer/recurrent.h"

#include <string.h>

#include "base/size.h"
#include "layer/linear.h"
#include "op/gemm.h"

size_t n2d_recurrent_params(enum n2d_cell cell, size_t D)
{
	return n2d_mul(n2d_recurrent_gates(cell), n2d_mul(2, n2d_add(n2d_mul(D, D), D)));
}

struct n2d_recurrent_weights n2d_recurrent_weights(enum n2d_cell cell, size_t D, const float *p)
{
	size_t G = n2d_recurrent_gates(cell);
	float *w = (float *)p, *u = w + G * D * D, *b_w = u + G * D * D;
	return (struct n2d_recurrent_weights){w, u, b_w, b_w + G * D};
}

size_t n2d_recurrent_bias(enum n2d_cell cell, size_t D) { return n2d_floats(n2d_recurrent_gates(cell), D, 1); }

size_t n2d_recurrent_layer_packed(enum n2d_cell cell, const struct n2d_ctx *ctx, size_t D)
{
	size_t w = n2d_linear_packed(ctx, D, n2d_mul(n2d_recurrent_gates(cell), D));
	return n2d_add(n2d_add(w, n2d_recurrent_packed(ctx, cell, D)), n2d_recurrent_bias(cell, D));
}

struct n2d_recurrent_parts n2d_recurrent_parts(enum n2d_cell cell, const struct n2d_ctx *ctx, size_t D, const float *p)
{
	float *w = (float *)p, *u = w + n2d_linear_packed(ctx, D, n2d_recurrent_gates(cell) * D);
	return (struct n2d_recurrent_parts){w, u, u + n2d_recurrent_packed(ctx, cell, D)};
}

size_t n2d_recurrent_shared_bias(enum n2d_cell cell, size_t D) { return cell == N2D_GRU ? 2 * D : n2d_recurrent_gates(cell) * D; }

void n2d_recurrent_layer_pack(enum n2d_cell cell, const struct n2d_ctx *ctx, size_t D, float *to, const float *params)
{
	struct n2d_recurrent_weights w = n2d_recurrent_weights(cell, D, params);
	struct n2d_recurrent_parts p = n2d_recurrent_parts(cell, ctx, D, to);
	size_t GD = n2d_recurrent_gates(cell) * D;
	n2d_linear_pack(ctx, p.w, w.w, D, GD);
	n2d_recurrent_pack(ctx, cell, D, p.u, w.u);
	for (size_t i = 0; i < GD; i++)
		p.bias[i] = i < n2d_recurrent_shared_bias(cell, D) ? w.b_w[i] + w.b_u[i] : w.b_w[i];
}

/* ---- decoding: the cache is the states of this position and of the one before, [2,states,width,D] */

size_t n2d_recurrent_cache(enum n2d_cell cell, size_t D, size_t width) { return n2d_floats(2 * n2d_recurrent_states(cell), width, D); }

/* The states of the rows' ancestors, and a. */
size_t n2d_recurrent_layer_step_workspace(enum n2d_cell cell, size_t D, size_t width)
{
	return n2d_add(n2d_floats(n2d_recurrent_states(cell), width, D), n2d_floats(width, n2d_recurrent_segments(cell), D));
}

static void gather(float *to, const float *from, const struct n2d_step *s, size_t D)
{
	for (size_t r = 0; r < s->rows; r++)
		if (s->at)
			memcpy(to + r * D, from + (size_t)s->slots[r * s->room + s->at - 1] * D, D * sizeof *to);
		else
			memset(to + r * D, 0, D * sizeof *to);
}

void n2d_recurrent_layer_step(enum n2d_cell cell, const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache,
			      const float *x, const struct n2d_step *s, float *ws)
{
	size_t D = l->c.D, S = n2d_recurrent_segments(cell), state = s->width * D, turn = s->at % 2;
	struct n2d_recurrent_parts p = n2d_recurrent_parts(cell, ctx, D, l->packed);
	float *now = cache + turn * n2d_recurrent_states(cell) * state, *before = cache + (1 - turn) * n2d_recurrent_states(cell) * state;
	float *a = ws + n2d_floats(n2d_recurrent_states(cell), s->width, D);
	struct n2d_gemm g = n2d_gemm_plain(0, 1, s->rows, n2d_recurrent_gates(cell) * D, D);
	for (size_t i = 0; i < n2d_recurrent_states(cell); i++)
		gather(ws + i * state, before + i * state, s, D);
	g.ldc = S * D;
	g.bias = p.bias;
	n2d_gemm_packed(ctx, &g, n2d_recurrent_input(cell, D, a), x, p.w);
	n2d_recurrent_step(ctx, cell, s->rows, D, now, now + state, a, ws, ws + state, p.u,
			   cell == N2D_GRU ? n2d_recurrent_weights(cell, D, l->params).b_u + 2 * D : NULL);
	memcpy(y, now, s->rows * D * sizeof *y);
}

