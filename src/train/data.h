/* What a model is trained on: two parallel files, or a task that is made in memory; with a vocabulary, and validation pairs. */
#ifndef N2D_TRAIN_DATA_H
#define N2D_TRAIN_DATA_H

#include "text/batches.h"
#include "text/pieces.h"

struct n2d_data_options {
	const char *src, *trg;             /* files; NULL with a task */
	const char *valid_src, *valid_trg; /* or both NULL: none */
	const char *vocab;                 /* a file; NULL: the tokens of the training pairs, both sides together */
	const char *bpe;                   /* a codes file that lines go through first, or NULL */
	const char *task;                  /* a name of text/task.h, or NULL */
	size_t lines;                      /* of a task: pairs of an epoch */
	int ids;                           /* tokens are integers */
	size_t max_length, batch_tokens;
	uint64_t seed;
};

struct n2d_data {
	struct n2d_vocab vocab;
	struct n2d_pieces pieces;
	struct n2d_corpus train_pairs, valid_pairs;
	struct n2d_batches train, valid;
	int has_valid;
};

/* known, codes: the texts of a vocabulary (n2d_vocab_text) and of byte-pair codes that are used in place of options', or NULL. -1 and a message; then nothing is left to free. */
int n2d_data_open(struct n2d_data *d, const struct n2d_data_options *options, const char *known, const char *codes);
void n2d_data_close(struct n2d_data *d);

#endif
