/* Parallel texts as ids: pairs, ends, empty and long lines, what is wrong with two files. */
#define _XOPEN_SOURCE 700
#include "config.h"

#include "tests/scratch.h"
#include "text/corpus.h"

static struct n2d_vocab vocab; /* a b c: 4 5 6 */

static int make(void **state)
{
	if (n2d_vocab_init(&vocab, 0) || n2d_vocab_count(&vocab, "a a a b b c", 11) || n2d_vocab_order(&vocab, 0, 0))
		return -1;
	return scratch_make(state);
}

static int clear(void **state)
{
	n2d_vocab_free(&vocab);
	return scratch_remove(state);
}

static const struct n2d_coder coder = {.vocab = &vocab};

/* The corpus of two texts; with target NULL of one. */
static int read_texts(struct n2d_corpus *c, const char *source, const char *target, size_t max_length)
{
	const char *path[] = {scratch_put("s", source), target ? scratch_put("t", target) : NULL};
	assert_int_equal(n2d_corpus_init(c, &coder, target ? &coder : NULL, max_length), 0);
	return n2d_corpus_read(c, path);
}

/* A side's ids are these; sentences end at N2D_ID_END alone. */
static void side_is(const struct n2d_corpus *c, enum n2d_side side, const int32_t *want, size_t n)
{
	assert_int_equal(c->start[side][c->pairs], n);
	assert_memory_equal(c->id[side], want, n * sizeof *want);
	size_t pair = 0, longest = 0;
	for (size_t i = 0, begin = 0; i < n; i++) {
		if (want[i] != N2D_ID_END)
			continue;
		assert_int_equal(c->start[side][pair], begin);
		assert_int_equal(n2d_corpus_length(c, side, pair++), i + 1 - begin);
		if (i + 1 - begin > longest)
			longest = i + 1 - begin;
		begin = i + 1;
	}
	assert_int_equal(pair, c->pairs);
	assert_int_equal(c->longest[side], longest);
}
#define SIDE_IS(c, side, ...) \
	side_is(c, side, (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
enum { A = 4, B, C, END = N2D_ID_END, UNK = N2D_ID_UNKNOWN };

static void pairs_are_read(void **state)
{
	(void)state;
	struct n2d_corpus c;
	assert_int_equal(read_texts(&c, "a b\n\nc  d </s>\n", "b\nd\ne\n", 0), 0);
	assert_int_equal(c.pairs, 3);
	assert_int_equal(c.left_out, 0);
	SIDE_IS(&c, N2D_SOURCE, A, B, END, END, C, UNK, UNK, END);
	SIDE_IS(&c, N2D_TARGET, B, END, UNK, END, UNK, END);
	assert_int_equal(c.unknown[N2D_SOURCE], 2);
	assert_int_equal(c.unknown[N2D_TARGET], 2);
	assert_int_equal(c.with_unknown, 2);
	n2d_corpus_free(&c);
}

static void the_last_line_needs_no_end(void **state)
{
	(void)state;
	struct n2d_corpus c;
	assert_int_equal(read_texts(&c, "a\nb", "c\nb\n", 0), 0);
	SIDE_IS(&c, N2D_SOURCE, A, END, B, END);
	SIDE_IS(&c, N2D_TARGET, C, END, B, END);
	n2d_corpus_free(&c);
}

static void empty_lines_stay(void **state)
{
	(void)state;
	struct n2d_corpus c;
	assert_int_equal(read_texts(&c, "\n \n\n", "\n\n  \n", 1), 0);
	SIDE_IS(&c, N2D_SOURCE, END, END, END);
	SIDE_IS(&c, N2D_TARGET, END, END, END);
	n2d_corpus_free(&c);
}

static void sources_alone(void **state)
{
	(void)state;
	struct n2d_corpus c;
	assert_int_equal(read_texts(&c, "a\nb d\nb c a\n", NULL, 2), 0);
	assert_int_equal(c.left_out, 1);
	SIDE_IS(&c, N2D_SOURCE, A, END, B, UNK, END);
	assert_int_equal(c.unknown[N2D_SOURCE], 1);
	assert_int_equal(c.with_unknown, 1);
	assert_int_equal(n2d_corpus_length(&c, N2D_TARGET, 0), 0);
	/* The next lines of a stream, in the same memory. */
	n2d_corpus_clear(&c);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(n2d_corpus_add(&c, (const char *const[]){i % 2 ? "c" : "", NULL}, (const size_t[]){i % 2, 0}), 0);
	assert_int_equal(c.pairs, 2000);
	assert_int_equal(c.left_out, 0);
	assert_int_equal(c.longest[N2D_SOURCE], 2);
	assert_int_equal(c.unknown[N2D_SOURCE], 0);
	assert_int_equal(c.with_unknown, 0);
	for (size_t i = 0; i < 2000; i++) {
		assert_int_equal(c.start[N2D_SOURCE][i], i + i / 2);
		assert_int_equal(n2d_corpus_length(&c, N2D_TARGET, i), 0);
		assert_int_equal(c.id[N2D_SOURCE][i + i / 2], i % 2 ? C : END);
	}
	n2d_corpus_free(&c);
}

static void long_pairs_are_left_out_and_counted(void **state)
{
	(void)state;
	static const struct {
		size_t max_length, pairs;
	} cases[] = {{0, 5}, {1, 1}, {2, 3}, {3, 5}, {4, 5}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct n2d_corpus c;
		assert_int_equal(read_texts(&c, "a b c\na\nc\na b\nb\n", "a\nb\nc c\na b\na b c\n", cases[i].max_length), 0);
		assert_int_equal(c.pairs, cases[i].pairs);
		assert_int_equal(c.left_out, 5 - cases[i].pairs);
		if (cases[i].max_length == 1) {
			SIDE_IS(&c, N2D_SOURCE, A, END);
			SIDE_IS(&c, N2D_TARGET, B, END);
		} else if (cases[i].max_length == 2) {
			SIDE_IS(&c, N2D_SOURCE, A, END, C, END, A, B, END);
			SIDE_IS(&c, N2D_TARGET, B, END, C, C, END, A, B, END);
		}
		n2d_corpus_free(&c);
	}
}

static void wrong_files_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *source, *target, *message[2];
		size_t max_length;
	} cases[] = {
		{"a\nb\n", "a\nb\nc\n", {"t:3: '", "s' ends after 2 lines"}, 0},
		{"a\nb\nc", "a\nb\n", {"s:3: '", "t' ends after 2 lines"}, 0},
		{"", "a\n", {"t:1: '", "s' ends after 0 lines"}, 0},
		{"a\n", "", {"s:1: '", "t' ends after 0 lines"}, 0},
		{"", "", {"s: is empty", ""}, 0},
		{"a b\nc c\n", "a\nb\n", {"s: none of 2 lines", "at most 1 token"}, 1},
		{"a\nb\xff\n", "a\nb\n", {"s:2: byte 2", "UTF-8"}, 0},
		{"a\nb\n", "\xc3\nb\n", {"t:1: byte 1", "UTF-8"}, 0},
	};
	struct n2d_corpus c;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_texts(&c, cases[i].source, cases[i].target, cases[i].max_length), -1);
		for (int k = 0; k < 2; k++)
			if (!strstr(n2d_error_text(), cases[i].message[k]))
				fail_msg("case %zu: '%s', should have '%s'", i, n2d_error_text(), cases[i].message[k]);
		n2d_corpus_free(&c);
	}
	const char *there = scratch_put("s", "a\n"), *none = scratch_path("none");
	const char *const paths[][N2D_SIDES] = {{there, none}, {none, there}, {there, scratch}, {"-", "-"}};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(n2d_corpus_init(&c, &coder, &coder, 0), 0);
		assert_int_equal(n2d_corpus_read(&c, paths[i]), -1);
		assert_non_null(strstr(n2d_error_text(), i == 3 ? "cannot both be standard input" : i == 2 ? scratch : none));
		n2d_corpus_free(&c);
	}
}

