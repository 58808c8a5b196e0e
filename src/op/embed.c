#include "op/embed.h"

#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	float *out, scale;
	const float *in, *position;
	const int32_t *id, *t;
	size_t rows, D;
};

static void fwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t D = j->D, r0, rows = n2d_chunk(j->rows, n2d_chunk_rows(D), task, &r0);
	(void)thread;
	for (size_t i = r0; i < r0 + rows; i++) {
		const float *row = j->in + (size_t)j->id[i] * D;
		if (j->position)
			j->k->axpy(j->out + i * D, row, j->position + (j->t ? (size_t)j->t[i] * D : 0), j->scale, D);
		else
			j->k->scale(j->out + i * D, row, j->scale, D);
	}
}

void n2d_embed_fwd(const struct n2d_ctx *ctx, float *y, const float *table, const int32_t *id, const float *position, const int32_t *t,
		   float scale, size_t rows, size_t D)
{
	struct job j = {ctx->k, y, scale, table, position, id, t, rows, D};
	double n = (double)rows * (double)D;
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "embedding", 2 * n, 8 * n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "D", D);
		n2d_trace_write(&call, y, rows, D, D);
	}
	n2d_parallel(ctx, n2d_chunks(rows, n2d_chunk_rows(D)), fwd_task, &j);
	n2d_trace_close(ctx, &call);
}

/* Two tokens may be the same word, so tasks divide the columns, not the rows: each element has one writer. */
enum { COLUMNS = 64 };

static void bwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t D = j->D, c, n = n2d_chunk(D, COLUMNS, task, &c);
	(void)thread;
	for (size_t i = 0; i < j->rows; i++)
		if (j->id[i] >= 0) {
			float *d = j->out + (size_t)j->id[i] * D + c;
			j->k->axpy(d, j->in + i * D + c, d, j->scale, n);
		}
}

void n2d_embed_bwd_acc(const struct n2d_ctx *ctx, float *dtable, const float *dy, const int32_t *id, float scale, size_t rows,
		       size_t D)
{
	struct job j = {ctx->k, dtable, scale, dy, NULL, id, NULL, rows, D};
	double n = (double)rows * (double)D;
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "embedding-bwd", 2 * n, 12 * n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "D", D);
		n2d_trace_read(&call, dy, rows, D, D, N2D_ALL_ROWS);
	}
	n2d_parallel(ctx, n2d_chunks(D, COLUMNS), bwd_task, &j);
	n2d_trace_close(ctx, &call);
}
