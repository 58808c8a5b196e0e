/* Translation: encoder, then beam search over the decoder with caches. */
#ifndef N2D_TRANSLATE_H
#define N2D_TRANSLATE_H

#include "decode/beam.h"
#include "decode/decoder.h"
#include "decode/whole.h"
#include "text/batches.h"

struct n2d_translate_options {
	struct n2d_beam_options beam;
	size_t extra;        /* a result has at most so many words more than its source (paper, section 6.1: 50) */
	size_t batch_tokens; /* padded source tokens a batch; changes no result */
	size_t words;        /* a result has exactly so many, as measuring wants it; 0: as the model ends it */
	int whole;           /* without caches: the decoder runs over all words so far for each next one */
};

/* beam 4, penalty paper with alpha 0.6, extra 50. */
struct n2d_translate_options n2d_translate_defaults(void);

/* All sentences of a corpus of sources: translations[pairs], in the corpus' order; a source without words (only its end) gets an empty
 * translation with score 0. n2d_translations_free frees what they hold. -1 and a message: then nothing is left to free. */
int n2d_translate(struct n2d_translation *translations, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
		  const struct n2d_translate_options *o);

/* The same for one corpus as often as is wanted: memory is mapped once. n2d_translator_init: -1 and a message, and nothing is left to free.
 * corpus and options stay the caller's, and as they are. */
struct n2d_translator {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *m;
	const struct n2d_corpus *corpus;
	struct n2d_translate_options o;
	struct n2d_batches batches;
	struct n2d_pass pass;
	struct n2d_decoder decoder;
	struct n2d_whole whole;
	struct n2d_arena top;            /* of op/top.h */
	size_t *longest;                 /* [B] */
	struct n2d_translation *results; /* [B] */
};
int n2d_translator_init(struct n2d_translator *t, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
			const struct n2d_translate_options *o);
int n2d_translator_run(struct n2d_translator *t, struct n2d_translation *translations);
void n2d_translator_free(struct n2d_translator *t);

#endif
