/* Arrays that grow. */
#ifndef N2D_GROW_H
#define N2D_GROW_H

#include <stddef.h>

/* array, which has *room elements of `size` bytes, with room for n > 0 at least: it doubles, so adding one by one costs
 * a constant each. NULL and a message when there is no memory: then array is as it was. */
void *n2d_grow(void *array, size_t *room, size_t n, size_t size);

#endif
