/* Size arithmetic that notices overflow. */
#ifndef N2D_SIZE_H
#define N2D_SIZE_H

#include <stddef.h>

/* Every block in an arena starts on a multiple of this: a cache line, and the widest vector. */
#define N2D_ALIGN 64

/* N2D_TOO_LARGE means the product or sum does not fit: it passes through these functions and is
 * refused by every allocator, so one check at the end is enough. */
#define N2D_TOO_LARGE ((size_t)-1)

static inline size_t n2d_mul(size_t a, size_t b)
{
	size_t r;
	if ((a == N2D_TOO_LARGE && b) || (b == N2D_TOO_LARGE && a) || __builtin_mul_overflow(a, b, &r))
		return N2D_TOO_LARGE;
	return r;
}

static inline size_t n2d_add(size_t a, size_t b)
{
	size_t r;
	return __builtin_add_overflow(a, b, &r) ? N2D_TOO_LARGE : r;
}

/* a rounded up to a multiple of b. */
static inline size_t n2d_round_up(size_t a, size_t b)
{
	size_t r = n2d_add(a, b - 1);
	return r == N2D_TOO_LARGE ? r : r / b * b;
}

/* Where part i of n begins when n is cut into `parts` whose sizes differ by one at most; part `parts` begins at n. */
static inline size_t n2d_cut(size_t n, size_t parts, size_t i)
{
	size_t more = n % parts;
	return n / parts * i + (i < more ? i : more);
}

/* The floats of an a x b x c array, rounded up so that the next array is aligned too. */
static inline size_t n2d_floats(size_t a, size_t b, size_t c)
{
	return n2d_round_up(n2d_mul(n2d_mul(a, b), c), N2D_ALIGN / sizeof(float));
}

#endif
