/* Attention: who sees whom, how the streaming versions divide their work, what they cost. */
#include "op/attention.h"

#include <math.h>
#include <stdint.h>

#include "base/threads.h"
#include "base/trace.h"
#include "op/attention_band.h"
#include "op/attention_work.h"

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

/* ---- division */

/* Packed operands in all: 32 MiB, unless the threads would lack heads to work on. */
enum { PACKED = 8 << 20 };

struct n2d_attn_plan n2d_attn_sizes(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t nr = ctx->k->attn_nr;
	struct n2d_attn_plan p = {.apart = ctx->threads == 1 || a->B >= 4 * (size_t)ctx->threads, .wide = n2d_round_up(a->K, nr)};
	p.rows = n2d_floats(a->Tq, p.wide, 1);
	p.columns = n2d_floats(n2d_round_up(a->Tk, nr), a->K, 1);
	p.keys = n2d_floats(a->Tk, p.wide, 1);
	return p;
}

void n2d_attn_divide(struct n2d_attn_plan *plan, const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t threads = (size_t)ctx->threads, sets = plan->apart ? threads : 1, least = plan->apart ? 1 : threads;
	size_t most = plan->head ? PACKED / sets / plan->head : a->H;
	plan->group = most / least * least > least ? most / least * least : least;
	plan->group = plan->group < a->H ? plan->group : a->H;
	plan->total = n2d_mul(n2d_mul(plan->group, plan->head), sets);
	plan->total = n2d_add(plan->total, n2d_mul(plan->per_thread, threads));
}

/* Adds the h-th of a->H parts of sentence b's rows of x, if all heads lie in a row of it and x does not lie in a row of `of`, as K and V do in a fused
 * projection's. */
static void fetch_rows(const struct n2d_attn_job *j, const float *x, struct n2d_strides s, const int32_t *at, size_t b, size_t rows, size_t h,
		       const float *of, size_t of_st)
{
	struct n2d_attn_ahead *f = j->ahead;
	size_t first = at ? (size_t)at[b] * s.st : b * s.sb, floats = rows * s.st;
	if (!x || s.st < n2d_attn_span(j->a, s) || (of && x >= of && x < of + of_st))
		return;
	f->part[f->parts].p = x + first + n2d_cut(floats, j->a->H, h);
	f->part[f->parts++].end = x + first + n2d_cut(floats, j->a->H, h + 1);
}

/* While head h of a sentence is computed, a part of all that the next one's packing reads is fetched: it lies in pieces of a head's width, which the
 * processor does not take for a stream. */
static void fetch_next(const struct n2d_attn_job *j, size_t h)
{
	const struct n2d_attention *a = j->a;
	size_t b = j->b + 1;
	j->ahead->parts = 0;
	if (b >= a->B)
		return;
	size_t rows = a->qlen ? n2d_clamp(a->qlen[b], a->Tq) : a->Tq, keys = a->klen ? n2d_clamp(a->klen[b], a->Tk) : a->Tk;
	/* The last is fetched first: what was written longest ago. */
	fetch_rows(j, j->dO, a->o, a->q_at, b, rows, h, NULL, 0);
	fetch_rows(j, j->O_in, a->o, a->q_at, b, rows, h, NULL, 0);
	fetch_rows(j, j->V, a->v, a->k_at, b, keys, h, j->K, a->k.st);
	fetch_rows(j, j->K, a->k, a->k_at, b, keys, h, j->Q, a->q.st);
	fetch_rows(j, j->Q, a->q, a->q_at, b, rows, h, NULL, 0);
}

static void pack_block(void *arg, size_t block, int thread)
{
	(void)thread;
	const struct n2d_attn_job *j = arg;
	j->passes->pack(j, block);
}

static void work_task(void *arg, size_t task, int thread)
{
	const struct n2d_attn_job *j = arg;
	size_t tasks = j->passes->tasks;
	if (j->ahead)
		fetch_next(j, j->h0 + task / tasks);
	j->passes->work(j, j->h0 + task / tasks, task % tasks, j->ws + (size_t)thread * j->plan.per_thread);
}

/* Calls fn for each task, in this thread where threads have sentences of their own. */
static void each(const struct n2d_attn_job *j, size_t tasks, void (*fn)(void *arg, size_t task, int thread), int thread)
{
	if (!j->plan.apart)
		n2d_parallel(j->ctx, tasks, fn, (void *)j);
	for (size_t i = 0; j->plan.apart && i < tasks; i++)
		fn((void *)j, i, thread);
}

