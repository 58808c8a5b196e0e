/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. Zero bytes are characters.
 * Its bytes compare (memcmp) as its code points do. */
#ifndef N2D_UTF8_H
#define N2D_UTF8_H

#include <stddef.h>

/* The bytes of text[0..n) before the first that is no UTF-8; n when all of it is. */
size_t n2d_utf8_valid(const char *text, size_t n);

/* The bytes of the character that starts at text, which must be valid. */
static inline size_t n2d_utf8_bytes(const char *text)
{
	unsigned char c = (unsigned char)*text;
	return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

#endif
