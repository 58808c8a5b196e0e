/* A set of byte strings, numbered 0, 1, 2 ... in the order they came: words, symbols, and any other key as its bytes. */
#ifndef N2D_STRINGS_H
#define N2D_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#define N2D_NO_STRING UINT32_MAX

struct n2d_strings { /* all zeros: empty */
	uint32_t n;

	char *bytes;
	size_t *end; /* of string i in bytes; it starts where i - 1 ends */
	size_t bytes_room, end_room;
	struct n2d_strings_slot *slots;
	size_t slots_n; /* a power of two, or 0 */
};

/* The string's number. N2D_NO_STRING: it is not there (find); a message too: no memory (add). */
uint32_t n2d_strings_find(const struct n2d_strings *s, const char *text, size_t bytes);
uint32_t n2d_strings_add(struct n2d_strings *s, const char *text, size_t bytes);

/* Adds what strings i and j are, one after the other. */
uint32_t n2d_strings_join(struct n2d_strings *s, uint32_t i, uint32_t j);

/* String i, not ended by a zero; until the next add. *bytes: its length. */
static inline const char *n2d_strings_get(const struct n2d_strings *s, uint32_t i, size_t *bytes)
{
	size_t start = i ? s->end[i - 1] : 0;
	*bytes = s->end[i] - start;
	return s->bytes + start;
}

/* Empty again, its memory kept. */
void n2d_strings_clear(struct n2d_strings *s);
void n2d_strings_free(struct n2d_strings *s);

#endif
