#include "text/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static int before(const struct n2d_heap *h, struct n2d_heap_item a, struct n2d_heap_item b)
{
	return a.key != b.key ? a.key > b.key : h->first && h->first(h->what, a.id, b.id);
}

int n2d_heap_push(struct n2d_heap *h, struct n2d_heap_item item)
{
	struct n2d_heap_item *items = n2d_grow(h->items, &h->room, h->n + 1, sizeof *items);
	if (!items)
		return -1;
	h->items = items;
	size_t i = h->n++;
	for (; i && before(h, item, items[(i - 1) / 2]); i = (i - 1) / 2)
		items[i] = items[(i - 1) / 2];
	items[i] = item;
	return 0;
}

struct n2d_heap_item n2d_heap_pop(struct n2d_heap *h)
{
	struct n2d_heap_item first = h->items[0], last = h->items[--h->n];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && before(h, h->items[child + 1], h->items[child]))
			child++;
		if (!before(h, h->items[child], last))
			break;
		h->items[i] = h->items[child];
	}
	h->items[i] = last;
	return first;
}

void n2d_heap_free(struct n2d_heap *h)
{
	free(h->items);
	memset(h, 0, sizeof *h);
}
