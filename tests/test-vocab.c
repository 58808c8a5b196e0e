/* Vocabularies: order, limits, specials, files, ids, tasks. */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "base/file.h"
#include "tests/scratch.h"
#include "text/numbers.h"
#include "text/vocab.h"

static void count(struct n2d_vocab *v, const char *text)
{
	if (n2d_vocab_count(v, text, strlen(text)))
		fail_msg("%s", n2d_error_text());
}

static int32_t id(const struct n2d_vocab *v, const char *token) { return n2d_vocab_id(v, token, strlen(token)); }

/* Its tokens from the first after the specials on, divided by spaces. */
static void tokens_are(const struct n2d_vocab *v, const char *want)
{
	char got[1024] = "";
	for (size_t i = N2D_IDS_SPECIAL; i < v->size; i++) {
		const char *token = n2d_vocab_token(v, (int32_t)i, NULL);
		assert_int_equal(id(v, token), i);
		strcat(strcat(got, i > N2D_IDS_SPECIAL ? " " : ""), token);
	}
	assert_string_equal(got, want);
}

/* U+FFFD sorts before U+10000, as code points and UTF-8 do and UTF-16 does not. */
static void order_is_by_count_then_code_point(void **state)
{
	(void)state;
	struct n2d_vocab v;
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	count(&v, "\xf0\x90\x80\x80 z \xef\xbf\xbd  b ab \xc3\xa9 a b");
	count(&v, "");
	count(&v, " b z ");
	assert_int_equal(n2d_vocab_order(&v, 0, 0), 0);
	tokens_are(&v, "b z a ab \xc3\xa9 \xef\xbf\xbd \xf0\x90\x80\x80");
	assert_int_equal(n2d_vocab_frequency(&v, id(&v, "b")), 3);
	assert_int_equal(n2d_vocab_frequency(&v, id(&v, "z")), 2);
	assert_int_equal(n2d_vocab_frequency(&v, N2D_ID_UNKNOWN), 0);
	assert_int_equal(id(&v, "c"), N2D_ID_UNKNOWN);
	assert_int_equal(id(&v, ""), N2D_ID_UNKNOWN);
	n2d_vocab_free(&v);
}

/* Only a space divides: tabs, carriage returns and no-break spaces are in tokens. A zero byte is in none: no file could keep it. */
static void only_spaces_divide(void **state)
{
	(void)state;
	static const char text[] = "a\tb a\r a\xc2\xa0z a";
	struct n2d_vocab v;
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_vocab_count(&v, text, sizeof text - 1), 0);
	assert_int_equal(n2d_vocab_order(&v, 0, 0), 0);
	assert_int_equal(v.size, N2D_IDS_SPECIAL + 4);
	assert_int_equal(id(&v, "a"), 4);
	assert_int_equal(id(&v, "a\tb"), 5);
	assert_int_equal(id(&v, "a\r"), 6);
	assert_int_equal(id(&v, "a\xc2\xa0z"), 7);
	assert_int_equal(n2d_vocab_count(&v, "a\0b", 3), -1);
	assert_non_null(strstr(n2d_error_text(), "zero byte"));
	n2d_vocab_free(&v);
}

static void limits_leave_the_rare_out(void **state)
{
	(void)state;
	static const struct {
		uint64_t min_count;
		size_t max_size;
		const char *tokens;
		uint64_t unknown;
	} cases[] = {
		{0, 0, "a b d c e", 0}, {1, 9, "a b d c e", 0}, {2, 0, "a b d", 2}, {3, 0, "a", 6},	   {9, 0, "", 9},
		{0, 8, "a b d c", 1},	{0, 6, "a b", 4},	{2, 8, "a b d", 2}, {2, 5, "a", 6}, {0, 4, "", 9},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct n2d_vocab v;
		assert_int_equal(n2d_vocab_init(&v, 0), 0);
		count(&v, "d c a b a d e b a");
		assert_int_equal(n2d_vocab_order(&v, cases[i].min_count, cases[i].max_size), 0);
		tokens_are(&v, cases[i].tokens);
		assert_int_equal(n2d_vocab_frequency(&v, N2D_ID_UNKNOWN), cases[i].unknown);
		assert_int_equal(id(&v, "e"), v.size == 9 ? 8 : N2D_ID_UNKNOWN);
		n2d_vocab_free(&v);
	}
	struct n2d_vocab v;
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_vocab_order(&v, 0, 3), -1);
	assert_non_null(strstr(n2d_error_text(), "at most 3"));
	n2d_vocab_free(&v);
}

