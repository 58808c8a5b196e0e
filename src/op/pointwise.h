/* For operators on n elements or rows that do not depend on each other: tasks of a fixed size, whatever the number of threads. */
#ifndef N2D_POINTWISE_H
#define N2D_POINTWISE_H

#include "base/threads.h"
#include "base/trace.h"

/* Elements a task: large enough to hide its start, a multiple of dropout's groups. */
enum { N2D_CHUNK = 1 << 15 };

static inline size_t n2d_chunks(size_t n, size_t size) { return n / size + (n % size != 0); }

/* The elements of a task: from *from, this many. */
static inline size_t n2d_chunk(size_t n, size_t size, size_t task, size_t *from)
{
	*from = task * size;
	return n - *from < size ? n - *from : size;
}

/* Rows a task when a row has `width` elements. */
static inline size_t n2d_chunk_rows(size_t width) { return width < N2D_CHUNK && width ? N2D_CHUNK / width : 1; }

#endif
