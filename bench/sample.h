/* Takes samples of a group of cases, interleaved at random.
 *
 * A sample is some calls in a row, at least 1 ms together. Before the first one a case is opened: memory mapped and
 * touched, inputs made, the result checked. Samples during which other processes used our processors are marked and taken
 * again; those that cannot be had clean stay marked. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum { SAMPLE_PARTS = 3 }; /* indexed by enum n2d_part */

struct sample {
	double seconds;            /* a call; `run` of a case outside may set it to what its calls took together, without asking for them */
	double part[SAMPLE_PARTS]; /* seconds a call by part, from the observer; 0 where the case does not tell */
	size_t calls;
	int clean;
};

struct bench_case {
	char id[128];              /* op/isa/shape */
	const struct n2d_ctx *ctx; /* instruction set and threads */
	void *arg;
	/* Memory, inputs, check. -1 and a message (n2d_error) when it cannot be, or the check fails. May be NULL. */
	int (*open)(struct bench_case *c);
	/* `calls` calls in a row; s->part may be added to (seconds of all these calls). */
	void (*run)(struct bench_case *c, size_t calls, struct sample *s);
	/* Untimed calls that add to s->part, after the timed ones; or NULL. */
	void (*parts)(struct bench_case *c, size_t calls, struct sample *s);
	void (*close)(struct bench_case *c); /* may be NULL; only after a successful open */

	int outside; /* another process does the work: who uses the processors meanwhile is not looked at */

	double call_seconds; /* measured before the first sample */
	size_t calls;        /* in a sample */
	struct sample *sample;
	size_t samples;
	int failed;    /* the check failed, or it could not be set up */
	char why[160]; /* no samples: why */
};

struct sample_plan {
	size_t want;        /* clean samples of each case */
	double seconds;     /* a sample is made to last this long, and lasts at least half of it */
	size_t extra;       /* at most so many retaken samples of each case */
	uint64_t seed;      /* of the interleaving */
	volatile sig_atomic_t *stop; /* non-zero: finish now, keep what there is */
	void (*progress)(void *arg, const struct bench_case *c); /* before each check, after each sample; may be NULL */
	void *arg;
};

#define SAMPLE_PLAN {.want = 10, .seconds = 0.002, .extra = 10, .seed = 1}

/* -1 when a case failed its check (its `why` tells); the others are sampled. */
int sample_group(struct bench_case **c, size_t n, const struct sample_plan *p);
void sample_free(struct bench_case *c);

/* Seconds a call of the clean samples (of all, when none is clean), into x[c->samples]; returns how many. part < 0: the
 * whole call. */
size_t sample_seconds(const struct bench_case *c, int part, double *x);
/* Their median, or NAN. */
double sample_median(const struct bench_case *c, int part);

/* Are there fewer clean samples than were wanted? */
int sample_disturbed(const struct bench_case *c);
/* What a printed line ends with: that it was disturbed, or that the limit was which it is held against; else "". */
const char *sample_mark(const struct bench_case *c, int limit_disturbed);

/* What that means. */
#define SAMPLE_DISTURBED_NOTE \
	"other work used the processors during more than half of the samples, so that fewer clean ones were had than wanted. " \
	"The time is the median of those, or of the disturbed ones where none is clean: do not rely on it. Fewer disturbed ones are left out without a word"

/* The order of a round: 0 .. n-1 shuffled (Fisher and Yates). For the test too. */
struct n2d_rng;
void sample_shuffle(struct n2d_rng *rng, size_t *order, size_t n);

#endif
