/* Streaming attention: one head's rows against one tile of keys after another. A packed tile stays
 * in the second-level cache while all rows of a task pass over it. */
#include "op/attention.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/attention_band.h"

struct n2d_band n2d_attention_band(const struct n2d_attention *a, size_t b)
{
	const ptrdiff_t far = PTRDIFF_MAX / 4;
	ptrdiff_t shift = (ptrdiff_t)a->Tk - (ptrdiff_t)a->Tq, R = a->window < (size_t)far ? (ptrdiff_t)a->window : far;
	struct n2d_band w = {-far, far, a->Tk, 0, a->Tq};
	if (a->klen)
		w.keys = n2d_clamp(a->klen[b], a->Tk);
	if (a->window)
		w.first = shift - R, w.end = shift + R + 1;
	if (a->causal)
		w.end = shift + 1;
	w.row0 = n2d_clamp(1 - w.end, a->Tq);
	w.row1 = n2d_clamp((ptrdiff_t)w.keys - w.first, a->qlen ? n2d_clamp(a->qlen[b], a->Tq) : a->Tq);
	if (!w.keys || w.row1 < w.row0)
		w.row1 = w.row0;
	return w;
}

/* One call of the forward or backward operator, and the workspace of one thread in floats. */
struct job {
	const struct n2d_attention *a;
	const struct n2d_kernels *k;
	float *O, *lse, *dQ, *dK, *dV;
	const float *Q, *K, *V, *dO, *lse_in, *O_in;
	float *ws;
	size_t per_thread;
	size_t chunk, chunks; /* rows of a task, tasks of a head */
	float *qt, *kt, *v;   /* forward: all heads packed, a head's floats apart */
	size_t q_head, k_head, v_head, v_tile;
};

static size_t panels(const struct n2d_kernels *k, size_t rows, size_t width)
{
	return n2d_floats(rows, n2d_round_up(width, k->attn_nr), 1);
}

/* Takes n floats (already rounded up) from *ws. */
static float *take(float **ws, size_t n)
{
	float *p = *ws;
	*ws += n;
	return p;
}

static void zero_rows(float *x, size_t rows, size_t width, size_t ld)
{
	for (size_t i = 0; i < rows; i++)
		memset(x + i * ld, 0, width * sizeof *x);
}

/* ---- forward */

/* Rows of a task. Rows do not depend on each other, so the division may look at the threads: a
 * whole head a task packs each tile of keys once, more tasks keep more threads busy. */
static size_t chunk_rows(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t heads = n2d_mul(a->B, a->H), want = 4 * (size_t)ctx->threads;
	size_t chunks = ctx->threads == 1 || !heads ? 1 : heads >= want ? 1 : (want + heads - 1) / heads;
	size_t unit = 2 * ctx->k->attn_mr;
	return n2d_round_up((a->Tq + chunks - 1) / chunks, unit);
}

/* One thread's running output and statistics. */
static size_t fwd_floats(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t rows = chunk_rows(ctx, a), n = n2d_floats(rows, 1, 1);
	n = n2d_add(n, n2d_floats(rows, ctx->k->lanes, 1));
	return n2d_add(n, panels(ctx->k, rows, a->K));
}

static size_t key_tiles(const struct n2d_attention *a) { return (a->Tk + N2D_ATTN_KEYS - 1) / N2D_ATTN_KEYS; }

/* Floats of one head's rows of Q and tiles of K and V, packed. */
static void packed_floats(const struct n2d_ctx *ctx, const struct n2d_attention *a, size_t *q, size_t *k, size_t *v)
{
	*q = n2d_floats(n2d_round_up(a->Tq, ctx->k->attn_mr), a->K, 1);
	*k = n2d_floats(n2d_mul(key_tiles(a), N2D_ATTN_KEYS), a->K, 1);
	*v = n2d_mul(key_tiles(a), panels(ctx->k, N2D_ATTN_KEYS, a->K));
}

