#include "op/square_sum.h"

#include "op/pointwise.h"

enum { RUN = 256 }; /* chunks whose sums are kept at a time */

struct run {
	const struct n2d_kernels *k;
	const float *x;
	size_t n;
	float sum[RUN];
};

static void task(void *arg, size_t task, int thread)
{
	struct run *r = arg;
	size_t i, n = n2d_chunk(r->n, N2D_CHUNK, task, &i);
	(void)thread;
	r->sum[task] = r->k->dot(r->x + i, r->x + i, n);
}

static double sum_chunks(const struct n2d_ctx *ctx, const float *x, size_t n)
{
	const size_t most = (size_t)RUN * N2D_CHUNK;
	double sum = 0;
	for (size_t first = 0; first < n; first += most) {
		struct run r = {.k = ctx->k, .x = x + first, .n = n - first < most ? n - first : most};
		size_t tasks = n2d_chunks(r.n, N2D_CHUNK);
		n2d_parallel(ctx, tasks, task, &r);
		for (size_t k = 0; k < tasks; k++)
			sum += r.sum[k];
	}
	return sum;
}

double n2d_square_sum(const struct n2d_ctx *ctx, const float *x, size_t n)
{
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "square-sum", 2 * (double)n, 4 * (double)n)) {
		n2d_trace_dim(&call, "n", n);
		n2d_trace_read(&call, x, 1, n, n, N2D_ALL_ROWS);
	}
	double sum = sum_chunks(ctx, x, n);
	n2d_trace_close(ctx, &call);
	return sum;
}
