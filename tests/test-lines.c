/* Lines of plain, compressed, damaged and streamed texts, and what is UTF-8. */
#include "config.h"

#include <sys/wait.h>
#include <unistd.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "text/lines.h"
#include "text/utf8.h"
#include "tests/unit.h"

static char path[] = "test-lines.XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void put(const char *text, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The file's lines are those of text[0..n), found here byte by byte. */
static void lines_are(const char *text, size_t n)
{
	struct n2d_lines l;
	size_t number = 0;
	assert_int_equal(n2d_lines_open(&l, path), 0);
	for (size_t at = 0, end; at < n; at = end + 1) {
		for (end = at; end < n && text[end] != '\n'; end++)
			;
		assert_int_equal(n2d_lines_next(&l), 1);
		assert_int_equal(l.number, ++number);
		assert_int_equal(l.length, end - at);
		assert_memory_equal(l.text, text + at, end - at);
		assert_int_equal(l.text[l.length], 0);
		assert_int_equal(l.ended, end < n);
	}
	assert_int_equal(n2d_lines_next(&l), 0);
	assert_int_equal(n2d_lines_next(&l), 0);
	n2d_lines_close(&l);
	n2d_lines_close(&l);
}

static const struct {
	const char *text;
	size_t n;
} texts[] = {
#define T(s) {s, sizeof s - 1}
	T(""), T("\n"), T("\n\n"), T("a"), T("a\n"), T("a\nb"), T("\n\nb\n\n"), T("a\r\nb\rc\n"), T("a\0b\n\0\n"),
	T("\xe2\x80\xa8\xc2\x85\v\f\xc2\xa0\n x  y \n"), T("\x1f"), T("\x1f\n"), T("\x1f\x8a\n"), T("\xff\xfe\n"),
#undef T
};

static void only_line_feeds_end_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		put(texts[i].text, texts[i].n);
		lines_are(texts[i].text, texts[i].n);
	}
}

/* Lines of random lengths, some around the reader's steps of 64 KiB, and one of 1,000,000 characters of two bytes. */
static char *long_text(size_t *n)
{
	size_t at = 0, room = 4000000;
	char *text = malloc(room);
	struct n2d_rng r;
	n2d_rng_init(&r, 1, 2);
	assert_non_null(text);
	for (size_t i = 0; i < 1000000; i++, at += 2)
		memcpy(text + at, "\xc3\xa4", 2);
	while (at < room - 200000) {
		size_t length = n2d_rng_below(&r, 8) ? n2d_rng_below(&r, 300) : 65532 + n2d_rng_below(&r, 8);
		text[at++] = '\n';
		memset(text + at, 'a' + (int)n2d_rng_below(&r, 26), length);
		at += length;
	}
	*n = at;
	return text;
}

static void long_lines(void **state)
{
	(void)state;
	size_t n;
	char *text = long_text(&n);
	put(text, n);
	lines_are(text, n);
	free(text);
}

#ifdef HAVE_ZLIB
/* Reads all of it; 0, or -1 with the error. */
static int drain(void)
{
	struct n2d_lines l;
	int code = n2d_lines_open(&l, path);
	while (!code && (code = n2d_lines_next(&l)) > 0)
		code = 0;
	n2d_lines_close(&l);
	return code;
}

static void compress_to_file(const char *text, size_t n, const char *mode)
{
	gzFile f = gzopen(path, mode);
	assert_non_null(f);
	assert_true(!n || gzwrite(f, text, (unsigned)n) == (int)n);
	assert_int_equal(gzclose(f), Z_OK);
}

static void compressed_texts(void **state)
{
	(void)state;
	size_t n;
	char *text = long_text(&n);
	compress_to_file(text, n, "wb1");
	lines_are(text, n);
	compress_to_file("", 0, "wb");
	lines_are("", 0);
	compress_to_file("a\nb", 3, "wb"); /* members one after another, an empty one among them */
	compress_to_file("", 0, "ab");
	compress_to_file("c\n\nd\n", 5, "ab");
	lines_are("a\nbc\n\nd\n", 8);
	free(text);
}

/* A compressed stream whose first byte comes alone. */
static void compressed_streams(void **state)
{
	(void)state;
	struct n2d_lines l;
	char packed[64];
	int ends[2], saved = dup(STDIN_FILENO), status;
	compress_to_file("a\n", 2, "wb");
	FILE *f = fopen(path, "rb");
	size_t n = fread(packed, 1, sizeof packed, f);
	fclose(f);
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		int bad = write(ends[1], packed, 1) != 1 || usleep(50000) || write(ends[1], packed + 1, n - 1) != (ssize_t)n - 1;
		_exit(bad);
	}
	dup2(ends[0], STDIN_FILENO);
	close(ends[1]);
	assert_int_equal(n2d_lines_open(&l, "-"), 0);
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_string_equal(l.text, "a");
	assert_int_equal(n2d_lines_next(&l), 0);
	n2d_lines_close(&l);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Every truncation and every changed byte of the data or the check sums is an error, and so is what follows. */
