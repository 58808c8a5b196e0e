#include "decode/valid_bleu.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "decode/translate.h"
#include "text/bleu.h"

static int add(struct n2d_bleu *b, struct n2d_bleu_counts *sum, const struct n2d_valid_bleu *v, const struct n2d_translation *t, size_t pair)
{
	struct n2d_text hyp = {0}, ref = {0};
	struct n2d_bleu_counts one;
	char *said = n2d_pieces_text(v->pieces, v->vocab, t->best[0].word, t->best[0].length, &hyp.length);
	hyp.at = said;
	ref.at = n2d_corpus_text(v->pairs, pair, &ref.length);
	int bad = !said || n2d_bleu_count(b, &one, hyp, &ref, 1);
	if (!bad)
		n2d_bleu_add(sum, &one);
	free(said);
	return bad;
}

static int count(struct n2d_bleu_counts *sum, const struct n2d_valid_bleu *v, const struct n2d_bleu_config *c, const struct n2d_translation *t,
		 size_t n)
{
	struct n2d_bleu b;
	if (n2d_bleu_open(&b, c))
		return -1;
	int bad = 0;
	for (size_t i = 0; i < n && !bad; i++)
		bad = add(&b, sum, v, &t[i], i);
	n2d_bleu_close(&b);
	return bad;
}

/* The first n sources alone, in the memory of the pairs; none: their targets' starts, all 0. */
static struct n2d_corpus sources(const struct n2d_corpus *pairs, size_t n, size_t *none)
{
	struct n2d_corpus c = *pairs;
	c.pairs = n;
	c.start[N2D_TARGET] = none;
	c.longest[N2D_TARGET] = 0;
	return c;
}

double n2d_valid_bleu(void *arg)
{
	const struct n2d_valid_bleu *v = arg;
	size_t n = v->pairs->pairs < v->most ? v->pairs->pairs : v->most;
	struct n2d_translate_options o = n2d_translate_defaults();
	struct n2d_bleu_config c = n2d_bleu_defaults();
	struct n2d_bleu_counts sum = {0};
	struct n2d_translation *t = calloc(n, sizeof *t);
	size_t *none = calloc(n + 1, sizeof *none);
	o.beam.beam = 1;
	c.rules.kind = N2D_TOKENIZE_NONE;
	int bad = t && none ? 0 : n2d_error("no memory for %zu translations", n);
	if (!bad) {
		struct n2d_corpus alone = sources(v->pairs, n, none);
		bad = n2d_translate(t, v->ctx, v->model, &alone, &o);
	}
	if (!bad) {
		bad = count(&sum, v, &c, t, n);
		n2d_translations_free(t, n);
	}
	free(t);
	free(none);
	return bad ? -1 : n2d_bleu_score(&c, &sum).score;
}
