/* Streaming attention, backward: one tile of keys after another against all rows of a head. */
#include <string.h>

#include "op/attention_work.h"

/* A head's packed operands: queries and dO, delta, keys and values transposed, keys. */
static struct n2d_attn_plan plan(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	struct n2d_attn_plan p = n2d_attn_sizes(ctx, a);
	p.head = n2d_add(n2d_mul(2, n2d_add(p.rows, p.columns)), n2d_add(p.keys, n2d_floats(a->Tq, 1, 1)));
	n2d_attn_divide(&p, ctx, a);
	return p;
}

size_t n2d_attention_bwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a) { return plan(ctx, a).total; }

struct packed {
	float *q, *d, *delta, *kt, *vt, *k;
};

static struct packed packed(const struct n2d_attn_job *j, size_t h)
{
	struct packed p = {.q = n2d_attn_packed(j, h)};
	p.d = p.q + j->plan.rows, p.kt = p.d + j->plan.rows, p.vt = p.kt + j->plan.columns;
	p.k = p.vt + j->plan.columns, p.delta = p.k + j->plan.keys;
	return p;
}

static void pack(const struct n2d_attn_job *j, size_t block)
{
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->ctx->k;
	size_t t = block * N2D_ATTN_KEYS, rows = n2d_attn_part(j->band.row1, t), keys = n2d_attn_part(j->band.keys, t);
	for (size_t h = j->h0; rows && h < j->h0 + j->heads; h++) {
		struct packed p = packed(j, h);
		size_t q = n2d_head(a->q, a->q_at, j->b, h) + t * a->q.st, o = n2d_head(a->o, a->q_at, j->b, h) + t * a->o.st;
		n2d_attn_pack_rows(j, p.q, j->Q + q, a->scale, t, rows, a->q.st);
		n2d_attn_pack_rows(j, p.d, j->dO + o, 1, t, rows, a->o.st);
		k->attn_delta(p.delta + t, j->dO + o, j->O_in + o, rows, a->K, a->o.st);
	}
	for (size_t h = j->h0; keys && h < j->h0 + j->heads; h++) {
		struct packed p = packed(j, h);
		const float *K = j->K + n2d_head(a->k, a->k_at, j->b, h) + t * a->k.st;
		k->attn_pack(p.kt + t * a->K, K, keys, a->K, a->k.st);
		k->attn_pack(p.vt + t * a->K, j->V + n2d_head(a->v, a->k_at, j->b, h) + t * a->v.st, keys, a->K, a->v.st);
		k->attn_panel(p.k + t * j->plan.wide, K, a->scale, keys, a->K, a->k.st);
	}
}

static void zero_rows(float *x, size_t from, size_t to, size_t width, size_t ld)
{
	for (size_t i = from; i < to; i++)
		memset(x + i * ld, 0, width * sizeof *x);
}

/* What a task computes: of rows [i0, i1) dQ, of keys [t0, t1) dK and dV, or both. */
struct part {
	size_t i0, i1, t0, t1;
	int dq, dk;
};

/* One head where there are heads for all threads. Else rows apart, which take all keys, and tiles of keys apart, which
 * take all rows: seven products in place of five, but of every element the same. */
static struct part part(const struct n2d_attn_job *j, size_t task)
{
	size_t Tq = n2d_rows_there(j->a->q_at, j->b, j->a->Tq), Tk = n2d_rows_there(j->a->k_at, j->b, j->a->Tk), n = j->passes->tasks / 2, rows, keys;
	if (j->passes->tasks == 1)
		return (struct part){0, Tq, 0, Tk, 1, 1};
	rows = (Tq + n - 1) / n, keys = n2d_round_up((Tk + n - 1) / n, N2D_ATTN_KEYS);
	if (task < n)
		return (struct part){n2d_attn_least(task * rows, Tq), n2d_attn_least((task + 1) * rows, Tq), 0, Tk, 1, 0};
	task -= n;
	return (struct part){0, Tq, n2d_attn_least(task * keys, Tk), n2d_attn_least((task + 1) * keys, Tk), 0, 1};
}

static size_t tasks(const struct n2d_ctx *ctx, const struct n2d_attention *a, int apart)
{
	size_t threads = (size_t)ctx->threads;
	return apart || !a->H || a->H >= threads ? 1 : 4 * ((threads + a->H - 1) / a->H);
}

