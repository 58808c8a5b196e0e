#include "op/top.h"

#include <math.h>

#include "op/pointwise.h"

/* Entries looked at together: one comparison with their largest tells that none of them is among the best so far. */
enum { GROUP = 64 };

struct job {
	const struct n2d_kernels *k;
	float *logp, *logp_of, *z;
	int32_t *id, of;
	size_t V, c;
};

/* Puts z[i] in its place among the n best so far, of at most c. */
static size_t insert(float *best, int32_t *id, size_t n, size_t c, float z, size_t i)
{
	size_t at = n < c ? n : c - 1;
	for (; at > 0 && z > best[at - 1]; at--) {
		best[at] = best[at - 1];
		id[at] = id[at - 1];
	}
	best[at] = z;
	id[at] = (int32_t)i;
	return n < c ? n + 1 : c;
}

static void task(void *arg, size_t row, int thread)
{
	const struct job *j = arg;
	float *z = j->z + row * j->V, *best = j->logp + row * j->c, nll;
	int32_t *id = j->id + row * j->c;
	size_t n = 0;
	(void)thread;
	for (size_t g = 0; g < j->V; g += GROUP) {
		size_t end = g + GROUP < j->V ? g + GROUP : j->V;
		if (n == j->c && j->k->max(z + g, end - g) <= best[n - 1])
			continue;
		for (size_t i = g; i < end; i++)
			if (n < j->c || z[i] > best[n - 1])
				n = insert(best, id, n, j->c, z[i], i);
	}
	float top = best[0], of = z[j->of];
	j->k->xent(z, &nll, z, (size_t)id[0], 0, 0, j->V);
	j->logp_of[row] = (of - top) - nll;
	for (size_t i = 0; i < j->c; i++) {
		best[i] = (best[i] - top) - nll;
		if (isnan(nll))
			id[i] = -1;
	}
}

void n2d_top(const struct n2d_ctx *ctx, float *logp, int32_t *id, float *logp_of, float *z, int32_t of, size_t rows, size_t V, size_t c)
{
	struct job j = {ctx->k, logp, logp_of, z, id, of, V, c};
	double n = (double)rows * (double)V;
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "top", 6 * n, 12 * n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "V", V);
		n2d_trace_dim(&call, "c", c);
		n2d_trace_read(&call, z, rows, V, V, N2D_ROWWISE);
		n2d_trace_write(&call, logp, rows, c, c);
	}
	n2d_parallel(ctx, rows, task, &j);
	n2d_trace_close(ctx, &call);
}
