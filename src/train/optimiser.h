/* The optimiser: Adam's moments, and the update of the weights, plain and packed. */
#ifndef N2D_OPTIMISER_H
#define N2D_OPTIMISER_H

#include "model/transformer.h"
#include "op/adam.h"

/* Everything that a step changes, but for the model's weights. */
struct n2d_optimiser {
	float *m, *v, *grads; /* in the layout of the model's parameters */
	float *squares;       /* of the gradients, by chunks (op/adam.h) */
	uint64_t step;        /* steps done */
	uint64_t passes;      /* batches done: a pass's dropout depends on its number */
	size_t chunks, sublayers; /* of an update: the first so many are still to do. All of them between steps */
	struct n2d_arena memory;
};

int n2d_optimiser_init(struct n2d_optimiser *o, const struct n2d_transformer *m);
void n2d_optimiser_free(struct n2d_optimiser *o);

/* An update of m by o->grads. It goes through the array from its end to its beginning: so it may begin while the first layers' gradients are still to come,
 * beside their products (n2d_optimiser_beside), and n2d_optimiser_finish does what is left. Bits do not depend on how much that is. */
struct n2d_update {
	const struct n2d_ctx *ctx;
	struct n2d_transformer *m;
	struct n2d_optimiser *o;
	const struct n2d_pass *pass; /* whose gradients come; not looked at by n2d_optimiser_finish */
	struct n2d_adam adam;
	int squares; /* of the gradients are wanted */
};

/* For the context of n2d_transformer_backward; u stays the caller's. */
struct n2d_beside n2d_optimiser_beside(struct n2d_update *u);
/* The rest, by all threads. Returns the sum of the gradients' squares, the bits of n2d_square_sum, when they are wanted. */
double n2d_optimiser_finish(const struct n2d_update *u);

#endif
