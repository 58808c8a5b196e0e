/* Beam search over a toy model, whose probabilities are a hash of the words so far: against trying all sequences, and against a search that
 * never stops early. */
#include "config.h"

#include <math.h>

#include "base/batch.h"
#include "decode/beam.h"
#include "tests/unit.h"

/* ---- the model: V words, of which 3 and above are words, and longest words at most */

enum { V = 6, WORDS = 3, MOST = 8, ROWS = 4096 };

struct toy {
	uint64_t seed;
	int early;                    /* the end is cheap at first */
	int32_t (*said)[ROWS];        /* [MOST + 2]: the word of a slot at a position */
	int nan_at;                   /* position from which it gives NaN; -1: never */
};

/* log P of the words after a history of n words of a sentence. */
static void probabilities(const struct toy *t, int32_t sentence, const int32_t *history, size_t n, double logp[V])
{
	uint64_t h = t->seed * 1000003 + (uint64_t)sentence;
	double sum = 0, p[V];
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint64_t)history[i]) * 1099511628211u + 17;
	struct n2d_rng r;
	n2d_rng_init(&r, h, 1);
	for (int i = 0; i < V; i++) {
		p[i] = exp(3 * n2d_rng_normal(&r));
		if (i == N2D_ID_END && t->early)
			p[i] *= n < 2 ? 3 : 0.05;
		sum += p[i];
	}
	for (int i = 0; i < V; i++)
		logp[i] = (double)(float)log(p[i] / sum); /* as the search sees them */
}

static int step(void *arg, const struct n2d_step *s, const int32_t *word, const int32_t *sentence, size_t c, float *logp, int32_t *id, float *end)
{
	struct toy *t = arg;
	for (size_t r = 0; r < s->rows; r++) {
		int32_t history[MOST + 2];
		double p[V];
		t->said[s->at][r] = word[r];
		assert_int_equal(s->slots[r * s->room + s->at], (int32_t)r);
		for (size_t j = 1; j <= s->at; j++)
			history[j - 1] = t->said[j][s->slots[r * s->room + j]];
		assert_int_equal(t->said[0][s->slots[r * s->room]], N2D_ID_BEGIN);
		probabilities(t, sentence[r], history, s->at, p);
		end[r] = (float)p[N2D_ID_END];
		for (size_t i = 0; i < c; i++) { /* the next largest */
			int best = -1;
			for (int k = 0; k < V; k++)
				if (!isnan(p[k]) && (best < 0 || p[k] > p[best]))
					best = k;
			logp[r * c + i] = (float)p[best];
			id[r * c + i] = t->nan_at >= 0 && (int)s->at >= t->nan_at ? -1 : best;
			p[best] = NAN;
		}
	}
	return 0;
}

static struct n2d_scorer scorer(struct toy *t)
{
	static int32_t said[MOST + 2][ROWS];
	t->said = said;
	return (struct n2d_scorer){step, t, V};
}

/* ---- all sequences of at most `longest` words */

struct all {
	const struct toy *t;
	const struct n2d_beam_options *o;
	int32_t sentence;
	size_t longest;
	double best;
	int32_t word[MOST];
	size_t length;
};

static void try_all(struct all *a, int32_t *history, size_t n, double logp)
{
	double p[V];
	probabilities(a->t, a->sentence, history, n, p);
	double score = n2d_beam_score(a->o, logp + p[N2D_ID_END], n + 1);
	if (score > a->best) {
		a->best = score;
		a->length = n;
		memcpy(a->word, history, n * sizeof *history);
	}
	for (int32_t w = WORDS; n < a->longest && w < V; w++) {
		history[n] = w;
		try_all(a, history, n + 1, logp + p[w]);
	}
}

/* By hand: (5 + 7) / 6 is 2, (5 + 1) / 6 is 1. */
static void scores_are_the_papers(void **state)
{
	(void)state;
	struct n2d_beam_options o = {.penalty = N2D_PENALTY_PAPER, .alpha = 2};
	assert_true(n2d_beam_score(&o, -3, 7) == -0.75);
	assert_true(n2d_beam_score(&o, -3, 1) == -3);
	o.alpha = 0;
	assert_true(n2d_beam_score(&o, -3, 7) == -3);
	o.penalty = N2D_PENALTY_LENGTH;
	assert_true(n2d_beam_score(&o, -3, 6) == -0.5);
}

static void a_wide_beam_finds_the_best_of_all(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct toy t = {.seed = seed, .early = seed % 2, .nan_at = -1};
		struct n2d_scorer m = scorer(&t);
		struct n2d_beam_options o = {.beam = 300, .nbest = 1, .penalty = seed % 3 ? N2D_PENALTY_PAPER : N2D_PENALTY_LENGTH,
					     .alpha = 0.6 * (double)(seed % 5)};
		size_t longest[2] = {5, (size_t)seed % 5};
		struct n2d_translation r[2];
		if (n2d_beam_search(r, &m, &o, longest, 2))
			fail_msg("%s", n2d_error_text());
		for (int b = 0; b < 2; b++) {
			struct all a = {.t = &t, .o = &o, .sentence = b, .longest = longest[b], .best = -INFINITY};
			int32_t history[MOST];
			try_all(&a, history, 0, 0);
			assert_int_equal(r[b].count, 1);
			assert_true(r[b].best[0].score == a.best);
			assert_int_equal(r[b].best[0].length, a.length);
			assert_memory_equal(r[b].best[0].word, a.word, a.length * sizeof *a.word);
		}
		n2d_translations_free(r, 2);
	}
}

