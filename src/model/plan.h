/* Laying out arrays in one block: they are taken in turn, first without memory, which gives the size, then with. */
#ifndef N2D_PLAN_H
#define N2D_PLAN_H

#include "base/size.h"
#include "model/transformer.h"

struct n2d_cursor {
	float *base; /* NULL: only counted */
	size_t used; /* floats; N2D_TOO_LARGE passes */
};

static inline float *n2d_take(struct n2d_cursor *c, size_t floats)
{
	float *p = c->base ? c->base + c->used : NULL;
	c->used = n2d_add(c->used, n2d_floats(floats, 1, 1));
	return p;
}

/* A side's embedding, nodes and result, of `rows` positions. keep: each node has arrays of its own, for backward; otherwise two sets take
 * turns, which is enough because a node is needed until the next one is there. */
void n2d_plan_nodes(struct n2d_cursor *c, struct n2d_activations *side, const struct n2d_stack *s, size_t rows, size_t D, int keep);

#endif
