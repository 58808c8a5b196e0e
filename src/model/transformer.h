/* The Transformer (paper, section 3): embeddings and positions, encoder, decoder, output; forward, loss and backward.
 *
 *	struct n2d_transformer m;                      weights, and where each sublayer's lie
 *	struct n2d_pass pass;                          memory of one pass over a batch, sized before
 *	n2d_transformer_pack(ctx, &m);                 after each change of the weights
 *	n2d_pass_shape(&pass, ctx, &m, B, S, T);
 *	n2d_transformer_forward(ctx, &m, &pass, &batch, &dropout);
 *	n2d_transformer_loss(...); n2d_transformer_backward(...);
 *
 * Activations are rows of D floats, a row a token: n2d_transformer_forward leaves the padding of a batch out, where all of the model's
 * layers can do without (`ragged`). Otherwise they are [B,S,D] and [B,T,D], padding is carried along finite and never read into a result, and
 * its gradient is 0. Either way a sentence gives the same bits alone and in a batch. Results do not depend on the number of threads. */
#ifndef N2D_TRANSFORMER_H
#define N2D_TRANSFORMER_H

#include "base/arena.h"
#include "base/batch.h"
#include "layer/layer.h"
#include "model/parameters.h"
#include "op/loss.h"

enum n2d_sublayer_kind { N2D_SUBLAYER_MIXER, N2D_SUBLAYER_CROSS, N2D_SUBLAYER_FFN };

/* A sublayer f of y = Norm(x + f(x)). */
struct n2d_sublayer {
	enum n2d_sublayer_kind kind;
	struct n2d_layer layer;
	size_t at; /* of its parameters in the array */
};

/* A norm's parameters in the array; N2D_NOWHERE: there is none (of a norm: nothing is normalised; RMSNorm has no beta). */
#define N2D_NOWHERE ((size_t)-1)
struct n2d_norm_at {
	size_t gamma, beta;
};

/* Sublayers f_0 .. f_{n-1} and, around them, nodes, each of which adds a sublayer's output to the residual stream and normalises
 * (model/stack.h). */
struct n2d_stack {
	struct n2d_sublayer *sublayers;
	struct n2d_norm_at *nodes;
	size_t n, n_nodes;
};

struct n2d_transformer {
	struct n2d_config c;
	struct n2d_parameters p;
	float *w; /* the parameters, in the layout of p; the caller may fill or change them */

	struct n2d_stack encoder, decoder;
	size_t src_embed, tgt_embed, output, output_bias, src_positions, tgt_positions; /* in the array, or N2D_NOWHERE */
	float *packed_output;
	struct n2d_arena memory;
};

/* Of weights that are all 0 (n2d_parameters_init or n2d_model_load fills them). -1 and a message when the configuration is impossible
 * or there is no memory. */
int n2d_transformer_init(struct n2d_transformer *m, const struct n2d_ctx *ctx, const struct n2d_config *c);
/* The same of weights that stay 0, packed too, and take no memory however large the model: for what only looks at shapes. */
int n2d_transformer_zeros(struct n2d_transformer *m, const struct n2d_ctx *ctx, const struct n2d_config *c);
void n2d_transformer_free(struct n2d_transformer *m);

/* The same without memory for weights, for what only asks for sizes; and the bytes of that memory, N2D_TOO_LARGE passes. */
int n2d_transformer_plan(struct n2d_transformer *m, const struct n2d_config *c);
size_t n2d_transformer_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m);

/* Brings the packed weights up to date with w. */
void n2d_transformer_pack(const struct n2d_ctx *ctx, struct n2d_transformer *m);

/* The same by parts: sublayer i of both stacks, which lie in the order of the array; and the first so many, and the output. */
struct n2d_sublayer *n2d_transformer_sublayer(const struct n2d_transformer *m, size_t i);
void n2d_transformer_pack_sublayer(const struct n2d_ctx *ctx, struct n2d_transformer *m, size_t i);
void n2d_transformer_pack_first(const struct n2d_ctx *ctx, struct n2d_transformer *m, size_t sublayers);

/* What of the random numbers makes a pass's dropout: a mask depends on (seed, step, sublayer, element). */
struct n2d_dropout_key {
	uint64_t seed, step;
	float p; /* 0: none */
};

struct n2d_node;

/* The activations of one batch: `rows` rows, those of sentence b from n2d_sentence_row(&s, b) on. */
struct n2d_activations {
	struct n2d_sentences s;
	size_t rows;
	int32_t *at, *position;  /* room for those of s */
	int32_t *id;             /* [rows], words */
	float *embedded;         /* [rows,D] */
	struct n2d_node *nodes;  /* a node's t, y, mean, rstd */
	float **saved, *out;     /* each sublayer's; the last node's y */
};

struct n2d_pass {
	struct n2d_arena memory;
	int train;       /* with room for the gradients */
	int count_right; /* by n2d_transformer_loss with gradients too */
	size_t B, S, T;
	struct n2d_activations source, target;
	float *positions;      /* [positions_rows, D], sinusoidal */
	size_t positions_rows;
	size_t final;          /* while n2d_transformer_backward is at work: gradients from here on, in the array, are what they will be */
	float *row_nll;        /* [target.rows], after n2d_transformer_loss */
	int32_t *row_target;   /* the words to be predicted */
	float *dmemory, *grad[3], *ws; /* gradients on their way; workspace */
};

/* Bytes of the activations of a batch, training or inference, before anything is allocated; N2D_TOO_LARGE passes. */
size_t n2d_pass_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t T, int train);

/* What batches of some shapes need of a pass: the most bytes, and the longest side. All zeros at first. */
struct n2d_pass_need {
	size_t bytes, longest;
};
void n2d_pass_need_add(struct n2d_pass_need *need, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_shape *shapes,
		       size_t count, int train);

/* -1 and a message. */
int n2d_pass_init(struct n2d_pass *p, const struct n2d_transformer *m, const struct n2d_pass_need *need, int train);
void n2d_pass_free(struct n2d_pass *p);

/* Lays out the memory for a batch of this shape, with as many threads as the need was added up for. -1 and a message naming the shape when it is too large for the pass, or longer than
 * a learned position table. No allocation. */
int n2d_pass_shape(struct n2d_pass *p, const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t T);

/* Encoder and decoder (teacher forcing): p->source.out and p->target.out. */
void n2d_transformer_forward(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			     const struct n2d_dropout_key *dropout);
/* The encoder alone: p->source.out[B,S,D]; target and trg_* of the batch are not looked at. */
void n2d_transformer_encode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			    const struct n2d_dropout_key *dropout);
/* The decoder alone, over the memory in p->source.out[B,S,D], which may be the caller's: p->target.out[B,T,D]. src of the batch is not looked at. */
void n2d_transformer_decode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			    const struct n2d_dropout_key *dropout);

/* After forward: adds the batch's loss to *sum, fills p->row_nll. grads not NULL: also the first part of backward, the output
 * layer's gradients, each times `weight`, into grads (the layout of m->w), or added to it when add. eps: label smoothing. */
void n2d_transformer_loss(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			  struct n2d_loss_sum *sum, double eps, double weight, float *grads, int add);

/* After loss with grads: the rest of the gradients, with the same add: together they write all of grads but the gaps between parameters. The same dropout as forward. */
void n2d_transformer_backward(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p,
			      const struct n2d_dropout_key *dropout, float *grads, int add);

/* FLOPs of the products of one pass over unpadded [B,S], [B,T]: forward, or forward and backward. */
double n2d_transformer_flops(const struct n2d_transformer *m, size_t B, size_t S, size_t T, int train);

#endif