/* ---- the same search, written down plainly and run to the greatest length */

struct plain {
	int32_t word[MOST];
	size_t n;
	double logp, score;
};

static int by_logp(const void *a, const void *b)
{
	double x = ((const struct plain *)a)->logp, y = ((const struct plain *)b)->logp;
	return (x < y) - (x > y);
}

static int by_score(const void *a, const void *b)
{
	double x = ((const struct plain *)a)->score, y = ((const struct plain *)b)->score;
	return (x < y) - (x > y);
}

static size_t plain_search(struct plain *done, const struct toy *t, const struct n2d_beam_options *o, int32_t sentence, size_t longest)
{
	static struct plain now[64], next[64 * V];
	size_t rows = 1, finished = 0;
	now[0] = (struct plain){.n = 0};
	for (size_t at = 0; at <= longest && rows; at++) {
		size_t n = 0, on = 0;
		for (size_t r = 0; r < rows; r++) {
			double p[V];
			probabilities(t, sentence, now[r].word, at, p);
			for (int32_t w = N2D_ID_END; w < V; w++) {
				if (w == N2D_ID_END ? at < o->least && at < longest : at == longest)
					continue;
				next[n] = now[r];
				next[n].word[at < MOST ? at : 0] = w;
				next[n].n = w == N2D_ID_END ? at : at + 1;
				next[n].score = w == N2D_ID_END;
				next[n++].logp += p[w];
			}
		}
		qsort(next, n, sizeof *next, by_logp);
		for (size_t i = 0; i < n && on < o->beam; i++)
			if (next[i].score == 1) {
				done[finished] = next[i];
				done[finished++].score = n2d_beam_score(o, next[i].logp, at + 1);
			} else
				now[on++] = next[i];
		rows = on;
	}
	qsort(done, finished, sizeof *done, by_score);
	return finished;
}

static void stopping_early_loses_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 100; seed < 400; seed++) {
		struct toy t = {.seed = seed, .early = seed % 3 != 0, .nan_at = -1};
		struct n2d_scorer m = scorer(&t);
		size_t beam = 1 + (size_t)seed % 5, nbest = 1 + (size_t)(seed / 5) % beam;
		struct n2d_beam_options o = {beam, nbest, seed % 2 ? N2D_PENALTY_PAPER : N2D_PENALTY_LENGTH, 0.5 * (double)(seed % 7),
					     (size_t)(seed / 7) % 5};
		size_t longest[3] = {7, 3, 6};
		struct n2d_translation r[3];
		assert_int_equal(n2d_beam_search(r, &m, &o, longest, 3), 0);
		for (int b = 0; b < 3; b++) {
			static struct plain done[64 * MOST];
			size_t n = plain_search(done, &t, &o, b, longest[b]);
			assert_int_equal(r[b].count, n < nbest ? n : nbest);
			for (size_t i = 0; i < r[b].count; i++) {
				assert_true(r[b].best[i].score == done[i].score);
				assert_int_equal(r[b].best[i].length, done[i].n);
				assert_memory_equal(r[b].best[i].word, done[i].word, done[i].n * sizeof(int32_t));
			}
		}
		n2d_translations_free(r, 3);
	}
}

static void a_sentence_does_not_depend_on_others(void **state)
{
	(void)state;
	struct toy t = {.seed = 7, .nan_at = -1};
	struct n2d_scorer m = scorer(&t);
	struct n2d_beam_options o = {4, 2, N2D_PENALTY_PAPER, 0.6, 0};
	size_t longest[5] = {7, 0, 6, 3, 7};
	struct n2d_translation all[5], one;
	assert_int_equal(n2d_beam_search(all, &m, &o, longest, 5), 0);
	assert_int_equal(n2d_beam_search(&one, &m, &o, longest, 1), 0); /* sentence 0 alone */
	assert_int_equal(all[0].count, one.count);
	for (size_t i = 0; i < one.count; i++) {
		assert_true(all[0].best[i].score == one.best[i].score);
		assert_int_equal(all[0].best[i].length, one.best[i].length);
		assert_memory_equal(all[0].best[i].word, one.best[i].word, one.best[i].length * sizeof(int32_t));
	}
	assert_int_equal(all[1].best[0].length, 0);
	n2d_translations_free(all, 5);
	n2d_translations_free(&one, 1);
}

static void what_is_no_number_is_an_error(void **state)
{
	(void)state;
	struct n2d_beam_options o = {4, 1, N2D_PENALTY_PAPER, 0.6, 0};
	size_t longest[2] = {7, 7};
	struct n2d_translation r[2];
	for (int at = 0; at < 3; at++) {
		struct toy t = {.seed = 3, .nan_at = at};
		struct n2d_scorer m = scorer(&t);
		assert_int_equal(n2d_beam_search(r, &m, &o, longest, 2), -1);
		assert_non_null(strstr(n2d_error_text(), "not numbers"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scores_are_the_papers), cmocka_unit_test(a_wide_beam_finds_the_best_of_all), cmocka_unit_test(stopping_early_loses_nothing),
		cmocka_unit_test(a_sentence_does_not_depend_on_others), cmocka_unit_test(what_is_no_number_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
