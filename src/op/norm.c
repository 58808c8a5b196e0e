#include "op/norm.h"

#include <string.h>

#include "base/size.h"
#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	const struct n2d_norm *n;
	float *y, *s, *mean, *rstd; /* forward */
	const float *x, *r, *gamma, *beta;
	float *dx, *ws; /* backward: dgamma and dbeta of each block of rows */
	const float *dy, *kept_mean, *kept_rstd;
};

static void fwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t D = j->n->D, r0, rows = n2d_chunk(j->n->rows, n2d_chunk_rows(D), task, &r0);
	(void)thread;
	for (size_t i = r0; i < r0 + rows; i++) {
		const float *r = j->r ? j->r + i * D : NULL;
		float *s = j->s ? j->s + i * D : NULL;
		if (j->n->kind == N2D_RMSNORM)
			j->k->rmsnorm_fwd(j->y + i * D, s, j->rstd + i, j->x + i * D, r, j->gamma, D, j->n->eps);
		else
			j->k->layernorm_fwd(j->y + i * D, s, j->mean + i, j->rstd + i, j->x + i * D, r, j->gamma, j->beta, D, j->n->eps);
	}
}

void n2d_norm_fwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, float *y, float *s, float *mean, float *rstd,
		  const float *x, const float *r, const float *gamma, const float *beta)
{
	struct job j = {.k = ctx->k, .n = n, .y = y, .s = s, .mean = mean, .rstd = rstd, .x = x, .r = r, .gamma = gamma, .beta = beta};
	struct n2d_call call;
	double arrays = 2 + (r != NULL) + (r && s);
	if (n2d_trace_open(ctx, &call, n->kind == N2D_RMSNORM ? "rmsnorm" : "layernorm", n2d_norm_fwd_flops(n),
			   4 * arrays * (double)n->rows * (double)n->D)) {
		n2d_trace_dim(&call, "rows", n->rows);
		n2d_trace_dim(&call, "D", n->D);
		n2d_trace_read(&call, x, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, r, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, gamma, 1, n->D, n->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, y, n->rows, n->D, n->D);
		n2d_trace_write(&call, r ? s : NULL, n->rows, n->D, n->D);
		n2d_trace_write(&call, rstd, n->rows, 1, 1);
	}
	n2d_parallel(ctx, n2d_chunks(n->rows, n2d_chunk_rows(n->D)), fwd_task, &j);
	n2d_trace_close(ctx, &call);
}

/* dgamma and dbeta are sums over rows: each task sums its rows in its own 2 D floats, which are then added in the order of tasks. */
static void bwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t D = j->n->D, r0, rows = n2d_chunk(j->n->rows, n2d_chunk_rows(D), task, &r0);
	float *dgamma = j->ws + task * n2d_floats(2, D, 1), *dbeta = dgamma + D;
	(void)thread;
	memset(dgamma, 0, 2 * D * sizeof *dgamma);
	for (size_t i = r0; i < r0 + rows; i++) {
		const float *dy = j->dy + i * D, *x = j->x + i * D;
		if (j->n->kind == N2D_RMSNORM)
			j->k->rmsnorm_bwd(j->dx + i * D, dgamma, dy, x, j->gamma, j->kept_rstd[i], D);
		else
			j->k->layernorm_bwd(j->dx + i * D, dgamma, dbeta, dy, x, j->gamma, j->kept_mean[i], j->kept_rstd[i], D);
	}
}

size_t n2d_norm_bwd_workspace(const struct n2d_norm *n)
{
	return n2d_mul(n2d_chunks(n->rows, n2d_chunk_rows(n->D)), n2d_floats(2, n->D, 1));
}

void n2d_norm_bwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, float *dx, float *dgamma, float *dbeta, const float *dy,
		  const float *t, const float *gamma, const float *mean, const float *rstd, float *ws)
{
	struct job j = {.k = ctx->k, .n = n, .dx = dx, .dy = dy, .x = t, .gamma = gamma, .kept_mean = mean, .kept_rstd = rstd, .ws = ws};
	size_t tasks = n2d_chunks(n->rows, n2d_chunk_rows(n->D)), stride = n2d_floats(2, n->D, 1);
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, n->kind == N2D_RMSNORM ? "rmsnorm-bwd" : "layernorm-bwd", n2d_norm_bwd_flops(n),
			   12.0 * (double)n->rows * (double)n->D)) {
		n2d_trace_dim(&call, "rows", n->rows);
		n2d_trace_dim(&call, "D", n->D);
		n2d_trace_read(&call, dy, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, t, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, gamma, 1, n->D, n->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, dx, n->rows, n->D, n->D);
		n2d_trace_write(&call, dgamma, 1, n->D, n->D);
	}
	n2d_parallel(ctx, tasks, bwd_task, &j);
	ctx->k->colsum_acc(dgamma, ws, tasks, n->D, stride);
	if (n->kind == N2D_LAYERNORM)
		ctx->k->colsum_acc(dbeta, ws + n->D, tasks, n->D, stride);
	n2d_trace_close(ctx, &call);
}

double n2d_norm_fwd_flops(const struct n2d_norm *n) { return 8.0 * (double)n->rows * (double)n->D; }
double n2d_norm_bwd_flops(const struct n2d_norm *n) { return 12.0 * (double)n->rows * (double)n->D; }
