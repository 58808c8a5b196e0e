#include "op/adam.h"

#include <math.h>

#include "op/pointwise.h"
#include "op/square_sum.h"

struct job {
	const struct n2d_kernels *k;
	struct n2d_adam_step s;
	float *w, *m, *v;
	const float *g;
	size_t n;
	int squares; /* wanted */
	float sum[N2D_SQUARE_SUM_RUN];
};

static void task(void *arg, size_t task, int thread)
{
	struct job *j = arg;
	size_t i, n = n2d_chunk(j->n, N2D_CHUNK, task, &i);
	(void)thread;
	if (j->squares)
		j->sum[task] = n2d_square_sum_chunk(j->k, j->g + i, n);
	j->k->adam(j->w + i, j->m + i, j->v + i, j->g + i, &j->s, n);
}

void n2d_adam(const struct n2d_ctx *ctx, const struct n2d_adam *a, float *w, float *m, float *v, const float *g, size_t n, double *squares)
{
	const size_t most = (size_t)N2D_SQUARE_SUM_RUN * N2D_CHUNK;
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
	double sum = 0;
	for (size_t i = 0; i < n; i += most) {
		struct job j = {.k = ctx->k, .s = s, .w = w + i, .m = m + i, .v = v + i, .g = g + i, .n = n - i < most ? n - i : most,
				.squares = squares != NULL};
		size_t tasks = n2d_chunks(j.n, N2D_CHUNK);
		n2d_parallel(ctx, tasks, task, &j);
		for (size_t k = 0; squares && k < tasks; k++)
			sum += j.sum[k];
	}
	if (squares)
		*squares = sum;
	n2d_trace_close(ctx, &call);
}