size_t n2d_attention_fwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t q, k, v;
	packed_floats(ctx, a, &q, &k, &v);
	size_t packed = n2d_mul(n2d_mul(a->B, a->H), n2d_add(q, n2d_add(k, v)));
	return n2d_add(packed, n2d_mul(fwd_floats(ctx, a), (size_t)ctx->threads));
}

/* Packing is a pass of its own, block of tokens by block of tokens with all heads of each: a head's rows alone lie
 * far apart where heads share a token's row, and reading them so took a tenth of the time at n = 512. */
static size_t query_block(const struct n2d_kernels *k) { return n2d_round_up(N2D_ATTN_KEYS, k->attn_mr); }

static void pack_queries(const struct job *j, const struct n2d_band *w, size_t b, size_t i0)
{
	const struct n2d_attention *a = j->a;
	size_t end = i0 + query_block(j->k) < w->row1 ? i0 + query_block(j->k) : w->row1;
	for (size_t h = 0; i0 < end && end > w->row0 && h < a->H; h++)
		j->k->attn_pack(j->qt + (b * a->H + h) * j->q_head + i0 * a->K, j->Q + n2d_head(a->q, b, h) + i0 * a->q.st, a->scale,
				end - i0, a->K, j->k->attn_mr, a->q.st);
}

static void pack_keys(const struct job *j, const struct n2d_band *w, size_t b, size_t tile)
{
	const struct n2d_attention *a = j->a;
	size_t t = tile * N2D_ATTN_KEYS, keys = w->keys - t < N2D_ATTN_KEYS ? w->keys - t : N2D_ATTN_KEYS;
	for (size_t h = 0; t < w->keys && h < a->H; h++) {
		float *kt = j->kt + (b * a->H + h) * j->k_head + t * a->K;
		float *v = j->v + (b * a->H + h) * j->v_head + tile * j->v_tile;
		j->k->attn_pack(kt, j->K + n2d_head(a->k, b, h) + t * a->k.st, 1, keys, a->K, j->k->attn_nr, a->k.st);
		j->k->attn_panel(v, j->V + n2d_head(a->v, b, h) + t * a->v.st, 1, keys, a->K, a->v.st);
	}
}

static void pack_task(void *arg, size_t task, int thread)
{
	(void)thread;
	const struct job *j = arg;
	size_t queries = (j->a->Tq + query_block(j->k) - 1) / query_block(j->k), all = queries + key_tiles(j->a);
	size_t b = task / all, i = task % all;
	struct n2d_band w = n2d_attention_band(j->a, b);
	if (w.row0 == w.row1)
		return;
	if (i < queries)
		pack_queries(j, &w, b, i * query_block(j->k));
	else
		pack_keys(j, &w, b, i - queries);
}

/* Rows [i0, i0 + rows) of head (b, h), all of which see some key; i0 may lie within a packed group. */
static void fwd_rows(const struct job *j, const struct n2d_band *w, size_t b, size_t h, size_t i0, size_t rows, float *ws)
{
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->k;
	size_t skip = i0 % k->attn_mr, head = b * a->H + h, n = rows + skip; /* rows before i0 see nothing, and stay as they are */
	float *mx = take(&ws, n2d_floats(j->chunk, 1, 1)), *sum = take(&ws, n2d_floats(j->chunk, k->lanes, 1)), *o = ws;
	const float *qt = j->qt + head * j->q_head + (i0 - skip) * a->K, *kt = j->kt + head * j->k_head, *v = j->v + head * j->v_head;
	/* The output collects in dense rows: rows of a wide tensor would fall on few sets of the caches. */
	size_t ldo = n2d_round_up(a->K, k->attn_nr);
	ptrdiff_t first = w->first + (ptrdiff_t)(i0 - skip), end = w->end + (ptrdiff_t)(i0 - skip);
	for (size_t i = 0; i < n; i++)
		mx[i] = -INFINITY;
	memset(sum, 0, n * k->lanes * sizeof *sum);
	memset(o, 0, n * ldo * sizeof *o);
	size_t last = n2d_clamp((ptrdiff_t)n - 1 + end, w->keys);
	for (size_t t = n2d_clamp(first, w->keys) / N2D_ATTN_KEYS * N2D_ATTN_KEYS; t < last; t += N2D_ATTN_KEYS) {
		size_t keys = w->keys - t < N2D_ATTN_KEYS ? w->keys - t : N2D_ATTN_KEYS;
		k->attn_fwd(o, mx, sum, qt, kt + t * a->K, v + t / N2D_ATTN_KEYS * j->v_tile, first - (ptrdiff_t)t,
			    end - (ptrdiff_t)t, n, keys, a->K, ldo);
	}
	k->attn_end(j->O + n2d_head(a->o, b, h) + i0 * a->o.st, j->lse ? j->lse + head * a->Tq + i0 : NULL, o + skip * ldo, mx + skip,
		    sum + skip * k->lanes, rows, a->K, a->o.st, ldo);
}

