#include "text/utf8.h"

#include <stdint.h>
#include <string.h>

/* The bytes of a valid character at s, of which n > 0 are there; 0 when there is none. The second byte's range
 * keeps out overlong forms (e0, f0), surrogates (ed) and what lies beyond the last code point (f4). */
static size_t character(const unsigned char *s, size_t n)
{
	size_t bytes = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	if (bytes > n || (bytes > 1 && (s[1] < (*s == 0xe0 ? 0xa0 : *s == 0xf0 ? 0x90 : 0x80) ||
					s[1] > (*s == 0xed ? 0x9f : *s == 0xf4 ? 0x8f : 0xbf))))
		return 0;
	for (size_t i = 2; i < bytes; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return bytes;
}

size_t n2d_utf8_valid(const char *text, size_t n)
{
	size_t at = 0, bytes;
	while (at < n) {
		uint64_t eight;
		if (n - at >= 8 && (memcpy(&eight, text + at, 8), !(eight & 0x8080808080808080u)))
			at += 8;
		else if ((bytes = character((const unsigned char *)text + at, n - at)))
			at += bytes;
		else
			break;
	}
	return at;
}
