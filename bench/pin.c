#define _GNU_SOURCE
#include "config.h"

#include "bench/pin.h"

#include <sched.h>
#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

#include "base/threads.h"

enum { MAX_CPUS = 1024 };
static int cpu[MAX_CPUS], cpus;

static int allowed(const cpu_set_t *set, int c) { return c >= 0 && c < CPU_SETSIZE && CPU_ISSET(c, set); }

static void add(const cpu_set_t *set, int c, int threads)
{
	for (int i = 0; i < cpus; i++)
		if (cpu[i] == c)
			return;
	if (cpus < threads && cpus < MAX_CPUS && allowed(set, c))
		cpu[cpus++] = c;
}

#ifdef HAVE_HWLOC
/* Round r takes the r-th hardware thread of each core. */
static void add_by_core(const cpu_set_t *set, int threads)
{
	hwloc_topology_t t;
	if (hwloc_topology_init(&t))
		return;
	int cores = hwloc_topology_load(t) ? 0 : hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
	for (unsigned round = 0; round < 8; round++)
		for (int i = 0; i < cores; i++) {
			hwloc_obj_t core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, (unsigned)i);
			hwloc_obj_t pu = core ? hwloc_get_obj_inside_cpuset_by_type(t, core->cpuset, HWLOC_OBJ_PU, round) : NULL;
			if (pu)
				add(set, (int)pu->os_index, threads);
		}
	hwloc_topology_destroy(t);
}
#endif

int pin_init(int threads)
{
	cpu_set_t set;
	cpus = 0;
	if (sched_getaffinity(0, sizeof set, &set))
		return 0;
#ifdef HAVE_HWLOC
	add_by_core(&set, threads);
#endif
	for (int c = 0; c < CPU_SETSIZE; c++)
		add(&set, c, threads);
	return cpus;
}

int pin_cpus(const int **list)
{
	*list = cpu;
	return cpus;
}

static void pin_one(void *arg, int thread, int threads)
{
	(void)arg;
	(void)threads;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu[thread % cpus], &set);
	sched_setaffinity(0, sizeof set, &set); /* refused: the timing is noisier, and still true */
}

/* Every time, since the runtime may have made new threads, which start where the first one is pinned: a microsecond. */
void pin_threads(const struct n2d_ctx *ctx)
{
	if (cpus)
		n2d_team(ctx, pin_one, NULL);
}
