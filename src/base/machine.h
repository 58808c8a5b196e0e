/* What this machine is, as the operating system tells it: to be reported, not to be believed. */
#ifndef N2D_MACHINE_H
#define N2D_MACHINE_H

#include <stddef.h>

#include "base/ctx.h"

struct n2d_machine {
	char cpu[96];           /* the processor's name, or "unknown" */
	int processors;         /* online */
	struct n2d_cache cache; /* as reported; 0 where nothing is reported */
};

void n2d_machine_read(struct n2d_machine *m);

/* The caches of one processor as sysfs or else sysconf tells them; 0 where neither does. */
struct n2d_cache n2d_cache_reported(void);

/* Why the reported caches are hard to believe, in one line; "" when they are plausible. Virtual
 * machines report none, or the whole host's. */
void n2d_cache_doubt(const struct n2d_cache *reported, char *text, size_t size);

/* Bytes that can still be had without swapping or being killed, as the kernel estimates them, within the container's limit; SIZE_MAX
 * when it does not tell. */
size_t n2d_memory_available(void);

/* Bytes of memory that this process has held at once at most, as the kernel counts its pages. */
size_t n2d_memory_peak(void);

#endif
