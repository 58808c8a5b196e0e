/* What a model is trained on: two parallel files, or a task that is made in memory; with a vocabulary, and validation pairs. */
#ifndef N2D_TRAIN_DATA_H
#define N2D_TRAIN_DATA_H

#include "text/batches.h"
#include "text/pieces.h"

struct n2d_data_options {
	const char *src, *trg;             /* files; NULL with a task */
	const char *valid_src, *valid_trg; /* or both NULL: none */
	const char *vocab;                 /* a file; NULL: the tokens of the training pairs, both sides together (with src_vocab, of the targets) */
	const char *src_vocab;             /* a file of the source's own vocabulary, or NULL: vocab is both sides' */
	const char *bpe;                   /* a codes file that lines go through first, or NULL */
	const char *task;                  /* a name of text/task.h, or NULL */
	size_t lines;                      /* of a task: pairs of an epoch */
	int ids;                           /* tokens are integers */
	size_t max_length, batch_tokens;
	size_t positions;                  /* tokens and an end that a model can place; 0: any number */
	uint64_t seed;
};

struct n2d_data {
	struct n2d_vocab vocab, src_vocab;
	struct n2d_pieces pieces;
	struct n2d_corpus train_pairs, valid_pairs;
	struct n2d_batches train, valid;
	int has_valid, separate; /* separate: the source has src_vocab */
};

/* Texts that lie in a model's file (n2d_vocab_text, codes) and are used in place of files; each may be NULL. */
struct n2d_data_known {
	const char *vocab, *src_vocab, *codes;
};

/* -1 and a message; then nothing is left to free. */
int n2d_data_open(struct n2d_data *d, const struct n2d_data_options *options, const struct n2d_data_known *known);
void n2d_data_close(struct n2d_data *d);

#endif
