/* Translation: encoder, then beam search over the decoder with caches. */
#ifndef N2D_TRANSLATE_H
#define N2D_TRANSLATE_H

#include "decode/beam.h"
#include "model/transformer.h"
#include "text/corpus.h"

struct n2d_translate_options {
	struct n2d_beam_options beam;
	size_t extra;        /* a result has at most so many words more than its source (paper, section 6.1: 50) */
	size_t batch_tokens; /* padded source tokens a batch; changes no result */
};

/* beam 4, penalty paper with alpha 0.6, extra 50. */
struct n2d_translate_options n2d_translate_defaults(void);

/* All sentences of a corpus of sources: translations[pairs], in the corpus' order; a source without words (only its end) gets an empty
 * translation with score 0. n2d_translations_free frees what they hold. -1 and a message: then nothing is left to free. */
int n2d_translate(struct n2d_translation *translations, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
		  const struct n2d_translate_options *o);

#endif