/* Rows [i0, i1), which see some key, against the tiles of keys from t to the one that ends at last or before. */
static void tiles(const struct n2d_attn_job *j, size_t h, const struct part *x, size_t i0, size_t i1, size_t t, size_t last)
{
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->ctx->k;
	const struct n2d_band *w = &j->band;
	size_t q = n2d_head(a->q, a->q_at, j->b, h) + i0 * a->q.st, wide = j->plan.wide;
	struct packed p = packed(j, h);
	struct n2d_attn_bwd y = {.q = p.q + i0 * k->attn_nr, .d = p.d + i0 * k->attn_nr, .q_next = a->Tq * k->attn_nr, .start = 1, .ahead = j->ahead};
	y.lse = j->lse_in + (j->b * a->H + h) * a->Tq + i0, y.delta = p.delta + i0;
	y.rows = i1 - i0, y.width = a->K, y.lddq = a->q.st, y.lddk = a->k.st, y.lddv = a->v.st;
	for (; t < last; t += N2D_ATTN_KEYS) {
		float *dk = j->dK + n2d_head(a->k, a->k_at, j->b, h) + t * a->k.st, *dv = j->dV + n2d_head(a->v, a->k_at, j->b, h) + t * a->v.st;
		y.kt = p.kt + t * a->K, y.vt = p.vt + t * a->K, y.k = p.k + t * wide, y.keys = n2d_attn_part(w->keys, t);
		y.first = w->first + (ptrdiff_t)i0 - (ptrdiff_t)t, y.end = w->end + (ptrdiff_t)i0 - (ptrdiff_t)t;
		k->attn_bwd(x->dq ? j->dQ + q : NULL, x->dk ? dk : NULL, x->dk ? dv : NULL, &y);
		y.start = 0;
	}
}

static void work(const struct n2d_attn_job *j, size_t h, size_t task, float *ws)
{
	(void)ws;
	const struct n2d_attention *a = j->a;
	const struct n2d_band *w = &j->band;
	struct part x = part(j, task);
	float *dq = j->dQ + n2d_head(a->q, a->q_at, j->b, h), *dk = j->dK + n2d_head(a->k, a->k_at, j->b, h), *dv = j->dV + n2d_head(a->v, a->k_at, j->b, h);
	/* Rows [i0, i1) and keys [t, end) are written by the kernels. */
	size_t i0 = x.i0 > w->row0 ? x.i0 : w->row0, i1 = n2d_attn_least(x.i1, w->row1), t = x.t0, end = x.t0;
	if (i0 < i1) {
		size_t last = n2d_attn_least(n2d_clamp((ptrdiff_t)i1 - 1 + w->end, w->keys), x.t1), seen = n2d_attn_tile(w, i0);
		t = seen > t ? seen : t;
		end = t < last ? n2d_attn_least(n2d_round_up(last, N2D_ATTN_KEYS), w->keys) : t;
	} else {
		i0 = i1 = x.i0;
	}
	if (x.dq) {
		zero_rows(dq, x.i0, i0, a->K, a->q.st);
		zero_rows(dq, i1, x.i1, a->K, a->q.st);
	}
	if (x.dk) {
		zero_rows(dk, x.t0, n2d_attn_least(t, x.t1), a->K, a->k.st), zero_rows(dk, end, x.t1, a->K, a->k.st);
		zero_rows(dv, x.t0, n2d_attn_least(t, x.t1), a->K, a->v.st), zero_rows(dv, end, x.t1, a->K, a->v.st);
	}
	if (i0 < i1)
		tiles(j, h, &x, i0, i1, t, end);
}

static size_t reach(const struct n2d_attention *a) { return a->window ? a->window : N2D_ALL_ROWS; }

void n2d_attention_bwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *dQ, float *dK, float *dV,
		       const float *dO, const float *O, const float *lse, const float *Q, const float *K,
		       const float *V, float *ws)
{
	struct n2d_call call;
	if (n2d_attn_open(ctx, &call, "attention_bwd", a, 2.5)) {
		n2d_trace_read(&call, dO, n2d_all_rows(a->q_at, a->B, a->Tq), n2d_attn_span(a, a->o), a->o.st, reach(a));
		n2d_trace_read(&call, O, n2d_all_rows(a->q_at, a->B, a->Tq), n2d_attn_span(a, a->o), a->o.st, reach(a));
		n2d_trace_read(&call, Q, n2d_all_rows(a->q_at, a->B, a->Tq), n2d_attn_span(a, a->q), a->q.st, reach(a));
		n2d_trace_read(&call, K, n2d_all_rows(a->k_at, a->B, a->Tk), n2d_attn_span(a, a->k), a->k.st, reach(a));
		n2d_trace_read(&call, V, n2d_all_rows(a->k_at, a->B, a->Tk), n2d_attn_span(a, a->v), a->v.st, reach(a));
		n2d_trace_write(&call, dQ, n2d_all_rows(a->q_at, a->B, a->Tq), n2d_attn_span(a, a->q), a->q.st);
		n2d_trace_write(&call, dK, n2d_all_rows(a->k_at, a->B, a->Tk), n2d_attn_span(a, a->k), a->k.st);
		n2d_trace_write(&call, dV, n2d_all_rows(a->k_at, a->B, a->Tk), n2d_attn_span(a, a->v), a->v.st);
	}
	struct n2d_attn_job j = {.ctx = ctx, .a = a, .plan = plan(ctx, a)};
	struct n2d_attn_passes passes = {pack, work, tasks(ctx, a, j.plan.apart)};
	j.passes = &passes;
	j.dQ = dQ, j.dK = dK, j.dV = dV, j.dO = dO, j.O_in = O, j.lse_in = lse, j.Q = Q, j.K = K, j.V = V;
	n2d_attn_run(&j, ws);
	n2d_trace_close(ctx, &call);
}
