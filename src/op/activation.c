#include "op/activation.h"

#include "op/pointwise.h"

struct job {
	void (*fwd)(float *, const float *, size_t);
	void (*bwd)(float *, const float *, const float *, size_t);
	float *out;
	const float *x, *y;
	size_t n, width, ld;
};

static void span(const struct job *j, size_t i, size_t n)
{
	if (j->fwd)
		j->fwd(j->out + i, j->x + i, n);
	else
		j->bwd(j->out + i, j->x + i, j->y + i, n);
}

static void dense_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t i, n = n2d_chunk(j->n, N2D_CHUNK, task, &i);
	(void)thread;
	span(j, i, n);
}

static void rows_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t r0, rows = n2d_chunk(j->n / j->width, n2d_chunk_rows(j->width), task, &r0);
	(void)thread;
	for (size_t r = r0; r < r0 + rows; r++)
		span(j, r * j->ld, j->width);
}

/* Counts one FLOP an element: a comparison or a polynomial, it is memory that limits. */
static void run(const struct n2d_ctx *ctx, const char *op, struct job *j, size_t rows, size_t width, size_t ld)
{
	struct n2d_call call;
	j->n = rows * width;
	j->width = width;
	j->ld = ld;
	if (n2d_trace_open(ctx, &call, op, (double)j->n, (j->bwd ? 12.0 : 8.0) * (double)j->n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "width", width);
		n2d_trace_read(&call, j->x, rows, width, ld, N2D_ROWWISE);
		n2d_trace_read(&call, j->y, rows, width, ld, N2D_ROWWISE);
		n2d_trace_write(&call, j->out, rows, width, ld);
	}
	if (ld == width)
		n2d_parallel(ctx, n2d_chunks(j->n, N2D_CHUNK), dense_task, j);
	else
		n2d_parallel(ctx, n2d_chunks(rows, n2d_chunk_rows(width)), rows_task, j);
	n2d_trace_close(ctx, &call);
}

void n2d_relu_fwd(const struct n2d_ctx *ctx, float *y, const float *x, size_t rows, size_t width)
{
	run(ctx, "relu", &(struct job){.fwd = ctx->k->relu_fwd, .out = y, .x = x}, rows, width, width);
}

void n2d_relu_bwd(const struct n2d_ctx *ctx, float *dx, const float *dy, const float *y, size_t rows, size_t width, size_t ld)
{
	run(ctx, "relu-bwd", &(struct job){.bwd = ctx->k->relu_bwd, .out = dx, .x = dy, .y = y}, rows, width, ld);
}

void n2d_gelu_fwd(const struct n2d_ctx *ctx, float *y, const float *x, size_t rows, size_t width)
{
	run(ctx, "gelu", &(struct job){.fwd = ctx->k->gelu_fwd, .out = y, .x = x}, rows, width, width);
}

void n2d_gelu_bwd(const struct n2d_ctx *ctx, float *dx, const float *dy, const float *x, size_t rows, size_t width)
{
	run(ctx, "gelu-bwd", &(struct job){.bwd = ctx->k->gelu_bwd, .out = dx, .x = dy, .y = x}, rows, width, width);
}

/* ---- SwiGLU */

struct gated {
	const struct n2d_kernels *k;
	float *y, *da;
	const float *a, *dy;
	size_t rows, width;
};

static void gated_task(void *arg, size_t task, int thread)
{
	const struct gated *j = arg;
	size_t n = j->width, r0, rows = n2d_chunk(j->rows, n2d_chunk_rows(n), task, &r0);
	(void)thread;
	for (size_t r = r0; r < r0 + rows; r++) {
		const float *x = j->a + r * 2 * n;
		if (j->y)
			j->k->swiglu_fwd(j->y + r * n, x, x + n, n);
		else
			j->k->swiglu_bwd(j->da + r * 2 * n, j->da + r * 2 * n + n, j->dy + r * n, x, x + n, n);
	}
}

static void run_gated(const struct n2d_ctx *ctx, const char *op, struct gated *j, double arrays)
{
	struct n2d_call call;
	double n = (double)j->rows * (double)j->width;
	j->k = ctx->k;
	if (n2d_trace_open(ctx, &call, op, n, 4 * arrays * n)) {
		n2d_trace_dim(&call, "rows", j->rows);
		n2d_trace_dim(&call, "width", j->width);
		n2d_trace_read(&call, j->a, j->rows, 2 * j->width, 2 * j->width, N2D_ROWWISE);
		n2d_trace_read(&call, j->dy, j->rows, j->width, j->width, N2D_ROWWISE);
		if (j->y)
			n2d_trace_write(&call, j->y, j->rows, j->width, j->width);
		else
			n2d_trace_write(&call, j->da, j->rows, 2 * j->width, 2 * j->width);
	}
	n2d_parallel(ctx, n2d_chunks(j->rows, n2d_chunk_rows(j->width)), gated_task, j);
	n2d_trace_close(ctx, &call);
}

void n2d_swiglu_fwd(const struct n2d_ctx *ctx, float *y, const float *a, size_t rows, size_t width)
{
	run_gated(ctx, "swiglu", &(struct gated){.y = y, .a = a, .rows = rows, .width = width}, 3);
}

void n2d_swiglu_bwd(const struct n2d_ctx *ctx, float *da, const float *dy, const float *a, size_t rows, size_t width)
{
	run_gated(ctx, "swiglu-bwd", &(struct gated){.da = da, .a = a, .dy = dy, .rows = rows, .width = width}, 5);
}
