/* BLEU against sacreBLEU's own numbers (tests/golden/bleu, made by golden.py there) and against counting by comparing. */
#include "config.h"

#include <math.h>

#include "base/rng.h"
#include "text/bleu.h"
#include "text/lines.h"
#include "text/resample.h"
#include "tests/unit.h"

enum { FIELDS = 64, SENTENCES = 64, TEXTS = 4 };

/* Score and precisions are some ten roundings away from sacreBLEU's, which its libm may make differently. */
#define CLOSE 1e-9

/* ---- golden files */

struct golden {
	struct n2d_lines lines;
	char text[4096], *field[FIELDS];
	size_t n;
};

static void golden_open(struct golden *g, char path[512], const char *name)
{
	const char *top = getenv("srcdir");
	snprintf(path, 512, "%s/tests/golden/bleu/%s", top ? top : ".", name);
	if (n2d_lines_open(&g->lines, path))
		fail_msg("%s", n2d_error_text());
}

/* The next line that is no comment, divided at each `at`. */
static int golden_next(struct golden *g, char at)
{
	do
		if (n2d_lines_next(&g->lines) <= 0) {
			n2d_lines_close(&g->lines);
			return 0;
		}
	while (g->lines.text[0] == '#');
	assert_true(g->lines.length < sizeof g->text);
	memcpy(g->text, g->lines.text, g->lines.length + 1);
	g->n = 0;
	for (char *s = g->text; s; g->n++) {
		assert_true(g->n < FIELDS);
		g->field[g->n] = s;
		if ((s = strchr(s, at)))
			*s++ = 0;
	}
	return 1;
}

/* Reads \t, \\ and \xNN, in place. */
static struct n2d_text unescaped(char *s)
{
	struct n2d_text t = {s, 0};
	char *to = s;
	for (; *s; s++) {
		unsigned byte = (unsigned char)*s;
		if (*s == '\\') {
			s++;
			byte = *s == 't' ? '\t' : '\\';
			if (*s == 'x') {
				assert_int_equal(sscanf(s + 1, "%2x", &byte), 1);
				s += 2;
			}
		}
		*to++ = (char)byte;
	}
	t.length = (size_t)(to - t.at);
	return t;
}

static int can(int kind, int lowercase)
{
#ifdef HAVE_UTF8PROC
	return (void)kind, (void)lowercase, 1;
#else
	return kind != N2D_TOKENIZE_INTL && !lowercase;
#endif
}

/* The words with a space between. */
static size_t joined(char *to, const struct n2d_tokens *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			to[n++] = ' ';
		memcpy(to + n, t->word[i].at, t->word[i].length);
		n += t->word[i].length;
	}
	return n;
}

static void words_are_sacrebleus(void **state)
{
	(void)state;
	struct golden g;
	char path[512], words[8192];
	size_t lines = 0;
	golden_open(&g, path, "tokens.txt");
	for (; golden_next(&g, '\t'); lines++) {
		assert_int_equal(g.n, 4);
		struct n2d_tokenize_rules rules = {.kind = (enum n2d_tokenizer)n2d_tokenizer_find(g.field[0]),
						   .lowercase = strcmp(g.field[1], "lc") == 0};
		struct n2d_tokens t;
		if (!can(rules.kind, rules.lowercase)) {
			assert_int_equal(n2d_tokens_open(&t, &rules), -1);
			assert_non_null(strstr(n2d_error_text(), "without utf8proc"));
			continue;
		}
		assert_string_equal(n2d_tokenizer_name(rules.kind), g.field[0]);
		assert_int_equal(n2d_tokens_open(&t, &rules), 0);
		struct n2d_text text = unescaped(g.field[2]), want = unescaped(g.field[3]);
		assert_int_equal(n2d_tokenize(&t, text), 0);
		size_t n = joined(words, &t);
		if (n != want.length || memcmp(words, want.at, n) != 0)
			fail_msg("tokens.txt:%zu: %s %s '%s': got '%.*s', should be '%s'", g.lines.number, g.field[0], g.field[1], text.at, (int)n,
				 words, want.at);
		n2d_tokens_close(&t);
	}
	assert_true(lines > 500);
}

/* ---- sentences and scores of the golden files */

static struct n2d_text sentence[SENTENCES][TEXTS];
static char sentence_bytes[SENTENCES][4096];
static size_t sentences;

