#include "op/adam.h"

#include <math.h>

#include "base/trace.h"
#include "op/square_sum.h"

struct job {
	const struct n2d_kernels *k;
	struct n2d_adam_step s;
	float *w, *m, *v;
	const float *g;
	int squares; /* wanted */
};

static float chunk(const void *arg, size_t i, size_t n)
{
	const struct job *j = arg;
	float squares = j->squares ? j->k->dot(j->g + i, j->g + i, n) : 0;
	j->k->adam(j->w + i, j->m + i, j->v + i, j->g + i, &j->s, n);
	return squares;
}

void n2d_adam(const struct n2d_ctx *ctx, const struct n2d_adam *a, float *w, float *m, float *v, const float *g, size_t n, double *squares)
{
	double t = (double)a->t;
	struct n2d_adam_step s = {
		.beta1 = (float)a->beta1, .rest1 = (float)(1 - a->beta1),
		.beta2 = (float)a->beta2, .rest2 = (float)(1 - a->beta2),
		.rate = (float)(a->lr / (1 - pow(a->beta1, t))), .root = (float)(1 / sqrt(1 - pow(a->beta2, t))),
		.eps = (float)a->eps, .gscale = (float)a->gscale,
	};
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "adam", (squares ? 14.0 : 12.0) * (double)n, 28.0 * (double)n)) {
		n2d_trace_dim(&call, "n", n);
		n2d_trace_read(&call, g, 1, n, n, N2D_ALL_ROWS);
		n2d_trace_write(&call, w, 1, n, n);
		n2d_trace_write(&call, m, 1, n, n);
		n2d_trace_write(&call, v, 1, n, n);
	}
	double sum = n2d_sum_chunks(ctx, n, chunk, &(struct job){ctx->k, s, w, m, v, g, squares != NULL});
	if (squares)
		*squares = sum;
	n2d_trace_close(ctx, &call);
}
