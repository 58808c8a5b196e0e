#include "op/depthwise.h"

#include <string.h>

#include "base/threads.h"
#include "base/trace.h"

enum { ROWS = 16, COLUMNS = 64 }; /* of a task */

struct job {
	const struct n2d_ctx *ctx;
	const struct n2d_convolution *c;
	float *out;
	const float *in, *other;
	ptrdiff_t step; /* rows from a tap's to the next one's: the dilation, or minus it */
};

static ptrdiff_t count(const struct n2d_convolution *c, size_t b) { return (ptrdiff_t)(c->len ? (size_t)c->len[b] : c->T); }
static ptrdiff_t centre(const struct n2d_convolution *c) { return (ptrdiff_t)(c->causal ? c->W - 1 : (c->W - 1) / 2); }

/* Row t of out: the taps whose row of `in`, t + (w - centre) step, lies in the sentence. */
static void row(const struct job *j, size_t b, ptrdiff_t t)
{
	const struct n2d_convolution *c = j->c;
	ptrdiff_t n = count(c, b), W = (ptrdiff_t)c->W, D = (ptrdiff_t)c->D, w0 = 0, w1 = W, first = t - centre(c) * j->step;
	float *out = j->out + ((ptrdiff_t)(b * c->T) + t) * D;
	if (t >= n) {
		memset(out, 0, c->D * sizeof *out);
		return;
	}
	while (w0 < W && (first + w0 * j->step < 0 || first + w0 * j->step >= n))
		w0++;
	while (w1 > w0 && (first + (w1 - 1) * j->step < 0 || first + (w1 - 1) * j->step >= n))
		w1--;
	const float *in = w0 < w1 ? j->in + ((ptrdiff_t)(b * c->T) + first + w0 * j->step) * D : NULL;
	j->ctx->k->depthwise_fwd(out, in, j->other + w0 * D, (size_t)(w1 - w0), c->D, j->step * D);
}

static void rows(void *arg, size_t task, int thread)
{
	(void)thread;
	const struct job *j = arg;
	size_t blocks = (j->c->T + ROWS - 1) / ROWS, b = task / blocks, t0 = task % blocks * ROWS;
	for (size_t t = t0; t < t0 + ROWS && t < j->c->T; t++)
		row(j, b, (ptrdiff_t)t);
}

static void convolve(const struct job *j) { n2d_parallel(j->ctx, j->c->B * ((j->c->T + ROWS - 1) / ROWS), rows, (void *)j); }

static void observe(const struct job *j, struct n2d_call *call, const char *op)
{
	const struct n2d_convolution *c = j->c;
	size_t n = c->B * c->T, D = c->D, reach = (c->W - 1) * c->dilation;
	if (!n2d_trace_open(j->ctx, call, op, n2d_depthwise_flops(c), 8 * (double)n * (double)D))
		return;
	n2d_trace_dim(call, "B", c->B);
	n2d_trace_dim(call, "T", c->T);
	n2d_trace_dim(call, "D", D);
	n2d_trace_dim(call, "W", c->W);
	n2d_trace_dim(call, "dilation", c->dilation);
	n2d_trace_read(call, j->in, n, D, D, c->causal ? reach : reach / 2);
}

void n2d_depthwise_fwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *y, const float *x,
		       const float *weight)
{
	struct n2d_call call;
	struct job j = {ctx, c, y, x, weight, (ptrdiff_t)c->dilation};
	observe(&j, &call, "depthwise");
	if (call.open) {
		n2d_trace_read(&call, weight, c->W, c->D, c->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, y, c->B * c->T, c->D, c->D);
	}
	convolve(&j);
	n2d_trace_close(ctx, &call);
}

void n2d_depthwise_bwd(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dx, const float *dy,
		       const float *weight)
{
	struct n2d_call call;
	struct job j = {ctx, c, dx, dy, weight, -(ptrdiff_t)c->dilation};
	observe(&j, &call, "depthwise_bwd");
	if (call.open) {
		n2d_trace_read(&call, weight, c->W, c->D, c->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, dx, c->B * c->T, c->D, c->D);
	}
	convolve(&j);
	n2d_trace_close(ctx, &call);
}

/* A block of columns of all taps, sentence after sentence. */
static void weight_columns(void *arg, size_t task, int thread)
{
	(void)thread;
	const struct job *j = arg;
	const struct n2d_convolution *c = j->c;
	size_t D = c->D, d = task * COLUMNS, m = D - d < COLUMNS ? D - d : COLUMNS;
	for (size_t b = 0; b < c->B; b++)
		for (size_t w = 0; w < c->W; w++) {
			ptrdiff_t n = count(c, b), shift = ((ptrdiff_t)w - centre(c)) * j->step;
			ptrdiff_t from = shift < 0 ? -shift : 0, to = shift > 0 ? n - shift : n;
			if (from >= to)
				continue;
			const float *dy = j->in + (b * c->T + (size_t)from) * D + d;
			const float *x = j->other + (b * c->T + (size_t)(from + shift)) * D + d;
			j->ctx->k->depthwise_weights_acc(j->out + w * D + d, dy, x, (size_t)(to - from), m, D);
		}
}

void n2d_depthwise_weights(const struct n2d_ctx *ctx, const struct n2d_convolution *c, float *dweight, int add, const float *dy,
			   const float *x)
{
	struct n2d_call call;
	struct job j = {ctx, c, dweight, dy, x, (ptrdiff_t)c->dilation};
	observe(&j, &call, "depthwise_weights");
	if (call.open) {
		n2d_trace_read(&call, x, c->B * c->T, c->D, c->D, N2D_ALL_ROWS);
		n2d_trace_write(&call, dweight, c->W, c->D, c->D);
	}
	if (!add)
		memset(dweight, 0, c->W * c->D * sizeof *dweight);
	n2d_parallel(ctx, (c->D + COLUMNS - 1) / COLUMNS, weight_columns, &j);
	n2d_trace_close(ctx, &call);
}

double n2d_depthwise_flops(const struct n2d_convolution *c)
{
	return 2 * (double)c->B * (double)c->T * (double)c->W * (double)c->D;
}
