/* The most probable entries of rows of logits: what a beam search chooses from. */
#ifndef N2D_TOP_H
#define N2D_TOP_H

#include "base/ctx.h"

/* logp[rows,c], id[rows,c]: of each row of z[rows,V] the c largest entries of log softmax(z), largest first, of equal ones the one
 * with the lower number first; c <= V. logp_of[rows]: that of entry `of`. z is overwritten. Of a row with NaN the ids are -1. */
void n2d_top(const struct n2d_ctx *ctx, float *logp, int32_t *id, float *logp_of, float *z, int32_t of, size_t rows, size_t V, size_t c);

#endif
