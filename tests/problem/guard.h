/* Memory that notices: a buffer between two inaccessible pages, with canaries in the rest of its
 * own pages. A read or write beyond the pages is a fault; a write beside the buffer is seen by
 * guard_check. */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>

struct guard {
	float *p;     /* n floats */
	size_t n;
	char *map;    /* the whole mapping */
	size_t size;
};

/* Where in its pages the buffer lies: flush with the end, or `place` floats after the start. */
#define GUARD_END (-1)

/* Until guard_cut_from(NULL, 0): buffers are pieces of `memory`, one behind the other, while it lasts. Nothing guards them: for timings. */
void guard_cut_from(void *memory, size_t bytes);
/* The bytes that a buffer of n floats takes there. */
size_t guard_cut_bytes(size_t n);

void guard_alloc(struct guard *g, size_t n, int place);
/* 0, or -1 when a canary has changed. */
int guard_check(const struct guard *g);
void guard_free(struct guard *g);

#endif
