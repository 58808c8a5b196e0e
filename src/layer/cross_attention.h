/* Encoder-decoder attention (paper, section 3.2.3): queries from x[B,T,D], keys and values from memory[B,S,D],
 * or either without padding (struct n2d_sentences).
 *
 * As a kind of layer.h, which it is not because it has two inputs: c.D, H, d_k, d_v and finite are looked at, parameters
 * are those of self-attention. finite promises the same of the memory as of x. A sentence without memory gets the output's bias. */
#ifndef N2D_LAYER_CROSS_ATTENTION_H
#define N2D_LAYER_CROSS_ATTENTION_H

#include "layer/layer.h"

/* -1 and a message when the configuration is impossible. */
int n2d_cross_attention_check(const struct n2d_layer_config *c);
size_t n2d_cross_attention_params(const struct n2d_layer_config *c);
void n2d_cross_attention_init(const struct n2d_layer_config *c, float *params, struct n2d_rng *rng);
size_t n2d_cross_attention_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c);
void n2d_cross_attention_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *packed, const float *params);
size_t n2d_cross_attention_saved(const struct n2d_layer_config *c, size_t B, size_t T, size_t S);
size_t n2d_cross_attention_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, size_t S,
				     int train);

/* l->kind is not looked at. y as x; saved may be NULL: inference. queries: x's sentences, keys: as many of the memory. */
void n2d_cross_attention_fwd(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *saved, const float *x,
			     const float *memory, const struct n2d_sentences *queries, const struct n2d_sentences *keys, float *ws);
/* dx is written; dmemory is added to (all decoder layers share one memory); dparams is written, or added to when add. */
void n2d_cross_attention_bwd(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dmemory, float *dparams, int add,
			     const float *dy, const float *x, const float *memory, const float *saved, const struct n2d_sentences *queries,
			     const struct n2d_sentences *keys, float *ws);

/* The weights P[B,H,T,S] of a forward pass with `saved` (op/attention.h). */
void n2d_cross_attention_weights(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *P, const float *saved,
				 const struct n2d_sentences *queries, const struct n2d_sentences *keys);

/* Decoding: kv[B,S,2,H,K], the memory projected once; then y[rows,D] from x[rows,D], row r of sentence[r] < B. Floats of kv, and
 * of either's workspace. */
size_t n2d_cross_attention_kv(const struct n2d_layer_config *c, size_t B, size_t S);
size_t n2d_cross_attention_step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t rows, size_t B, size_t S);
void n2d_cross_attention_project(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *kv, const float *memory,
				 const int32_t *memory_len, size_t B, size_t S, float *ws);
void n2d_cross_attention_step(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, const float *x, const float *kv,
			      const int32_t *sentence, const int32_t *memory_len, size_t rows, size_t S, float *ws);

/* Of unpadded input; backward: of backward alone. */
double n2d_cross_attention_flops(const struct n2d_layer_config *c, size_t B, size_t T, size_t S, int backward);

#endif
