/* For tests of byte-pair encoding: learning and applying in one call each, and words as naive learning and applying see them. */
#ifndef TESTS_BPE_CASE_H
#define TESTS_BPE_CASE_H

#include "tests/scratch.h"
#include "text/bpe.h"
#include "text/utf8.h"

/* The codes learned from a text, ended by a zero. */
static inline char *learn(const char *text, size_t n, size_t symbols, size_t min_frequency, size_t *merges)
{
	const char *from = scratch_put_bytes("text", text, n), *to = scratch_path("learned");
	struct n2d_words words = {0};
	struct n2d_lines l;
	struct n2d_out out;
	struct n2d_map m;
	const struct n2d_bpe_learn how = {symbols, min_frequency, 0};
	if (n2d_lines_open(&l, from) || n2d_words_count(&words, &l, 0) || n2d_out_open(&out, to) ||
	    n2d_bpe_learn(&out, merges, &words, &how) || n2d_out_commit(&out) || n2d_map_open(&m, to))
		fail_msg("%s", n2d_error_text());
	char *codes = strndup((const char *)m.data, m.size);
	n2d_map_close(&m);
	n2d_lines_close(&l);
	n2d_words_free(&words);
	return codes;
}

static inline void load(struct n2d_bpe *b, const char *codes, const struct n2d_bpe_options *o)
{
	if (n2d_bpe_load(b, scratch_put("codes", codes), o))
		fail_msg("%s", n2d_error_text());
}

static inline void apply_is(struct n2d_bpe_worker *w, const char *line, const char *want)
{
	if (n2d_bpe_apply(w, line, strlen(line), 0, NULL))
		fail_msg("%s", n2d_error_text());
	if (w->length != strlen(want) || memcmp(w->text, want, w->length) != 0)
		fail_msg("'%s' becomes '%.*s', should be '%s'", line, (int)w->length, w->text, want);
}

/* ---- naive: symbols are strings, and everything is counted and looked for again in each step */

enum { SYMBOLS = 24, SYMBOL = 128, WORDS = 40, MERGES = 80 };

struct word {
	char symbol[SYMBOLS][SYMBOL];
	size_t n, count;
};

static inline void split_word(struct word *w, const char *text)
{
	size_t n = strlen(text), bytes;
	w->n = 0;
	for (size_t at = 0; at < n; at += bytes) {
		bytes = n2d_utf8_bytes(text + at);
		snprintf(w->symbol[w->n++], SYMBOL, "%.*s%s", (int)bytes, text + at, at + bytes == n ? "</w>" : "");
	}
}

/* Merges a pair everywhere in a word, from the left. */
static inline void merge_pair(struct word *w, const char *a, const char *b)
{
	size_t n = 0;
	for (size_t i = 0; i < w->n; i++, n++) {
		int here = i + 1 < w->n && !strcmp(w->symbol[i], a) && !strcmp(w->symbol[i + 1], b);
		char symbol[2 * SYMBOL];
		snprintf(symbol, sizeof symbol, "%s%s", w->symbol[i], here ? w->symbol[i + 1] : "");
		memcpy(w->symbol[n], symbol, SYMBOL);
		i += (size_t)here;
	}
	w->n = n;
}

static inline size_t count_pair(const struct word *words, size_t n, const char *a, const char *b)
{
	size_t count = 0;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i + 1 < words[k].n; i++)
			if (!strcmp(words[k].symbol[i], a) && !strcmp(words[k].symbol[i + 1], b))
				count += words[k].count;
	return count;
}

/* A word of characters of one to four bytes, the first two most often. */
static inline void random_word(char *to, struct n2d_rng *r)
{
	static const char *const characters[] = {"a", "b", "a", "b", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "@", "\xc2\xa0"};
	size_t length = 1 + n2d_rng_below(r, 11);
	*to = 0;
	while (length--)
		strcat(to, characters[n2d_rng_below(r, sizeof characters / sizeof *characters)]);
}

#endif
