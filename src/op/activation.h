/* ReLU, max(0, x) (paper, section 3.3), and GELU, x Phi(x) with the exact normal distribution; on dense [rows, width].
 * In place allowed. NaN stays in its place. SwiGLU (Shazeer 2020) multiplies two halves. */
#ifndef N2D_ACTIVATION_H
#define N2D_ACTIVATION_H

#include "base/ctx.h"

void n2d_relu_fwd(const struct n2d_ctx *ctx, float *y, const float *x, size_t rows, size_t width);
/* From the output (or the input) of the forward pass: dx = y > 0 ? dy : 0. All rows are ld floats apart. */
void n2d_relu_bwd(const struct n2d_ctx *ctx, float *dx, const float *dy, const float *y, size_t rows, size_t width, size_t ld);

void n2d_gelu_fwd(const struct n2d_ctx *ctx, float *y, const float *x, size_t rows, size_t width);
void n2d_gelu_bwd(const struct n2d_ctx *ctx, float *dx, const float *dy, const float *x, size_t rows, size_t width);

/* y[rows, width] = x sigmoid(x) u of a[rows, 2 width], x the first half of a row and u the second. */
void n2d_swiglu_fwd(const struct n2d_ctx *ctx, float *y, const float *a, size_t rows, size_t width);
/* da, like a; may be a. */
void n2d_swiglu_bwd(const struct n2d_ctx *ctx, float *da, const float *dy, const float *a, size_t rows, size_t width);

#endif
