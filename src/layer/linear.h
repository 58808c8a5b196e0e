/* The product with a weight matrix that every layer has: y = x w^T + bias.
 *
 * w[out,in] and bias[out] lie as in PyTorch's nn.Linear. Packed weights serve both directions. Rows of x and dx are ldx floats apart, those of y
 * and dy ldy. */
#ifndef N2D_LAYER_LINEAR_H
#define N2D_LAYER_LINEAR_H

#include "base/ctx.h"
#include "base/rng.h"

/* Floats of the packed weights, for y and for dx; N2D_TOO_LARGE passes. */
size_t n2d_linear_packed(const struct n2d_ctx *ctx, size_t in, size_t out);
void n2d_linear_pack(const struct n2d_ctx *ctx, float *packed, const float *w, size_t in, size_t out);

/* Glorot and Bengio (2010): uniform in +-sqrt(6 / (in + out)). */
void n2d_linear_init(float *w, size_t in, size_t out, struct n2d_rng *rng);

/* y[n,out] = x[n,in] w^T + bias, then max(0, .) when relu. bias may be NULL. */
void n2d_linear_fwd(const struct n2d_ctx *ctx, float *y, const float *x, const float *packed, const float *bias, int relu,
		    size_t n, size_t in, size_t out, size_t ldx, size_t ldy);
/* dx[n,in] = dy[n,out] w, or += when add. */
void n2d_linear_bwd(const struct n2d_ctx *ctx, float *dx, int add, const float *dy, const float *packed, size_t n, size_t in,
		    size_t out, size_t ldx, size_t ldy);
/* dw[out,in] = dy^T x, dbias[out] = the column sums of dy, when not NULL; or += when add. */
void n2d_linear_weights(const struct n2d_ctx *ctx, float *dw, float *dbias, int add, const float *dy, const float *x, size_t n,
			size_t in, size_t out, size_t ldx, size_t ldy);
/* s[D] = the column sums of x[n,D], rows ldx floats apart; or += when add */
void n2d_column_sums(const struct n2d_ctx *ctx, float *s, int add, const float *x, size_t n, size_t D, size_t ldx);

#endif
