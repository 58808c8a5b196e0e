#include "layer/rows.h"

#include <string.h>

#include "base/threads.h"
#include "base/trace.h"

struct rows {
	float *y;
	const float *x; /* NULL: only clear */
	const int32_t *len;
	size_t T, D;
};

static void sentence(void *arg, size_t b, int thread)
{
	(void)thread;
	const struct rows *r = arg;
	size_t n = n2d_row_count(r->len, b, r->T), at = b * r->T * r->D;
	if (r->x && n)
		memcpy(r->y + at, r->x + at, n * r->D * sizeof(float));
	if (n < r->T)
		memset(r->y + at + n * r->D, 0, (r->T - n) * r->D * sizeof(float));
}

static int full(const int32_t *len, size_t B, size_t T)
{
	for (size_t b = 0; b < B; b++)
		if (n2d_row_count(len, b, T) < T)
			return 0;
	return 1;
}

static void run(const struct n2d_ctx *ctx, const char *name, float *y, const float *x, const int32_t *len, size_t B, size_t T,
		size_t D)
{
	struct n2d_call call;
	struct rows r = {y, x, len, T, D};
	if (n2d_trace_open(ctx, &call, name, 0, (x ? 8.0 : 4.0) * (double)B * (double)T * (double)D)) {
		n2d_trace_dim(&call, "B", B);
		n2d_trace_dim(&call, "T", T);
		n2d_trace_dim(&call, "D", D);
		n2d_trace_read(&call, x ? x : y, B * T, D, D, N2D_ROWWISE);
		n2d_trace_write(&call, y, B * T, D, D);
	}
	n2d_parallel(ctx, B, sentence, &r);
	n2d_trace_close(ctx, &call);
}

const float *n2d_rows_clean(const struct n2d_ctx *ctx, float *copy, const float *x, const int32_t *len, size_t B, size_t T,
			    size_t D)
{
	if (full(len, B, T))
		return x;
	run(ctx, "rows-clean", copy, x, len, B, T, D);
	return copy;
}

void n2d_rows_copy(const struct n2d_ctx *ctx, float *y, const float *x, const int32_t *len, size_t B, size_t T, size_t D)
{
	run(ctx, "rows-copy", y, x, len, B, T, D);
}

void n2d_rows_clear(const struct n2d_ctx *ctx, float *y, const int32_t *len, size_t B, size_t T, size_t D)
{
	if (!full(len, B, T))
		run(ctx, "rows-clear", y, NULL, len, B, T, D);
}