/* Rows [from, to) see no key. */
static void unseen(const struct job *j, size_t b, size_t h, size_t from, size_t to)
{
	const struct n2d_attention *a = j->a;
	for (size_t i = from; i < to; i++) {
		memset(j->O + n2d_head(a->o, b, h) + i * a->o.st, 0, a->K * sizeof(float));
		if (j->lse)
			j->lse[(b * a->H + h) * a->Tq + i] = -INFINITY;
	}
}

static void fwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	const struct n2d_attention *a = j->a;
	size_t head = task / j->chunks, b = head / a->H, h = head % a->H, i0 = task % j->chunks * j->chunk;
	if (i0 >= a->Tq)
		return;
	size_t rows = a->Tq - i0 < j->chunk ? a->Tq - i0 : j->chunk;
	struct n2d_band w = n2d_attention_band(a, b);
	size_t from = w.row0 > i0 ? w.row0 : i0, to = w.row1 < i0 + rows ? w.row1 : i0 + rows;
	if (from >= to)
		from = to = i0;
	unseen(j, b, h, i0, from);
	unseen(j, b, h, to, i0 + rows);
	if (from < to)
		fwd_rows(j, &w, b, h, from, to - from, j->ws + (size_t)thread * j->per_thread);
}

static size_t reach(const struct n2d_attention *a) { return a->window ? a->window : N2D_ALL_ROWS; }

/* Rows t of all sentences, the heads' columns from the first to the last. */
static void trace_open(const struct n2d_ctx *ctx, struct n2d_call *call, const char *op, const struct n2d_attention *a,
		       double passes)
{
	if (!n2d_trace_open(ctx, call, op, passes * n2d_attention_flops(a), passes * n2d_attention_bytes(a)))
		return;
	n2d_trace_dim(call, "B", a->B);
	n2d_trace_dim(call, "H", a->H);
	n2d_trace_dim(call, "Tq", a->Tq);
	n2d_trace_dim(call, "Tk", a->Tk);
	n2d_trace_dim(call, "K", a->K);
}

static size_t span(const struct n2d_attention *a, struct n2d_strides s) { return a->H ? (a->H - 1) * s.sh + a->K : 0; }

void n2d_attention_fwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *O, float *lse, const float *Q,
		       const float *K, const float *V, float *ws)
{
	struct n2d_call call;
	trace_open(ctx, &call, "attention_fwd", a, 1);
	if (call.open) {
		n2d_trace_read(&call, Q, a->B * a->Tq, span(a, a->q), a->q.st, N2D_ROWWISE);
		n2d_trace_read(&call, K, a->B * a->Tk, span(a, a->k), a->k.st, reach(a));
		n2d_trace_read(&call, V, a->B * a->Tk, span(a, a->v), a->v.st, reach(a));
		n2d_trace_write(&call, O, a->B * a->Tq, span(a, a->o), a->o.st);
	}
	struct job j = {.a = a, .k = ctx->k, .O = O, .lse = lse, .Q = Q, .K = K, .V = V, .ws = ws};
	size_t heads = a->B * a->H, blocks = (a->Tq + query_block(ctx->k) - 1) / query_block(ctx->k);
	packed_floats(ctx, a, &j.q_head, &j.k_head, &j.v_head);
	j.v_tile = panels(ctx->k, N2D_ATTN_KEYS, a->K);
	j.qt = take(&j.ws, heads * j.q_head);
	j.kt = take(&j.ws, heads * j.k_head);
	j.v = take(&j.ws, heads * j.v_head);
	j.per_thread = fwd_floats(ctx, a);
	j.chunk = chunk_rows(ctx, a);
	j.chunks = j.chunk ? (a->Tq + j.chunk - 1) / j.chunk : 0;
	n2d_parallel(ctx, a->B * (blocks + key_tiles(a)), pack_task, &j);
	n2d_parallel(ctx, a->B * a->H * j.chunks, fwd_task, &j);
	n2d_trace_close(ctx, &call);
}

