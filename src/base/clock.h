/* Monotonic wall time in seconds. */
#ifndef N2D_CLOCK_H
#define N2D_CLOCK_H

#include <time.h>

static inline double n2d_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