/* A text must not be able to end its own sentence. */
static void specials_of_a_text_are_unknown(void **state)
{
	(void)state;
	struct n2d_vocab v;
	int32_t ids[8];
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	count(&v, "a </s> <s> <pad> <unk> <S>");
	assert_int_equal(n2d_vocab_order(&v, 0, 0), 0);
	tokens_are(&v, "<S> a");
	assert_int_equal(n2d_vocab_frequency(&v, N2D_ID_UNKNOWN), 4);
	assert_int_equal(n2d_vocab_encode(&v, ids, "a </s> <pad>  <S> ", 18), 4);
	assert_memory_equal(ids, ((int32_t[]){5, N2D_ID_UNKNOWN, N2D_ID_UNKNOWN, 4}), 4 * sizeof *ids);
	n2d_vocab_free(&v);
}

static void encoding_needs_the_room_it_says(void **state)
{
	(void)state;
	struct n2d_vocab v;
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	for (size_t bytes = 0; bytes < 9; bytes++) {
		char text[] = "a a a a a";
		int32_t *ids = malloc(n2d_vocab_room(bytes) * sizeof *ids);
		assert_int_equal(n2d_vocab_encode(&v, ids, text, bytes), (bytes + 1) / 2);
		assert_true(n2d_vocab_room(bytes) >= (bytes + 1) / 2);
		free(ids);
	}
	n2d_vocab_free(&v);
}

/* ---- files */

static const char golden[] = "<pad> 0\n<s> 0\n</s> 0\n<unk> 2\nb 3\n\xc3\xa4@@ 1\n";

static void files_hold_tokens_and_counts(void **state)
{
	(void)state;
	struct n2d_vocab v, again;
	struct n2d_map m;
	const char *texts[] = {scratch_put("a", "b <unk>\n\n\xc3\xa4@@ b\n"), scratch_put("b", "b </s>")};
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_vocab_count_file(&v, texts[0]), 0);
	assert_int_equal(n2d_vocab_count_file(&v, texts[1]), 0);
	assert_int_equal(n2d_vocab_order(&v, 0, 0), 0);
	assert_int_equal(n2d_vocab_save(&v, scratch_path("v")), 0);
	assert_int_equal(n2d_map_open(&m, scratch_path("v")), 0);
	assert_int_equal(m.size, sizeof golden - 1);
	assert_memory_equal(m.data, golden, m.size);
	n2d_map_close(&m);
	assert_int_equal(n2d_vocab_load(&again, scratch_path("v")), 0);
	tokens_are(&again, "b \xc3\xa4@@");
	assert_int_equal(n2d_vocab_frequency(&again, N2D_ID_UNKNOWN), 2);
	assert_int_equal(n2d_vocab_frequency(&again, 4), 3);
	assert_int_equal(n2d_vocab_save(&again, scratch_path("none/v")), -1);
	assert_non_null(strstr(n2d_error_text(), "none/v"));
	n2d_vocab_free(&again);
	n2d_vocab_free(&v);
}