static void keep_sentence(struct golden *g)
{
	assert_int_equal(g->n, 1 + TEXTS);
	assert_true(sentences < SENTENCES);
	char *to = sentence_bytes[sentences];
	for (size_t i = 0; i < TEXTS; i++) {
		struct n2d_text t = unescaped(g->field[1 + i]);
		memcpy(to, t.at, t.length);
		sentence[sentences][i] = (struct n2d_text){to, t.length};
		to += t.length;
	}
	sentences++;
}

static double real(const char *text)
{
	char *end;
	double x = strtod(text, &end);
	assert_true(end != text && !*end);
	return x;
}

static struct n2d_bleu_counts count_range(const struct n2d_bleu_config *c, size_t refs, size_t first, size_t end)
{
	struct n2d_bleu b;
	struct n2d_bleu_counts all = {0}, one;
	assert_int_equal(n2d_bleu_open(&b, c), 0);
	for (size_t i = first; i < end; i++) {
		assert_int_equal(n2d_bleu_count(&b, &one, sentence[i][0], &sentence[i][1], refs), 0);
		n2d_bleu_add(&all, &one);
	}
	n2d_bleu_close(&b);
	return all;
}

static void check_score(struct golden *g)
{
	char *const *f = g->field;
	struct n2d_bleu_config c = {.rules = {.kind = (enum n2d_tokenizer)n2d_tokenizer_find(f[1]), .lowercase = strcmp(f[2], "lc") == 0},
				    .smooth = (enum n2d_bleu_smooth)n2d_bleu_smooth_find(f[3]), .value = real(f[4]), .orders = atoi(f[5]),
				    .effective_order = strcmp(f[6], "yes") == 0};
	assert_int_equal(g->n, 14 + 3 * (size_t)c.orders);
	if (!can(c.rules.kind, c.rules.lowercase))
		return;
	struct n2d_bleu_counts counts = count_range(&c, (size_t)atoi(f[7]), (size_t)atoi(f[8]), (size_t)atoi(f[9]));
	struct n2d_bleu_score s = n2d_bleu_score(&c, &counts);
	char where[64];
	snprintf(where, sizeof where, "scores.txt:%zu", g->lines.number);
	UNIT_NEAR(where, "score", 0, s.score, real(f[10]), CLOSE);
	UNIT_NEAR(where, "bp", 0, s.bp, real(f[11]), CLOSE);
	assert_int_equal(counts.hyp_length, atoi(f[12]));
	assert_int_equal(counts.ref_length, atoi(f[13]));
	for (size_t k = 0; k < (size_t)c.orders; k++) {
		if ((int)counts.correct[k] != atoi(f[14 + 3 * k]) || (int)counts.total[k] != atoi(f[15 + 3 * k]))
			fail_msg("%s: order %zu: %d of %d, should be %s of %s", where, k + 1, (int)counts.correct[k], (int)counts.total[k],
				 f[14 + 3 * k], f[15 + 3 * k]);
		UNIT_NEAR(where, "precision", k, s.precision[k], real(f[16 + 3 * k]), CLOSE);
	}
}

static void scores_are_sacrebleus(void **state)
{
	(void)state;
	struct golden g;
	char path[512];
	size_t lines = 0;
	golden_open(&g, path, "scores.txt");
	while (golden_next(&g, '\t')) {
		if (strcmp(g.field[0], "sentence") == 0) {
			keep_sentence(&g);
			continue;
		}
		char *s = g.text; /* numbers are divided by spaces */
		for (g.n = 0; s && g.n < FIELDS; g.n++) {
			g.field[g.n] = s;
			if ((s = strchr(s, ' ')))
				*s++ = 0;
		}
		check_score(&g);
		lines++;
	}
	assert_true(sentences == 20 && lines > 300);
}

/* ---- resampling */

/* Reads "first" or "second": the system whose line i has the hypothesis of that sentence. */
static void read_system(struct golden *g, struct n2d_bleu_rows *rows)
{
	struct n2d_bleu_config c = n2d_bleu_defaults();
	struct n2d_bleu b;
	struct n2d_bleu_counts one;
	assert_true(golden_next(g, ' '));
	assert_int_equal(g->n, 1 + sentences);
	assert_int_equal(n2d_bleu_open(&b, &c), 0);
	*rows = (struct n2d_bleu_rows){.orders = c.orders};
	for (size_t i = 0; i < sentences; i++) {
		assert_int_equal(n2d_bleu_count(&b, &one, sentence[atoi(g->field[1 + i])][0], &sentence[i][1], 1), 0);
		assert_int_equal(n2d_bleu_rows_add(rows, &one), 0);
		struct n2d_bleu_counts back = n2d_bleu_rows_get(rows, i);
		assert_memory_equal(&back, &one, sizeof one);
	}
	n2d_bleu_close(&b);
}

