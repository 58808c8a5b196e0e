#include "op/top.h"

#include <math.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/gemm.h"

/* A task's logits at a time, ROWS x BLOCK at most, stay in the second-level cache; w is read once for so many rows. Rows of them lie LD apart, not a
 * power of two, which would put a column into few cache sets. One comparison with the largest of GROUP entries tells that none of them
 * is among the best so far. */
enum { ROWS = 56, BLOCK = 1024, LD = BLOCK + 16, GROUP = 128, PARTS = 64 };

/* Tasks are runs of rows by parts of the blocks of columns. What is kept of a row between: of each block log sum exp, and of each part the
 * largest entries. */
struct job {
	struct n2d_ctx alone; /* for products inside a task */
	const struct n2d_top *t;
	const float *x;
	size_t run, block, blocks, parts; /* rows of a task; columns of a block; blocks of a row, parts of them */
	double *lse;           /* [rows,blocks]: a float's digits are too few for what is subtracted from logits */
	float *best, *z_of, *z; /* [rows,parts,c], [rows]; a thread's logits */
	int32_t *best_id;             /* [rows,parts,c] */
	float *logp, *logp_of;
	int32_t *id;
};

static size_t min(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

/* Few rows leave threads idle, unless they take parts of the columns: fewer than 4 tasks a thread, of ROWS rows at most. */
static void divide(struct job *j, const struct n2d_ctx *ctx)
{
	size_t n = 4 * (size_t)ctx->threads, rows = j->t->rows;
	j->block = BLOCK / ctx->k->nr * ctx->k->nr; /* whole panels */
	j->blocks = ceil_div(j->t->V, j->block);
	j->run = min(ROWS, ceil_div(rows, n) < ctx->k->mr ? ctx->k->mr : ceil_div(rows, n));
	j->parts = ctx->threads > 1 && rows / j->run < n ? min(min(j->blocks, n), PARTS) : 1;
}

static size_t first_block(const struct job *j, size_t part) { return j->blocks * part / j->parts; }

/* ---- a block of a row */

/* Puts z in its place among the n best so far, of at most c. */
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

/* Columns [first, first + n), of which z are the logits. found: how many are among the best so far. Returns the largest; NaN if one is. */
static float look(const struct job *j, float *best, int32_t *id, size_t found, const float *z, size_t first, size_t n)
{
	size_t c = j->t->c;
	float top = -INFINITY;
	for (size_t g = 0; g < n; g += GROUP) {
		size_t end = min(g + GROUP, n);
		float most = j->alone.k->max(z + g, end - g);
		if (!(most <= top))
			top = isnan(top) ? top : most;
		if (found == c && most <= best[c - 1])
			continue;
		for (size_t i = g; i < end; i++)
			if (found < c || z[i] > best[c - 1])
				found = insert(best, id, found, c, z[i], first + i);
	}
	return top;
}

static void block_row(const struct job *j, size_t row, size_t part, size_t found, size_t block, const float *z)
{
	const struct n2d_top *t = j->t;
	size_t first = block * j->block, n = min(j->block, t->V - first), place = (row * j->parts + part) * t->c;
	if ((size_t)t->of >= first && (size_t)t->of < first + n)
		j->z_of[row] = z[(size_t)t->of - first];
	float top = look(j, j->best + place, j->best_id + place, found, z, first, n);
	j->lse[row * j->blocks + block] = top == -INFINITY ? top : top + log((double)j->alone.k->sum_exp(z, top, n));
}

/* ---- a row's blocks and parts together */

static double row_log_sum(const double *lse, size_t n)
{
	double top = lse[0], sum = 0;
	for (size_t i = 1; i < n; i++)
		top = lse[i] > top ? lse[i] : top;
	for (size_t i = 0; i < n; i++)
		sum += lse[i] == -INFINITY ? 0 : exp(lse[i] - top); /* NaN stays */
	return top + log(sum);
}

/* The parts' columns ascend: of equal entries the one of the part before comes first. */
static void merge(const struct job *j, size_t row, float *best, int32_t *id)
{
	size_t c = j->t->c, next[PARTS] = {0};
	const float *z = j->best + row * j->parts * c;
	const int32_t *of = j->best_id + row * j->parts * c;
	for (size_t i = 0; i < c; i++) {
		size_t from = j->parts;
		for (size_t p = 0; p < j->parts; p++) {
			size_t columns = min(j->t->V, first_block(j, p + 1) * j->block) - first_block(j, p) * j->block;
			if (next[p] < min(c, columns) && (from == j->parts || z[p * c + next[p]] > z[from * c + next[from]]))
				from = p;
		}
		best[i] = z[from * c + next[from]];
		id[i] = of[from * c + next[from]++];
	}
}

static void finish(const struct job *j, size_t row)
{
	size_t c = j->t->c;
	float *logp = j->logp + row * c;
	int32_t *id = j->id + row * c;
	double sum = row_log_sum(j->lse + row * j->blocks, j->blocks);
	if (j->parts > 1)
		merge(j, row, logp, id);
	j->logp_of[row] = (float)(j->z_of[row] - sum);
	for (size_t i = 0; i < c; i++) {
		logp[i] = (float)(logp[i] - sum);
		if (!isfinite(sum))
			id[i] = -1;
	}
}

/* ---- a task */

static void task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	const struct n2d_top *t = j->t;
	size_t r0 = task / j->parts * j->run, rows = min(j->run, t->rows - r0), part = task % j->parts;
	float *z = j->z + (size_t)thread * n2d_floats(ROWS, LD, 1);
	for (size_t b = first_block(j, part); b < first_block(j, part + 1); b++) {
		size_t column = b * j->block, found = min(t->c, column - first_block(j, part) * j->block);
		struct n2d_gemm g = n2d_gemm_plain(0, 1, rows, min(j->block, t->V - column), t->D);
		g.ldc = LD;
		g.bias = t->bias ? t->bias + column : NULL;
		n2d_gemm_packed(&j->alone, &g, z, j->x + r0 * t->D, n2d_packed_from(t->packed, t->D, column));
		for (size_t i = 0; i < rows; i++)
			block_row(j, r0 + i, part, found, b, z + i * LD);
	}
	for (size_t i = 0; i < rows && j->parts == 1; i++)
		finish(j, r0 + i);
}

