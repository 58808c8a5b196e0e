#include "op/attention_step.h"

#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/attention_row.h"

/* Rows of a task at most: those of a sentence, whose histories are mostly the same slots, find them in the cache. */
enum { RUN = 8 };

struct job {
	const struct n2d_ctx *ctx;
	const struct n2d_attention_step *a;
	size_t run, heads, parts, each; /* rows and heads of a task, tasks a run of rows; floats of a thread */
	float *O, *ws;
	const float *Q, *K, *V;
};

static size_t slot(const struct n2d_attention_step *a, size_t r, size_t j)
{
	return a->slots ? (size_t)a->slots[r * a->slots_row + j * a->slots_key] : r;
}

static size_t end_of(const struct n2d_attention_step *a, size_t r)
{
	size_t end = a->len ? (size_t)a->len[slot(a, r, 0)] : a->end;
	return end < a->end ? end : a->end;
}

/* Of the list of a row's keys. */
static size_t list_floats(size_t end) { return n2d_floats(end, sizeof(size_t) / sizeof(float), 1); }

static void one(const struct job *j, size_t r, size_t h, size_t heads, float *ws)
{
	const struct n2d_attention_step *a = j->a;
	size_t end = end_of(a, r), place = h * a->K, *at = (size_t *)ws;
	float *o = j->O + r * a->o_row + place;
	struct n2d_attn_row x = {.q = j->Q + r * a->q_row + place, .k = j->K + place, .v = j->V + place, .q_sh = a->K, .k_sh = a->K, .v_sh = a->K,
				 .k_st = a->key_st, .v_st = a->key_st, .heads = heads, .width = a->K, .scale = a->scale};
	if (a->first >= end) {
		memset(o, 0, heads * a->K * sizeof *o);
		return;
	}
	if (a->slots && a->slots_key) {
		for (size_t i = a->first; i < end; i++)
			at[i] = slot(a, r, i) * a->slot_st + i * a->key_st;
		x.at = at;
	} else {
		x.k += slot(a, r, 0) * a->slot_st;
		x.v += slot(a, r, 0) * a->slot_st;
	}
	n2d_attention_one(j->ctx, x, a->first, end, o, a->K, NULL, ws + list_floats(a->end));
}

static void task(void *arg, size_t t, int thread)
{
	const struct job *j = arg;
	size_t r = t / j->parts * j->run, h = t % j->parts * j->heads, last = r + j->run < j->a->rows ? r + j->run : j->a->rows;
	for (; r < last; r++)
		one(j, r, h, j->heads, j->ws + (size_t)thread * j->each);
}

static size_t floats(const struct n2d_ctx *ctx, size_t H, size_t K, size_t end)
{
	return n2d_add(n2d_attention_one_workspace(ctx, H, K), list_floats(end));
}

size_t n2d_attention_step_workspace(const struct n2d_ctx *ctx, size_t H, size_t K, size_t end)
{
	return n2d_mul(floats(ctx, H, K, end), (size_t)ctx->threads);
}

/* All heads of several rows; with few rows a head of one, so that no thread is idle. */
static void divide(struct job *j)
{
	size_t threads = (size_t)j->ctx->threads, run = j->a->rows / (4 * threads);
	j->parts = threads > 1 && j->a->rows < 2 * threads ? j->a->H : 1;
	j->heads = j->a->H / j->parts;
	j->run = run < 1 ? 1 : run < RUN ? run : RUN;
}

void n2d_attention_step(const struct n2d_ctx *ctx, const struct n2d_attention_step *a, float *O, const float *Q, const float *K,
			const float *V, float *ws)
{
	struct job j = {.ctx = ctx, .a = a, .each = floats(ctx, a->H, a->K, a->end), .O = O, .ws = ws, .Q = Q, .K = K, .V = V};
	struct n2d_call call;
	size_t width = a->H * a->K;
	double seen = (double)a->rows * (double)(a->end > a->first ? a->end - a->first : 0) * (double)width;
	if (n2d_trace_open(ctx, &call, "attention_step", 4 * seen, 8 * (seen + (double)a->rows * (double)width))) {
		n2d_trace_dim(&call, "rows", a->rows);
		n2d_trace_dim(&call, "H", a->H);
		n2d_trace_dim(&call, "Tk", a->end);
		n2d_trace_dim(&call, "K", a->K);
		n2d_trace_read(&call, Q, a->rows, width, a->q_row, N2D_ROWWISE);
		n2d_trace_write(&call, O, a->rows, width, a->o_row);
	}
	divide(&j);
	n2d_parallel(ctx, (a->rows + j.run - 1) / j.run * j.parts, task, &j);
	n2d_trace_close(ctx, &call);
}
