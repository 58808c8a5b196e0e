#include "op/attention_step.h"

#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"

struct job {
	const struct n2d_attention_step *a;
	const struct n2d_kernels *k;
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

static void task(void *arg, size_t task, int thread)
{
	const struct job *j = arg;
	const struct n2d_attention_step *a = j->a;
	size_t r = task / a->H, h = task % a->H, end = end_of(a, r);
	const float *q = j->Q + r * a->q_row + h * a->K;
	float *o = j->O + r * a->o_row + h * a->K, *p = j->ws + (size_t)thread * n2d_floats(a->end, 1, 1);
	memset(o, 0, a->K * sizeof *o);
	for (size_t i = a->first; i < end; i++)
		p[i] = j->k->dot(q, j->K + slot(a, r, i) * a->slot_st + i * a->key_st + h * a->K, a->K);
	if (a->first < end)
		j->k->softmax_fwd(p + a->first, p + a->first, a->scale, 0, end - a->first, end - a->first);
	for (size_t i = a->first; i < end; i++)
		j->k->axpy(o, j->V + slot(a, r, i) * a->slot_st + i * a->key_st + h * a->K, o, p[i], a->K);
}

size_t n2d_attention_step_workspace(const struct n2d_ctx *ctx, size_t end)
{
	return n2d_mul(n2d_floats(end, 1, 1), (size_t)ctx->threads);
}

void n2d_attention_step(const struct n2d_ctx *ctx, const struct n2d_attention_step *a, float *O, const float *Q, const float *K,
			const float *V, float *ws)
{
	struct job j = {a, ctx->k, O, ws, Q, K, V};
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
	n2d_parallel(ctx, a->rows * a->H, task, &j);
	n2d_trace_close(ctx, &call);
}