static void damaged_texts(void **state)
{
	(void)state;
	enum { HEADER = 10 };
	char whole[256], broken[256];
	compress_to_file("one line\nanother line\nthe third\n", 32, "wb9");
	FILE *f = fopen(path, "rb");
	size_t n = fread(whole, 1, sizeof whole - 1, f);
	fclose(f);
	for (size_t i = 2; i < n; i++) {
		put(whole, i);
		assert_int_equal(drain(), -1);
		assert_non_null(strstr(n2d_error_text(), "ends early"));
	}
	for (size_t i = HEADER; i < n; i++) {
		memcpy(broken, whole, n);
		broken[i] ^= 0x10;
		put(broken, n);
		if (drain() == 0)
			fail_msg("byte %zu of %zu changed, and nobody notices", i, n);
		assert_non_null(strstr(n2d_error_text(), path));
	}
	memcpy(broken, whole, n);
	broken[n] = 'x';
	put(broken, n + 1);
	assert_int_equal(drain(), -1);
	assert_non_null(strstr(n2d_error_text(), ":4: damaged gzip data"));
}
#endif

static void what_cannot_be_read(void **state)
{
	(void)state;
	struct n2d_lines l;
	assert_int_equal(n2d_lines_open(&l, "no/such/file"), -1);
	assert_string_equal(n2d_error_text(), "cannot read 'no/such/file': No such file or directory");
	n2d_lines_close(&l);
	assert_int_equal(n2d_lines_open(&l, "."), -1);
	assert_non_null(strstr(n2d_error_text(), "'.': Is a directory"));
	put("good\nb\xc3\xa4\xe2\x80 d\n", 11);
	assert_int_equal(n2d_lines_open(&l, path), 0);
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_int_equal(n2d_lines_utf8(&l), 0);
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_int_equal(n2d_lines_utf8(&l), -1);
	assert_non_null(strstr(n2d_error_text(), ":2: byte 4 of the line (0xe2)"));
	n2d_lines_close(&l);
}

/* A line is there before the stream goes on. */
static void streams(void **state)
{
	(void)state;
	struct n2d_lines l;
	int ends[2], saved = dup(STDIN_FILENO);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[0], STDIN_FILENO);
	assert_int_equal(n2d_lines_open(&l, "-"), 0);
	const char *parts[] = {"\x1f\n", "one\ntwo\n", "th", "ree\n"};
	assert_int_equal(write(ends[1], parts[0], 2), 2);
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_int_equal(write(ends[1], parts[1], 8), 8);
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_string_equal(l.text, "one");
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_string_equal(l.text, "two");
	assert_int_equal(write(ends[1], parts[2], 2), 2);
	assert_int_equal(write(ends[1], parts[3], 4), 4);
	close(ends[1]);
	assert_int_equal(n2d_lines_next(&l), 1);
	assert_string_equal(l.text, "three");
	assert_string_equal(l.name, "standard input");
	assert_int_equal(n2d_lines_next(&l), 0);
	n2d_lines_close(&l);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(ends[0]);
}

/* The encoding of a code point, whether it may be encoded or not. */
static size_t encode(char *to, uint32_t c, size_t bytes)
{
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = bytes; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(lead[bytes] | c);
	return bytes;
}

/* All code points in all lengths that hold them: the shortest is valid, and no other; surrogates are not. */
static void utf8_is_the_shortest_form_of_a_character(void **state)
{
	(void)state;
	static const uint32_t limit[] = {0, 0x80, 0x800, 0x10000, 0x200000};
	for (size_t bytes = 1; bytes <= 4; bytes++)
		for (uint32_t c = 0; c < limit[bytes]; c++) {
			char s[12] = "12345678";
			size_t n = 8 + encode(s + 8, c, bytes);
			int good = c >= limit[bytes - 1] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
			if (n2d_utf8_valid(s + 8, bytes) != (good ? bytes : 0) || n2d_utf8_valid(s, n) != (good ? n : 8))
				fail_msg("U+%04X in %zu bytes: %svalid", c, bytes, good ? "should be " : "should not be ");
			if (good && n2d_utf8_bytes(s + 8) != bytes)
				fail_msg("U+%04X: %zu bytes, should be %zu", c, n2d_utf8_bytes(s + 8), bytes);
			for (size_t cut = 1; good && cut < bytes; cut++)
				assert_int_equal(n2d_utf8_valid(s, n - cut), 8);
		}
	char run[24];
	for (size_t i = 0; i < sizeof run; i++) {
		memset(run, 'a', sizeof run);
		run[i] = '\xff';
		assert_int_equal(n2d_utf8_valid(run, sizeof run), i);
	}
	for (int c = 0x80; c < 0x100; c++) { /* no character begins so, or a letter follows too early */
		char s[5] = {(char)c, 'a', 'a', 'a', 0};
		assert_int_equal(n2d_utf8_valid(s, 4), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_line_feeds_end_lines),
		cmocka_unit_test(long_lines),
#ifdef HAVE_ZLIB
		cmocka_unit_test(compressed_texts),
		cmocka_unit_test(compressed_streams),
		cmocka_unit_test(damaged_texts),
#endif
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(streams),
		cmocka_unit_test(utf8_is_the_shortest_form_of_a_character),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
