#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/size.h"

#define HUGE_PAGE ((size_t)2 << 20)
/* More than this is asked for only where the system says it has it: it grants what it does not have, and kills who uses it. */
#define SURE ((size_t)64 << 20)

int n2d_arena_init(struct n2d_arena *a, size_t bytes)
{
	memset(a, 0, sizeof *a);
	size_t size = n2d_round_up(bytes ? bytes : 1, bytes < HUGE_PAGE ? 4096 : HUGE_PAGE);
	if (size > SURE && size > n2d_memory_available())
		return n2d_error("no memory for %zu bytes: %zu are available", bytes, n2d_memory_available());
	void *p = size == N2D_TOO_LARGE ? MAP_FAILED
					: mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return n2d_error("no memory for %zu bytes", bytes);
#ifdef MADV_HUGEPAGE
	madvise(p, size, MADV_HUGEPAGE); /* advice: a refusal changes nothing but speed */
#endif
	a->base = p;
	a->size = size;
	return 0;
}

int n2d_arena_zeros(struct n2d_arena *a, size_t bytes)
{
	memset(a, 0, sizeof *a);
	size_t size = n2d_round_up(bytes ? bytes : 1, 4096);
	void *p = size == N2D_TOO_LARGE ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return n2d_error("no room for %zu bytes among the addresses of this process", bytes);
	a->base = p;
	a->size = size;
	return 0;
}

void n2d_arena_touch(struct n2d_arena *a)
{
	for (size_t i = 0; i < a->size; i += 4096)
		((volatile char *)a->base)[i] = ((volatile char *)a->base)[i]; /* what is there stays */
}

void n2d_arena_free(struct n2d_arena *a)
{
	if (a->base)
		munmap(a->base, a->size);
	memset(a, 0, sizeof *a);
}

void *n2d_arena_get(struct n2d_arena *a, size_t bytes)
{
	size_t size = n2d_round_up(bytes, N2D_ALIGN);
	if (size == N2D_TOO_LARGE || size > a->size - a->used) {
		n2d_error("arena of %zu bytes has no room for %zu more", a->size, bytes);
		return NULL;
	}
	void *p = a->base + a->used;
	a->used += size;
	return p;
}

float *n2d_arena_floats(struct n2d_arena *a, size_t n) { return n2d_arena_get(a, n2d_mul(n, sizeof(float))); }