static void resamples_are_sacrebleus(void **state)
{
	(void)state;
	struct n2d_bleu_config c = n2d_bleu_defaults();
	struct n2d_bleu_rows systems[2];
	struct n2d_bleu_test got[2], again[2];
	struct n2d_ctx ctx;
	struct golden g;
	char path[512];
	size_t lines = 0;
	golden_open(&g, path, "resamples.txt");
	read_system(&g, &systems[0]);
	read_system(&g, &systems[1]);
	for (; golden_next(&g, ' '); lines++) {
		size_t n = (size_t)atoi(g.field[1]);
		uint64_t seed = strtoull(g.field[2], NULL, 10);
		for (int threads = 1; threads < 4; threads += 2) {
			assert_int_equal(n2d_ctx_init(&ctx, NULL, threads), 0);
			assert_int_equal(n2d_bleu_resample(&ctx, threads == 1 ? got : again, &c, systems, 2, n, seed), 0);
			n2d_ctx_free(&ctx);
		}
		assert_memory_equal(got, again, sizeof got);
		double want[7], have[7] = {got[0].score, got[0].mean, got[0].interval, got[1].score, got[1].mean, got[1].interval, got[1].p};
		for (size_t i = 0; i < 7; i++) {
			want[i] = real(g.field[3 + i]);
			UNIT_NEAR("resamples.txt", g.field[1], i, have[i], want[i], CLOSE);
		}
	}
	assert_int_equal(lines, 5);
	assert_int_equal(n2d_ctx_init(&ctx, NULL, 1), 0);
	systems[1].n--;
	assert_int_equal(n2d_bleu_resample(&ctx, got, &c, systems, 2, 10, 1), -1);
	assert_non_null(strstr(n2d_error_text(), "19 sentences"));
	n2d_ctx_free(&ctx);
	n2d_bleu_rows_free(&systems[0]);
	n2d_bleu_rows_free(&systems[1]);
}

/* ---- counting, against comparing every n-gram with every other */

enum { LONGEST = 40, REFS = 3 };

/* How often the n words at x are in words[0..length). */
static size_t times(const int32_t *x, size_t n, const int32_t *words, size_t length)
{
	size_t found = 0;
	for (size_t i = 0; i + n <= length; i++)
		found += memcmp(x, words + i, n * sizeof *x) == 0;
	return found;
}

static uint64_t matches(size_t n, struct n2d_ids hyp, const struct n2d_ids *refs, size_t count)
{
	uint64_t sum = 0;
	for (size_t i = 0; i + n <= hyp.length; i++) {
		if (times(hyp.at + i, n, hyp.at, i + n - 1)) /* only the first of its kind */
			continue;
		size_t own = times(hyp.at + i, n, hyp.at, hyp.length), best = 0;
		for (size_t r = 0; r < count; r++) {
			size_t there = times(hyp.at + i, n, refs[r].at, refs[r].length);
			best = there > best ? there : best;
		}
		sum += own < best ? own : best;
	}
	return sum;
}

/* Of the lengths at growing distance the first that a reference has, the shorter before the longer. */
static size_t closest(size_t length, const struct n2d_ids *refs, size_t count)
{
	for (size_t off = 0;; off++) {
		for (size_t r = 0; r < count; r++)
			if (refs[r].length + off == length)
				return refs[r].length;
		for (size_t r = 0; r < count; r++)
			if (refs[r].length == length + off)
				return refs[r].length;
	}
}

static void random_ids(struct n2d_rng *rng, int32_t *ids, struct n2d_ids *to)
{
	to->at = ids;
	to->length = n2d_rng_below(rng, LONGEST + 1);
	uint32_t words = 1 + n2d_rng_below(rng, 6);
	for (size_t i = 0; i < to->length; i++)
		ids[i] = (int32_t)n2d_rng_below(rng, words) - 2; /* all numbers are words */
}

