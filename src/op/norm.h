/* LayerNorm (Ba et al. 2016; paper, section 5.4) and RMSNorm of the rows of dense [rows, D], with the residual sum before it:
 *
 *	t = x + r          (r may be NULL: t = x)
 *	y = (t - mean) rstd gamma + beta, rstd = 1 / sqrt(var + eps)      var biased
 *	y = t rstd gamma,                 rstd = 1 / sqrt(mean(t^2) + eps)    kind N2D_RMSNORM: beta, mean, dbeta are not looked at
 *
 * Accurate for a mean large against the deviation; a constant row gives beta. y may be x or r. */
#ifndef N2D_NORM_H
#define N2D_NORM_H

#include "base/ctx.h"

enum n2d_norm_kind { N2D_LAYERNORM, N2D_RMSNORM };

struct n2d_norm {
	enum n2d_norm_kind kind;
	size_t rows, D;
	float eps;
};

/* s (where not NULL, and r given) receives t; mean[rows], rstd[rows] are kept for backward. */
void n2d_norm_fwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, float *y, float *s, float *mean, float *rstd,
		  const float *x, const float *r, const float *gamma, const float *beta);

/* Floats of workspace of the backward pass; passes N2D_TOO_LARGE. */
size_t n2d_norm_bwd_workspace(const struct n2d_norm *n);

/* dx, the gradient of t and so of x and of r, is written and may be dy; dgamma[D], dbeta[D] are added to. t as in the forward pass. */
void n2d_norm_bwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, float *dx, float *dgamma, float *dbeta, const float *dy,
		  const float *t, const float *gamma, const float *mean, const float *rstd, float *ws);

double n2d_norm_fwd_flops(const struct n2d_norm *n); /* 8 an element */
double n2d_norm_bwd_flops(const struct n2d_norm *n); /* 12 an element */

#endif
