#include "op/rotary.h"

#include <math.h>

#include "op/pointwise.h"

void n2d_rotary_table(float *table, size_t first, size_t T, size_t d)
{
	for (size_t i = 0; i < d; i += 2) {
		double rate = pow(10000, -(double)i / (double)d);
		for (size_t t = 0; t < T; t++) {
			double angle = (double)(first + t) * rate;
			table[t * d + i] = (float)cos(angle);
			table[t * d + i + 1] = (float)sin(angle);
		}
	}
}

struct job {
	const struct n2d_rotary *r;
	float *x;
	const float *table;
};

static void turn(float *x, const float *table, size_t d, float sign)
{
	for (size_t i = 0; i < d; i += 2) {
		float a = x[i], b = x[i + 1], c = table[i], s = sign * table[i + 1];
		x[i] = a * c - b * s;
		x[i + 1] = a * s + b * c;
	}
}

static size_t task_rows(const struct n2d_rotary *r) { return n2d_chunk_rows(r->heads * r->d); }

static void task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	const struct n2d_rotary *r = j->r;
	size_t from, rows = n2d_chunk(r->rows, task_rows(r), task, &from);
	(void)thread;
	for (size_t i = from; i < from + rows; i++) {
		size_t t = r->position ? (size_t)r->position[i] : i % r->T;
		for (size_t h = 0; h < r->heads; h++)
			turn(j->x + i * r->row + h * r->head, j->table + t * r->d, r->d, r->back ? -1 : 1);
	}
}

void n2d_rotary(const struct n2d_ctx *ctx, const struct n2d_rotary *r, float *x, const float *table)
{
	struct job j = {r, x, table};
	struct n2d_call call;
	size_t rows = r->rows, width = r->heads ? (r->heads - 1) * r->head + r->d : 0;
	double n = (double)rows * (double)(r->heads * r->d);
	if (n2d_trace_open(ctx, &call, r->back ? "rotary-bwd" : "rotary", 3 * n, 8 * n)) {
		n2d_trace_dim(&call, "rows", r->rows);
		n2d_trace_dim(&call, "heads", r->heads);
		n2d_trace_dim(&call, "K", r->d);
		n2d_trace_read(&call, x, rows, width, r->row, N2D_ROWWISE);
		n2d_trace_write(&call, x, rows, width, r->row);
	}
	n2d_parallel(ctx, n2d_chunks(rows, task_rows(r)), task, &j);
	n2d_trace_close(ctx, &call);
}
