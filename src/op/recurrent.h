/* The recurrent part of RNN, LSTM and GRU over the steps of a batch, forward and backward through time.
 *
 * The products of all inputs with W are done before, in one matrix product, and lie in a[B,T,S,D],
 * S segments of D units; what follows depends on the step before and is done here, step after step:
 *
 *	rnn   S = 1   a = W x + b + U h'                        h = tanh(a), in the place of a
 *	lstm  S = 4   a = (i, f, g, o), each W x + b + U h'     c = f c' + i g,  h = o tanh(c)
 *	gru   S = 4   a = (q, r, z, n), q = U_n h' + b_q, n = W_n x + b_n, r and z as above
 *	                                                        h = (1 - z) tanh(n + r q) + z h'
 *
 * with i, f, o, r, z through the sigmoid and g through tanh; h' and c' of the step before, 0 at first
 * (PyTorch's cells). U[G,D,D]: a matrix a gate, in PyTorch's order (i f g o; r z n); packed once.
 *
 * All sentences run all T steps: rows do not depend on each other. Padding needs finite input and
 * gives finite output, which the caller clears; backward, dy = 0 there passes nothing on.
 *
 * All steps are one operator call for the observer, or each its own (trace.h, steps). Threads divide the units between them and
 * meet once a step; results do not depend on their number. */
#ifndef N2D_RECURRENT_H
#define N2D_RECURRENT_H

#include "base/ctx.h"

enum n2d_cell { N2D_RNN, N2D_LSTM, N2D_GRU };

struct n2d_recurrent {
	enum n2d_cell cell;
	size_t B, T, D;
};

/* The largest D: a block of rows of h must fit a thread's scratch. */
#define N2D_RECURRENT_MAX_D ((size_t)1 << 16)

/* G, the gates with weights of their own, and S, the segments of a. */
size_t n2d_recurrent_gates(enum n2d_cell cell);
size_t n2d_recurrent_segments(enum n2d_cell cell);

/* U packed for both directions: floats, and the packing. */
size_t n2d_recurrent_packed(const struct n2d_ctx *ctx, enum n2d_cell cell, size_t D);
void n2d_recurrent_pack(const struct n2d_ctx *ctx, enum n2d_cell cell, size_t D, float *packed, const float *U);

/* Floats, of forward and of backward. */
size_t n2d_recurrent_workspace(const struct n2d_recurrent *r);

/* h[B,T,D] and the gates' values in a. rnn: h == a. c: lstm's cells, [B,T,D] when keep, else [B,D]; NULL for the
 * others. b_q[D]: gru's; NULL for the others. */
void n2d_recurrent_fwd(const struct n2d_ctx *ctx, const struct n2d_recurrent *r, float *h, float *c, int keep, float *a,
		       const float *packed, const float *b_q, float *ws);

/* One step of rows from their states before it: h[rows,D] and lstm's c from hp and cp, which are others; a[rows,S,D] as in forward. */
void n2d_recurrent_step(const struct n2d_ctx *ctx, enum n2d_cell cell, size_t rows, size_t D, float *h, float *c, float *a,
			const float *hp, const float *cp, const float *packed, const float *b_q);

/* da[B,T,S,D] = gradients of a (for gru's q segment: of q), from dy = gradients of h[B,T,D], and a, h, c as forward left
 * them (keep). rnn: a is not looked at. */
void n2d_recurrent_bwd(const struct n2d_ctx *ctx, const struct n2d_recurrent *r, float *da, const float *dy, const float *h,
		       const float *c, const float *a, const float *packed, float *ws);

/* FLOPs of the recurrent products of all steps, one direction. */
double n2d_recurrent_flops(const struct n2d_recurrent *r);

#endif