static void wrong_ids_are_named(void **state)
{
	(void)state;
	struct n2d_vocab ids;
	struct n2d_corpus c;
	const struct n2d_coder numbers = {.vocab = &ids};
	assert_int_equal(n2d_vocab_init(&ids, 1), 0);
	assert_int_equal(n2d_vocab_count(&ids, "2", 1), 0);
	const char *path[] = {scratch_put("s", "0 1\n2\n"), scratch_put("t", "2\n1 3\n")};
	assert_int_equal(n2d_corpus_init(&c, &numbers, &numbers, 0), 0);
	assert_int_equal(n2d_corpus_read(&c, path), -1);
	assert_non_null(strstr(n2d_error_text(), "t:2: '3' is no id"));
	n2d_corpus_free(&c);
	n2d_vocab_free(&ids);
}

/* 1,000,000 tokens in a line among others. */
static void long_lines_work(void **state)
{
	(void)state;
	enum { N = 1000000 };
	struct n2d_corpus c;
	char *text = malloc(2 * N + 16);
	assert_non_null(text);
	strcpy(text, "c\n");
	for (size_t i = 0; i < N; i++)
		memcpy(text + 2 + 2 * i, "a ", 2);
	strcpy(text + 2 + 2 * N, "\nb\n");
	assert_int_equal(read_texts(&c, text, "a\n\nb\n", 0), 0);
	assert_int_equal(n2d_corpus_length(&c, N2D_SOURCE, 1), N + 1);
	assert_int_equal(c.id[N2D_SOURCE][2 + N], END);
	assert_int_equal(c.id[N2D_SOURCE][3 + N], B);
	assert_int_equal(c.start[N2D_SOURCE][3], N + 5);
	n2d_corpus_free(&c);
	free(text);
}

