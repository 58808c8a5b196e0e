/* Threads stay where they are put: thread t on the t-th processor this process may use, one a core before the second
 * hardware thread of any. */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include "base/ctx.h"

/* Chooses the processors for up to `threads` threads; returns how many there are. Call before pin_threads and before the
 * first timing. */
int pin_init(int threads);
/* The processors chosen: *cpus[return value]. */
int pin_cpus(const int **cpus);
/* Pins the calling thread and the other threads that ctx's operators use. */
void pin_threads(const struct n2d_ctx *ctx);

#endif
