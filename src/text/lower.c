#include "text/lower.h"

#include <string.h>

#include <utf8proc.h>

#include "text/utf8.h"

enum { I_WITH_DOT = 0x130, DOT_ABOVE = 0x307, SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2 };

/* What case looks through (Unicode's Case_Ignorable): marks, format characters, modifiers, and what divides no word. */
static int ignorable(utf8proc_int32_t c)
{
	static const utf8proc_int32_t within[] = {'\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
						  0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_ME:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_SK: return 1;
	default: break;
	}
	for (size_t i = 0; i < sizeof within / sizeof *within; i++)
		if (c == within[i])
			return 1;
	return 0;
}

/* Unicode's Cased, without what is ignorable: letters with a case, and those that count as such. */
static int cased(utf8proc_int32_t c)
{
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT: return 1;
	default:
		return c == 0xaa || c == 0xba || (c >= 0x2160 && c <= 0x217f) || (c >= 0x24b6 && c <= 0x24e9) ||
		       (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
	}
}

/* Whether the sigma at from[at] ends a word: a letter before it and none after it, with what is ignorable between. */
static int ends_word(const char *from, size_t at, size_t n)
{
	utf8proc_int32_t c = 0;
	size_t i = at, bytes = n2d_utf8_bytes(from + at);
	do {
		if (!i)
			return 0;
		i = n2d_utf8_before(from, i);
		c = n2d_utf8_code(from + i);
	} while (ignorable(c));
	if (!cased(c))
		return 0;
	for (i = at + bytes; i < n; i += n2d_utf8_bytes(from + i))
		if (!ignorable(c = n2d_utf8_code(from + i)))
			return !cased(c);
	return 1;
}

size_t n2d_lower(char *to, const char *from, size_t n)
{
	size_t written = 0, bytes;
	for (size_t i = 0; i < n; i += bytes) {
		bytes = n2d_utf8_bytes(from + i);
		if (bytes == 1) {
			to[written++] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] + ('a' - 'A') : from[i]);
			continue;
		}
		utf8proc_int32_t c = n2d_utf8_code(from + i);
		c = c == I_WITH_DOT ? 'i' : c == SIGMA && ends_word(from, i, n) ? FINAL_SIGMA : utf8proc_tolower(c);
		written += (size_t)utf8proc_encode_char(c, (utf8proc_uint8_t *)to + written);
		if (n2d_utf8_code(from + i) == I_WITH_DOT)
			written += (size_t)utf8proc_encode_char(DOT_ABOVE, (utf8proc_uint8_t *)to + written);
	}
	return written;
}