/* The same words as text. */
static struct n2d_text spelled(char *to, struct n2d_ids ids)
{
	size_t n = 0;
	for (size_t i = 0; i < ids.length; i++)
		n += (size_t)sprintf(to + n, "%d ", ids.at[i]);
	return (struct n2d_text){to, n};
}

static void counts_are_those_of_comparing(void **state)
{
	(void)state;
	struct n2d_rng rng;
	struct n2d_bleu b;
	struct n2d_bleu_config c = n2d_bleu_defaults();
	c.rules.kind = N2D_TOKENIZE_NONE;
	c.orders = N2D_BLEU_ORDERS;
	assert_int_equal(n2d_bleu_open(&b, &c), 0);
	n2d_rng_init(&rng, 4, 0);
	for (int turn = 0; turn < 3000; turn++) {
		int32_t words[1 + REFS][LONGEST];
		char text[1 + REFS][LONGEST * 12 + 1];
		struct n2d_ids ids[1 + REFS];
		struct n2d_text texts[1 + REFS];
		struct n2d_bleu_counts got, by_text;
		size_t refs = 1 + n2d_rng_below(&rng, REFS);
		for (size_t i = 0; i < 1 + refs; i++) {
			random_ids(&rng, words[i], &ids[i]);
			texts[i] = spelled(text[i], ids[i]);
		}
		assert_int_equal(n2d_bleu_count_ids(&b, &got, ids[0], ids + 1, refs), 0);
		assert_int_equal(n2d_bleu_count(&b, &by_text, texts[0], texts + 1, refs), 0);
		assert_memory_equal(&got, &by_text, sizeof got);
		for (size_t k = 0; k < N2D_BLEU_ORDERS; k++) {
			assert_int_equal(got.correct[k], matches(k + 1, ids[0], ids + 1, refs));
			assert_int_equal(got.total[k], ids[0].length > k ? ids[0].length - k : 0);
		}
		assert_int_equal(got.ref_length, closest(ids[0].length, ids + 1, refs));
	}
	n2d_bleu_close(&b);
}

/* ---- what a user reads, and what cannot be */

static void signatures_name_every_choice(void **state)
{
	(void)state;
	char text[N2D_BLEU_TEXT];
	struct n2d_bleu_config c = n2d_bleu_defaults();
	assert_string_equal(n2d_bleu_signature(text, &c, 1, 0, 0, 0),
			    "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:n2d-" PACKAGE_VERSION);
	c = (struct n2d_bleu_config){.rules = {N2D_TOKENIZE_CHAR, 1, 1}, .smooth = N2D_SMOOTH_ADD_K, .value = 0.126, .effective_order = 1, .orders = 4};
	assert_string_equal(n2d_bleu_signature(text, &c, 3, 1000, 12345, 0),
			    "nrefs:3|bs:1000|seed:12345|case:lc|eff:yes|tok:char-atat|smooth:add-k[0.13]|version:n2d-" PACKAGE_VERSION);
	assert_string_equal(n2d_bleu_signature(text, &c, 3, 1000, 12345, 1),
			    "#:3|bs:1000|rs:12345|c:lc|e:yes|tok:char-atat|s:add-k[0.13]|v:n2d-" PACKAGE_VERSION);
	struct n2d_bleu_counts counts = {90, 100, {81, 60, 40, 30}, {90, 80, 70, 60}};
	c = n2d_bleu_defaults();
	assert_string_equal(n2d_bleu_verbose(text, &c, &counts), "90.0/75.0/57.1/50.0 (BP = 0.895 ratio = 0.900 hyp_len = 90 ref_len = 100)");
	c.orders = N2D_BLEU_ORDERS; /* the longest there is */
	for (int k = 0; k < N2D_BLEU_ORDERS; k++)
		counts.correct[k] = counts.total[k] = counts.hyp_length = counts.ref_length = UINT64_MAX;
	assert_non_null(strstr(n2d_bleu_verbose(text, &c, &counts), "ref_len = 18446744073709551615)"));
}

