/* The output projection and its label-smoothed cross entropy (paper, sections 3.4 and 5.4), forward and backward in one pass:
 *
 *	z = x w^T + bias      x[n,D], w[V,D]
 *	loss = sum over rows that count of -sum q log softmax(z)      (op/loss.h)
 *
 * z[n,V] is never whole: rows are taken in chunks whose logits stay in cache. A row with a negative target is padding:
 * left out of the products, its dx is 0, and it counts in nothing. */
#ifndef N2D_LAYER_OUTPUT_H
#define N2D_LAYER_OUTPUT_H

#include "base/ctx.h"
#include "op/loss.h"

struct n2d_output {
	size_t n, D, V;
	const int32_t *target; /* [n], below V */
	float eps;             /* label smoothing */
	float weight;          /* of a row in the gradients: 1 / tokens, say */
	const float *packed;   /* n2d_linear_pack of w */
	const float *bias;     /* [V] or NULL */
	int count_right;       /* sum->right, which takes a pass over the logits */
};

/* Floats; N2D_TOO_LARGE passes. */
size_t n2d_output_workspace(size_t n, size_t D, size_t V);

/* Adds to *sum; nll[n] (or NULL) receives each row's -log softmax(z)[target], 0 in padding. dx[n,D] NULL: the
 * loss alone. Else dx, which is not x, is written, and so are dw[V,D] and dbias[V] (NULL without bias), or added to when add: weight times the gradients of the loss. */
void n2d_output_loss(const struct n2d_ctx *ctx, const struct n2d_output *o, struct n2d_loss_sum *sum, float *nll, float *dx,
		     float *dw, float *dbias, int add, const float *x, float *ws);

double n2d_output_flops(size_t n, size_t D, size_t V, int backward); /* 2 n D V a product, three with backward */

#endif
