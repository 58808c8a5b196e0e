#include "op/norm.h"

#include <string.h>

#include "base/size.h"
#include "op/pointwise.h"

struct job {
	const struct n2d_kernels *k;
	const struct n2d_norm *n;
	const float *x, *r, *gamma, *beta; /* forward; x is t in backward */
	float *y, *t, *mean, *rstd;
	const struct n2d_norm_grads *g; /* backward */
	const float *kept_mean, *kept_rstd;
	float *ws;
};

static int drops(const struct n2d_norm *n) { return n->dropout && n->dropout->p > 0; }

static const char *name(const struct n2d_norm *n, int backward)
{
	static const char *const names[][2] = {
		[N2D_LAYERNORM] = {"layernorm", "layernorm-bwd"},
		[N2D_RMSNORM] = {"rmsnorm", "rmsnorm-bwd"},
		[N2D_NORM_NONE] = {"residual", "residual-bwd"},
	};
	return names[n->kind][backward];
}

static void row_fwd(const struct job *j, size_t i, const float *x, const float *r)
{
	size_t D = j->n->D, at = i * D;
	float *y = j->y + at, *t = j->t ? j->t + at : NULL;
	x += at;
	r = r ? r + at : NULL;
	if (j->n->kind == N2D_LAYERNORM)
		j->k->layernorm_fwd(y, t, j->mean + i, j->rstd + i, x, r, j->gamma, j->beta, D, j->n->eps);
	else if (j->n->kind == N2D_RMSNORM)
		j->k->rmsnorm_fwd(y, t, j->rstd + i, x, r, j->gamma, D, j->n->eps);
	else if (r)
		j->k->add(y, x, r, D);
	else if (y != x)
		memcpy(y, x, D * sizeof *y);
}

/* What dropout leaves of the task's rows of r waits in y. */
static void fwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t D = j->n->D, r0, rows = n2d_chunk(j->n->rows, n2d_chunk_rows(D), task, &r0);
	const float *r = j->r;
	(void)thread;
	if (r && drops(j->n)) {
		j->k->dropout(j->y + r0 * D, r + r0 * D, j->n->dropout, r0 * D, rows * D);
		r = j->y;
	}
	for (size_t i = r0; i < r0 + rows; i++)
		row_fwd(j, i, j->x, r);
}

void n2d_norm_fwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, float *y, float *t, float *mean, float *rstd, const float *x,
		  const float *r, const float *gamma, const float *beta)
{
	struct job j = {.k = ctx->k, .n = n, .x = x, .r = r, .gamma = gamma, .beta = beta, .y = y, .t = t, .mean = mean, .rstd = rstd};
	struct n2d_call call;
	int norm = n->kind != N2D_NORM_NONE, keep = norm && r && t && t != y;
	if (n2d_trace_open(ctx, &call, name(n, 0), n2d_norm_fwd_flops(n), 4.0 * (2 + (r != NULL) + keep) * (double)n->rows * (double)n->D)) {
		n2d_trace_dim(&call, "rows", n->rows);
		n2d_trace_dim(&call, "D", n->D);
		n2d_trace_read(&call, x, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, r, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, norm ? gamma : NULL, 1, n->D, n->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, y, n->rows, n->D, n->D);
		n2d_trace_write(&call, keep ? t : NULL, n->rows, n->D, n->D);
		n2d_trace_write(&call, norm ? rstd : NULL, n->rows, 1, 1);
	}
	n2d_parallel(ctx, n2d_chunks(n->rows, n2d_chunk_rows(n->D)), fwd_task, &j);
	n2d_trace_close(ctx, &call);
}

/* A task's part of the workspace: its sums over rows dgamma and dbeta, which are then added in the order of tasks, and a row. */
static size_t part(const struct n2d_norm *n) { return n2d_floats(3, n->D, 1); }

