/* Applying byte-pair codes against merging the best pair of all again and again, golden files, long words, dropout. */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "tests/bpe_case.h"

/* ---- naive applying; codes: pairs[i][2], the first is the best */

struct table {
	char pair[MERGES][2][SYMBOL], piece[WORDS][SYMBOL];
	size_t n, pieces;
};

static void parse(struct table *t, const char *codes)
{
	t->n = 0;
	for (const char *line = strchr(codes, '\n') + 1; *line; line = strchr(line, '\n') + 1, t->n++)
		assert_int_equal(sscanf(line, "%127[^ ] %127[^\n]", t->pair[t->n][0], t->pair[t->n][1]), 2);
}

static int is_piece(const struct table *t, const char *text, int at_end)
{
	char piece[SYMBOL + 4];
	snprintf(piece, sizeof piece, "%s%s", text, at_end ? "" : "@@");
	if (at_end)
		piece[strlen(piece) - 4] = 0;
	for (size_t i = 0; i < t->pieces; i++)
		if (!strcmp(t->piece[i], piece))
			return 1;
	return 0;
}

static void naive_put(const struct table *t, char *to, const char *symbol, int at_end)
{
	char both[2 * SYMBOL];
	for (size_t i = 0; t->pieces && !is_piece(t, symbol, at_end) && i < t->n; i++) {
		snprintf(both, sizeof both, "%s%s", t->pair[i][0], t->pair[i][1]);
		if (!strcmp(both, symbol)) {
			naive_put(t, to, t->pair[i][0], 0);
			naive_put(t, to, t->pair[i][1], at_end);
			return;
		}
	}
	strcat(to, symbol);
	if (at_end)
		to[strlen(to) - 4] = 0;
	else
		strcat(to, "@@ ");
}

static void naive_apply(const struct table *t, char *to, const char *word)
{
	struct word w;
	split_word(&w, word);
	for (size_t i = 0, single = w.n == 1; i < t->n && !single; i++)
		if (w.count = 1, count_pair(&w, 1, t->pair[i][0], t->pair[i][1])) {
			merge_pair(&w, t->pair[i][0], t->pair[i][1]);
			i = (size_t)-1; /* the best of all again */
		}
	*to = 0;
	for (size_t i = 0; i < w.n; i++)
		naive_put(t, to, w.symbol[i], i + 1 == w.n);
}

/* Learned codes in another order make merges possible whose pair has a better rank than what made it. */
static void shuffle(struct table *t, struct n2d_rng *r, char *codes)
{
	size_t at = (size_t)sprintf(codes, "#version: 0.2\n");
	for (size_t i = t->n; i-- > 1;) {
		size_t k = n2d_rng_below(r, (uint32_t)i + 1);
		char pair[2][SYMBOL];
		memcpy(pair, t->pair[i], sizeof pair);
		memcpy(t->pair[i], t->pair[k], sizeof pair);
		memcpy(t->pair[k], pair, sizeof pair);
	}
	for (size_t i = 0; i < t->n; i++)
		at += (size_t)sprintf(codes + at, "%s %s\n", t->pair[i][0], t->pair[i][1]);
}

/* Some of the symbols as they would be written, which become the vocabulary; some come too rarely. */
static void choose_pieces(struct table *t, struct n2d_rng *r)
{
	FILE *f = fopen(scratch_path("vocabulary"), "wb");
	t->pieces = 0;
	fprintf(f, "rare 2\n");
	for (size_t i = 0; i < t->n && t->pieces < WORDS; i++) {
		char *piece = t->piece[t->pieces];
		snprintf(piece, SYMBOL, "%.50s%.50s", t->pair[i][0], t->pair[i][1]);
		size_t n = strlen(piece);
		if (n > 4 && !strcmp(piece + n - 4, "</w>"))
			piece[n - 4] = 0;
		else
			strcat(piece, "@@");
		int rare = n2d_rng_below(r, 2) && t->pieces;
		fprintf(f, "%s %d\n", piece, rare ? 2 : 3);
		t->pieces += !rare;
	}
	assert_int_equal(fclose(f), 0);
}

