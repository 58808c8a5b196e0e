/* Decoding of a whole set of sentences as a case of sample.h. */
#ifndef BENCH_DECODE_CASE_H
#define BENCH_DECODE_CASE_H

#include "bench/model_command.h"
#include "decode/bundle.h"
#include "decode/translate.h"

/* What is translated, with one instruction set's packed weights. */
struct decode_subject {
	const struct n2d_kernels *k;
	const char *name; /* the preset, or "file" */
	struct n2d_bundle bundle;
	struct n2d_corpus corpus;
};

/* A trained model and a text's first `sentences` lines. -1 and a message naming the file. */
int decode_subject_read(struct decode_subject *s, const struct n2d_ctx *ctx, const char *model, const char *source, size_t sentences);
/* A preset ("tiny", "base") with random weights, vocabulary 10,000, and as many random sources of 13 to 16 tokens. -1 and a message. */
int decode_subject_make(struct decode_subject *s, const struct n2d_ctx *ctx, const char *preset, size_t sentences);

struct decode_case {
	struct model_case m;
	struct decode_subject *subject;
	struct n2d_ctx ctx; /* the case's, with the trace of the moment */
	struct n2d_translator translator;
	struct n2d_translation *translations;
	double words, bytes; /* of a call: of all results; what the operators move at least */
};

void decode_case_init(struct decode_case *d, const struct n2d_ctx *ctx, struct decode_subject *s, const struct n2d_translate_options *o);

#endif
