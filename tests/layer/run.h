/* One layer on one batch, every array between guard pages, for tests/test-layers.c. */
#ifndef LAYER_RUN_H
#define LAYER_RUN_H

#include "base/ctx.h"
#include "layer/layer.h"
#include "tests/problem/guard.h"

struct layer_run {
	struct n2d_layer layer;
	size_t B, T, nparams;
	struct guard len, x, params, dy;  /* in; NaN in the padding of x and dy */
	struct guard at, position;        /* after layer_run_tighten */
	float *dparams0;                  /* what dparams holds before backward, which adds to it: */
	int add;                          /* 1; 0: backward writes over NaN */
	struct guard y, dx, dparams;      /* out */
};

/* Inputs N(0,1) from seed; lengths: len[B], or NULL for random ones that include 0, 1 and T. */
void layer_run_open(struct layer_run *r, const struct n2d_layer_kind *kind, const struct n2d_layer_config *c, size_t B,
		    size_t T, const int32_t *len, uint64_t seed);
/* Takes the padding out of x, y and their gradients, which are [rows,D] from here on. */
void layer_run_tighten(struct layer_run *r);
/* pack, forward, backward; with train = 0 forward as inference alone. Outputs and workspace hold NaN before. Fails the
 * test when something outside its array was written or an input changed. */
void layer_run_go(struct layer_run *r, const struct n2d_ctx *ctx, int train);
void layer_run_close(struct layer_run *r);

static inline const int32_t *layer_run_len(const struct layer_run *r) { return (const int32_t *)r->len.p; }
static inline size_t layer_run_count(const struct layer_run *r, size_t b) { return (size_t)layer_run_len(r)[b]; }

#endif