static void applying_is_merging_again(void **state)
{
	(void)state;
	static struct table t;
	static char text[WORDS * 64], codes[MERGES * 2 * SYMBOL];
	struct n2d_rng r;
	for (uint64_t seed = 0; seed < 60; seed++) {
		size_t merges, limited = seed % 3 == 2;
		n2d_rng_init(&r, 8, seed);
		*text = 0;
		for (int k = 0; k < 30; k++) {
			random_word(text + strlen(text), &r);
			strcat(text, " ");
		}
		char *learned = learn(text, strlen(text), 40, 2, &merges);
		parse(&t, learned);
		free(learned);
		t.pieces = 0;
		shuffle(&t, &r, codes);
		if (limited)
			choose_pieces(&t, &r);
		struct n2d_bpe b;
		struct n2d_bpe_worker w;
		load(&b, codes, &(struct n2d_bpe_options){.vocabulary = limited ? scratch_path("vocabulary") : NULL, .threshold = 3});
		n2d_bpe_worker_init(&w, &b);
		for (int k = 0; k < 200; k++) {
			char word[64], want[512], back[512];
			random_word(word, &r);
			naive_apply(&t, want, word);
			size_t n = strlen(want);
			if (n < 2 || strcmp(want + n - 2, "@@") != 0) { /* what looks unfinished has a test of its own */
				apply_is(&w, word, want);
				apply_is(&w, word, want);
			}
			assert_int_equal(n2d_bpe_apply(&w, word, strlen(word), 0, NULL), 0);
			assert_int_equal(n2d_bpe_restore(back, w.text, w.length, "@@"), strlen(word));
			assert_memory_equal(back, word, strlen(word));
		}
		n2d_bpe_worker_free(&w);
		n2d_bpe_free(&b);
	}
}

/* ---- golden files: tests/golden/bpe/make.py says how they were made */

static struct n2d_map golden(const char *name)
{
	struct n2d_map m;
	char from[1024];
	const char *srcdir = getenv("srcdir");
	snprintf(from, sizeof from, "%s/tests/golden/bpe/edge.%s", srcdir ? srcdir : ".", name);
	if (n2d_map_open(&m, from))
		fail_msg("%s", n2d_error_text());
	return m;
}

static void golden_is(const char *name, const struct n2d_bpe_options *o)
{
	struct n2d_map codes = golden("codes"), text = golden("txt"), want = golden(name);
	struct n2d_bpe b;
	struct n2d_bpe_worker w;
	struct n2d_lines l;
	size_t at = 0;
	if (n2d_bpe_load(&b, scratch_put_bytes("codes", (const char *)codes.data, codes.size), o))
		fail_msg("%s", n2d_error_text());
	n2d_bpe_worker_init(&w, &b);
	assert_int_equal(n2d_lines_open(&l, scratch_put_bytes("text", (const char *)text.data, text.size)), 0);
	while (n2d_lines_next(&l) > 0) {
		assert_int_equal(n2d_bpe_apply(&w, l.text, l.length, 0, NULL), 0);
		if (w.length > want.size - at || memcmp(w.text, want.data + at, w.length) != 0)
			fail_msg("edge.%s, line %zu: '%.*s'", name, l.number, (int)w.length, w.text);
		at += w.length;
		assert_true(!l.ended || want.data[at++] == '\n');
	}
	assert_int_equal(at, want.size);
	n2d_lines_close(&l);
	n2d_bpe_worker_free(&w);
	n2d_bpe_free(&b);
	n2d_map_close(&codes);
	n2d_map_close(&text);
	n2d_map_close(&want);
}

static void golden_files(void **state)
{
	(void)state;
	static const char *const kept[] = {"low", "er", "\\."};
	struct n2d_map text = golden("txt"), codes = golden("codes"), pieces = golden("vocab");
	size_t merges;
	char *learned = learn((const char *)text.data, text.size, 120, 2, &merges);
	assert_int_equal(strlen(learned), codes.size);
	assert_memory_equal(learned, codes.data, codes.size);
	free(learned);
	const char *vocabulary = scratch_put_bytes("vocabulary", (const char *)pieces.data, pieces.size);
	golden_is("bpe", &(struct n2d_bpe_options){0});
	golden_is("limited", &(struct n2d_bpe_options){.vocabulary = vocabulary, .threshold = 3});
	golden_is("kept", &(struct n2d_bpe_options){.glossaries = kept, .glossaries_n = 3});
	n2d_map_close(&text);
	n2d_map_close(&codes);
	n2d_map_close(&pieces);
}

