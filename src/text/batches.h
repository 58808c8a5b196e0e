/* A corpus in batches of sentences of similar length, by tokens (paper, section 5.1).
 *
 * A batch has at most batch_tokens positions a side, padding counted: B S and B T. Pairs are sorted by the longer of their two
 * lengths, then by the difference, forth and back; the cuts between batches make padding + batch_tokens / 10 a batch least. So
 * the shapes are those of every epoch and known before the first; what an epoch shuffles is who of equally long pairs is in
 * which batch, and the order of the batches.
 *
 * The batches of an epoch depend on corpus, batch_tokens, seed and epoch alone, on every machine: batch i of epoch e can be made
 * at any time, without the ones before it. */
#ifndef N2D_BATCHES_H
#define N2D_BATCHES_H

#include "base/batch.h"
#include "text/corpus.h"

struct n2d_batches {
	const struct n2d_corpus *corpus;
	size_t count;            /* batches of an epoch */
	struct n2d_shape *shape; /* [count], each belongs to one batch of every epoch; T is 0 with sources alone */
	size_t src_padded, trg_padded; /* sums of B S and B T; the tokens are in the corpus */
	const uint32_t *row;     /* of the batch made last: the pairs in its rows */

	uint64_t seed, epoch;
	uint32_t *sorted, *order; /* [pairs]: by length; as the epoch has them */
	uint32_t *start, *turn;   /* [count + 1]: the first of a batch in order; [count]: batches as they come */
	int32_t *block;           /* of the batch made last */
};

/* Epochs count from 1. Of epoch 0 the pairs are sorted by length and nothing is shuffled, for validation and translation. */
enum { N2D_EPOCH_SORTED };

/* most_pairs: of a batch; 0: any number. The corpus must not change afterwards. -1 and a message: no pairs, no memory, or a sentence longer than batch_tokens (its end
 * counted), because it would break the bound that memory is planned by. Then only n2d_batches_free is left to call. */
int n2d_batches_init(struct n2d_batches *b, const struct n2d_corpus *c, size_t batch_tokens, size_t most_pairs, uint64_t seed);
void n2d_batches_free(struct n2d_batches *b);

/* Batch i of an epoch, i < count. Its arrays hold until the next. The first batch of another epoch than before costs a pass
 * over all pairs. */
void n2d_batches_get(struct n2d_batches *b, struct n2d_batch *batch, uint64_t epoch, size_t i);

/* The share of padding in all positions, 0 to 1. */
double n2d_batches_padding(const struct n2d_batches *b);

#endif
