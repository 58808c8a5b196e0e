/* Label-smoothed cross entropy over the rows of logits [rows, V] (paper, section 5.4).
 *
 * q = (1 - eps) on the target plus eps / V on every entry; a row's loss is -sum q log softmax(z), its nll -log softmax(z)[target].
 * A row whose target is negative is padding: its gradient is 0, bit for bit, and it counts in nothing. */
#ifndef N2D_LOSS_H
#define N2D_LOSS_H

#include "base/ctx.h"

struct n2d_loss_sum {
	double loss, nll; /* nats, summed over the rows that count, in their order */
	size_t tokens;    /* how many these are */
	size_t right;     /* those whose target has the largest logit; n2d_xent_right counts them */
};

/* Writes dz[rows, V] (row stride ldz, as z's; may be z) = weight (softmax(z) - q) and adds to *sum. row_loss, row_nll: [rows], workspace,
 * and the single rows' values after. Targets are below V. */
void n2d_xent(const struct n2d_ctx *ctx, struct n2d_loss_sum *sum, float *dz, float *row_loss, float *row_nll, const float *z,
	      const int32_t *target, float eps, float weight, size_t rows, size_t V, size_t ldz);

/* Adds to sum->right the rows that count whose target's logit no other exceeds. most[rows]: workspace, the rows' largest after. */
void n2d_xent_right(const struct n2d_ctx *ctx, struct n2d_loss_sum *sum, float *most, const float *z, const int32_t *target, size_t rows,
		    size_t V, size_t ldz);

#endif
