/* The observer: sees every operator call with its shapes, ranges and time.
 *
 * It serves the shape trace, the profile by operator, and Table 1's sequential operations and
 * path length (which follow dependences between the ranges, down to single rows). Off
 * (ctx->trace == NULL) it costs one branch an operator.
 *
 * An operator brackets its work:
 *
 *	struct n2d_call call;
 *	if (n2d_trace_open(ctx, &call, "gemm", flops, bytes)) {
 *		n2d_trace_dim(&call, "M", M);
 *		n2d_trace_read(&call, A, M, K, lda, N2D_ROWWISE);
 *		n2d_trace_write(&call, C, M, N, ldc);
 *	}
 *	... the work ...
 *	n2d_trace_close(ctx, &call);
 *
 * Operators called inside another operator are not seen: the outermost counts. */
#ifndef N2D_TRACE_H
#define N2D_TRACE_H

#include <stddef.h>

#include "base/ctx.h"

/* What a layer is doing when it calls: sets which part a call is counted under. */
enum n2d_part { N2D_PART_OTHER, N2D_PART_PROJECTION, N2D_PART_MIXING };

/* Which rows of an operand row i of the output depends on: row i alone, the rows within `reach`
 * of i, or all of them. Operands with one row only (weights, biases) are N2D_ALL_ROWS. */
#define N2D_ROWWISE 0
#define N2D_ALL_ROWS ((size_t)-1)

struct n2d_range {
	const float *p;
	size_t rows, width, stride; /* floats */
	size_t reach;               /* operands read */
	int write;
};

enum { N2D_CALL_DIMS = 8, N2D_CALL_RANGES = 12 };

struct n2d_call {
	const char *op;
	const char *where; /* the part of a model that calls, "decoder feed-forward"; NULL: none was named */
	enum n2d_part part;
	double flops, bytes, start, seconds;
	int open; /* this call is the outermost, and the trace is on */
	int ndims, nranges;
	struct {
		const char *name;
		size_t value;
	} dim[N2D_CALL_DIMS];
	struct n2d_range range[N2D_CALL_RANGES];
};

struct n2d_trace {
	enum n2d_part part;
	const char *where;
	int depth;
	int steps; /* each step of a recurrence is a call, as dependences need; else all of them are one: clock readings between steps cost up to a fifth */
	/* Called at the end of each outermost operator, in program order. */
	void (*see)(struct n2d_trace *t, const struct n2d_call *call);
	void *user;
};

int n2d_trace_open(const struct n2d_ctx *ctx, struct n2d_call *call, const char *op, double flops, double bytes);
void n2d_trace_dim(struct n2d_call *call, const char *name, size_t value);
/* p == NULL is ignored; more ranges than N2D_CALL_RANGES are a bug (assert). */
void n2d_trace_read(struct n2d_call *call, const float *p, size_t rows, size_t width, size_t stride, size_t reach);
void n2d_trace_write(struct n2d_call *call, const float *p, size_t rows, size_t width, size_t stride);
void n2d_trace_close(const struct n2d_ctx *ctx, struct n2d_call *call);

/* The part the following calls belong to; returns the former one. */
enum n2d_part n2d_trace_part(const struct n2d_ctx *ctx, enum n2d_part part);

/* The part of a model that the following calls belong to, a string that stays; returns the former one. */
const char *n2d_trace_where(const struct n2d_ctx *ctx, const char *where);

#endif