static void hyphens_are_split_as_the_paper_did(void **state)
{
	(void)state;
#define AT " ##AT##-##AT## "
	static const char *const pairs[][2] = {
		{"rich-text format", "rich" AT "text format"}, {"a-b-c", "a" AT "b-c"}, {"ab-cd-ef", "ab" AT "cd" AT "ef"}, {"a--b", "a" AT "-b"},
		{"-a b- - --", "-a b- - --"}, {"---", "-" AT "-"}, {"ä-ö", "ä" AT "ö"}, {"a- b", "a- b"}, {"aa-bb--cc", "aa" AT "bb" AT "-cc"},
	};
#undef AT
	struct n2d_tokenize_rules rules = {.kind = N2D_TOKENIZE_NONE, .split_hyphens = 1};
	struct n2d_tokens t;
	char words[256];
	assert_int_equal(n2d_tokens_open(&t, &rules), 0);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		assert_int_equal(n2d_tokenize(&t, (struct n2d_text){pairs[i][0], strlen(pairs[i][0])}), 0);
		words[joined(words, &t)] = 0;
		assert_string_equal(words, pairs[i][1]);
	}
	n2d_tokens_close(&t);
}

static void long_lines_are_counted(void **state)
{
	(void)state;
	enum { BYTES = 1000000 };
	struct n2d_bleu_config c = n2d_bleu_defaults();
	struct n2d_bleu b;
	struct n2d_bleu_counts one;
	char *text = malloc(BYTES);
	assert_non_null(text);
	assert_int_equal(n2d_bleu_open(&b, &c), 0);
	for (int turn = 0; turn < 4; turn++) {
		for (size_t i = 0; i < BYTES; i++)
			text[i] = turn == 0 ? 'a' : turn == 1 ? '.' : i % 2 ? ' ' : (char)('a' + (turn == 2 ? 0 : i / 2 * i % 26));
		struct n2d_text t = {text, BYTES};
		assert_int_equal(n2d_bleu_count(&b, &one, t, &t, 1), 0);
		assert_int_equal(one.hyp_length, turn == 0 ? 1 : turn == 1 ? BYTES : BYTES / 2);
		assert_memory_equal(one.correct, one.total, sizeof one.total);
	}
	struct n2d_text small = {"a b", 3};
	assert_int_equal(n2d_bleu_count(&b, &one, small, &small, 1), 0);
	assert_int_equal(one.correct[1], 1);
	n2d_bleu_close(&b);
	free(text);
}

static void wrong_input_is_named(void **state)
{
	(void)state;
	struct n2d_bleu_config c = n2d_bleu_defaults();
	struct n2d_bleu b;
	struct n2d_bleu_counts one;
	struct n2d_text good = {"a", 1}, bad = {"a b\xed\xa0\x80", 6};
	assert_int_equal(n2d_bleu_open(&b, &c), 0);
	assert_int_equal(n2d_bleu_count(&b, &one, bad, &good, 1), -1);
	assert_non_null(strstr(n2d_error_text(), "byte 4 of the sentence is 0xed"));
	assert_int_equal(n2d_bleu_count(&b, &one, good, &bad, 1), -1);
	assert_int_equal(n2d_bleu_count(&b, &one, good, &good, 0), -1);
	assert_non_null(strstr(n2d_error_text(), "0 references"));
	n2d_bleu_close(&b);
	c.orders = N2D_BLEU_ORDERS + 1;
	assert_int_equal(n2d_bleu_open(&b, &c), -1);
	assert_non_null(strstr(n2d_error_text(), "17 words"));
	c.orders = 4;
	c.smooth = N2D_SMOOTH_FLOOR;
	c.value = NAN;
	assert_int_equal(n2d_bleu_open(&b, &c), -1);
	assert_non_null(strstr(n2d_error_text(), "smoothing floor"));
	assert_int_equal(n2d_tokenizer_find("zh"), -1);
	assert_non_null(strstr(n2d_error_text(), "13a|intl|char|none"));
	assert_int_equal(n2d_bleu_smooth_find("plus"), -1);
	assert_non_null(strstr(n2d_error_text(), "exp|floor|add-k|none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_sacrebleus),
		cmocka_unit_test(scores_are_sacrebleus),
		cmocka_unit_test(resamples_are_sacrebleus), /* of the sentences that the one before has read */
		cmocka_unit_test(counts_are_those_of_comparing),
		cmocka_unit_test(signatures_name_every_choice),
		cmocka_unit_test(hyphens_are_split_as_the_paper_did),
		cmocka_unit_test(long_lines_are_counted),
		cmocka_unit_test(wrong_input_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
