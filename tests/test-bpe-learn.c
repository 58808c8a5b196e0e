/* Learning byte-pair codes against counting everything again in each step, and the words that are learned from. */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "tests/bpe_case.h"

/* The best pair of all, copied. Returns its count. */
static size_t naive_best(const struct word *words, size_t n, char *a, char *b)
{
	size_t best = 0;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i + 1 < words[k].n; i++) {
			const char *x = words[k].symbol[i], *y = words[k].symbol[i + 1];
			size_t count = count_pair(words, n, x, y);
			int order = best == count ? strcmp(x, a) : 0;
			if (count < best || (count == best && (order ? order : strcmp(y, b)) <= 0))
				continue;
			best = count;
			snprintf(a, SYMBOL, "%s", x);
			snprintf(b, SYMBOL, "%s", y);
		}
	return best;
}

static size_t naive_learn(char *codes, size_t room, struct word *words, size_t n, size_t symbols, size_t min)
{
	size_t merges, at = (size_t)snprintf(codes, room, "#version: 0.2\n");
	for (merges = 0; merges < symbols; merges++) {
		char a[SYMBOL], b[SYMBOL];
		if (naive_best(words, n, a, b) < min)
			break;
		at += (size_t)snprintf(codes + at, room - at, "%s %s\n", a, b);
		for (size_t k = 0; k < n; k++)
			merge_pair(&words[k], a, b);
	}
	return merges;
}

static void learning_is_counting_again(void **state)
{
	(void)state;
	static struct word words[WORDS];
	static char naive[MERGES * 2 * SYMBOL], text[WORDS * 8 * 64];
	struct n2d_rng r;
	for (uint64_t seed = 0; seed < 60; seed++) {
		n2d_rng_init(&r, 7, seed);
		size_t n = 1 + n2d_rng_below(&r, WORDS), min = 1 + n2d_rng_below(&r, 3), merges, want;
		*text = 0;
		for (size_t k = 0; k < n; k++) {
			char word[64];
			random_word(word, &r);
			split_word(&words[k], word);
			words[k].count = 1 + n2d_rng_below(&r, 3);
			for (size_t i = 0; i < words[k].count; i++)
				strcat(strcat(text, word), n2d_rng_below(&r, 4) ? " " : "\n");
		}
		want = naive_learn(naive, sizeof naive, words, n, MERGES, min);
		char *codes = learn(text, strlen(text), MERGES, min, &merges);
		assert_int_equal(merges, want);
		assert_string_equal(codes, naive);
		free(codes);
	}
}

/* ---- words and their counts */

static void dictionaries(void **state)
{
	(void)state;
	static const char *const bad[] = {"ab 3\n\n", "ab 3\nab\n", "ab 3\nab 3x\n", "ab 3\n ab\n", "ab 3\nab  3\n", "ab 3\n\xff 3\n"};
	struct n2d_words words = {0};
	struct n2d_lines l;
	const char *path = scratch_put("dictionary", "ab 3\nxy 18446744073709551612\r\nab 4\n");
	assert_int_equal(n2d_lines_open(&l, path), 0);
	assert_int_equal(n2d_words_count(&words, &l, 1), 0);
	assert_int_equal(words.words.n, 2);
	assert_int_equal(words.count[n2d_strings_find(&words.words, "ab", 2)], 7);
	assert_true(words.count[n2d_strings_find(&words.words, "xy", 2)] == 18446744073709551612u);
	n2d_lines_close(&l);
	struct n2d_out out;
	size_t merges;
	assert_int_equal(n2d_out_open(&out, path), 0);
	assert_int_equal(n2d_bpe_learn(&out, &merges, &words, &(struct n2d_bpe_learn){9, 2, 0}), -1); /* pairs would overflow */
	n2d_out_cancel(&out);
	n2d_words_free(&words);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(n2d_lines_open(&l, scratch_put("dictionary", bad[i])), 0);
		if (n2d_words_count(&words, &l, 1) != -1 || !strstr(n2d_error_text(), ":2: "))
			fail_msg("dictionary %zu: '%s'", i, n2d_error_text());
		n2d_lines_close(&l);
		n2d_words_free(&words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(learning_is_counting_again),
		cmocka_unit_test(dictionaries),
	};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