static void sentence(void *arg, size_t b, int thread)
{
	struct n2d_attn_job j = *(const struct n2d_attn_job *)arg;
	struct n2d_attn_ahead ahead;
	size_t longer = j.a->Tq > j.a->Tk ? j.a->Tq : j.a->Tk, blocks = (longer + N2D_ATTN_KEYS - 1) / N2D_ATTN_KEYS;
	j.b = b;
	j.band = n2d_attention_band(j.a, b);
	j.packed += (size_t)thread * j.plan.group * j.plan.head;
	j.ahead = j.plan.apart ? &ahead : NULL;
	for (j.h0 = 0; j.h0 < j.a->H; j.h0 += j.plan.group) {
		j.heads = j.a->H - j.h0 < j.plan.group ? j.a->H - j.h0 : j.plan.group;
		if (j.band.row0 < j.band.row1)
			each(&j, blocks, pack_block, thread);
		each(&j, j.heads * j.passes->tasks, work_task, thread);
	}
}

void n2d_attn_run(struct n2d_attn_job *j, float *ws)
{
	size_t sets = j->plan.apart ? (size_t)j->ctx->threads : 1;
	j->packed = ws;
	j->ws = ws + sets * j->plan.group * j->plan.head;
	if (j->plan.apart)
		n2d_parallel(j->ctx, j->a->B, sentence, j);
	for (size_t b = 0; !j->plan.apart && b < j->a->B; b++)
		sentence(j, b, 0);
}

void n2d_attn_pack_rows(const struct n2d_attn_job *j, float *to, const float *x, float alpha, size_t t, size_t rows, size_t ldx)
{
	size_t nr = j->ctx->k->attn_nr, K = j->a->K;
	for (size_t c = 0; c < K; c += nr)
		j->ctx->k->attn_panel(to + c * j->a->Tq + t * nr, x + c, alpha, rows, K - c < nr ? K - c : nr, ldx);
}

/* ---- cost */

int n2d_attn_open(const struct n2d_ctx *ctx, struct n2d_call *call, const char *op, const struct n2d_attention *a, double passes)
{
	call->open = 0;
	if (!ctx->trace || !n2d_trace_open(ctx, call, op, passes * n2d_attention_flops(a), passes * n2d_attention_bytes(a)))
		return 0;
	n2d_trace_dim(call, "B", a->B);
	n2d_trace_dim(call, "H", a->H);
	n2d_trace_dim(call, "Tq", a->Tq);
	n2d_trace_dim(call, "Tk", a->Tk);
	n2d_trace_dim(call, "K", a->K);
	return 1;
}

size_t n2d_attn_span(const struct n2d_attention *a, struct n2d_strides s) { return a->H ? (a->H - 1) * s.sh + a->K : 0; }

/* The sum of clamp(i + shift, keys) over the rows i < row. */
static double keys_before(size_t row, ptrdiff_t shift, size_t keys)
{
	ptrdiff_t first = shift < 0 ? 0 : shift, n = (ptrdiff_t)keys, end = (ptrdiff_t)row + shift;
	double rising = (double)((end < n ? end : n) - first), full = (double)(end - (first > n ? first : n));
	return (rising > 0 ? rising * (2 * (double)first + rising - 1) / 2 : 0) + (full > 0 ? full * (double)n : 0);
}

static double keys_in(const struct n2d_band *w, ptrdiff_t shift)
{
	return keys_before(w->row1, shift, w->keys) - keys_before(w->row0, shift, w->keys);
}

double n2d_attention_flops(const struct n2d_attention *a)
{
	double pairs = 0;
	for (size_t b = 0; b < a->B; b++) {
		struct n2d_band w = n2d_attention_band(a, b);
		if (w.row0 < w.row1)
			pairs += keys_in(&w, w.end) - keys_in(&w, w.first);
		if (!a->klen && !a->qlen) {
			pairs *= (double)a->B;
			break;
		}
	}
	return 4.0 * pairs * (double)a->H * (double)a->K;
}

double n2d_attention_bytes(const struct n2d_attention *a)
{
	double tokens = 0;
	for (size_t b = 0; b < a->B; b++) {
		tokens += (double)(a->qlen ? n2d_clamp(a->qlen[b], a->Tq) : a->Tq) + (double)n2d_attention_band(a, b).keys;
		if (!a->klen && !a->qlen) {
			tokens *= (double)a->B;
			break;
		}
	}
	return 8.0 * tokens * (double)a->H * (double)a->K;
}
