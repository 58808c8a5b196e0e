/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. Zero bytes are characters.
 * Its bytes compare (memcmp) as its code points do. */
#ifndef N2D_UTF8_H
#define N2D_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of text[0..n) before the first that is no UTF-8; n when all of it is. */
size_t n2d_utf8_valid(const char *text, size_t n);

/* The bytes of the character that starts at text, which must be valid. */
static inline size_t n2d_utf8_bytes(const char *text)
{
	unsigned char c = (unsigned char)*text;
	return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Its code point. */
static inline uint32_t n2d_utf8_code(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	switch (n2d_utf8_bytes(text)) {
	case 1: return s[0];
	case 2: return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
	case 3: return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
	default: return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
	}
}

/* Where the character before text[at] starts; at > 0. */
static inline size_t n2d_utf8_before(const char *text, size_t at)
{
	do
		at--;
	while (((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

#endif
