/* n2d against the best peer at the same work: a line each, geometric means, and where we lose. */
#ifndef BENCH_VERSUS_H
#define BENCH_VERSUS_H

#include <stddef.h>
#include <stdio.h>

#include "bench/sample.h"

struct versus_time {
	char id[128], group[64]; /* group: a line of the summary */
	char key[192];           /* equal: the same work, on as many threads */
	char also[192];          /* a peer of this key does the same work with less done before; or "" */
	char program[32];        /* "n2d", or a peer */
	char version[128], isa[32]; /* its version and the instruction set that it chose, in its words; "": not told */
	double seconds;
	int disturbed; /* fewer clean samples than were wanted */
};
struct versus {
	struct versus_time *time;
	size_t n;
};

/* What is added is returned, to be told more of (versus_tell). An operator, op: a peer's is named op@peer. What packed its weights before is compared
 * with the product that packs them in the call too; that one not with what packed them before. */
struct versus_time *versus_add_op(struct versus *v, const char *id, const char *op, const char *shape, const char *isa, int threads,
				   const char *program, double seconds);
/* A layer on a shape. */
struct versus_time *versus_add_layer(struct versus *v, const char *id, const char *layer, const char *pass, const char *shape, const char *isa,
				      int threads, const char *program, double seconds);
void versus_tell(struct versus_time *t, const char *version, const char *isa, int disturbed);
/* Medians from a file of schema kernels/1 or layers/1. -1 and a message. */
int versus_read(struct versus *v, const char *file);
void versus_free(struct versus *v);

/* The fastest peer at the same work; NULL: there is none, or this is not ours. */
const struct versus_time *versus_peer(const struct versus *v, const struct versus_time *ours);

/* Of peers, the i-th in the order of their first times: "openblas: OpenBLAS 0.3.21 (SkylakeX)", with all that it chose. NULL: there are fewer. */
const char *versus_program(const struct versus *v, size_t i, char *text, size_t size);

enum versus_format { VERSUS_TEXT, VERSUS_MARKDOWN, VERSUS_CSV };
/* Nothing but a sentence where no work has both; returns how many have. */
size_t versus_print(const struct versus *v, FILE *f, enum versus_format format);

#endif
