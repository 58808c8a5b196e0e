/* BLEU of a model in training: its greedy translations of validation sentences. */
#ifndef N2D_VALID_BLEU_H
#define N2D_VALID_BLEU_H

#include "model/transformer.h"
#include "text/corpus.h"
#include "text/pieces.h"

struct n2d_valid_bleu {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *model;
	const struct n2d_corpus *pairs;
	const struct n2d_vocab *vocab;
	const struct n2d_pieces *pieces;
	size_t most; /* the first so many of the pairs */
};

/* In per cent, of words: pieces are put together on both sides, spaces divide (tok:none). A word of a reference that the vocabulary does not
 * have matches nothing. Negative, and a message: no memory, or probabilities that are NaN. arg: a struct n2d_valid_bleu. */
double n2d_valid_bleu(void *arg);

#endif
