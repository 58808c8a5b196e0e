/* From texts to batches with memory that ends: whichever allocation fails, there is a message, and nothing stays behind.
 * The linker puts these functions in place of malloc, calloc, realloc and free. */
#define _XOPEN_SOURCE 700
#include "config.h"

#include <errno.h>

#include "tests/scratch.h"
#include "text/batches.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static long until = -1; /* allocations before the one that fails; negative: none does */
static long alive;

static int fails(void)
{
	errno = ENOMEM;
	return until >= 0 && until-- == 0;
}
static void *counted(void *p)
{
	alive += p != NULL;
	return p;
}

void *__wrap_malloc(size_t n) { return fails() ? NULL : counted(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : counted(__real_calloc(n, size)); }
void *__wrap_realloc(void *p, size_t n) { return fails() ? NULL : p ? __real_realloc(p, n) : counted(__real_realloc(p, n)); }
void __wrap_free(void *p)
{
	alive -= p != NULL;
	__real_free(p);
}

enum { PAIRS = 1100 }; /* every array grows at 1,024 */
static const char *path[N2D_SIDES], *vocabulary;

static void write_texts(void)
{
	FILE *f[N2D_SIDES];
	static char kept[N2D_SIDES + 1][96];
	for (int side = 0; side < N2D_SIDES; side++) {
		path[side] = strcpy(kept[side], scratch_path(side ? "t" : "s"));
		assert_non_null(f[side] = fopen(path[side], "w"));
		for (int i = 0; i < PAIRS; i++)
			fprintf(f[side], "%d %d\n", side ? 0 : i, i % 7);
		assert_int_equal(fclose(f[side]), 0);
	}
	struct n2d_vocab v;
	vocabulary = strcpy(kept[N2D_SIDES], scratch_path("v"));
	assert_int_equal(n2d_vocab_init(&v, 0), 0);
	assert_int_equal(n2d_vocab_count_file(&v, path[0]), 0);
	assert_int_equal(n2d_vocab_save(&v, vocabulary), 0);
	n2d_vocab_free(&v);
}

static int batch_all(const struct n2d_vocab *v)
{
	struct n2d_corpus c = {0};
	struct n2d_batches b = {0};
	struct n2d_batch x;
	const struct n2d_coder coder = {.vocab = v};
	int bad = n2d_corpus_init(&c, &coder, &coder, 0) || n2d_corpus_read(&c, path) || n2d_batches_init(&b, &c, 100, 0, 1);
	for (size_t i = 0; !bad && i < b.count; i++)
		n2d_batches_get(&b, &x, 1, i);
	n2d_batches_free(&b);
	n2d_corpus_free(&c);
	return bad;
}

static int make_all(void)
{
	struct n2d_vocab v = {0}, loaded = {0};
	int bad = n2d_vocab_init(&v, 0) || n2d_vocab_count_file(&v, path[0]) || n2d_vocab_count_file(&v, path[1]) ||
		  n2d_vocab_order(&v, 2, 0) || n2d_vocab_load(&loaded, vocabulary) || batch_all(&loaded);
	n2d_vocab_free(&loaded);
	n2d_vocab_free(&v);
	return bad;
}

static void every_failure_is_said(void **state)
{
	(void)state;
	long before, n = 0;
	write_texts();
	before = alive;
	assert_int_equal(make_all(), 0);
	assert_int_equal(alive, before);
	for (int bad = 1; bad; n++) {
		n2d_error("nothing said");
		until = n;
		bad = make_all();
		int reached = until < 0;
		until = -1;
		assert_int_equal(alive, before);
		if (bad)
			if (!strstr(n2d_error_text(), "memory"))
				fail_msg("allocation %ld: %s", n, n2d_error_text());
		/* A table that cannot be resized and an array that cannot be trimmed stay as they are: no failure. */
		bad = bad || reached;
	}
	assert_in_range(n, 2 * PAIRS, 3 * PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_failure_is_said)};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