/* A task in memory is what it is by way of its files. */
static void tasks_need_no_files(void **state)
{
	(void)state;
	static const enum n2d_task_kind kinds[] = {N2D_TASK_REVERSE, N2D_TASK_NUMBERS};
	for (int k = 0; k < 4; k++) {
		struct n2d_task_config task = n2d_task_defaults(kinds[k % 2]);
		struct n2d_vocab v;
		struct n2d_corpus made, c;
		task.ids = k == 2;
		task.max_length = 6;
		if (k == 3)
			task.seed = 7;
		assert_int_equal(n2d_vocab_of_task(&v, &task), 0);
		const struct n2d_coder of_task = {.vocab = &v};
		assert_int_equal(n2d_task_write(&task, 1500, scratch_path("task"), "s", "t"), 0);
		assert_int_equal(n2d_corpus_init(&made, &of_task, &of_task, k == 3 ? 20 : 0), 0);
		assert_int_equal(n2d_corpus_init(&c, &of_task, &of_task, k == 3 ? 20 : 0), 0);
		assert_int_equal(n2d_corpus_task(&made, &task, 1500), 0);
		assert_int_equal(n2d_corpus_read(&c, (const char *const[]){scratch_path("task.s"), scratch_path("task.t")}), 0);
		assert_int_equal(c.pairs + c.left_out, 1500);
		assert_int_equal(c.left_out > 0, k == 3);
		assert_int_equal(made.left_out, c.left_out);
		for (int side = 0; side < N2D_SIDES; side++) {
			assert_int_equal(c.unknown[side], 0);
			assert_int_equal(made.unknown[side], 0);
			assert_memory_equal(made.start[side], c.start[side], (c.pairs + 1) * sizeof *c.start[side]);
			assert_memory_equal(made.id[side], c.id[side], c.start[side][c.pairs] * sizeof *c.id[side]);
		}
		n2d_corpus_free(&made);
		n2d_corpus_free(&c);
		n2d_vocab_free(&v);
	}
	struct n2d_task_config task = n2d_task_defaults(N2D_TASK_COPY);
	struct n2d_corpus c;
	task.min_length = 0;
	assert_int_equal(n2d_corpus_init(&c, &coder, &coder, 0), 0);
	assert_int_equal(n2d_corpus_task(&c, &task, 10), -1);
	n2d_corpus_free(&c);
}

/* An editor that doubles a line's only character, and fails at "c". */
static int twice(void *editor, const char **text, size_t *bytes)
{
	char *line = editor;
	if (*bytes && **text == 'c')
		return n2d_error("no c here");
	if (*bytes)
		*bytes = (size_t)sprintf(line, "%c %c", **text, **text);
	*text = line;
	return 0;
}

static void lines_can_be_edited(void **state)
{
	(void)state;
	char line[8];
	struct n2d_corpus c;
	const struct n2d_coder editing = {.vocab = &vocab, .edit = twice, .editor = line};
	const char *path[] = {scratch_put("s", "a\n\nb\n"), scratch_put("t", "b\na\n\n")};
	assert_int_equal(n2d_corpus_init(&c, &editing, &coder, 0), 0);
	assert_int_equal(n2d_corpus_read(&c, path), 0);
	SIDE_IS(&c, N2D_SOURCE, A, A, END, END, B, B, END);
	SIDE_IS(&c, N2D_TARGET, B, END, A, END, END);
	n2d_corpus_free(&c);
	path[0] = scratch_put("s", "a\nc\n\n");
	assert_int_equal(n2d_corpus_init(&c, &editing, &coder, 0), 0);
	assert_int_equal(n2d_corpus_read(&c, path), -1);
	assert_non_null(strstr(n2d_error_text(), "s:2: no c here"));
	n2d_corpus_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_read),
		cmocka_unit_test(the_last_line_needs_no_end),
		cmocka_unit_test(empty_lines_stay),
		cmocka_unit_test(sources_alone),
		cmocka_unit_test(long_pairs_are_left_out_and_counted),
		cmocka_unit_test(wrong_files_are_named),
		cmocka_unit_test(wrong_ids_are_named),
		cmocka_unit_test(long_lines_work),
		cmocka_unit_test(tasks_need_no_files),
		cmocka_unit_test(lines_can_be_edited),
	};
	return cmocka_run_group_tests(tests, make, clear);
}