/* ---- the interface */

/* Lays a job's arrays out; returns the floats, which grow with the rows. A row that is not in parts has its largest entries where the caller
 * wants them. */
static size_t lay(struct job *j, const struct n2d_ctx *ctx, float *ws)
{
	size_t rows = j->t->rows, tasks = 4 * (size_t)ctx->threads, in_parts = n2d_mul(min(rows, tasks * ROWS), min(min(j->blocks, tasks), PARTS));
	size_t lse = n2d_floats(rows, j->blocks, sizeof(double) / sizeof(float)), best = n2d_floats(in_parts, j->t->c, 1), of = n2d_floats(rows, 1, 1);
	size_t z = n2d_mul(n2d_floats(ROWS, LD, 1), (size_t)ctx->threads), all = n2d_add(n2d_add(lse, n2d_mul(2, best)), n2d_add(of, z));
	if (!ws)
		return all;
	j->lse = (double *)ws;
	j->best = j->parts > 1 ? ws + lse : j->logp;
	j->best_id = j->parts > 1 ? (int32_t *)(ws + lse + best) : j->id;
	j->z_of = ws + lse + 2 * best;
	j->z = j->z_of + of;
	return all;
}

size_t n2d_top_workspace(const struct n2d_ctx *ctx, const struct n2d_top *t)
{
	struct job j = {.t = t};
	divide(&j, ctx);
	return lay(&j, ctx, NULL);
}

void n2d_top(const struct n2d_ctx *ctx, const struct n2d_top *t, float *logp, int32_t *id, float *logp_of, const float *x, float *ws)
{
	struct job j = {.alone = *ctx, .t = t, .x = x, .logp = logp, .logp_of = logp_of, .id = id};
	double rows = (double)t->rows, V = (double)t->V, D = (double)t->D;
	struct n2d_call call;
	j.alone.threads = 1;
	j.alone.trace = NULL;
	divide(&j, ctx);
	lay(&j, ctx, ws);
	if (n2d_trace_open(ctx, &call, "top", (2 * D + 6) * rows * V, 4 * (V * D + rows * D))) {
		n2d_trace_dim(&call, "rows", t->rows);
		n2d_trace_dim(&call, "D", t->D);
		n2d_trace_dim(&call, "V", t->V);
		n2d_trace_dim(&call, "c", t->c);
		n2d_trace_read(&call, x, t->rows, t->D, t->D, N2D_ROWWISE);
		n2d_trace_read(&call, t->packed, 1, n2d_packed_floats(ctx, t->D, t->V), n2d_packed_floats(ctx, t->D, t->V), N2D_ALL_ROWS);
		n2d_trace_write(&call, logp, t->rows, t->c, t->c);
	}
	n2d_parallel(ctx, ceil_div(t->rows, j.run) * j.parts, task, &j);
	for (size_t r = 0; r < t->rows && j.parts > 1; r++)
		finish(&j, r);
	n2d_trace_close(ctx, &call);
}
