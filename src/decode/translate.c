#include "decode/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "decode/decoder.h"
#include "op/top.h"
#include "text/batches.h"

struct n2d_translate_options n2d_translate_defaults(void)
{
	return (struct n2d_translate_options){.beam = {4, 1, N2D_PENALTY_PAPER, 0.6}, .extra = 50, .batch_tokens = 2048};
}

/* ---- the model as the search sees it */

static int step(void *arg, const struct n2d_step *s, const int32_t *word, const int32_t *sentence, size_t c, float *logp, int32_t *id, float *end)
{
	struct n2d_decoder *d = arg;
	n2d_decoder_step(d, s, word, sentence);
	n2d_top(d->ctx, logp, id, end, d->logits, N2D_ID_END, s->rows, d->m->c.vocab, c);
	return 0;
}

/* ---- batches */

struct work {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *m;
	const struct n2d_translate_options *o;
	struct n2d_batches batches;
	struct n2d_pass pass;
	struct n2d_decoder decoder;
	size_t *longest;                 /* [B] */
	struct n2d_translation *results; /* [B] */
};

/* Words of a result at most: a source of n tokens has n - 1 words. A learned position table has an end. */
static size_t longest(const struct work *w, size_t source_tokens)
{
	size_t n = n2d_add(source_tokens - 1, w->o->extra);
	if (w->m->c.positions == N2D_POSITIONS_LEARNED && n > w->m->c.max_length - 1)
		n = w->m->c.max_length - 1;
	return n;
}

/* Positions of the decoder: the beginning and all words; the search counts one more. */
static size_t room(const struct work *w, size_t S) { return longest(w, S) + 2; }

static int open_memory(struct work *w)
{
	struct n2d_pass_need need = {0};
	size_t bytes = 0, most = 0;
	for (size_t i = 0; i < w->batches.count; i++) {
		const struct n2d_shape *s = &w->batches.shape[i];
		size_t b = n2d_decoder_bytes(w->ctx, w->m, s->B, s->S, n2d_mul(s->B, w->o->beam.beam), room(w, s->S));
		bytes = b > bytes ? b : bytes;
		most = s->B > most ? s->B : most;
	}
	n2d_pass_need_add(&need, w->ctx, w->m, w->batches.shape, w->batches.count, 0);
	w->longest = calloc(most + 1, sizeof *w->longest);
	w->results = calloc(most + 1, sizeof *w->results);
	if (!w->longest || !w->results)
		return n2d_error("no memory for a batch of %zu sentences", most);
	if (n2d_pass_init(&w->pass, w->m, &need, 0))
		return -1;
	return n2d_decoder_init(&w->decoder, w->ctx, w->m, bytes);
}

static int translate_batch(struct work *w, const struct n2d_batch *b, struct n2d_translation *translations)
{
	struct n2d_scorer scorer = {step, &w->decoder, w->m->c.vocab};
	if (n2d_pass_shape(&w->pass, w->ctx, w->m, b->B, b->S, 0))
		return -1;
	n2d_transformer_encode(w->ctx, w->m, &w->pass, b, NULL);
	if (n2d_decoder_start(&w->decoder, w->pass.source.out, b->src_len, b->B, b->S, b->B * w->o->beam.beam, room(w, b->S)))
		return -1;
	for (size_t i = 0; i < b->B; i++)
		w->longest[i] = longest(w, (size_t)b->src_len[i]);
	if (n2d_beam_search(w->results, &scorer, &w->o->beam, w->longest, b->B))
		return -1;
	for (size_t i = 0; i < b->B; i++)
		translations[w->batches.row[i]] = w->results[i];
	return 0;
}

/* An empty source has nothing to translate, whatever the model makes of it. */
static int clear_empty(struct n2d_translation *translations, const struct n2d_corpus *c, const struct n2d_translate_options *o)
{
	for (size_t i = 0; i < c->pairs; i++) {
		if (n2d_corpus_length(c, N2D_SOURCE, i) > 1)
			continue;
		n2d_translations_free(&translations[i], 1);
		translations[i].best = calloc(o->beam.nbest, sizeof *translations[i].best);
		if (!translations[i].best)
			return n2d_error("no memory for a translation");
		translations[i].count = 1;
	}
	return 0;
}

int n2d_translate(struct n2d_translation *translations, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
		  const struct n2d_translate_options *o)
{
	struct work w = {.ctx = ctx, .m = m, .o = o};
	size_t tokens = o->batch_tokens > c->longest[N2D_SOURCE] ? o->batch_tokens : c->longest[N2D_SOURCE];
	memset(translations, 0, c->pairs * sizeof *translations);
	if (n2d_batches_init(&w.batches, c, tokens, 0))
		return -1;
	int bad = open_memory(&w);
	for (size_t i = 0; !bad && i < w.batches.count; i++) {
		struct n2d_batch b;
		n2d_batches_get(&w.batches, &b, N2D_EPOCH_SORTED, i);
		bad = translate_batch(&w, &b, translations);
	}
	bad = bad || clear_empty(translations, c, o);
	if (bad)
		n2d_translations_free(translations, c->pairs);
	n2d_pass_free(&w.pass);
	n2d_decoder_free(&w.decoder);
	n2d_batches_free(&w.batches);
	free(w.longest);
	free(w.results);
	return bad ? -1 : 0;
}
