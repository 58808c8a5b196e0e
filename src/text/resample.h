/* How sure a BLEU score is: bootstrap resampling over sentences (Koehn 2004), by sacreBLEU 2's method.
 *
 * A resample draws as many sentences as there are, with replacement, and scores the sum of their counts; all systems are
 * scored on the same draws. Resample r's draws depend on (seed, r) alone, so results do not depend on threads. The draws are not
 * those of sacreBLEU, whose generator is another: mean, interval and p differ from its by chance, as from one seed to the next. */
#ifndef N2D_RESAMPLE_H
#define N2D_RESAMPLE_H

#include "base/ctx.h"
#include "text/bleu.h"

/* The counts of every sentence of a system, 8 + 8 orders bytes each. */
struct n2d_bleu_rows {
	uint32_t *row; /* hyp_length, ref_length, correct[orders], total[orders]; [room] of them */
	size_t n, room;
	int orders;
};

/* Adds a sentence; counts are those of n2d_bleu_count, orders the configuration's. -1 and a message: no memory. */
int n2d_bleu_rows_add(struct n2d_bleu_rows *r, const struct n2d_bleu_counts *counts);
/* Sentence i. */
struct n2d_bleu_counts n2d_bleu_rows_get(const struct n2d_bleu_rows *r, size_t i);
void n2d_bleu_rows_free(struct n2d_bleu_rows *r);

struct n2d_bleu_test {
	double score;
	double mean, interval; /* of the resamples' scores: 95 % lie within mean +- interval, half the width between the 2.5 % at both ends */
	double p;              /* against system 0: of its own resamples' |difference| - its mean, how many exceed the true |difference|, (c + 1) / (n + 1) */
};

/* Tests systems[0..n), n > 0, of equally many sentences, at least 1, against the first, whose own p is 1. -1 and a message: different numbers of sentences, none,
 * 2^32 or more, no memory. */
int n2d_bleu_resample(const struct n2d_ctx *ctx, struct n2d_bleu_test *tests, const struct n2d_bleu_config *c,
		      const struct n2d_bleu_rows *systems, size_t n, size_t resamples, uint64_t seed);

#endif
