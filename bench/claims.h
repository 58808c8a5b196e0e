/* What the paper says of the Transformer, and its readers ask, as numbers that are computed: each claim is said in one sentence and
 * holds when all of its numbers do. Here is what can be computed exactly; tests/test-claims holds all of it. */
#ifndef BENCH_CLAIMS_H
#define BENCH_CLAIMS_H

#include "base/ctx.h"

struct claim {
	const char *text, *section; /* "3.2.1" of the paper */
};

struct claims {
	const struct n2d_ctx *ctx;
	/* A number of the claim, and whether it is as the claim says. */
	void (*say)(void *arg, const struct claim *c, const char *quantity, double value, int holds);
	void *arg;
};

/* Scores of queries and keys with unit variance, their softmax, and its gradient. */
void claims_attention(const struct claims *c);
/* PE(pos + k) from PE(pos). */
void claims_positions(const struct claims *c);
/* Later words, padding, order of words, caches, in a small model of random weights. -1 and a message when there is no memory. */
int claims_model(const struct claims *c);
/* Timed, after machine_start: eight heads beside one; a word from the caches beside the whole decoder. -1 and a message when there is no
 * memory, a check failed, or an interrupt came. */
int claims_heads(const struct claims *c);
int claims_cache(const struct claims *c);

#endif
