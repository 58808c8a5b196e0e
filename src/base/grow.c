#include "base/grow.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/size.h"

void *n2d_grow(void *array, size_t *room, size_t n, size_t size)
{
	if (n <= *room)
		return array;
	size_t wanted = n2d_mul(*room, 2), bytes;
	if (wanted < n || wanted == N2D_TOO_LARGE)
		wanted = n;
	bytes = n2d_mul(wanted, size);
	void *wider = bytes == N2D_TOO_LARGE ? NULL : realloc(array, bytes);
	if (!wider) {
		n2d_error("no memory for %zu elements of %zu bytes", wanted, size);
		return NULL;
	}
	*room = wanted;
	return wider;
}
