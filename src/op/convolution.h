/* Convolution along the sequence as a matrix product.
 *
 *	y[b,t] = bias + sum over w < W of x[b, t + (w - c) dilation] weight[:,:,w]^T
 *
 * with weight[D,D,W] (out, in, tap) as PyTorch's Conv1d has it; x, y are [B,T,D]. c = (W-1)/2 (centred, W odd), or W-1 (causal). Rows outside the sentence are 0.
 *
 * A copy of x with W-1 rows of zeros round each sentence has the W rows that y[t] sees side by side:
 * a product with overlapping rows of W*D does it in one pass, no im2col. With a dilation the copy is sorted by
 * t mod dilation, and each class is a convolution without. */
#ifndef N2D_CONVOLUTION_H
#define N2D_CONVOLUTION_H

#include "base/ctx.h"

struct n2d_convolution {
	size_t B, T, D, W, dilation;
	int causal;
	const int32_t *len; /* [B], rows t >= len[b] of x and dy are taken as 0; NULL for T */
};

/* weight packed for both directions. */
size_t n2d_convolution_packed(const struct n2d_ctx *ctx, size_t D, size_t W);
void n2d_convolution_pack(const struct n2d_ctx *ctx, float *packed, const float *weight, size_t D, size_t W);

/* Floats of workspace of the two directions, and of the weights' gradient; N2D_TOO_LARGE passes. */
size_t n2d_convolution_workspace(const struct n2d_convolution *c);
size_t n2d_convolution_weights_workspace(const struct n2d_convolution *c);

/* y in the padding: what follows from the formula, for the caller to clear. bias may be NULL. */
void n2d_convolution_fwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *y, const float *x,
			 const float *packed, const float *bias, float *ws);
/* y[rows,D] of rows' windows x[rows,W,D], the W inputs that an output sees, side by side; the same bits. */
void n2d_convolution_windows(const struct n2d_ctx *ctx, float *y, const float *x, const float *packed, const float *bias, size_t rows,
			     size_t D, size_t W);
/* dx[B,T,D] */
void n2d_convolution_bwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dx, const float *dy,
			 const float *packed, float *ws);
/* dweight[D,D,W], or += when add */
void n2d_convolution_weights(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dweight, int add, const float *dy,
			     const float *x, float *ws);

/* 2 W D^2 a position and direction. */
double n2d_convolution_flops(const struct n2d_convolution *c);

#endif
