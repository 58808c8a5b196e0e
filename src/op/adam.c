#include "op/adam.h"

#include <math.h>

#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	struct n2d_adam_step s;
	const struct n2d_adam_arrays *x;
};

static struct job job(const struct n2d_ctx *ctx, const struct n2d_adam *a, const struct n2d_adam_arrays *x)
{
	double t = (double)a->t;
	struct n2d_adam_step s = {
		.beta1 = (float)a->beta1, .rest1 = (float)(1 - a->beta1),
		.beta2 = (float)a->beta2, .rest2 = (float)(1 - a->beta2),
		.rate = (float)(a->lr / (1 - pow(a->beta1, t))), .root = (float)(1 / sqrt(1 - pow(a->beta2, t))),
		.eps = (float)a->eps, .gscale = (float)a->gscale,
	};
	return (struct job){ctx->k, s, x};
}

static void chunk(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	const struct n2d_adam_arrays *x = j->x;
	size_t i, n = n2d_chunk(x->n, N2D_CHUNK, task, &i);
	(void)thread;
	if (x->squares)
		x->squares[task] = j->k->dot(x->g + i, x->g + i, n);
	j->k->adam(x->w + i, x->m + i, x->v + i, x->g + i, &j->s, n);
}

void n2d_adam_chunk(const struct n2d_ctx *ctx, const struct n2d_adam *a, const struct n2d_adam_arrays *x, size_t task)
{
	struct job j = job(ctx, a, x);
	chunk(&j, task, 0);
}

void n2d_adam(const struct n2d_ctx *ctx, const struct n2d_adam *a, const struct n2d_adam_arrays *x)
{
	size_t n = x->n;
	struct job j = job(ctx, a, x);
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "adam", (x->squares ? 14.0 : 12.0) * (double)n, 28.0 * (double)n)) {
		n2d_trace_dim(&call, "n", n);
		n2d_trace_read(&call, x->g, 1, n, n, N2D_ALL_ROWS);
		n2d_trace_write(&call, x->w, 1, n, n);
		n2d_trace_write(&call, x->m, 1, n, n);
		n2d_trace_write(&call, x->v, 1, n, n);
	}
	n2d_parallel(ctx, n2d_chunks(n, N2D_CHUNK), chunk, &j);
	n2d_trace_close(ctx, &call);
}