/* dx is written last, for it may be any input. */
static void row_bwd(const struct job *j, size_t i, float *dgamma)
{
	const struct n2d_norm_grads *g = j->g;
	size_t D = j->n->D, at = i * D;
	const float *dy = g->dy + at, *t = j->x + (j->n->kind == N2D_NORM_NONE ? 0 : at);
	float *dbeta = dgamma + D, *row = dbeta + D, *dt = g->skip ? row : g->dx + at;
	if (g->dy2) {
		j->k->add(row, dy, g->dy2 + at, D);
		dy = row;
	}
	if (j->n->kind == N2D_LAYERNORM)
		j->k->layernorm_bwd(dt, dgamma, dbeta, dy, t, j->gamma, j->kept_mean[i], j->kept_rstd[i], D);
	else if (j->n->kind == N2D_RMSNORM)
		j->k->rmsnorm_bwd(dt, dgamma, dy, t, j->gamma, j->kept_rstd[i], D);
	else if (dt != dy)
		memcpy(dt, dy, D * sizeof *dt);
	if (g->skip)
		j->k->add(g->dx + at, dt, g->skip + at, D);
}

static void bwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	size_t D = j->n->D, r0, rows = n2d_chunk(j->n->rows, n2d_chunk_rows(D), task, &r0);
	float *dgamma = j->ws + task * part(j->n);
	(void)thread;
	memset(dgamma, 0, 2 * D * sizeof *dgamma);
	for (size_t i = r0; i < r0 + rows; i++)
		row_bwd(j, i, dgamma);
	if (drops(j->n))
		j->k->dropout(j->g->dr + r0 * D, j->g->dx + r0 * D, j->n->dropout, r0 * D, rows * D);
}

size_t n2d_norm_bwd_workspace(const struct n2d_norm *n) { return n2d_mul(n2d_chunks(n->rows, n2d_chunk_rows(n->D)), part(n)); }

void n2d_norm_bwd(const struct n2d_ctx *ctx, const struct n2d_norm *n, const struct n2d_norm_grads *g, const float *t, const float *gamma,
		  const float *mean, const float *rstd, float *ws)
{
	struct job j = {.k = ctx->k, .n = n, .x = t, .gamma = gamma, .g = g, .kept_mean = mean, .kept_rstd = rstd, .ws = ws};
	size_t tasks = n2d_chunks(n->rows, n2d_chunk_rows(n->D));
	struct n2d_call call;
	int norm = n->kind != N2D_NORM_NONE;
	if (n2d_trace_open(ctx, &call, name(n, 1), n2d_norm_bwd_flops(n),
			   4.0 * (2 + norm + (g->dy2 != NULL) + (g->skip != NULL) + drops(n)) * (double)n->rows * (double)n->D)) {
		n2d_trace_dim(&call, "rows", n->rows);
		n2d_trace_dim(&call, "D", n->D);
		n2d_trace_read(&call, g->dy, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, g->dy2, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, g->skip, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, norm ? t : NULL, n->rows, n->D, n->D, N2D_ROWWISE);
		n2d_trace_read(&call, norm ? gamma : NULL, 1, n->D, n->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, g->dx, n->rows, n->D, n->D);
		n2d_trace_write(&call, drops(n) ? g->dr : NULL, n->rows, n->D, n->D);
		n2d_trace_write(&call, norm ? g->dgamma : NULL, 1, n->D, n->D);
	}
	n2d_parallel(ctx, tasks, bwd_task, &j);
	if (norm && !g->add)
		memset(g->dgamma, 0, n->D * sizeof *g->dgamma);
	if (n->kind == N2D_LAYERNORM && !g->add)
		memset(g->dbeta, 0, n->D * sizeof *g->dbeta);
	if (norm)
		ctx->k->colsum_acc(g->dgamma, ws, tasks, n->D, part(n));
	if (n->kind == N2D_LAYERNORM)
		ctx->k->colsum_acc(g->dbeta, ws + n->D, tasks, n->D, part(n));
	n2d_trace_close(ctx, &call);
}

double n2d_norm_fwd_flops(const struct n2d_norm *n) { return 8.0 * (double)n->rows * (double)n->D; }
double n2d_norm_bwd_flops(const struct n2d_norm *n) { return 12.0 * (double)n->rows * (double)n->D; }
