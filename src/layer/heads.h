/* The projections of multi-head attention (paper, section 3.2.2), for self- and cross-attention.
 *
 * Parameters, as PyTorch's MultiheadAttention: in_proj_weight[2 H d_k + H d_v,D], rows of q, then k, then v, each head after
 * head; in_proj_bias; out_proj.weight[D,H d_v], out_proj.bias[D].
 *
 * Projected heads all have the width K = max(d_k, d_v), which the attention operator wants: the weights are packed with rows and
 * columns of zeros in between, so the columns beyond d_k or d_v are 0 and pass no gradient. A product projects to one or
 * several of q, k and v side by side ("blocks" 0, 1, 2): [rows,n,H,K]. */
#ifndef N2D_LAYER_HEADS_H
#define N2D_LAYER_HEADS_H

#include "layer/layer.h"
#include "op/attention.h"
#include "op/attention_step.h"

size_t n2d_heads_d_k(const struct n2d_layer_config *c);
size_t n2d_heads_d_v(const struct n2d_layer_config *c);
/* H K: the floats of a row of one block, and of the heads' outputs. */
size_t n2d_heads_width(const struct n2d_layer_config *c);

/* -1 and a message naming the kind when the widths are impossible. */
int n2d_heads_check(const char *kind, const struct n2d_layer_config *c);
size_t n2d_heads_params(const struct n2d_layer_config *c);
void n2d_heads_init(const struct n2d_layer_config *c, float *params, struct n2d_rng *rng);

/* The projection of blocks [first, first + n): y[rows,n,H,K] from x[rows,D]. dx is added to when `add`, else written. */
size_t n2d_heads_in_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t n);
void n2d_heads_in_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *packed, const float *params, size_t first,
		       size_t n);
void n2d_heads_in_fwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *y, const float *x, const float *packed,
		      size_t n, size_t rows);
void n2d_heads_in_bwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *dx, int add, const float *dy,
		      const float *packed, size_t n, size_t rows);
void n2d_heads_in_weights(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *dparams, int add, const float *dy,
			  const float *x, size_t first, size_t n, size_t rows);

/* Rotary positions of q and k in qk[rows,n,H,K], n >= 2, sentences beginning at position `first`, or back; nothing unless the configuration
 * has them. table: workspace. */
size_t n2d_heads_table(const struct n2d_layer_config *c, size_t T);
void n2d_heads_turn(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *qk, size_t n, size_t first,
		    const struct n2d_sentences *s, int back, float *table);

/* The projection of the heads' outputs o[rows,H,K] to y[rows,D]. */
size_t n2d_heads_out_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c);
void n2d_heads_out_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *packed, const float *params);
void n2d_heads_out_fwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *y, const float *o, const float *packed,
		       const float *params, size_t rows);
void n2d_heads_out_bwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *d_o, const float *dy, const float *packed,
		       size_t rows);
void n2d_heads_out_weights(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *dparams, int add, const float *dy,
			   const float *o, size_t rows);

/* The attention of all heads between them: q in rows of q_row floats, k and v in rows of kv_row, o in rows of [H,K]. */
struct n2d_attention n2d_heads_attention(const struct n2d_layer_config *c, size_t q_row, size_t kv_row, const struct n2d_sentences *queries,
					 const struct n2d_sentences *keys);

/* The same of one query a row, with q in rows of q_row floats and keys [0, end): where they lie is left open. */
struct n2d_attention_step n2d_heads_step(const struct n2d_layer_config *c, size_t rows, size_t q_row, size_t end);
size_t n2d_heads_step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t end);

/* FLOPs of the projections of rows of queries and rows of keys, and of so many products of the attention `a` (2 forward, 5 backward with
 * the weights made anew), without the columns of zeros. */
double n2d_heads_flops(const struct n2d_layer_config *c, double queries, double keys, int backward);
double n2d_heads_mixing_flops(const struct n2d_layer_config *c, const struct n2d_attention *a, int products);

#endif
