/* What a training writes about itself: a line a while on a terminal, and two CSV files beside the checkpoints:
 *
 *	log.csv    a row every log-every steps: means over these steps
 *	valid.csv  a row a validation
 *
 * The columns are in results/SCHEMA.md. A training that goes on from a step leaves out the rows after it. */
#ifndef N2D_TRAIN_LOG_H
#define N2D_TRAIN_LOG_H

#include "train/train.h"

struct n2d_train_log;

/* Opens both files in dir, with the rows up to `step` that are there already. -1 and a message. NULL dir: no files. */
int n2d_train_log_open(struct n2d_train_log **log, const char *dir, FILE *progress, uint64_t step);
void n2d_train_log_close(struct n2d_train_log *log);

/* A step was done, of `flops` in `seconds`. */
void n2d_train_log_step(struct n2d_train_log *log, const struct n2d_step_report *r, double flops, double seconds);
/* Prints and writes what has come since the last row, if anything has, and begins anew. */
int n2d_train_log_row(struct n2d_train_log *log, struct n2d_training *t);
/* bleu: in per cent; negative for none. */
int n2d_train_log_validation(struct n2d_train_log *log, const struct n2d_training *t, const struct n2d_loss_sum *sum, double bleu,
			     int best);

#endif
