/* The most probable words after rows of a decoder's output: what a beam search chooses from.
 *
 *	z = x w^T + bias      x[rows,D], w[V,D]
 *	logp, id              of each row the c largest entries of log softmax(z), largest first, of equal ones the one with the lower number
 *	                      first, [rows,c]
 *
 * z[rows,V] is never whole: blocks of it are looked through while they are in cache. A row's bits depend on nothing but the row. */
#ifndef N2D_TOP_H
#define N2D_TOP_H

#include <stdint.h>

#include "base/ctx.h"

struct n2d_top {
	size_t rows, D, V, c;
	const float *packed; /* n2d_pack of w^T */
	const float *bias;   /* [V] or NULL */
	int32_t of;          /* an entry whose log probability is wanted, too */
};

/* Floats, for so many rows or fewer; N2D_TOO_LARGE passes. packed, bias and of are not looked at. */
size_t n2d_top_workspace(const struct n2d_ctx *ctx, const struct n2d_top *t);

/* logp[rows,c], id[rows,c], logp_of[rows]: that of entry `of`. 1 <= c <= V. Of a row with NaN the ids are -1. */
void n2d_top(const struct n2d_ctx *ctx, const struct n2d_top *t, float *logp, int32_t *id, float *logp_of, const float *x, float *ws);

#endif
