/* The residual sum and the norm after it (paper, sections 3.1 and 5.4), of the rows of dense [rows, D], in one pass over memory:
 *
 *	t = x + dropout(r)          r may be NULL: t = x
 *	y = (t - mean) rstd gamma + beta, rstd = 1 / sqrt(var + eps)          LayerNorm (Ba et al. 2016), var biased
 *	y = t rstd gamma,                 rstd = 1 / sqrt(mean(t^2) + eps)    RMSNorm (Zhang and Sennrich 2019)
 *	y = t                                                                 no norm: the residual sum alone
 *
 * and backward, where y has two uses when it is the residual stream too (post-norm), and t another when it is (pre-norm):
 *
 *	dt = norm_bwd(dy + dy2) + skip,    dr = dropout(dt)
 *
 * Accurate for a mean large against the deviation; a constant row gives beta. The same bits as the operators one after the other. */
#ifndef N2D_NORM_H
#define N2D_NORM_H

#include "base/ctx.h"

enum n2d_norm_kind { N2D_LAYERNORM, N2D_RMSNORM, N2D_NORM_NONE };

struct n2d_norm {
	enum n2d_norm_kind kind;
	size_t rows, D;
	float eps;
	const struct n2d_dropout *dropout; /* of r, its elements numbered as those of [rows, D]; NULL or p = 0: none */
};

/* t receives the sum when r is given (without r it is x); NULL: not kept. mean[rows] and rstd[rows] are kept for backward. y may be x, r
 * or t, and t may be x or r; without a norm t is not looked at, and with dropout y is not x. RMSNorm has no mean and no beta, no norm
 * has no statistics and no parameters: they are not looked at. */
void n2d_norm_fwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, float *y, float *t, float *mean, float *rstd, const float *x,
		  const float *r, const float *gamma, const float *beta);

/* Floats of workspace of the backward pass; passes N2D_TOO_LARGE. */
size_t n2d_norm_bwd_workspace(const struct n2d_norm *n);

struct n2d_norm_grads {
	float *dx;             /* dt, the gradient of x: written; may be dy, dy2 or skip */
	float *dr;             /* written with dropout only, without it is dx; may be dy, dy2 or skip, not dx */
	float *dgamma, *dbeta; /* [D], written, or added to when add; not looked at where there are no such parameters */
	int add;
	const float *dy;       /* the gradient of y */
	const float *dy2;      /* more of it, or NULL */
	const float *skip;     /* what reaches t past the norm, or NULL */
};

/* t, mean and rstd as the forward pass left them; no norm does not look at them. */
void n2d_norm_bwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, const struct n2d_norm_grads *g, const float *t, const float *gamma,
		  const float *mean, const float *rstd, float *ws);

double n2d_norm_fwd_flops(const struct n2d_norm *n); /* 8 an element */
double n2d_norm_bwd_flops(const struct n2d_norm *n); /* 12 an element */

#endif
