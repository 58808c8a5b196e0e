#define _GNU_SOURCE
#include "tests/problem/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define CANARY 0xa5

void guard_alloc(struct guard *g, size_t n, int place)
{
	size_t bytes = n * sizeof(float), offset = place == GUARD_END ? 0 : (size_t)place * sizeof(float);
	size_t inner = (bytes + offset + PAGE - 1) / PAGE * PAGE;
	if (!inner)
		inner = PAGE;
	g->n = n;
	g->size = inner + 2 * PAGE;
	g->map = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->map == MAP_FAILED || mprotect(g->map, PAGE, PROT_NONE) || mprotect(g->map + PAGE + inner, PAGE, PROT_NONE)) {
		perror("guard_alloc");
		exit(99);
	}
#ifdef MADV_HUGEPAGE
	madvise(g->map + PAGE, inner, MADV_HUGEPAGE); /* as the arena has them: the same object is timed */
#endif
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
	return intact(g->map + PAGE, data) && intact(end, g->map + g->size - PAGE) ? 0 : -1;
}

void guard_free(struct guard *g)
{
	if (g->map)
		munmap(g->map, g->size);
	memset(g, 0, sizeof *g);
}
