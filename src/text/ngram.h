/* The n-grams of a sentence that references have too. Inside of bleu.c.
 *
 * An n-gram is its first n-1 words' number and its last word: equal numbers mean equal n-grams, whatever the hash function does. */
#ifndef N2D_NGRAM_H
#define N2D_NGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "text/bleu.h"

#define N2D_NGRAM_NONE UINT32_MAX

struct n2d_ngrams {
	struct n2d_ngram_slot {
		uint32_t epoch, entry;
	} *slot; /* open addressing; a slot of an older epoch is empty, so that the next sentence begins without clearing them */
	size_t slots; /* a power of two, or 0 */
	uint32_t epoch;
	struct n2d_ngram {
		uint32_t prefix, last;
		uint32_t hyp, best, now, ref; /* times in the hypothesis, in the best reference, in reference `ref` so far */
	} *gram;        /* [room], by order */
	uint32_t *chain; /* [chains]: the n-gram that starts at each word, or none that the hypothesis has */
	size_t n, room, chains, first[N2D_BLEU_ORDERS + 1]; /* order k: gram[first[k - 1] .. first[k]) */
	int orders;
};

/* Takes the n-grams of the hypothesis, orders 1 to `orders`, then those of each reference (numbered from 0), then gives for each order the n-grams of
 * the hypothesis that a reference has, each counted as often as in the reference that has it most. -1 and a message: no memory. */
int n2d_ngrams_hyp(struct n2d_ngrams *g, const uint32_t *words, size_t n, int orders);
int n2d_ngrams_ref(struct n2d_ngrams *g, const uint32_t *words, size_t n, uint32_t ref);
void n2d_ngrams_correct(const struct n2d_ngrams *g, uint64_t *correct);
void n2d_ngrams_free(struct n2d_ngrams *g);

#endif
