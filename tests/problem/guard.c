#define _GNU_SOURCE
#include "tests/problem/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define CANARY 0xa5
#define LARGE ((size_t)1 << 20) /* memory of this size is given back */

/* Mapping and protecting pages costs more than most cases that use them: what is freed serves again, by its size. */
static struct {
	char *map;
	size_t size;
} kept[32];

static char *reuse(size_t size)
{
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (kept[i].map && kept[i].size == size) {
			char *map = kept[i].map;
			kept[i].map = NULL;
			return map;
		}
	return NULL;
}

static char *map_new(size_t inner)
{
	char *map = mmap(NULL, inner + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || mprotect(map, PAGE, PROT_NONE) || mprotect(map + PAGE + inner, PAGE, PROT_NONE)) {
		perror("guard_alloc");
		exit(99);
	}
#ifdef MADV_HUGEPAGE
	madvise(map + PAGE, inner, MADV_HUGEPAGE); /* as the arena has them: the same object is timed */
#endif
	return map;
}

static struct {
	char *at;
	size_t left;
} cut;

void guard_cut_from(void *memory, size_t bytes) { cut.at = memory, cut.left = bytes; }

/* Whole cache lines, and some more: arrays that begin at the same offset of their pages fall on the same sets of the caches. */
size_t guard_cut_bytes(size_t n) { return (n * sizeof(float) + 63) / 64 * 64 + 5 * 64; }

void guard_alloc(struct guard *g, size_t n, int place)
{
	if (guard_cut_bytes(n) <= cut.left) {
		*g = (struct guard){.p = (float *)cut.at, .n = n};
		cut.at += guard_cut_bytes(n), cut.left -= guard_cut_bytes(n);
		return;
	}
	size_t bytes = n * sizeof(float), offset = place == GUARD_END ? 0 : (size_t)place * sizeof(float);
	size_t inner = (bytes + offset + PAGE - 1) / PAGE * PAGE;
	if (!inner)
		inner = PAGE;
	g->n = n;
	g->size = inner + 2 * PAGE;
	g->map = reuse(g->size);
	if (!g->map)
		g->map = map_new(inner);
	memset(g->map + PAGE, CANARY, inner);
	g->p = (float *)(g->map + PAGE + (place == GUARD_END ? inner - bytes : offset));
}

static int intact(const char *p, const char *end)
{
	for (; p < end; p++)
		if ((unsigned char)*p != CANARY)
			return 0;
	return 1;
}

int guard_check(const struct guard *g)
{
	const char *data = (const char *)g->p, *end = data + g->n * sizeof(float);
	return !g->map || (intact(g->map + PAGE, data) && intact(end, g->map + g->size - PAGE)) ? 0 : -1;
}

void guard_free(struct guard *g)
{
	static size_t next;
	char *map = g->map;
	size_t size = g->size;
	if (map && size < LARGE) { /* takes the place of the one that has been kept longest */
		size_t i = next++ % (sizeof kept / sizeof *kept);
		map = kept[i].map, size = kept[i].size;
		kept[i].map = g->map, kept[i].size = g->size;
	}
	if (map)
		munmap(map, size);
	memset(g, 0, sizeof *g);
}
