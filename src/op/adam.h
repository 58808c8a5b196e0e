/* Adam (Kingma and Ba 2015; paper, section 5.3), bias-corrected:
 *
 *	m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2
 *	w -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)       with g times gscale */
#ifndef N2D_ADAM_H
#define N2D_ADAM_H

#include "base/ctx.h"

struct n2d_adam {
	double lr, beta1, beta2, eps;
	double gscale; /* clipping, or one over the number of accumulated batches; 1 for neither */
	uint64_t t;    /* this step, from 1 */
};

/* The arrays, of n floats each. squares: of each chunk of N2D_CHUNK floats (op/pointwise.h) the sum of g^2 before gscale, in float: added in double in
 * their order, they have the bits of n2d_square_sum; or NULL. Here it costs no pass over memory. */
struct n2d_adam_arrays {
	float *w, *m, *v;
	const float *g;
	float *squares;
	size_t n;
};

void n2d_adam(const struct n2d_ctx *ctx, const struct n2d_adam *a, const struct n2d_adam_arrays *x);
/* Chunk `chunk` alone, in the calling thread, and unobserved. */
void n2d_adam_chunk(const struct n2d_ctx *ctx, const struct n2d_adam *a, const struct n2d_adam_arrays *x, size_t chunk);

#endif
