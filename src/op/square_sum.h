/* The sum of squares, of which the root is the norm that gradients are clipped by. */
#ifndef N2D_SQUARE_SUM_H
#define N2D_SQUARE_SUM_H

#include "base/ctx.h"

/* sum of x[i]^2: in float over chunks of N2D_CHUNK, in double over these in their order. Not finite when an element is not, or when
 * a chunk overflows. */
double n2d_square_sum(const struct n2d_ctx *ctx, const float *x, size_t n);

#endif
