/* Zeros, by all threads. */
#ifndef N2D_CLEAR_H
#define N2D_CLEAR_H

#include "base/ctx.h"

/* x[i] = 0 */
void n2d_clear(const struct n2d_ctx *ctx, float *x, size_t n);

#endif
