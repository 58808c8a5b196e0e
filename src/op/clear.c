#include "op/clear.h"

#include <string.h>

#include "op/pointwise.h"

struct job {
	float *x;
	size_t n;
};

static void task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t i, n = n2d_chunk(j->n, N2D_CHUNK, task, &i);
	(void)thread;
	memset(j->x + i, 0, n * sizeof *j->x);
}

void n2d_clear(const struct n2d_ctx *ctx, float *x, size_t n)
{
	struct job j = {x, n};
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "clear", 0, 4 * (double)n)) {
		n2d_trace_dim(&call, "n", n);
		n2d_trace_write(&call, x, 1, n, n);
	}
	n2d_parallel(ctx, n2d_chunks(n, N2D_CHUNK), task, &j);
	n2d_trace_close(ctx, &call);
}
