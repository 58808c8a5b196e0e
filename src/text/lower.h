/* Unicode's full lower case, in every language the same: U+0130 becomes "i" and U+0307, a capital sigma that ends a word
 * the final one; "ß" stays. Needs utf8proc. */
#ifndef N2D_LOWER_H
#define N2D_LOWER_H

#include <stddef.h>

/* Bytes that n bytes in lower case can take: two become three at most (U+023A, U+0130). */
static inline size_t n2d_lower_room(size_t n) { return n + n / 2; }

/* to[0..n2d_lower_room(n)) does not overlap from[0..n), which is UTF-8. Returns the bytes written. */
size_t n2d_lower(char *to, const char *from, size_t n);

#endif
