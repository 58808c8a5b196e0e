/* Training from the first step to the last (paper, section 5): batches in their order, steps, validation, checkpoints, log. */
#ifndef N2D_TRAIN_H
#define N2D_TRAIN_H

#include <stdio.h>

#include "text/batches.h"
#include "train/checkpoint.h"
#include "train/options.h"
#include "train/profile.h"

/* A training. The caller fills the first block; n2d_train_init the second. */
struct n2d_training {
	const struct n2d_ctx *ctx;
	struct n2d_transformer *model;
	const struct n2d_train_options *options;
	struct n2d_batches *train, *valid;     /* valid NULL: no validation */
	const char *dir;                       /* of checkpoints and log; NULL: none are written */
	const struct n2d_metadata *metadata;   /* more for the model's file: the vocabulary */
	size_t keys;
	const struct n2d_metadata *state;      /* and for the state's, beside the options: where the data are */
	size_t state_keys;
	FILE *progress;                        /* NULL: silent */
	struct n2d_profile *profile;           /* counts the steps, not what is done between them; ctx->trace is its; may be NULL */
	int (*stop)(void);                     /* true: end after this step; may be NULL */
	/* After each validation, of the model as it is: BLEU in per cent, which is logged; NULL: none. Negative, and a message: a failure. */
	double (*bleu)(void *arg);
	void *bleu_arg;

	struct n2d_optimiser optimiser;
	struct n2d_progress at;
	struct n2d_pass pass;
	struct n2d_train_log *log;
	uint64_t validated; /* the last step that was; 0: none in this run */
	double peak;        /* FLOP/s; taken again when it turns out too low */
};

/* Memory for all batches' shapes. -1 and a message. The weights are the caller's: initial, or loaded. */
int n2d_train_init(struct n2d_training *t);
void n2d_train_free(struct n2d_training *t);

enum n2d_train_end { N2D_TRAIN_FAILED = -1, N2D_TRAIN_FINISHED, N2D_TRAIN_STOPPED };

/* The option by which t->at is the training's end; NULL: it is not. */
const char *n2d_train_finished(const struct n2d_training *t);

/* From t->at to the end that the options set, or until stop(). Failures leave the last checkpoint as it was, a loss that is not finite
 * among them; a model is saved, and older ones go, when the next step would have been finite. */
enum n2d_train_end n2d_train_run(struct n2d_training *t);

/* The loss of all batches without dropout. -1 and a message when a batch does not fit. */
int n2d_train_validate(struct n2d_training *t, struct n2d_batches *data, struct n2d_loss_sum *sum);

#endif
