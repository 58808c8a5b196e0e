/* Byte-pair encoding against naive learning and applying, golden files, and what a user's files may hold. */
#include "config.h"

#include <unistd.h>

#include "text/bpe.h"
#include "text/utf8.h"
#include "tests/unit.h"

static char path[] = "test-bpe.XXXXXX", vocabulary[] = "test-bpe-vocabulary.XXXXXX";

static int make_files(void **state)
{
	(void)state;
	int a = mkstemp(path), b = mkstemp(vocabulary);
	return a < 0 || b < 0 || close(a) || close(b);
}

static int remove_files(void **state)
{
	(void)state;
	return unlink(path) | unlink(vocabulary);
}

static void put(const char *to, const char *text, size_t n)
{
	FILE *f = fopen(to, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The codes learned from a text, ended by a zero. */
static char *learn(const char *text, size_t n, size_t symbols, size_t min_frequency, size_t *merges)
{
	struct n2d_words words = {0};
	struct n2d_lines l;
	struct n2d_out out;
	struct n2d_map m;
	const struct n2d_bpe_learn how = {symbols, min_frequency, 0};
	put(path, text, n);
	if (n2d_lines_open(&l, path) || n2d_words_count(&words, &l, 0) || n2d_out_open(&out, path) ||
	    n2d_bpe_learn(&out, merges, &words, &how) || n2d_out_commit(&out) || n2d_map_open(&m, path))
		fail_msg("%s", n2d_error_text());
	char *codes = strndup((const char *)m.data, m.size);
	n2d_map_close(&m);
	n2d_lines_close(&l);
	n2d_words_free(&words);
	return codes;
}

static void load(struct n2d_bpe *b, const char *codes, const struct n2d_bpe_options *o)
{
	put(path, codes, strlen(codes));
	if (n2d_bpe_load(b, path, o))
		fail_msg("%s", n2d_error_text());
}

static void apply_is(struct n2d_bpe_worker *w, const char *line, const char *want)
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

static void split_word(struct word *w, const char *text)
{
	size_t n = strlen(text), bytes;
	w->n = 0;
	for (size_t at = 0; at < n; at += bytes) {
		bytes = n2d_utf8_bytes(text + at);
		snprintf(w->symbol[w->n++], SYMBOL, "%.*s%s", (int)bytes, text + at, at + bytes == n ? "</w>" : "");
	}
}

/* Merges a pair everywhere in a word, from the left. */
static void merge_pair(struct word *w, const char *a, const char *b)
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

static size_t count_pair(const struct word *words, size_t n, const char *a, const char *b)
{
	size_t count = 0;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i + 1 < words[k].n; i++)
			if (!strcmp(words[k].symbol[i], a) && !strcmp(words[k].symbol[i + 1], b))
				count += words[k].count;
	return count;
}

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

/* A word of characters of one to four bytes, the first two most often. */
static void random_word(char *to, struct n2d_rng *r)
{
	static const char *const characters[] = {"a", "b", "a", "b", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "@", "\xc2\xa0"};
	size_t length = 1 + n2d_rng_below(r, 11);
	*to = 0;
	while (length--)
		strcat(to, characters[n2d_rng_below(r, sizeof characters / sizeof *characters)]);
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
	FILE *f = fopen(vocabulary, "wb");
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
		load(&b, codes, &(struct n2d_bpe_options){.vocabulary = limited ? vocabulary : NULL, .threshold = 3});
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
	put(path, (const char *)codes.data, codes.size);
	if (n2d_bpe_load(&b, path, o))
		fail_msg("%s", n2d_error_text());
	n2d_bpe_worker_init(&w, &b);
	put(path, (const char *)text.data, text.size);
	assert_int_equal(n2d_lines_open(&l, path), 0);
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
	put(vocabulary, (const char *)pieces.data, pieces.size);
	golden_is("bpe", &(struct n2d_bpe_options){0});
	golden_is("limited", &(struct n2d_bpe_options){.vocabulary = vocabulary, .threshold = 3});
	golden_is("kept", &(struct n2d_bpe_options){.glossaries = kept, .glossaries_n = 3});
	n2d_map_close(&text);
	n2d_map_close(&codes);
	n2d_map_close(&pieces);
}

/* ---- what is n2d's own */

static void restored(struct n2d_bpe_worker *w, const char *line, const char *encoded, const char *separator)
{
	char back[256];
	apply_is(w, line, encoded);
	size_t n = n2d_bpe_restore(back, w->text, w->length, separator);
	if (n != strlen(line) || memcmp(back, line, n) != 0)
		fail_msg("'%s' comes back as '%.*s'", line, (int)n, back);
}

/* Words that end in the separator have their last character apart, whole symbols too. */
static void separators_in_the_text(void **state)
{
	(void)state;
	struct n2d_bpe b;
	struct n2d_bpe_worker w;
	load(&b, "#version: 0.2\na @\na@ @</w>\n@ @</w>\na b</w>\n", &(struct n2d_bpe_options){0});
	n2d_bpe_worker_init(&w, &b);
	restored(&w, "@@ b ab @@ab", "@@@ @ b ab @@@ @@@ ab", "@@");
	restored(&w, "a@@ x@@ @@@ @", "a@@@ @ x@@ @@@ @ @@@ @@@ @ @", "@@");
	restored(&w, " a@@\r", " a@@@ @\r", "@@");
	restored(&w, " a @@@@  ", " a @@@ @@@ @@@ @  ", "@@");
	n2d_bpe_worker_free(&w);
	n2d_bpe_free(&b);
	load(&b, "#version: 0.2\n\xe2\x82\xac \xc3\xa4</w>\n", &(struct n2d_bpe_options){.separator = "\xe2\x82\xac\xc3\xa4"});
	n2d_bpe_worker_init(&w, &b);
	restored(&w, "\xe2\x82\xac\xc3\xa4 xy", "\xe2\x82\xac\xe2\x82\xac\xc3\xa4 \xc3\xa4 x\xe2\x82\xac\xc3\xa4 y", "\xe2\x82\xac\xc3\xa4");
	n2d_bpe_worker_free(&w);
	n2d_bpe_free(&b);
	char to[8];
	assert_int_equal(n2d_bpe_restore(to, "ab@@", 4, "@@"), 2); /* an encoding that was cut off */
}

static void glossaries(void **state)
{
	(void)state;
	static const char *const plain[] = {"low", "w\\.", "\\<x\\>"};
	static const char *const bad[] = {"", "a b", "a.", "[a]", "\\w", "\\", "x@@", "\xff"};
	struct n2d_bpe b;
	struct n2d_bpe_worker w;
	const char *codes = "#version: 0.2\nl o\nlo w\nx x\n";
	load(&b, codes, &(struct n2d_bpe_options){.glossaries = plain, .glossaries_n = 3});
	n2d_bpe_worker_init(&w, &b);
	restored(&w, "xxlow. low", "x@@ x@@ low@@ . low", "@@"); /* "low" is cut out first */
	restored(&w, "aw.w.<x>low\rlow", "a@@ w.@@ w.@@ <x>@@ low@@ \r@@ low", "@@");
	n2d_bpe_worker_free(&w);
	n2d_bpe_free(&b);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (n2d_bpe_load(&b, path, &(struct n2d_bpe_options){.glossaries = bad + i, .glossaries_n = 1}) != -1 ||
		    !strstr(n2d_error_text(), "glossary"))
			fail_msg("glossary '%s' is taken", bad[i]);
}

static void damaged_files(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} codes[] = {
		{"", ":1: expected '#version: 0.2'"},
		{"a b\n", ":1: expected '#version: 0.2'"},
		{"#version: 0.1\na b\n", ":1: expected '#version: 0.2'"},
		{"#version: 0.2 byte\na b\n", ":1: expected '#version: 0.2'"},
		{"#version: 0.2\na b\nab\n", ":3: expected two symbols"},
		{"#version: 0.2\na b c\n", ":2: expected two symbols"},
		{"#version: 0.2\na  b\n", ":2: expected two symbols"},
		{"#version: 0.2\n b\n", ":2: expected two symbols"},
		{"#version: 0.2\na \n", ":2: expected two symbols"},
		{"#version: 0.2\na b\n\nc d\n", ":4: there is more after an empty line"},
		{"#version: 0.2\na b\nc \xc3\n", ":3: byte 3 of the line (0xc3) is no UTF-8"},
	}, pieces[] = {
		{"a 1\nb\n", ":2: expected a word, a space and its count"},
		{"a 1\nb 2 3\n", ":2: expected a word"},
		{"a 1\nb -2\n", ":2: expected a word"},
		{"a 1\nb 99999999999999999999\n", ":2: expected a word"},
		{"a 1\n\xff 2\n", ":2: byte 1 of the line (0xff) is no UTF-8"},
		{"a 1\nb 2\n", "no piece in it has a count of 3 or more"},
	};
	struct n2d_bpe b;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		put(path, codes[i].text, strlen(codes[i].text));
		if (n2d_bpe_load(&b, path, &(struct n2d_bpe_options){0}) != -1 || !strstr(n2d_error_text(), codes[i].message) ||
		    !strstr(n2d_error_text(), path))
			fail_msg("codes %zu: '%s', should be '%s'", i, n2d_error_text(), codes[i].message);
	}
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		put(path, "#version: 0.2\n", 14);
		put(vocabulary, pieces[i].text, strlen(pieces[i].text));
		if (n2d_bpe_load(&b, path, &(struct n2d_bpe_options){.vocabulary = vocabulary, .threshold = 3}) != -1 ||
		    !strstr(n2d_error_text(), pieces[i].message) || !strstr(n2d_error_text(), vocabulary))
			fail_msg("vocabulary %zu: '%s', should be '%s'", i, n2d_error_text(), pieces[i].message);
	}
}

