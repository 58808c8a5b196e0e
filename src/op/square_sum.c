#include "op/square_sum.h"

#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	const float *x;
	size_t n;
	float sum[N2D_SQUARE_SUM_RUN];
};

static void task(void *arg, size_t task, int thread)
{
	struct job *j = arg;
	size_t i, n = n2d_chunk(j->n, N2D_CHUNK, task, &i);
	(void)thread;
	j->sum[task] = n2d_square_sum_chunk(j->k, j->x + i, n);
}

double n2d_square_sum(const struct n2d_ctx *ctx, const float *x, size_t n)
{
	struct n2d_call call;
	double sum = 0;
	if (n2d_trace_open(ctx, &call, "square-sum", 2 * (double)n, 4 * (double)n)) {
		n2d_trace_dim(&call, "n", n);
		n2d_trace_read(&call, x, 1, n, n, N2D_ALL_ROWS);
	}
	const size_t most = (size_t)N2D_SQUARE_SUM_RUN * N2D_CHUNK;
	for (size_t i = 0; i < n; i += most) {
		struct job j = {.k = ctx->k, .x = x + i, .n = n - i < most ? n - i : most};
		size_t tasks = n2d_chunks(j.n, N2D_CHUNK);
		n2d_parallel(ctx, tasks, task, &j);
		for (size_t k = 0; k < tasks; k++)
			sum += j.sum[k];
	}
	n2d_trace_close(ctx, &call);
	return sum;
}
