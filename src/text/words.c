#include "text/words.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"

const char *n2d_words_entry(const struct n2d_lines *l, size_t *bytes, uint64_t *count)
{
	size_t n = l->length;
	const char *text = n2d_words_trim(l->text, &n), *space = memchr(text, ' ', n), *end = text + n;
	if (n2d_lines_utf8(l))
		return NULL;
	*count = 0;
	int good = space && space > text && space + 1 < end;
	for (const char *digit = good ? space + 1 : end; good && digit < end; digit++)
		good = *digit >= '0' && *digit <= '9' && !__builtin_mul_overflow(*count, 10, count) &&
		       !__builtin_add_overflow(*count, (uint64_t)(*digit - '0'), count);
	if (!good) {
		n2d_lines_error(l, "expected a word, a space and its count");
		return NULL;
	}
	*bytes = (size_t)(space - text);
	return text;
}

static int add(struct n2d_words *w, const char *word, size_t bytes, uint64_t count)
{
	uint32_t known = w->words.n, i = n2d_strings_add(&w->words, word, bytes);
	uint64_t *counts = i == N2D_NO_STRING ? NULL : n2d_grow(w->count, &w->room, w->words.n, sizeof *counts);
	if (!counts)
		return -1;
	w->count = counts;
	if (i == known)
		counts[i] = 0;
	if (__builtin_add_overflow(counts[i], count, &counts[i]))
		return n2d_error("a word comes more often than can be counted");
	return 0;
}

static int add_line(struct n2d_words *w, const struct n2d_lines *l)
{
	size_t bytes = l->length;
	const char *word, *at = n2d_words_trim(l->text, &bytes), *end = at + bytes;
	if (n2d_lines_utf8(l))
		return -1;
	while ((word = n2d_words_next(&at, end, &bytes)))
		if (add(w, word, bytes, 1))
			return -1;
	return 0;
}

static int add_entry(struct n2d_words *w, const struct n2d_lines *l)
{
	size_t bytes;
	uint64_t count;
	const char *word = n2d_words_entry(l, &bytes, &count);
	return word ? add(w, word, bytes, count) : -1;
}

int n2d_words_count(struct n2d_words *w, struct n2d_lines *l, int dictionary)
{
	int more;
	while ((more = n2d_lines_next(l)) > 0)
		if ((dictionary ? add_entry : add_line)(w, l))
			return -1;
	return more;
}

void n2d_words_free(struct n2d_words *w)
{
	n2d_strings_free(&w->words);
	free(w->count);
	memset(w, 0, sizeof *w);
}