/* What is unusual and right: lines ended by "\r\n", no merge at all, pairs that come again, fewer merges than there are. */
static void unusual_codes(void **state)
{
	(void)state;
	static const struct {
		const char *codes, *line, *encoded;
		size_t merges;
	} cases[] = {
		{"#version: 0.2\r\na b\r\nab c</w>\r\n", "abc", "abc", 0},
		{"#version: 0.2\na b\nab c</w>", "abc", "abc", 0},
		{"#version: 0.2\na b\nab c</w>\n\n\n", "abc", "abc", 0},
		{"#version: 0.2\na b\nab c</w>\n", "abc", "ab@@ c", 1},
		{"#version: 0.2\n", "abc", "a@@ b@@ c", 0},
		{"#version: 0.2\na b\nb c</w>\na b\n", "abc", "ab@@ c", 0},
		{"#version: 0.2\na \r\n\r b</w>\n", "ca\rb", "c@@ a\r@@ b", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct n2d_bpe b;
		struct n2d_bpe_worker w;
		load(&b, cases[i].codes, &(struct n2d_bpe_options){.merges = cases[i].merges});
		n2d_bpe_worker_init(&w, &b);
		apply_is(&w, cases[i].line, cases[i].encoded);
		n2d_bpe_worker_free(&w);
		n2d_bpe_free(&b);
	}
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

/* ---- words and their counts */

static void dictionaries(void **state)
{
	(void)state;
	static const char *const bad[] = {"ab 3\n\n", "ab 3\nab\n", "ab 3\nab 3x\n", "ab 3\n ab\n", "ab 3\nab  3\n", "ab 3\n\xff 3\n"};
	struct n2d_words words = {0};
	struct n2d_lines l;
	put(path, "ab 3\nxy 18446744073709551612\r\nab 4\n", 35);
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
		put(path, bad[i], strlen(bad[i]));
		assert_int_equal(n2d_lines_open(&l, path), 0);
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
		cmocka_unit_test(applying_is_merging_again),
		cmocka_unit_test(golden_files),
		cmocka_unit_test(separators_in_the_text),
		cmocka_unit_test(glossaries),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(unusual_codes),
		cmocka_unit_test(long_words),
		cmocka_unit_test(dropout),
		cmocka_unit_test(dictionaries),
	};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}
