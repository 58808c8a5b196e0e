/* Beam search over any model of the next word (paper, section 6.1), for several sentences at a time.
 *
 * A hypothesis is a sequence of words; its log P is the sum of its words', the end among them. Finished, it scores
 *
 *	paper     log P / ((5 + |Y|) / 6)^alpha      (Wu et al. 2016; |Y| counts the end)
 *	length    log P / |Y|
 *
 * In each step the candidates of a sentence, each hypothesis followed by each word, are taken in the order of log P (of equal ones the
 * earlier hypothesis, then the lower word): those that end are finished, until `beam` that go on are found. A sentence is done when no
 * hypothesis that goes on can overtake the n-th best that is finished, whatever follows: so the result is that of a search
 * to the greatest length, and with a beam wider than there are sequences that of trying them all. N2D_ID_PAD and N2D_ID_BEGIN are never
 * taken. A sentence does not depend on the others. */
#ifndef N2D_BEAM_H
#define N2D_BEAM_H

#include <stddef.h>
#include <stdint.h>

#include "layer/layer.h"

enum n2d_penalty { N2D_PENALTY_PAPER, N2D_PENALTY_LENGTH };

struct n2d_beam_options {
	size_t beam, nbest; /* at least 1 each; nbest <= beam */
	enum n2d_penalty penalty;
	double alpha;
	size_t least; /* words of a result at least, where longest allows it; 0: any number */
};

/* The model. Rows are hypotheses, sentence after sentence; row r is of sentence[r], its last word is word[r] (N2D_ID_BEGIN at first),
 * and where its history lies is told by s (layer/layer.h). Gives the c most probable next words of each row, logp[rows,c] and id[rows,c]
 * in the order of op/top.h, and end[rows], log P of N2D_ID_END. -1 and a message. */
struct n2d_scorer {
	int (*step)(void *arg, const struct n2d_step *s, const int32_t *word, const int32_t *sentence, size_t c, float *logp, int32_t *id,
		    float *end);
	void *arg;
	size_t V;
};

struct n2d_hypothesis {
	int32_t *word; /* [length], without the end; in the result's memory */
	size_t length;
	double logp, score;
};

/* The nbest best of one sentence, best first: of `count` that were found. */
struct n2d_translation {
	struct n2d_hypothesis *best;
	size_t count;
};

/* longest[B]: the most words of each sentence's result, without the end; after as many only the end is taken. translations[B] is filled;
 * n2d_translations_free frees what it holds. -1 and a message: no memory, the model's failure, or probabilities that are NaN. */
int n2d_beam_search(struct n2d_translation *translations, const struct n2d_scorer *m, const struct n2d_beam_options *o, const size_t *longest,
		    size_t B);
void n2d_translations_free(struct n2d_translation *translations, size_t B);

/* c of the search's steps: how many words of a row are looked at, of V. */
size_t n2d_beam_candidates(const struct n2d_beam_options *o, size_t V);
double n2d_beam_score(const struct n2d_beam_options *o, double logp, size_t length_with_end);

#endif
