/* One block of memory, handed out from the front; sized before use. */
#ifndef N2D_ARENA_H
#define N2D_ARENA_H

#include <stddef.h>

struct n2d_arena {
	char *base;
	size_t size, used;
};

/* Maps bytes (zeroed, transparent huge pages advised). -1 and a message naming the size when there is no memory
 * or bytes is N2D_TOO_LARGE. n2d_arena_touch makes the first touch of every page now, and changes nothing. */
int n2d_arena_init(struct n2d_arena *a, size_t bytes);
void n2d_arena_touch(struct n2d_arena *a);
/* bytes that are 0 and may only be read: addresses, and no memory behind them. -1 and a message naming the size when the process may not have so many. */
int n2d_arena_zeros(struct n2d_arena *a, size_t bytes);
void n2d_arena_free(struct n2d_arena *a);

/* The next bytes, aligned to N2D_ALIGN; NULL and a message when the arena is too small. */
void *n2d_arena_get(struct n2d_arena *a, size_t bytes);

/* n floats the same way. */
float *n2d_arena_floats(struct n2d_arena *a, size_t n);

#endif