/* ---- backward */

static size_t bwd_floats(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	const struct n2d_kernels *k = ctx->k;
	size_t n = n2d_mul(2, n2d_floats(n2d_round_up(a->Tq, k->attn_mr), a->K, 1));
	n = n2d_add(n, n2d_mul(2, panels(k, a->Tq, a->K)));
	n = n2d_add(n, n2d_floats(a->Tq, 1, 1));
	n = n2d_add(n, n2d_mul(2, n2d_floats(N2D_ATTN_KEYS, a->K, 1)));
	return n2d_add(n, panels(k, N2D_ATTN_KEYS, a->K));
}

size_t n2d_attention_bwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	return n2d_mul(bwd_floats(ctx, a), (size_t)ctx->threads);
}

/* The rows' operands, packed, and delta. Returns the workspace behind them. */
static float *bwd_pack_rows(struct n2d_attn_bwd *x, const struct job *j, size_t b, size_t h, size_t i0, float *ws)
{
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->k;
	size_t n = x->rows, groups = n2d_floats(n2d_round_up(a->Tq, k->attn_mr), a->K, 1), rows = panels(k, a->Tq, a->K);
	const float *Q = j->Q + n2d_head(a->q, b, h) + i0 * a->q.st, *dO = j->dO + n2d_head(a->o, b, h) + i0 * a->o.st;
	const float *O = j->O_in + n2d_head(a->o, b, h) + i0 * a->o.st;
	float *qt = take(&ws, groups), *dt = take(&ws, groups), *q = take(&ws, rows), *d = take(&ws, rows);
	float *delta = take(&ws, n2d_floats(a->Tq, 1, 1));
	k->attn_pack(qt, Q, a->scale, n, a->K, k->attn_mr, a->q.st);
	k->attn_pack(dt, dO, 1, n, a->K, k->attn_mr, a->o.st);
	k->attn_panel(q, Q, a->scale, n, a->K, a->q.st);
	k->attn_panel(d, dO, 1, n, a->K, a->o.st);
	for (size_t i = 0; i < n; i++)
		delta[i] = k->dot(dO + i * a->o.st, O + i * a->o.st, a->K);
	x->qt = qt, x->dt = dt, x->q = q, x->d = d, x->delta = delta;
	x->lse = j->lse_in + (b * a->H + h) * a->Tq + i0;
	return ws;
}

