/* Checkpoints of a training, in a directory:
 *
 *	step-00001200.safetensors        the model after step 1200 (model/model_file.h)
 *	step-00001200.state.safetensors  what else a training needs to go on bit for bit: Adam's moments ("m.NAME", "v.NAME") and "counters";
 *	                                 "weights" tells its model by its checksums
 *
 * Each is written whole or not at all, the state first: where a model is, its state was complete. Both carry a checksum. */
#ifndef N2D_CHECKPOINT_H
#define N2D_CHECKPOINT_H

#include <stdint.h>

#include "model/model_file.h"
#include "train/step.h"

/* Where a training is, beside the optimiser's own counters. All zeros at first. */
struct n2d_progress {
	uint64_t epoch, batch;           /* the next batch is number `batch` of this epoch, both from 0 */
	uint64_t src_tokens, trg_tokens; /* trained on so far */
	uint64_t best_step, stale;       /* of the lowest validation loss, 0: none; validations since */
	double best, seconds;            /* that loss, nats a token; time spent in steps */
};

enum { N2D_CHECKPOINT_PATH = 4096 };

/* DIR/step-STEP.safetensors, or with state its .state.safetensors, in path. -1 and a message when it is too long. */
int n2d_checkpoint_path(char path[N2D_CHECKPOINT_PATH], const char *dir, uint64_t step, int state);

/* Writes both files of step o->step. Metadata: of the model's file, and of the state's. -1 and a message. */
int n2d_checkpoint_save(const char *dir, const struct n2d_transformer *m, const struct n2d_optimiser *o, const struct n2d_progress *p,
			const struct n2d_metadata *model, size_t model_keys, const struct n2d_metadata *state, size_t state_keys);

/* *steps[*count], ascending (to be freed): the steps whose models, or with state whose models and states, are in dir. -1 and a
 * message when dir cannot be read. */
int n2d_checkpoint_list(uint64_t **steps, size_t *count, const char *dir, int state);

/* The step that --resume goes on from; 0: there is none. */
uint64_t n2d_checkpoint_newest(const char *dir);

/* After a save of `step`, by the one process that has dir (n2d_dir_lock). Removes the models up to it but the newest `keep` and that of step `best`, all
 * states but the newest two that have a model, and what files cut off while they were written left. */
int n2d_checkpoint_prune(const char *dir, uint64_t step, size_t keep, uint64_t best);

/* -1 and a message naming both files when the state was not saved with this model. 0 for a state without "weights", as older ones are. */
int n2d_checkpoint_together(const struct n2d_safetensors *model, const struct n2d_safetensors *state);

/* -1 and a message with both numbers when the state is of another step than its name says: files and log would disagree from then on. */
int n2d_checkpoint_named(const struct n2d_safetensors *state, uint64_t step);

/* Moments and counters from an open state of a model with these parameters. -1 and a message naming the file and what is missing
 * or differs. */
int n2d_checkpoint_load(struct n2d_optimiser *o, struct n2d_progress *p, const struct n2d_parameters *parameters,
			const struct n2d_safetensors *state);

#endif
