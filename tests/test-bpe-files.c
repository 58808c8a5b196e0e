/* Byte-pair encoding of what a user's files may hold: separators in the text, glossaries, damaged and unusual codes. */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "tests/bpe_case.h"

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
		if (n2d_bpe_load(&b, scratch_path("codes"), &(struct n2d_bpe_options){.glossaries = bad + i, .glossaries_n = 1}) != -1 ||
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
		const char *path = scratch_put("codes", codes[i].text);
		if (n2d_bpe_load(&b, path, &(struct n2d_bpe_options){0}) != -1 || !strstr(n2d_error_text(), codes[i].message) ||
		    !strstr(n2d_error_text(), path))
			fail_msg("codes %zu: '%s', should be '%s'", i, n2d_error_text(), codes[i].message);
	}
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		const char *path = scratch_put("codes", "#version: 0.2\n"), *vocabulary = scratch_put("vocabulary", pieces[i].text);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separators_in_the_text),
		cmocka_unit_test(glossaries),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(unusual_codes),
	};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
