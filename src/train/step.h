/* One step of training (paper, section 5): forward, loss, backward, clipping, Adam. */
#ifndef N2D_STEP_H
#define N2D_STEP_H

#include "train/optimiser.h"
#include "train/schedule.h"

struct n2d_step_options {
	struct n2d_schedule schedule;
	double beta1, beta2, eps; /* Adam's */
	double clip;              /* largest norm of all gradients together; 0: none */
	uint64_t seed;            /* of dropout */
};

/* What a step was. loss, nll: nats, of all its target tokens together. */
struct n2d_step_report {
	struct n2d_loss_sum sum;
	size_t src_tokens, sentences;
	double rate, norm; /* of the gradients, before clipping */
};

/* A step is cut into batches freely: its gradient is that of the mean loss over the target tokens of all of them together.
 *
 *	struct n2d_step_report report = {0};
 *	for each batch, one at least: n2d_step_batch(...)
 *	n2d_step_end(...)
 */

/* The gradients of a step's first batch are written, those of others added: weight matrices are large, and clearing them first is
 * one more pass over them. last: n2d_step_end follows, and weights may be updated as soon as their gradients are complete, beside the products of the layers
 * before: without clipping, and when nobody watches, to whom the update is shown by itself. -1 and a message when it does not fit the pass. */
int n2d_step_batch(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, struct n2d_pass *p,
		   const struct n2d_step_options *options, const struct n2d_batch *b, int last, struct n2d_step_report *report);

/* Updates the weights, which are packed again. -1 and a message when loss or gradients are not finite: this model must not be saved. (Without clipping
 * the norm of the gradients is told by the pass that updates.) */
int n2d_step_end(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, const struct n2d_step_options *options,
		 struct n2d_step_report *report);

/* Tries the model that the last step left with batch b, as n2d_step_batch would take it next. -1 and a message when weights, loss or gradients are not
 * finite: a step of finite loss and gradients may leave that too, and such a model must not be saved either. Overwrites o->grads, changes nothing else. */
int n2d_step_try(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, struct n2d_pass *p,
		 const struct n2d_step_options *options, const struct n2d_batch *b);

#endif
