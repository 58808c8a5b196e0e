/* A queue that gives the largest key first. */
#ifndef N2D_HEAP_H
#define N2D_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct n2d_heap_item {
	uint64_t key;
	uint32_t id;
};

struct n2d_heap { /* all zeros: empty, equal keys in any order */
	struct n2d_heap_item *items; /* items[0] is the first */
	size_t n, room;
	int (*first)(const void *what, uint32_t a, uint32_t b); /* of equal keys, whether id a goes before b; may be NULL */
	const void *what;
};

/* -1 and a message: no memory. */
int n2d_heap_push(struct n2d_heap *h, struct n2d_heap_item item);
/* Takes the first out; n > 0. */
struct n2d_heap_item n2d_heap_pop(struct n2d_heap *h);
void n2d_heap_free(struct n2d_heap *h);

#endif
