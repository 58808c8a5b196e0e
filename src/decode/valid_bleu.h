/* BLEU of a model in training: its greedy translations of validation sentences. */
#ifndef N2D_VALID_BLEU_H
#define N2D_VALID_BLEU_H

#include "model/transformer.h"
#include "text/corpus.h"
#include "text/pieces.h"

struct n2d_valid_bleu {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *model;
	const struct n2d_corpus *pairs; /* keeps the targets' text */
	const struct n2d_vocab *vocab;
	const struct n2d_pieces *pieces;
	size_t most; /* the first so many of the pairs */
};

/* In per cent, of words divided by spaces (tok:none): the pieces of a translation are put together, references are as they were read.
 * Negative, and a message: no memory, or probabilities that are NaN. arg: a struct n2d_valid_bleu. */
double n2d_valid_bleu(void *arg);

#endif
