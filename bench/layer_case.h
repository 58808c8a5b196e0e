/* A sequence layer on one shape, one instruction set, one thread count, one pass, as a case of the sampler; and what the
 * cases of one shape share: input, scratch memory, weights, and the reference results they are checked against. */
#ifndef BENCH_LAYER_CASE_H
#define BENCH_LAYER_CASE_H

#include "base/arena.h"
#include "base/trace.h"
#include "bench/limits.h"
#include "layer/layer.h"

struct layer_shape {
	size_t B, n;
	struct n2d_layer_config c;
};

struct layer_peer;
struct layer_case {
	struct bench_case c;
	const struct n2d_layer_kind *kind;
	struct layer_shape shape;
	int train;    /* forward + backward; else forward for inference */
	int out;      /* not asked for */
	int cut;      /* does not fit the time, as far as it is known now */
	int rank;     /* of the instruction set: 0 the widest asked for; later ones go first when time is short */
	struct layer_group *group;
	struct n2d_layer layer;
	struct n2d_ctx ctx; /* c.ctx with the observer */
	struct n2d_trace trace;
	struct sample *to; /* where the observer adds */

	struct work work; /* one call */
	double mixing_flops;
	double memory_bytes; /* touched in saved and workspace, measured */
	size_t params;
	struct limit limit;
	double predicted; /* seconds a call */

	const struct layer_peer *peer; /* who else's, layer_peer.h; NULL: ours */
	char peer_isa[32];
	void *peer_state;
	int (*ours)(struct bench_case *c); /* open of ours */
};

void layer_case_init(struct layer_case *l, const struct n2d_layer_kind *kind, const struct layer_shape *shape,
		     const struct n2d_ctx *ctx, int train);

/* ---- the cases of one shape */

enum { LAYER_WEIGHTS = 64 };
struct layer_weights {
	const struct n2d_layer_kind *kind;
	const struct n2d_kernels *k;
	struct n2d_arena arena;
	float *params, *packed;
};
/* Results of a kind on this shape by another instruction set. */
struct layer_reference {
	const struct n2d_layer_kind *kind;
	int train;
	struct n2d_arena arena;
	float *y, *dx, *dparams;
	double memory_bytes;
};
struct layer_group {
	struct n2d_arena io, scratch;
	float *x, *dy, *y, *dx, *dparams, *saved, *ws; /* the last four are scratch */
	size_t nweights, nreferences;
	struct layer_weights weights[LAYER_WEIGHTS];
	struct layer_reference reference[LAYER_WEIGHTS];
};

/* Memory for the largest of the cases. -1 and a message. */
int layer_group_open(struct layer_group *g, struct layer_case **l, size_t n);
void layer_group_close(struct layer_group *g);

/* ---- the check, layer_check.c: forward (and backward) of this case against
 * - the scalar instruction set on the first up to 40 positions, and
 * - another vector instruction set on the whole shape (scalar where there is no other and it takes a second at most).
 * Measures memory_bytes on the way. -1 and a message. */
int layer_check(struct layer_case *l);
/* A peer's results on the same buffers against ours. */
int layer_check_peer(struct layer_case *l);

/* One call: y, and dx and dparams when training, into the group's scratch. */
void layer_call(const struct layer_case *l, const struct n2d_ctx *ctx);
/* The weights of a kind packed for a context, made when first asked for; NULL and a message. */
const struct layer_weights *layer_weights(struct layer_group *g, const struct n2d_layer_kind *kind,
					  const struct n2d_layer_config *c, const struct n2d_ctx *ctx);

#endif
