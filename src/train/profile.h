/* Where the time of steps goes: the observer (base/trace.h) adds up the operators' calls, by the part of the model they belong to. */
#ifndef N2D_PROFILE_H
#define N2D_PROFILE_H

#include <stdio.h>

#include "base/trace.h"

enum { N2D_PROFILE_ROWS = 96 };

struct n2d_profile_row {
	const char *where, *op;
	double seconds, flops, bytes;
	size_t calls;
};

struct n2d_profile {
	struct n2d_trace trace; /* for ctx->trace */
	struct n2d_profile_row row[N2D_PROFILE_ROWS];
	size_t rows;
	double started, seconds; /* since when it counts, 0: it does not; of all times that it did */
	size_t spans;            /* the times that it did */
};

/* Empty; it counts what it sees from each start to the next stop. */
void n2d_profile_init(struct n2d_profile *p);
void n2d_profile_start(struct n2d_profile *p);
void n2d_profile_stop(struct n2d_profile *p);

/* A table, dearest first: time, share of all time, GFLOP/s, GB/s, and per cent of the limit, the larger of flops / peak
 * and bytes / bandwidth, of memory: what is above 100, because it lies in a cache, has a mark. Time between operators is a row of its own. */
void n2d_profile_print(struct n2d_profile *p, FILE *f, double peak, double bandwidth);

#endif
