/* The words of a line: what lies between spaces, and nothing else divides. ' ' and '\r' at the two ends of a line belong to no word. */
#ifndef N2D_WORDS_H
#define N2D_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text/lines.h"
#include "text/strings.h"

/* Cuts ' ' and '\r' off both ends of text[0..*bytes). Returns the new beginning; all of it is cut off at the end. */
static inline const char *n2d_words_trim(const char *text, size_t *bytes)
{
	const char *end = text + *bytes;
	while (end > text && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	while (text < end && (*text == ' ' || *text == '\r'))
		text++;
	*bytes = (size_t)(end - text);
	return text;
}

/* The next word in [*at, end), and *at moves behind it; NULL when there is none. */
static inline const char *n2d_words_next(const char **at, const char *end, size_t *bytes)
{
	const char *word = *at;
	while (word < end && *word == ' ')
		word++;
	if (word == end)
		return NULL;
	const char *space = memchr(word, ' ', (size_t)(end - word));
	*at = space ? space : end;
	*bytes = (size_t)(*at - word);
	return word;
}

/* How often each word comes. All zeros: none yet. */
struct n2d_words {
	struct n2d_strings words;
	uint64_t *count;
	size_t room;
};

/* Adds the words of all lines that are left. With dictionary, a line is an entry: a word and its count.
 * -1 and a message naming file and line: it is no UTF-8, it is no entry; or no memory. */
int n2d_words_count(struct n2d_words *w, struct n2d_lines *l, int dictionary);
void n2d_words_free(struct n2d_words *w);

/* The current line as a word and its count, divided by one space: a vocabulary's. NULL and a message naming file and line. */
const char *n2d_words_entry(const struct n2d_lines *l, size_t *bytes, uint64_t *count);

#endif
