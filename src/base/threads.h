/* Threads. Results never depend on their number: work is divided into tasks that each write
 * their own output, and the division does not look at the number of threads.
 *
 * Inside, denormals are flushed to zero in every thread, the caller's modes come back after. */
#ifndef N2D_THREADS_H
#define N2D_THREADS_H

#include <stddef.h>

#include "base/ctx.h"

/* What limits the threads; 0 where there is no such limit. */
struct n2d_thread_limits {
	int affinity; /* processors in this process's mask */
	int cgroup;   /* whole processors in the container's quota, at least 1 */
	int omp;      /* OMP_NUM_THREADS: may lower the number, not raise it */
};
struct n2d_thread_limits n2d_thread_limits(void);

/* The least of the limits; 1 in a build without OpenMP. At least 1. */
int n2d_threads_default(void);

/* Calls fn(arg, task, thread) for each task in [0, tasks), thread in [0, ctx->threads). Each thread begins with its share, thread i with
 * the i-th part of the tasks in order, and helps others when it is done: so rows that one operator wrote are read by the next in the
 * thread, and from the caches, that wrote them. Nested calls run in the calling thread. */
void n2d_parallel(const struct n2d_ctx *ctx, size_t tasks, void (*fn)(void *arg, size_t task, int thread), void *arg);

/* Work on memory that can wait, in pieces of a millisecond at most: ctx->beside. One thread does it while others multiply, since one reaches nearly as much
 * of the memory's bandwidth as all. */
struct n2d_beside {
	int (*waits)(void *arg); /* is there a piece */
	void (*piece)(void *arg); /* does it, in one thread at a time, in the order of the pieces */
	void *arg;
};
int n2d_beside_waits(const struct n2d_ctx *ctx);
/* n2d_parallel whose last thread first does what waits, while half of the tasks or more are left; the others take them meanwhile. For tasks that take some
 * milliseconds together, and are so small that the threads come out even again. */
void n2d_parallel_beside(const struct n2d_ctx *ctx, size_t tasks, void (*fn)(void *arg, size_t task, int thread), void *arg);

/* The number of the calling thread inside n2d_parallel and n2d_team, 0 outside. */
int n2d_thread(void);

/* Calls fn(arg, thread, threads) once in each of `threads` threads, all at the same time; they meet at
 * n2d_barrier(), which every one of them must call equally often. For loops whose steps depend
 * on each other (recurrent layers), where starting threads each step would cost more than the step. */
void n2d_team(const struct n2d_ctx *ctx, void (*fn)(void *arg, int thread, int threads), void *arg);
void n2d_barrier(void);

#endif
