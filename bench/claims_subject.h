/* The small model of random weights that claims are about: preset tiny, two layers a side. */
#ifndef BENCH_CLAIMS_SUBJECT_H
#define BENCH_CLAIMS_SUBJECT_H

#include "model/transformer.h"

enum { SUBJECT_WORDS = 50, SUBJECT_MOST = 512 };

/* The model, a pass over one pair, and the pair: random words, of which the first S and T, at most the room asked for, are taken. */
struct subject {
	struct n2d_transformer m;
	struct n2d_pass pass;
	int32_t src[SUBJECT_MOST], in[SUBJECT_MOST], out[SUBJECT_MOST], slen, tlen;
	size_t S, T;
};

/* Room for `room` <= SUBJECT_MOST tokens a side; S and T are 24. -1 and a message. */
int subject_open(struct subject *s, const struct n2d_ctx *ctx, const char *positions, size_t room);
void subject_close(struct subject *s);
/* The decoder's result [T,D]; NULL when there is no room. */
const float *subject_result(struct subject *s, const struct n2d_ctx *ctx);

#endif