/* A word of a million characters, learned and applied, and one of 300, which is not kept. */
static void long_words(void **state)
{
	(void)state;
	enum { N = 1000000 };
	char *text = malloc(N), *back = malloc(N);
	struct n2d_rng r;
	n2d_rng_init(&r, 3, 1);
	for (size_t i = 0; i < N; i++)
		text[i] = (char)('a' + n2d_rng_below(&r, 4));
	size_t merges;
	char *codes = learn(text, N, 500, 2, &merges);
	assert_int_equal(merges, 500);
	struct n2d_bpe b;
	struct n2d_bpe_worker w;
	load(&b, codes, &(struct n2d_bpe_options){0});
	n2d_bpe_worker_init(&w, &b);
	assert_int_equal(n2d_bpe_apply(&w, text, N, 0, NULL), 0);
	char *copy = malloc(w.length);
	memcpy(copy, w.text, w.length);
	assert_int_equal(n2d_bpe_restore(copy, copy, w.length, "@@"), N);
	assert_memory_equal(copy, text, N);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(n2d_bpe_apply(&w, text, 300, 0, NULL), 0);
		assert_int_equal(n2d_bpe_restore(back, w.text, w.length, "@@"), 300);
		assert_memory_equal(back, text, 300);
	}
	n2d_bpe_worker_free(&w);
	n2d_bpe_free(&b);
	free(codes);
	free(copy);
	free(back);
	free(text);
}

/* ---- dropout */

enum { DRAWS = 20000 };

/* How often a word is encoded so, with dropout p. */
static size_t draws(struct n2d_bpe_worker *w, const char *word, const char *encoded, double p)
{
	size_t n = 0;
	for (uint64_t i = 0; i < DRAWS; i++) {
		struct n2d_rng r;
		n2d_rng_init(&r, 5, i);
		assert_int_equal(n2d_bpe_apply(w, word, strlen(word), p, &r), 0);
		n += w->length == strlen(encoded) && memcmp(w->text, encoded, w->length) == 0;
	}
	return n;
}

/* Within 5 standard deviations of a binomial, which a right program leaves in one of 10^6 seeds; the seed is fixed. */
static void draws_are(struct n2d_bpe_worker *w, const char *word, const char *encoded, double p, double chance)
{
	double n = (double)draws(w, word, encoded, p), bound = 5 * sqrt(DRAWS * chance * (1 - chance));
	if (!(fabs(n - DRAWS * chance) <= bound))
		fail_msg("'%s' becomes '%s' %.0f times of %d, should be %.0f +- %.0f", word, encoded, n, DRAWS, DRAWS * chance, bound);
}

/* In each step a possible merge is left out with probability p; after a step with a merge it is possible again, and the best of
 * those that are not left out is merged wherever it is not. */
static void dropout(void **state)
{
	(void)state;
	const double p = 0.3, q = 0.7;
	struct n2d_bpe b;
	struct n2d_bpe_worker w;
	load(&b, "#version: 0.2\na b\nb c\nab c\n", &(struct n2d_bpe_options){0});
	n2d_bpe_worker_init(&w, &b);
	draws_are(&w, "abx", "ab@@ x", p, q);
	draws_are(&w, "ababx", "a@@ b@@ a@@ b@@ x", p, p * p);
	draws_are(&w, "ababx", "ab@@ ab@@ x", p, q * q + 2 * p * q * q); /* both, or one and then the other */
	draws_are(&w, "abcx", "a@@ bc@@ x", p, p * q);
	draws_are(&w, "abcx", "ab@@ c@@ x", p, q * p);
	draws_are(&w, "abcx", "abc@@ x", p, q * q);
	assert_int_equal(draws(&w, "abcx", "a@@ b@@ c@@ x", 1), DRAWS);
	assert_int_equal(draws(&w, "abcx", "abc@@ x", 0), DRAWS);
	apply_is(&w, "abcx", "abc@@ x");
	n2d_bpe_worker_free(&w);
	n2d_bpe_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(applying_is_merging_again),
		cmocka_unit_test(golden_files),
		cmocka_unit_test(long_words),
		cmocka_unit_test(dropout),
	};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
