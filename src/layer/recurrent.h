/* Parameters and packed weights of the recurrent layers, and their steps in decoding, for layer/recurrent.c. */
#ifndef N2D_LAYER_RECURRENT_H
#define N2D_LAYER_RECURRENT_H

#include "layer/layer.h"
#include "op/recurrent.h"

/* Within an array of the layout of the parameters (layer/recurrent.c). */
struct n2d_recurrent_weights {
	float *w, *u, *b_w, *b_u;
};
size_t n2d_recurrent_params(enum n2d_cell cell, size_t D);
struct n2d_recurrent_weights n2d_recurrent_weights(enum n2d_cell cell, size_t D, const float *params);

/* Packed: W, U, and the biases that meet in one sum, added. */
struct n2d_recurrent_parts {
	float *w, *u, *bias;
};
size_t n2d_recurrent_layer_packed(enum n2d_cell cell, const struct n2d_ctx *ctx, size_t D);
struct n2d_recurrent_parts n2d_recurrent_parts(enum n2d_cell cell, const struct n2d_ctx *ctx, size_t D, const float *packed);
void n2d_recurrent_layer_pack(enum n2d_cell cell, const struct n2d_ctx *ctx, size_t D, float *packed, const float *params);

/* Floats of a bias, and of it what meets the input's bias in one sum: gru's new state keeps its two apart, the recurrent one is
 * scaled by r. */
size_t n2d_recurrent_bias(enum n2d_cell cell, size_t D);
size_t n2d_recurrent_shared_bias(enum n2d_cell cell, size_t D);

/* h, and lstm's c */
static inline size_t n2d_recurrent_states(enum n2d_cell cell) { return cell == N2D_LSTM ? 2 : 1; }
/* a or da from the segment of the first input gate on: gru's q, in front, has no input part. */
static inline float *n2d_recurrent_input(enum n2d_cell cell, size_t D, float *a) { return cell == N2D_GRU ? a + D : a; }

/* Decoding (layer.h). */
size_t n2d_recurrent_cache(enum n2d_cell cell, size_t D, size_t width);
size_t n2d_recurrent_layer_step_workspace(enum n2d_cell cell, size_t D, size_t width);
void n2d_recurrent_layer_step(enum n2d_cell cell, const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache,
			      const float *x, const struct n2d_step *s, float *ws);

#endif
