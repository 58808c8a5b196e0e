#define _GNU_SOURCE
#include "config.h"

#include "base/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/size.h"

/* cgroup v2: "max 100000" or "150000 100000" (quota and period in microseconds). */
static int cgroup_cpus(void)
{
	FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
	double quota, period;
	int got = f ? fscanf(f, "%lf %lf", &quota, &period) : 0;
	if (f)
		fclose(f);
	if (got != 2 || period <= 0 || quota <= 0 || quota / period > 1 << 20)
		return 0;
	return quota < period ? 1 : (int)(quota / period);
}

struct n2d_thread_limits n2d_thread_limits(void)
{
	struct n2d_thread_limits l = {.cgroup = cgroup_cpus()};
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		l.affinity = CPU_COUNT(&set);
	const char *env = getenv("OMP_NUM_THREADS");
	l.omp = env && atoi(env) > 0 ? atoi(env) : 0;
	return l;
}

int n2d_threads_default(void)
{
#ifndef _OPENMP
	return 1;
#else
	struct n2d_thread_limits l = n2d_thread_limits();
	int n = l.affinity > 0 ? l.affinity : 1;
	if (l.cgroup && l.cgroup < n)
		n = l.cgroup;
	if (l.omp && l.omp < n)
		n = l.omp;
	return n;
#endif
}

int n2d_thread(void)
{
#ifdef _OPENMP
	return omp_get_thread_num();
#else
	return 0;
#endif
}

#ifdef _OPENMP
enum { SHARES = 64 };

/* Tasks [next, end) that one thread begins with, on cache lines of their own. */
struct share {
	_Alignas(128) atomic_size_t next;
	size_t end;
};

/* The next task of a share, or its end. It is looked at before it is taken: many threads that look for work do not take the line from each other. */
static size_t next_task(struct share *s)
{
	if (atomic_load_explicit(&s->next, memory_order_relaxed) >= s->end)
		return s->end;
	size_t task = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
	return task < s->end ? task : s->end;
}

/* First its own share (of more threads than shares, several begin with one), then what is left of the others'. */
static void take(struct share *share, int shares, void (*fn)(void *arg, size_t task, int thread), void *arg)
{
	int thread = omp_get_thread_num();
	for (int i = 0; i < shares; i++) {
		struct share *s = share + (thread + i) % shares;
		for (size_t task; (task = next_task(s)) < s->end;)
			fn(arg, task, thread);
	}
}

/* How many tasks nobody has taken. */
static size_t left(struct share *share, int shares)
{
	size_t n = 0;
	for (int i = 0; i < shares; i++) {
		size_t next = atomic_load_explicit(&share[i].next, memory_order_relaxed);
		n += next < share[i].end ? share[i].end - next : 0;
	}
	return n;
}

static void parallel(const struct n2d_beside *beside, int threads, size_t tasks, void (*fn)(void *arg, size_t task, int thread), void *arg)
{
	struct share share[SHARES];
	int shares = threads < SHARES ? threads : SHARES;
	for (int i = 0; i < shares; i++) {
		atomic_init(&share[i].next, n2d_cut(tasks, (size_t)shares, (size_t)i));
		share[i].end = n2d_cut(tasks, (size_t)shares, (size_t)i + 1);
	}
#pragma omp parallel num_threads(threads)
	{
		uint64_t fp = n2d_fpenv_flush();
		if (beside && omp_get_thread_num() == omp_get_num_threads() - 1)
			while (left(share, shares) >= tasks / 2 && beside->waits(beside->arg))
				beside->piece(beside->arg);
		take(share, shares, fn, arg);
		n2d_fpenv_restore(fp);
	}
}
#endif

static void run(const struct n2d_ctx *ctx, const struct n2d_beside *beside, size_t tasks, void (*fn)(void *arg, size_t task, int thread), void *arg)
{
#ifdef _OPENMP
	if (ctx->threads > 1 && tasks > 1 && !omp_in_parallel()) {
		parallel(beside, ctx->threads, tasks, fn, arg);
		return;
	}
	int thread = omp_in_parallel() ? omp_get_thread_num() : 0;
#else
	(void)ctx;
	(void)beside;
	int thread = 0;
#endif
	uint64_t fp = n2d_fpenv_flush();
	for (size_t i = 0; i < tasks; i++)
		fn(arg, i, thread);
	n2d_fpenv_restore(fp);
}

void n2d_parallel(const struct n2d_ctx *ctx, size_t tasks, void (*fn)(void *arg, size_t task, int thread), void *arg)
{
	run(ctx, NULL, tasks, fn, arg);
}

void n2d_parallel_beside(const struct n2d_ctx *ctx, size_t tasks, void (*fn)(void *arg, size_t task, int thread), void *arg)
{
	run(ctx, ctx->beside, tasks, fn, arg);
}

int n2d_beside_waits(const struct n2d_ctx *ctx) { return ctx->threads > 1 && ctx->beside && ctx->beside->waits(ctx->beside->arg); }

void n2d_team(const struct n2d_ctx *ctx, void (*fn)(void *arg, int thread, int threads), void *arg)
{
#ifdef _OPENMP
	if (ctx->threads > 1 && !omp_in_parallel()) {
#pragma omp parallel num_threads(ctx->threads)
		{
			uint64_t fp = n2d_fpenv_flush();
			fn(arg, omp_get_thread_num(), omp_get_num_threads());
			n2d_fpenv_restore(fp);
		}
		return;
	}
#else
	(void)ctx;
#endif
	uint64_t fp = n2d_fpenv_flush();
	fn(arg, 0, 1);
	n2d_fpenv_restore(fp);
}

void n2d_barrier(void)
{
#ifdef _OPENMP
	if (omp_in_parallel()) {
#pragma omp barrier
	}
#endif
}