static void bwd_task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	const struct n2d_attention *a = j->a;
	const struct n2d_kernels *k = j->k;
	size_t b = task / a->H, h = task % a->H;
	float *ws = j->ws + (size_t)thread * j->per_thread;
	float *dq = j->dQ + n2d_head(a->q, b, h), *dk = j->dK + n2d_head(a->k, b, h), *dv = j->dV + n2d_head(a->v, b, h);
	zero_rows(dq, a->Tq, a->K, a->q.st);
	zero_rows(dk, a->Tk, a->K, a->k.st);
	zero_rows(dv, a->Tk, a->K, a->v.st);
	struct n2d_band w = n2d_attention_band(a, b);
	if (w.row0 == w.row1)
		return;
	struct n2d_attn_bwd x = {.rows = w.row1 - w.row0, .width = a->K, .lddq = a->q.st, .lddk = a->k.st, .lddv = a->v.st};
	ws = bwd_pack_rows(&x, j, b, h, w.row0, ws);
	float *kt = take(&ws, n2d_floats(N2D_ATTN_KEYS, a->K, 1)), *vt = take(&ws, n2d_floats(N2D_ATTN_KEYS, a->K, 1));
	x.kt = kt, x.vt = vt, x.k = ws;
	ptrdiff_t first = w.first + (ptrdiff_t)w.row0, end = w.end + (ptrdiff_t)w.row0;
	size_t last = n2d_clamp((ptrdiff_t)x.rows - 1 + end, w.keys);
	for (size_t t = n2d_clamp(first, w.keys) / N2D_ATTN_KEYS * N2D_ATTN_KEYS; t < last; t += N2D_ATTN_KEYS) {
		const float *K = j->K + n2d_head(a->k, b, h) + t * a->k.st, *V = j->V + n2d_head(a->v, b, h) + t * a->v.st;
		x.keys = w.keys - t < N2D_ATTN_KEYS ? w.keys - t : N2D_ATTN_KEYS;
		x.first = first - (ptrdiff_t)t, x.end = end - (ptrdiff_t)t;
		k->attn_pack(kt, K, 1, x.keys, a->K, k->attn_nr, a->k.st);
		k->attn_pack(vt, V, 1, x.keys, a->K, k->attn_nr, a->v.st);
		k->attn_panel(ws, K, a->scale, x.keys, a->K, a->k.st);
		k->attn_bwd(dq + w.row0 * a->q.st, dk + t * a->k.st, dv + t * a->v.st, &x);
	}
}

void n2d_attention_bwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *dQ, float *dK, float *dV,
		       const float *dO, const float *O, const float *lse, const float *Q, const float *K,
		       const float *V, float *ws)
{
	struct n2d_call call;
	trace_open(ctx, &call, "attention_bwd", a, 2.5);
	if (call.open) {
		n2d_trace_read(&call, dO, a->B * a->Tq, span(a, a->o), a->o.st, reach(a));
		n2d_trace_read(&call, O, a->B * a->Tq, span(a, a->o), a->o.st, reach(a));
		n2d_trace_read(&call, Q, a->B * a->Tq, span(a, a->q), a->q.st, reach(a));
		n2d_trace_read(&call, K, a->B * a->Tk, span(a, a->k), a->k.st, reach(a));
		n2d_trace_read(&call, V, a->B * a->Tk, span(a, a->v), a->v.st, reach(a));
		n2d_trace_write(&call, dQ, a->B * a->Tq, span(a, a->q), a->q.st);
		n2d_trace_write(&call, dK, a->B * a->Tk, span(a, a->k), a->k.st);
		n2d_trace_write(&call, dV, a->B * a->Tk, span(a, a->v), a->v.st);
	}
	struct job j = {.a = a, .k = ctx->k, .dQ = dQ, .dK = dK, .dV = dV, .dO = dO, .O_in = O, .lse_in = lse};
	j.Q = Q, j.K = K, j.V = V, j.ws = ws;
	j.per_thread = bwd_floats(ctx, a);
	n2d_parallel(ctx, a->B * a->H, bwd_task, &j);
	n2d_trace_close(ctx, &call);
}

/* ---- cost */

double n2d_attention_flops(const struct n2d_attention *a)
{
	double pairs = 0;
	for (size_t b = 0; b < a->B; b++) {
		struct n2d_band w = n2d_attention_band(a, b);
		for (size_t i = w.row0; i < w.row1; i++)
			pairs += (double)(n2d_clamp((ptrdiff_t)i + w.end, w.keys) - n2d_clamp((ptrdiff_t)i + w.first, w.keys));
		if (!a->klen && !a->qlen) {
			pairs *= (double)a->B;
			break;
		}
	}
	return 4.0 * pairs * (double)a->H * (double)a->K;
}

double n2d_attention_bytes(const struct n2d_attention *a)
{
	return 4.0 * (double)a->B * (double)a->H * (double)a->K * 2.0 * ((double)a->Tq + (double)a->Tk);
}
