/* A timing is of something that was right a moment ago in this process. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include <stddef.h>

#include "simd/kernels.h"

/* Runs the problem of kernel `name` at first size n against its oracle. -1 and a message. */
int check_kernel(const struct n2d_kernels *k, const char *name, size_t n);

/* ||got - want|| <= bound ||want|| in the Euclidean norm, or -1 and a message that starts with `what`. NaN is a failure, and
 * so is want == 0 everywhere. */
int check_close(const char *what, const float *got, const float *want, size_t n, double bound);

#endif
