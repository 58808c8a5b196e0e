/* How a model is trained: every setting that the result depends on, or when it is saved. One table describes them, as with the
 * model's (model/config.h); a checkpoint's state carries them, so that --resume needs none of them again. */
#ifndef N2D_TRAIN_OPTIONS_H
#define N2D_TRAIN_OPTIONS_H

#include "base/option.h"
#include "train/step.h"

struct n2d_train_options {
	int schedule; /* enum n2d_schedule_kind */
	double rate, beta1, beta2, eps, clip;
	size_t warmup;
	size_t batch_tokens, accumulate, max_length;
	size_t max_steps, max_epochs, patience;      /* 0: no limit */
	size_t save_every, valid_every, keep, log_every; /* steps; 0 of the first two: once an epoch */
	size_t valid_bleu;                               /* sentences; 0: no BLEU */
	size_t seed;
};

extern const struct n2d_option_table n2d_train_options;

/* The paper's: its schedule with 4000 steps of warmup, Adam (0.9, 0.98, 1e-9), no clipping. */
struct n2d_train_options n2d_train_defaults(void);

/* What a step needs of them. -1 and a message when they do not go together. */
int n2d_train_step_options(struct n2d_step_options *s, const struct n2d_train_options *o, size_t d_model);

#endif
