/* Dropout (Srivastava et al. 2014; paper, section 5.4) with inverted scaling: y = kept ? x / (1 - p) : 0 on dense [rows, width].
 *
 * Which elements are kept depends on (key, stream, element's number) alone (struct n2d_dropout in simd/kernels.h), so nothing is
 * stored for the backward pass: dx is this function of dy. In place allowed. p == 0 copies. */
#ifndef N2D_DROPOUT_H
#define N2D_DROPOUT_H

#include "base/ctx.h"

void n2d_dropout(const struct n2d_ctx *ctx, float *y, const float *x, const struct n2d_dropout *d, size_t rows, size_t width);

#endif
