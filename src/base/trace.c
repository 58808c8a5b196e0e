#include "base/trace.h"

#include <assert.h>

#include "base/clock.h"

int n2d_trace_open(const struct n2d_ctx *ctx, struct n2d_call *call, const char *op, double flops, double bytes)
{
	call->open = 0;
	if (!ctx->trace)
		return 0;
	if (ctx->trace->depth++)
		return 0;
	call->op = op;
	call->part = ctx->trace->part;
	call->where = ctx->trace->where;
	call->flops = flops;
	call->bytes = bytes;
	call->ndims = call->nranges = 0;
	call->open = 1;
	call->start = n2d_now();
	return 1;
}

void n2d_trace_dim(struct n2d_call *call, const char *name, size_t value)
{
	assert(call->ndims < N2D_CALL_DIMS);
	call->dim[call->ndims].name = name;
	call->dim[call->ndims++].value = value;
}

static void add(struct n2d_call *call, struct n2d_range r)
{
	if (!r.p)
		return;
	assert(call->nranges < N2D_CALL_RANGES);
	call->range[call->nranges++] = r;
}

void n2d_trace_read(struct n2d_call *call, const float *p, size_t rows, size_t width, size_t stride, size_t reach)
{
	add(call, (struct n2d_range){p, rows, width, stride, reach, 0});
}

void n2d_trace_write(struct n2d_call *call, const float *p, size_t rows, size_t width, size_t stride)
{
	add(call, (struct n2d_range){p, rows, width, stride, 0, 1});
}

void n2d_trace_close(const struct n2d_ctx *ctx, struct n2d_call *call)
{
	struct n2d_trace *t = ctx->trace;
	if (!t)
		return;
	t->depth--;
	if (!call->open)
		return;
	call->seconds = n2d_now() - call->start;
	t->see(t, call);
}

enum n2d_part n2d_trace_part(const struct n2d_ctx *ctx, enum n2d_part part)
{
	if (!ctx->trace)
		return part;
	enum n2d_part former = ctx->trace->part;
	ctx->trace->part = part;
	return former;
}

const char *n2d_trace_where(const struct n2d_ctx *ctx, const char *where)
{
	if (!ctx->trace)
		return where;
	const char *former = ctx->trace->where;
	ctx->trace->where = where;
	return former;
}
