/* Translation of a corpus: every sentence's own, in the corpus' order, whatever batches it is cut into. */
#include "config.h"

#include "decode/translate.h"
#include "tests/unit.h"
#include "tests/small_model.h"

enum { PAIRS = 40, WORDS = 12, NBEST = 2 };

static struct n2d_ctx ctx;
static struct n2d_transformer model;

static int make(void **state)
{
	(void)state;
	if (n2d_ctx_init(&ctx, NULL, 2))
		return -1;
	small_model_init(&model, &ctx, "max-length=64", "", 0.5);
	return 0;
}

static int clear(void **state)
{
	(void)state;
	n2d_transformer_free(&model);
	n2d_ctx_free(&ctx);
	return 0;
}

/* Sources alone of 0 to WORDS words; with backward, in the opposite order. */
struct sources {
	int32_t id[PAIRS * (WORDS + 1)];
	size_t start[PAIRS + 1], none[PAIRS + 1];
	struct n2d_corpus c;
};

static void sources_make(struct sources *s, int backward)
{
	memset(s, 0, sizeof *s);
	s->c = (struct n2d_corpus){.pairs = PAIRS, .id = {s->id}, .start = {s->start, s->none}, .longest = {WORDS + 1}};
	for (size_t i = 0; i < PAIRS; i++) {
		struct n2d_rng r;
		size_t at = s->start[i];
		n2d_rng_init(&r, 3, backward ? PAIRS - 1 - i : i);
		for (size_t n = n2d_rng_below(&r, WORDS + 1); n--;)
			s->id[at++] = (int32_t)(N2D_IDS_SPECIAL + n2d_rng_below(&r, 19));
		s->id[at++] = N2D_ID_END;
		s->start[i + 1] = at;
	}
}

static void translate(struct n2d_translation *t, const struct sources *s, size_t batch_tokens)
{
	struct n2d_translate_options o = n2d_translate_defaults();
	o.beam.beam = 3;
	o.beam.nbest = NBEST;
	o.extra = 6;
	o.batch_tokens = batch_tokens;
	if (n2d_translate(t, &ctx, &model, &s->c, &o))
		fail_msg("%s", n2d_error_text());
}

static void same(const struct n2d_translation *a, const struct n2d_translation *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t k = 0; k < a->count; k++) {
		assert_true(a->best[k].logp == b->best[k].logp && a->best[k].score == b->best[k].score);
		assert_int_equal(a->best[k].length, b->best[k].length);
		if (a->best[k].length)
			assert_memory_equal(a->best[k].word, b->best[k].word, a->best[k].length * sizeof(int32_t));
	}
}

static void a_sentence_does_not_depend_on_batch_or_order(void **state)
{
	(void)state;
	static struct sources forth, back;
	struct n2d_translation alone[PAIRS], t[PAIRS];
	size_t different = 0;
	sources_make(&forth, 0);
	sources_make(&back, 1);
	translate(alone, &forth, 1); /* raised to the longest: batches of few */
	for (size_t i = 0; i < PAIRS; i++) {
		size_t words = n2d_corpus_length(&forth.c, N2D_SOURCE, i) - 1;
		assert_int_equal(alone[i].count, words ? NBEST : 1);
		assert_true(words ? alone[i].best[0].length <= words + 6 : !alone[i].best[0].length && alone[i].best[0].score == 0);
		different += i && alone[i].best[0].logp != alone[i - 1].best[0].logp;
	}
	assert_true(different > PAIRS / 2);
	for (size_t tokens = 30; tokens < 1000; tokens *= 5) {
		translate(t, &forth, tokens);
		for (size_t i = 0; i < PAIRS; i++)
			same(&t[i], &alone[i]);
		n2d_translations_free(t, PAIRS);
		translate(t, &back, tokens);
		for (size_t i = 0; i < PAIRS; i++)
			same(&t[PAIRS - 1 - i], &alone[i]);
		n2d_translations_free(t, PAIRS);
	}
	n2d_translations_free(alone, PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_sentence_does_not_depend_on_batch_or_order)};
	return cmocka_run_group_tests(tests, make, clear);
}
