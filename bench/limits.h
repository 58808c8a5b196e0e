/* The limits that a group's rows are held against: roof cases, sampled in the same group, so that a row carries the limit
 * of its own minute. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <math.h>

#include "bench/roof.h"

/* What one call does. */
struct work {
	double flops, bytes;   /* bytes: compulsory traffic */
	double footprint;      /* the bytes it walks again and again: the bandwidth over as many is its limit */
	enum roof_kind stream; /* the stream whose mix of reading and writing is nearest */
};

struct limit {
	const char *level;      /* that holds the footprint, by name; "": none were looked for */
	int disturbed;          /* one of the two has fewer clean samples than were wanted */
	double peak, bandwidth; /* FLOP/s, bytes/s */
	double seconds;         /* a call at the limit: max(flops / peak, bytes / bandwidth) */
};

/* A call that does more than so many times the peak measured beside it: other work slowed the peak, which then is no limit. */
#define LIMIT_BEATEN 1.05
static inline int limit_beaten(double flops, double seconds, double peak) { return flops > LIMIT_BEATEN * peak * seconds; }
/* Per cent of the limit; NAN: it has been beaten. */
static inline double limit_percent(const struct limit *l, const struct work *w, double seconds)
{
	return limit_beaten(w->flops, seconds, l->peak) ? NAN : 100 * l->seconds / seconds;
}
#define LIMIT_BEATEN_NOTE \
	"more FLOP/s than the peak that was measured beside it, which other work must have slowed: there is no limit to hold it against"

enum { LIMITS_MOST = 192 };
struct limits {
	const struct roof_levels *levels;
	size_t n;
	struct roof_case r[LIMITS_MOST];
};

void limits_init(struct limits *l, const struct roof_levels *levels);
/* Makes sure the cases for this work are there. */
void limits_need(struct limits *l, const struct n2d_ctx *ctx, const struct work *w);
/* Appends the cases to c[n]; returns the new n. */
size_t limits_cases(struct limits *l, struct bench_case **c, size_t n);
/* After sampling. */
struct limit limits_of(const struct limits *l, const struct n2d_ctx *ctx, const struct work *w);
void limits_free(struct limits *l);

#endif
