/* Streaming attention, forward: one head's rows against one tile of keys after another. A packed tile stays
 * in the second-level cache while all rows of a task pass over it. */
#include <math.h>
#include <string.h>

#include "op/attention_row.h"
#include "op/attention_work.h"

/* Rows of a task. Rows do not depend on each other, so the division may look at the threads. */
static size_t chunk_rows(const struct n2d_ctx *ctx, const struct n2d_attention *a, int apart)
{
	size_t want = 4 * (size_t)ctx->threads, chunks = apart || !a->H || a->H >= want ? 1 : (want + a->H - 1) / a->H;
	return n2d_round_up((a->Tq + chunks - 1) / chunks, 2 * ctx->k->attn_mr);
}

/* One thread's running output and statistics. */
static size_t task_floats(const struct n2d_ctx *ctx, size_t rows, size_t wide)
{
	size_t n = n2d_add(n2d_floats(rows, 1, 1), n2d_floats(rows, ctx->k->lanes, 1));
	return n2d_add(n, n2d_floats(rows, wide, 1));
}

/* A head's packed operands: queries, keys transposed, values. */
static struct n2d_attn_plan plan(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	struct n2d_attn_plan p = n2d_attn_sizes(ctx, a);
	p.chunk = chunk_rows(ctx, a, p.apart);
	p.head = n2d_add(p.rows, n2d_add(p.columns, p.keys));
	p.per_thread = task_floats(ctx, p.chunk, p.wide);
	n2d_attn_divide(&p, ctx, a);
	return p;
}

size_t n2d_attention_fwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	return a->Tq == 1 ? n2d_attention_row_workspace(ctx, a) : plan(ctx, a).total;
}

struct packed {
	float *q, *kt, *v;
};

static struct packed packed(const struct n2d_attn_job *j, size_t h)
{
	float *q = n2d_attn_packed(j, h), *kt = q + j->plan.rows;
	return (struct packed){q, kt, kt + j->plan.columns};
}

static void pack(const struct n2d_attn_job *j, size_t block)
{
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->ctx->k;
	size_t t = block * N2D_ATTN_KEYS, rows = n2d_attn_part(j->band.row1, t), keys = n2d_attn_part(j->band.keys, t);
	for (size_t h = j->h0; rows && h < j->h0 + j->heads; h++)
		n2d_attn_pack_rows(j, packed(j, h).q, j->Q + n2d_head(a->q, a->q_at, j->b, h) + t * a->q.st, a->scale, t, rows, a->q.st);
	for (size_t h = j->h0; keys && h < j->h0 + j->heads; h++) {
		struct packed p = packed(j, h);
		k->attn_pack(p.kt + t * a->K, j->K + n2d_head(a->k, a->k_at, j->b, h) + t * a->k.st, keys, a->K, a->k.st);
		k->attn_panel(p.v + t * j->plan.wide, j->V + n2d_head(a->v, a->k_at, j->b, h) + t * a->v.st, 1, keys, a->K, a->v.st);
	}
}

/* Rows [i0, i0 + rows), all of which see some key. */
static void rows_of(const struct n2d_attn_job *j, size_t h, size_t i0, size_t rows, float *ws)
{
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->ctx->k;
	const struct n2d_band *w = &j->band;
	struct packed p = packed(j, h);
	float *mx = ws, *sum = mx + n2d_floats(j->plan.chunk, 1, 1), *o = sum + n2d_floats(j->plan.chunk, k->lanes, 1);
	size_t last = n2d_clamp((ptrdiff_t)(i0 + rows) - 1 + w->end, w->keys), wide = j->plan.wide;
	/* The output collects in dense rows: rows of a wide tensor would fall on few sets of the caches. */
	struct n2d_attn_fwd x = {.q = p.q + i0 * k->attn_nr, .q_next = a->Tq * k->attn_nr, .rows = rows, .width = a->K, .ldo = wide, .ahead = j->ahead};
	x.start = 1;
	for (size_t t = n2d_attn_tile(w, i0); t < last; t += N2D_ATTN_KEYS) {
		x.kt = p.kt + t * a->K, x.v = p.v + t * wide, x.keys = n2d_attn_part(w->keys, t);
		x.first = w->first + (ptrdiff_t)i0 - (ptrdiff_t)t, x.end = w->end + (ptrdiff_t)i0 - (ptrdiff_t)t;
		k->attn_fwd(o, mx, sum, &x);
		x.start = 0;
	}
	k->attn_end(j->O + n2d_head(a->o, a->q_at, j->b, h) + i0 * a->o.st, j->lse ? j->lse + (j->b * a->H + h) * a->Tq + i0 : NULL, o, mx,
		    sum, rows, a->K, a->o.st, wide);
}

/* Rows [from, to) see no key. */
static void unseen(const struct n2d_attn_job *j, size_t h, size_t from, size_t to)
{
	const struct n2d_attention *a = j->a;
	for (size_t i = from; i < to; i++) {
		memset(j->O + n2d_head(a->o, a->q_at, j->b, h) + i * a->o.st, 0, a->K * sizeof(float));
		if (j->lse)
			j->lse[(j->b * a->H + h) * a->Tq + i] = -INFINITY;
	}
}

static void work(const struct n2d_attn_job *j, size_t h, size_t task, float *ws)
{
	size_t rows = n2d_rows_there(j->a->q_at, j->b, j->a->Tq);
	size_t i0 = n2d_attn_least(task * j->plan.chunk, rows), i1 = n2d_attn_least(i0 + j->plan.chunk, rows);
	size_t from = j->band.row0 > i0 ? j->band.row0 : i0, to = j->band.row1 < i1 ? j->band.row1 : i1;
	if (from >= to)
		from = to = i0;
	unseen(j, h, i0, from);
	unseen(j, h, to, i1);
	if (from < to)
		rows_of(j, h, from, to - from, ws);
}

static size_t reach(const struct n2d_attention *a) { return a->window ? a->window : N2D_ALL_ROWS; }

void n2d_attention_fwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *O, float *lse, const float *Q,
		       const float *K, const float *V, float *ws)
{
	struct n2d_call call;
	if (n2d_attn_open(ctx, &call, "attention_fwd", a, 1)) {
		n2d_trace_read(&call, Q, n2d_all_rows(a->q_at, a->B, a->Tq), n2d_attn_span(a, a->q), a->q.st, N2D_ROWWISE);
		n2d_trace_read(&call, K, n2d_all_rows(a->k_at, a->B, a->Tk), n2d_attn_span(a, a->k), a->k.st, reach(a));
		n2d_trace_read(&call, V, n2d_all_rows(a->k_at, a->B, a->Tk), n2d_attn_span(a, a->v), a->v.st, reach(a));
		n2d_trace_write(&call, O, n2d_all_rows(a->q_at, a->B, a->Tq), n2d_attn_span(a, a->o), a->o.st);
	}
	struct n2d_attn_job j = {.ctx = ctx, .a = a, .O = O, .lse = lse, .Q = Q, .K = K, .V = V};
	if (a->Tq == 1) {
		n2d_attention_row(&j, ws);
	} else {
		j.plan = plan(ctx, a);
		struct n2d_attn_passes passes = {pack, work, j.plan.chunk ? (a->Tq + j.plan.chunk - 1) / j.plan.chunk : 0};
		j.passes = &passes;
		n2d_attn_run(&j, ws);
	}
	n2d_trace_close(ctx, &call);
}
