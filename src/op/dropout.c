#include "op/dropout.h"

#include <string.h>

#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	const struct n2d_dropout *d;
	float *y;
	const float *x;
	size_t n;
};

static void task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t i, n = n2d_chunk(j->n, N2D_CHUNK, task, &i);
	(void)thread;
	if (j->d->p > 0)
		j->k->dropout(j->y + i, j->x + i, j->d, i, n);
	else if (j->y != j->x)
		memcpy(j->y + i, j->x + i, n * sizeof *j->y);
}

void n2d_dropout(const struct n2d_ctx *ctx, float *y, const float *x, const struct n2d_dropout *d, size_t rows, size_t width)
{
	struct job j = {ctx->k, d, y, x, rows * width};
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "dropout", (double)j.n, 8.0 * (double)j.n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "width", width);
		n2d_trace_read(&call, x, rows, width, width, N2D_ROWWISE);
		n2d_trace_write(&call, y, rows, width, width);
	}
	n2d_parallel(ctx, n2d_chunks(j.n, N2D_CHUNK), task, &j);
	n2d_trace_close(ctx, &call);
}
