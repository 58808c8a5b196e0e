/* The learning rate at a step. Steps count from 1: the first update uses rate(1), which is not 0.
 *
 *	paper         rate · D^-0.5 · min(step^-0.5, step · warmup^-1.5)     (section 5.3; there rate is 1)
 *	inverse-sqrt  rate · min(step / warmup, sqrt(warmup / step))         the peak, at step warmup, is rate
 *	constant      rate · min(step / warmup, 1)
 *
 * warmup 0 is the same as 1: the first step has the full rate. warmup may equal or exceed the steps of the training: then the
 * rate grows to the end. */
#ifndef N2D_SCHEDULE_H
#define N2D_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

enum n2d_schedule_kind { N2D_SCHEDULE_PAPER, N2D_SCHEDULE_INVERSE_SQRT, N2D_SCHEDULE_CONSTANT };

struct n2d_schedule {
	enum n2d_schedule_kind kind;
	double rate;
	size_t warmup, d_model; /* d_model: of paper */
};

/* name: as above. -1 and a message when it is another, rate is not a positive number, or d_model is 0. */
int n2d_schedule_make(struct n2d_schedule *s, const char *name, double rate, size_t warmup, size_t d_model);

double n2d_schedule_rate(const struct n2d_schedule *s, uint64_t step);

#endif
