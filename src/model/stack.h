/* One stack of the Transformer, encoder or decoder: sublayers f_0 .. f_{n-1} with residual sums, dropout and norms.
 *
 *	norm post   y_0 = x,  y_i = norm(y_{i-1} + dropout(f_{i-1}(y_{i-1})))                  (the paper)
 *	norm pre    t_0 = x,  t_i = t_{i-1} + dropout(f_{i-1}(y_{i-1})),  y_i = norm(t_i)
 *
 * Node i is t_i, the sum, and y_i, what the next sublayer reads; the last node's y is the result. With norm post a final norm is
 * one node more, without a sublayer. A node without a norm has y = t, one array. Without residual sums t_i = dropout(f_{i-1}(y_{i-1}))
 * alone. */
#ifndef N2D_STACK_H
#define N2D_STACK_H

#include "model/transformer.h"

struct n2d_node {
	float *t, *y, *mean, *rstd; /* [rows, D], [rows, D], [rows], [rows] */
};

/* A stack at work. */
struct n2d_run {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *m;
	const struct n2d_stack *stack;
	const struct n2d_activations *side, *memory; /* memory: the encoder's side; NULL in the encoder */
	struct n2d_dropout dropout;           /* stream[1] is set to first_site + the node's number */
	uint32_t first_site;
	float *spare[3]; /* [rows, D] each */
	int add;         /* to the gradients, or write them */
	size_t *final;   /* where the pass tells which gradients are final */
	float *ws;
	/* Applies sublayer i: y from x, [rows, D] each. n2d_sublayer_forward, or one position's step in decoding. */
	void (*apply)(const struct n2d_run *r, size_t i, float *y, const float *x);
	void *arg; /* of apply */
};

/* Keeps what backward needs in side->saved[i]. */
void n2d_sublayer_forward(const struct n2d_run *r, size_t i, float *y, const float *x);

/* side->nodes[0].t is given: x. */
void n2d_stack_forward(const struct n2d_run *r);

/* dout: the gradient of the result, in spare[0], overwritten. Returns the gradient of x, which is one of the spare arrays. grads are written,
 * or added to when r->add; dmemory, in the decoder, is added to. Whenever a layer's are complete, *r->final is where they begin. */
float *n2d_stack_backward(const struct n2d_run *r, float *grads, float *dmemory);

/* Of the largest sublayer or norm, both directions when train. */
size_t n2d_stack_workspace(const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_stack *s, size_t B, size_t T,
			   size_t S, int train);
size_t n2d_sublayer_saved(const struct n2d_sublayer *s, size_t B, size_t T, size_t S);
double n2d_stack_flops(const struct n2d_stack *s, size_t B, size_t T, size_t S, int backward);

#endif
