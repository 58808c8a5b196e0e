/* A training step as a case of sample.h: ours, or a peer's on the same shapes. */
#ifndef BENCH_STEP_CASE_H
#define BENCH_STEP_CASE_H

#include "bench/model_command.h"
#include "bench/peer.h"
#include "train/step.h"

struct step_case {
	struct model_case m; /* its group: the preset */
	const char *program; /* "n2d", "pytorch", "pytorch-best" */
	double tokens;       /* a step; source and target together */

	struct peer peer; /* name NULL: ours */
	struct n2d_transformer model;
	struct n2d_optimiser optimiser;
	struct n2d_pass pass;
	struct step_batch *batch;
};

/* preset: "tiny" or "base". */
void step_case_init(struct step_case *s, const struct n2d_ctx *ctx, const char *preset);
/* best: set as well as it can be, else as it comes. */
void step_case_peer(struct step_case *s, const struct n2d_ctx *ctx, const char *preset, int threads, int best);
/* Starts a peer's program; a failure is told when the case is opened. */
void step_case_start(struct model_case *m);

#endif