static void damaged_files_are_refused(void **state)
{
	(void)state;
#define FIRST "<pad> 0\n<s> 0\n</s> 0\n<unk> 0\n"
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "v: ends after 0 lines"},
		{"<pad> 0\n<s> 0\n</s> 0\n", "v: ends after 3 lines"},
		{"a 1\n", "v:1: expected the special <pad>"},
		{"<pad> 0\n<s> 0\n<unk> 0\n</s> 0\n", "v:3: expected the special </s>"},
		{"<pad> 0\n<s> 0\n</s> 0\nunk 0\n", "v:4: expected the special <unk>"},
		{"<pad> 0\n<s> x\n", "v:2: expected a token"},
		{"<pad>\n", "v:1: expected a token"},
		{FIRST "a 1\n\nb 1\n", "v:6: expected a token"},
		{FIRST "a\n", "v:5: expected a token"},
		{FIRST "a \n", "v:5: expected a token"},
		{FIRST " 1\n", "v:5: expected a token"},
		{FIRST "a 1\r\n", "v:5: expected a token"},
		{FIRST "a  1\n", "v:5: expected a token"},
		{FIRST "a b 1\n", "v:5: expected a token"},
		{FIRST "a -1\n", "v:5: expected a token"},
		{FIRST "a 18446744073709551616\n", "v:5: expected a token"},
		{FIRST "a 3\nb 2\na 1\n", "v:7: the token 'a' comes a second time"},
		{FIRST "</s> 3\n", "v:5: the token '</s>' comes a second time"},
		{FIRST "a 3\n\xff 2\n", "v:6: byte 1"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct n2d_vocab v;
		assert_int_equal(n2d_vocab_load(&v, scratch_put("v", cases[i].text)), -1);
		if (!strstr(n2d_error_text(), cases[i].message))
			fail_msg("case %zu: '%s', should be '%s'", i, n2d_error_text(), cases[i].message);
		assert_int_equal(v.size, 0);
	}
	struct n2d_vocab v;
	assert_int_equal(n2d_vocab_load(&v, scratch_path("none")), -1);
	assert_int_equal(n2d_vocab_load(&v, scratch), -1);
	const char *good = FIRST "a 18446744073709551615\nb 0";
	assert_int_equal(n2d_vocab_load(&v, scratch_put("v", good)), 0);
	assert_true(n2d_vocab_frequency(&v, 4) == UINT64_MAX);
	tokens_are(&v, "a b");
	n2d_vocab_free(&v);
#undef FIRST
}

static void bad_texts_are_refused(void **state)
{
	(void)state;
	struct n2d_vocab v;
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_vocab_count_file(&v, scratch_put("a", "good\nb\xc3\n")), -1);
	assert_non_null(strstr(n2d_error_text(), "a:2: byte 2"));
	n2d_vocab_free(&v);
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_vocab_count_file(&v, scratch_path("none")), -1);
	n2d_vocab_free(&v);
}

/* One token of a million characters, and a million of one character. */
static void long_lines_work(void **state)
{
	(void)state;
	enum { N = 1000000 };
	char *text = malloc(2 * N);
	int32_t *ids = malloc(n2d_vocab_room(2 * N) * sizeof *ids);
	struct n2d_vocab v;
	assert_true(text && ids);
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	memset(text, 'x', N);
	assert_int_equal(n2d_vocab_count(&v, text, N), 0);
	for (size_t i = 0; i < N; i++)
		memcpy(text + 2 * i, "y ", 2);
	assert_int_equal(n2d_vocab_count(&v, text, 2 * N), 0);
	assert_int_equal(n2d_vocab_order(&v, 0, 0), 0);
	assert_int_equal(v.size, 6);
	assert_int_equal(n2d_vocab_frequency(&v, 4), N);
	assert_int_equal(n2d_vocab_encode(&v, ids, text, 2 * N), N);
	assert_int_equal(ids[N - 1], 4);
	size_t bytes;
	n2d_vocab_token(&v, 5, &bytes);
	assert_int_equal(bytes, N);
	n2d_vocab_free(&v);
	free(text);
	free(ids);
}

/* ---- integers and tasks */

