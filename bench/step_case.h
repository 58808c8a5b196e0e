/* A training step as a case of sample.h: ours, or a peer's on the same words. */
#ifndef BENCH_STEP_CASE_H
#define BENCH_STEP_CASE_H

#include "bench/model_command.h"
#include "bench/peer.h"
#include "train/step.h"

/* ---- the batch */

enum { STEP_VOCAB = 10000, STEP_PAIRS_MOST = 1000000 };

struct step_batch {
	struct n2d_batch b; /* its pointers lead into ids */
	int32_t ids[];
};

/* Pairs of a batch where nothing else is asked for. */
size_t step_pairs(const char *preset);
/* Of so many pairs: S and T are the longest sentences; *tokens those of both sides together. */
struct n2d_shape step_shape(const char *preset, size_t pairs, double *tokens);
/* The same words each time; free() it. NULL and a message. */
struct step_batch *step_batch_make(const char *preset, size_t pairs);

/* ---- cases */

struct step_case {
	struct model_case m; /* its group: of the preset and the batch */
	const char *preset, *program; /* "n2d", "pytorch", "pytorch-best" */
	size_t pairs;
	char group[48];
	struct n2d_shape shape;
	double tokens; /* a step; source and target together */
	size_t bytes;  /* of memory that must be there before it is opened */

	struct peer peer; /* name NULL: ours */
	struct n2d_transformer model;
	struct n2d_optimiser optimiser;
	struct n2d_pass pass;
	struct step_batch *batch;
};

/* preset: "tiny", "base" or "big"; pairs: of the batch, at most STEP_PAIRS_MOST; 0: step_pairs, which the id does not name. */
void step_case_init(struct step_case *s, const struct n2d_ctx *ctx, const char *preset, size_t pairs);
/* PyTorch's; best: set as well as it can be, else as it comes. When it is opened it gets our weights and words, and what it makes of
 * them with dropout off must be what we do (bench/step_peer.c). */
void step_case_peer(struct step_case *s, const struct n2d_ctx *ctx, const char *preset, size_t pairs, int threads, int best);
/* Starts a peer's program; a failure is told when the case is opened. */
void step_case_start(struct model_case *m);

/* The gradients of a batch's summed loss into grads (the layout of m->w), and the loss, by a pass of their own. -1 and a message. */
int step_gradients(float *grads, struct n2d_loss_sum *sum, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_batch *b,
		   const struct n2d_dropout_key *dropout);

/* Parts of these: names, sizes, work and memory of one whose context, threads, program and peer are set; and whether that memory is
 * there, before any of it is touched, since what is granted is not always there. -1 and a message. */
void step_case_plan(struct step_case *s, const char *preset, size_t pairs);
int step_case_fits(const struct step_case *s);

#endif
