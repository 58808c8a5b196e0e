/* Depthwise convolution along the sequence: every channel with its own W taps.
 *
 *	y[b,t,d] = sum over w < W of x[b, t + (w - c) dilation, d] weight[w,d]
 *
 * c and the rows outside the sentence as in op/convolution.h; its struct serves here too. */
#ifndef N2D_DEPTHWISE_H
#define N2D_DEPTHWISE_H

#include "op/convolution.h"

/* y and dx are 0 in the padding, whatever x and dy hold there. */
void n2d_depthwise_fwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *y, const float *x,
		       const float *weight);
void n2d_depthwise_bwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dx, const float *dy,
		       const float *weight);
/* dweight[W,D], or += when add */
void n2d_depthwise_weights(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dweight, int add, const float *dy,
			   const float *x);

/* 2 W D a position and direction. */
double n2d_depthwise_flops(const struct n2d_convolution *c);

#endif
