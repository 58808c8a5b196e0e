#include "op/loss.h"

#include <string.h>

#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	float *dz, *loss, *nll, eps, weight;
	const float *z;
	const int32_t *target;
	size_t rows, V, ldz;
};

static void task(void *arg, size_t i, int thread)
{
	const struct job *j = arg;
	(void)thread;
	if (j->target[i] >= 0) {
		j->loss[i] = j->k->xent(j->dz + i * j->ldz, j->nll + i, j->z + i * j->ldz, (size_t)j->target[i], j->eps, j->weight, j->V);
		return;
	}
	memset(j->dz + i * j->ldz, 0, j->V * sizeof *j->dz);
	j->loss[i] = j->nll[i] = 0;
}

void n2d_xent(const struct n2d_ctx *ctx, struct n2d_loss_sum *sum, float *dz, float *row_loss, float *row_nll, const float *z,
	      const int32_t *target, float eps, float weight, size_t rows, size_t V, size_t ldz)
{
	struct job j = {ctx->k, dz, row_loss, row_nll, eps, weight, z, target, rows, V, ldz};
	double n = (double)rows * (double)V;
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "cross-entropy", 6 * n, 8 * n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "V", V);
		n2d_trace_read(&call, z, rows, V, ldz, N2D_ROWWISE);
		n2d_trace_write(&call, dz, rows, V, ldz);
		n2d_trace_write(&call, row_loss, rows, 1, 1);
	}
	n2d_parallel(ctx, rows, task, &j);
	for (size_t i = 0; i < rows; i++)
		if (target[i] >= 0) {
			sum->loss += row_loss[i];
			sum->nll += row_nll[i];
			sum->tokens++;
		}
	n2d_trace_close(ctx, &call);
}

static void most_task(void *arg, size_t i, int thread)
{
	const struct job *j = arg;
	(void)thread;
	j->nll[i] = j->k->max(j->z + i * j->ldz, j->V);
}

void n2d_xent_right(const struct n2d_ctx *ctx, struct n2d_loss_sum *sum, float *most, const float *z, const int32_t *target, size_t rows,
		    size_t V, size_t ldz)
{
	struct job j = {.k = ctx->k, .nll = most, .z = z, .V = V, .ldz = ldz};
	double n = (double)rows * (double)V;
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "right", n, 4 * n)) {
		n2d_trace_dim(&call, "rows", rows);
		n2d_trace_dim(&call, "V", V);
		n2d_trace_read(&call, z, rows, V, ldz, N2D_ROWWISE);
		n2d_trace_write(&call, most, rows, 1, 1);
	}
	n2d_parallel(ctx, rows, most_task, &j);
	for (size_t i = 0; i < rows; i++)
		sum->right += target[i] >= 0 && z[i * ldz + (size_t)target[i]] == most[i];
	n2d_trace_close(ctx, &call);
}