static void ids_are_the_integers(void **state)
{
	(void)state;
	struct n2d_vocab v;
	int32_t ids[8];
	assert_int_equal(n2d_vocab_init(&v, 1), 0);
	count(&v, "3 0 7 3");
	count(&v, "1");
	assert_int_equal(v.size, N2D_IDS_SPECIAL + 8);
	tokens_are(&v, "0 1 2 3 4 5 6 7");
	assert_int_equal(n2d_vocab_frequency(&v, 7), 2);
	assert_int_equal(n2d_vocab_frequency(&v, 6), 0);
	assert_int_equal(n2d_vocab_encode(&v, ids, "0 7", 3), 2);
	assert_memory_equal(ids, ((int32_t[]){4, 11}), 2 * sizeof *ids);
	static const char *const bad[] = {"8", "-1", "01", "x", "1x", "+1", "1.0", "99999999999999999999", "<unk>"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(n2d_vocab_encode(&v, ids, bad[i], strlen(bad[i])), -1);
		assert_non_null(strstr(n2d_error_text(), bad[i]));
		assert_non_null(strstr(n2d_error_text(), "below 8"));
		if (i) /* 8 is only beyond the largest so far */
			assert_int_equal(n2d_vocab_count(&v, bad[i], strlen(bad[i])), -1);
	}
	char most[24];
	snprintf(most, sizeof most, "%d", N2D_IDS_MAX);
	assert_int_equal(n2d_vocab_count(&v, most, strlen(most)), -1);
	assert_int_equal(v.size, N2D_IDS_SPECIAL + 8);
	assert_int_equal(n2d_vocab_count_file(&v, scratch_put("a", "1\n2 two\n")), -1);
	assert_non_null(strstr(n2d_error_text(), "a:2: 'two' is no id"));
	n2d_vocab_free(&v);
}

static void tasks_have_their_symbols(void **state)
{
	(void)state;
	struct n2d_vocab v;
	struct n2d_task_config c = n2d_task_defaults(N2D_TASK_COPY);
	c.vocab = 3;
	assert_int_equal(n2d_vocab_of_task(&v, &c), 0);
	tokens_are(&v, "a b c");
	n2d_vocab_free(&v);
	c.ids = 1;
	assert_int_equal(n2d_vocab_of_task(&v, &c), 0);
	tokens_are(&v, "0 1 2");
	assert_true(v.ids);
	n2d_vocab_free(&v);
	c.vocab = N2D_IDS_MAX + 1;
	assert_int_equal(n2d_vocab_of_task(&v, &c), -1);
	c = n2d_task_defaults(N2D_TASK_SORT);
	c.vocab = 27;
	assert_int_equal(n2d_vocab_of_task(&v, &c), -1);
}

static void characters_are_known(const struct n2d_vocab *v, const char *text)
{
	while (*text) {
		size_t bytes = 1;
		while ((text[bytes] & 0xc0) == 0x80)
			bytes++;
		if (n2d_vocab_id(v, *text == ' ' ? "_" : text, bytes) == N2D_ID_UNKNOWN)
			fail_msg("unknown: %s", text);
		text += bytes;
	}
}

static void every_number_can_be_written(void **state)
{
	(void)state;
	struct n2d_vocab v;
	struct n2d_task_config c = n2d_task_defaults(N2D_TASK_NUMBERS);
	char text[N2D_NUMBER_TEXT];
	assert_int_equal(n2d_vocab_of_task(&v, &c), 0);
	for (uint32_t n = 0; n < N2D_NUMBER_LIMIT; n += n < 2000 ? 1 : 991) {
		n2d_number_english(text, n);
		characters_are_known(&v, text);
		n2d_number_german(text, n);
		characters_are_known(&v, text);
	}
	n2d_vocab_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_by_count_then_code_point),
		cmocka_unit_test(only_spaces_divide),
		cmocka_unit_test(limits_leave_the_rare_out),
		cmocka_unit_test(specials_of_a_text_are_unknown),
		cmocka_unit_test(encoding_needs_the_room_it_says),
		cmocka_unit_test(files_hold_tokens_and_counts),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(bad_texts_are_refused),
		cmocka_unit_test(long_lines_work),
		cmocka_unit_test(ids_are_the_integers),
		cmocka_unit_test(tasks_have_their_symbols),
		cmocka_unit_test(every_number_can_be_written),
	};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
