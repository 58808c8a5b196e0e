#include "decode/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "op/top.h"

struct n2d_translate_options n2d_translate_defaults(void)
{
	return (struct n2d_translate_options){.beam = {4, 1, N2D_PENALTY_PAPER, 0.6, 0}, .extra = 50, .batch_tokens = 2048};
}

/* Rows of the decoder at a time, or a few more: with a wide beam the caches would outgrow memory. */
enum { ROWS = 4096 };

/* ---- the model as the search sees it */

/* The choice of the c best words after each row. */
static struct n2d_top top(const struct n2d_translator *t, size_t rows, size_t c)
{
	const struct n2d_transformer *m = t->m;
	return (struct n2d_top){
		.rows = rows, .D = m->c.d_model, .V = m->c.vocab, .c = c, .packed = m->packed_output,
		.bias = m->output_bias == N2D_NOWHERE ? NULL : m->w + m->output_bias, .of = N2D_ID_END,
	};
}

static int step(void *arg, const struct n2d_step *s, const int32_t *word, const int32_t *sentence, size_t c, float *logp, int32_t *id, float *end)
{
	struct n2d_translator *t = arg;
	struct n2d_top choice = top(t, s->rows, c);
	if (t->o.whole && n2d_whole_step(&t->whole, s, word, sentence))
		return -1;
	if (!t->o.whole)
		n2d_decoder_step(&t->decoder, s, word, sentence);
	n2d_trace_where(t->ctx, "output");
	n2d_top(t->ctx, &choice, logp, id, end, t->o.whole ? t->whole.out : t->decoder.side.out, (float *)t->top.base);
	return 0;
}

/* ---- memory */

/* Words of a result at most: a source of n tokens has n - 1 words. A learned position table has an end. */
static size_t longest(const struct n2d_translator *t, size_t source_tokens)
{
	size_t n = t->o.words ? t->o.words : n2d_add(source_tokens - 1, t->o.extra);
	if (t->m->c.positions == N2D_POSITIONS_LEARNED && n > t->m->c.max_length - 1)
		n = t->m->c.max_length - 1;
	return n;
}

/* Positions of the decoder: the beginning and all words. */
static size_t room(const struct n2d_translator *t, size_t S) { return n2d_add(longest(t, S), 1); }

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static int open_memory(struct n2d_translator *t)
{
	struct n2d_pass_need need = {0}, whole = {0};
	size_t bytes = 0, most = 0, floats = 0;
	for (size_t i = 0; i < t->batches.count; i++) {
		const struct n2d_shape *s = &t->batches.shape[i];
		size_t width = n2d_mul(s->B, t->o.beam.beam), n = room(t, s->S);
		bytes = larger(bytes, t->o.whole ? n2d_whole_bytes(t->ctx, t->m, &whole, s->S, width, n)
						 : n2d_decoder_bytes(t->ctx, t->m, s->B, s->S, width, n));
		struct n2d_top choice = top(t, width, n2d_beam_candidates(&t->o.beam, t->m->c.vocab));
		floats = larger(floats, n2d_top_workspace(t->ctx, &choice));
		most = larger(most, s->B);
	}
	n2d_pass_need_add(&need, t->ctx, t->m, t->batches.shape, t->batches.count, 0);
	t->longest = calloc(most + 1, sizeof *t->longest);
	t->results = calloc(most + 1, sizeof *t->results);
	if (!t->longest || !t->results)
		return n2d_error("no memory for a batch of %zu sentences", most);
	if (n2d_pass_init(&t->pass, t->m, &need, 0) || n2d_arena_init(&t->top, n2d_mul(floats, sizeof(float))))
		return -1;
	return t->o.whole ? n2d_whole_init(&t->whole, t->ctx, t->m, &whole, bytes) : n2d_decoder_init(&t->decoder, t->ctx, t->m, bytes);
}

int n2d_translator_init(struct n2d_translator *t, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
			const struct n2d_translate_options *o)
{
	*t = (struct n2d_translator){.ctx = ctx, .m = m, .corpus = c, .o = *o};
	t->o.batch_tokens = larger(o->batch_tokens, c->longest[N2D_SOURCE]);
	t->o.beam.least = larger(o->beam.least, o->words);
	if (!n2d_batches_init(&t->batches, c, t->o.batch_tokens, 1 + ROWS / o->beam.beam, 0) && !open_memory(t))
		return 0;
	n2d_translator_free(t);
	return -1;
}

void n2d_translator_free(struct n2d_translator *t)
{
	n2d_pass_free(&t->pass);
	n2d_decoder_free(&t->decoder);
	n2d_whole_free(&t->whole);
	n2d_arena_free(&t->top);
	n2d_batches_free(&t->batches);
	free(t->longest);
	free(t->results);
	memset(t, 0, sizeof *t);
}

/* ---- batches */

static int start(struct n2d_translator *t, const struct n2d_batch *b)
{
	size_t width = b->B * t->o.beam.beam, n = room(t, b->S);
	if (!t->o.whole)
		return n2d_decoder_start(&t->decoder, t->pass.source.out, b->src_len, b->B, b->S, width, n);
	n2d_whole_start(&t->whole, t->pass.source.out, b->src_len, b->S, width, n);
	return 0;
}

static int translate_batch(struct n2d_translator *t, const struct n2d_batch *b, struct n2d_translation *translations)
{
	struct n2d_scorer scorer = {step, t, t->m->c.vocab};
	if (n2d_pass_shape(&t->pass, t->ctx, t->m, b->B, b->S, 0))
		return -1;
	n2d_transformer_encode(t->ctx, t->m, &t->pass, b, NULL);
	if (start(t, b))
		return -1;
	for (size_t i = 0; i < b->B; i++)
		t->longest[i] = longest(t, (size_t)b->src_len[i]);
	if (n2d_beam_search(t->results, &scorer, &t->o.beam, t->longest, b->B))
		return -1;
	for (size_t i = 0; i < b->B; i++)
		translations[t->batches.row[i]] = t->results[i];
	return 0;
}

/* An empty source has nothing to translate, whatever the model makes of it. */
static int clear_empty(struct n2d_translation *translations, const struct n2d_translator *t)
{
	for (size_t i = 0; i < t->corpus->pairs; i++) {
		if (n2d_corpus_length(t->corpus, N2D_SOURCE, i) > 1)
			continue;
		n2d_translations_free(&translations[i], 1);
		translations[i].best = calloc(t->o.beam.nbest, sizeof *translations[i].best);
		if (!translations[i].best)
			return n2d_error("no memory for a translation");
		translations[i].count = 1;
	}
	return 0;
}

int n2d_translator_run(struct n2d_translator *t, struct n2d_translation *translations)
{
	int bad = 0;
	memset(translations, 0, t->corpus->pairs * sizeof *translations);
	for (size_t i = 0; !bad && i < t->batches.count; i++) {
		struct n2d_batch b;
		n2d_batches_get(&t->batches, &b, N2D_EPOCH_SORTED, i);
		bad = translate_batch(t, &b, translations);
	}
	bad = bad || clear_empty(translations, t);
	if (bad)
		n2d_translations_free(translations, t->corpus->pairs);
	return bad ? -1 : 0;
}

int n2d_translate(struct n2d_translation *translations, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
		  const struct n2d_translate_options *o)
{
	struct n2d_translator t;
	if (n2d_translator_init(&t, ctx, m, c, o))
		return -1;
	int bad = n2d_translator_run(&t, translations);
	n2d_translator_free(&t);
	return bad;
}
