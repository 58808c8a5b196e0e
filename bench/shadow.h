/* Dependences followed through memory: for every float of one block, how long the chain of operator calls behind it is, and
 * how few mixing calls lie between it and a marked float.
 *
 * A call's output row i depends on the rows of each operand that the operand's reach names (base/trace.h), when operand and
 * output have equally many rows, and else on all of them. Rows are worked in order, so an operator whose row i reads its own
 * row i - 1 (a recurrence over all steps in one call) is a chain as long as its rows. */
#ifndef BENCH_SHADOW_H
#define BENCH_SHADOW_H

#include <limits.h>
#include <stddef.h>

#include "base/trace.h"

#define SHADOW_FAR INT_MAX

struct shadow {
	const float *base;
	size_t n;
	int *depth; /* calls behind this float: 0 for inputs */
	int *hops;  /* mixing calls from the nearest marked float; SHADOW_FAR: does not depend on one */
	int deepest;
};

/* Watches the n floats from base on; the rest of memory is constant. -1 and a message when there is no memory. */
int shadow_init(struct shadow *s, const float *base, size_t n);
void shadow_free(struct shadow *s);
/* Forgets everything. */
void shadow_clear(struct shadow *s);
/* These floats are the origin: hops 0. */
void shadow_mark(struct shadow *s, const float *p, size_t n);
/* The least hops among these floats. */
int shadow_hops(const struct shadow *s, const float *p, size_t n);
/* to[n] gets what is known of from[n]. */
void shadow_move(struct shadow *s, const float *to, const float *from, size_t n);
/* For struct n2d_trace: user is the shadow. */
void shadow_see(struct n2d_trace *t, const struct n2d_call *call);

#endif
