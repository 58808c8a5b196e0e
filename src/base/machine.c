#define _GNU_SOURCE
#include "base/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The value of the first "KEY : value" line of /proc/cpuinfo. */
static int cpuinfo(const char *key, char *value, size_t size)
{
	char line[256];
	size_t n = strlen(key);
	FILE *f = fopen("/proc/cpuinfo", "r");
	int found = 0;
	while (f && !found && fgets(line, sizeof line, f)) {
		const char *colon = strchr(line, ':');
		if (!colon || strncmp(line, key, n) != 0 || (line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
			continue;
		colon += 1 + strspn(colon + 1, " ");
		snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
		found = *value != 0;
	}
	if (f)
		fclose(f);
	return found;
}

static void cpu_name(char *name, size_t size)
{
	char who[32], part[32];
	if (cpuinfo("model name", name, size) || cpuinfo("Model", name, size) || cpuinfo("Hardware", name, size))
		return;
	if (cpuinfo("CPU implementer", who, sizeof who) && cpuinfo("CPU part", part, sizeof part))
		snprintf(name, size, "Arm implementer %s, part %s", who, part);
	else
		snprintf(name, size, "unknown");
}

/* sysfs, cache `index` of processor 0: 1 when it is a data or unified cache of this level, with its size. */
static int sysfs_cache(int index, int *level, size_t *bytes)
{
	static const char *const names[] = {"level", "type", "size"};
	char path[96], text[3][32];
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, names[i]);
		FILE *f = fopen(path, "r");
		int got = f ? fscanf(f, "%31s", text[i]) : 0;
		if (f)
			fclose(f);
		if (got != 1)
			return 0;
	}
	char unit = 'B';
	if (strcmp(text[1], "Instruction") == 0 || sscanf(text[2], "%zu%c", bytes, &unit) < 1)
		return 0;
	*bytes <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
	return sscanf(text[0], "%d", level) == 1;
}

#ifdef _SC_LEVEL1_DCACHE_SIZE
static void sysconf_cache(size_t *bytes, int name)
{
	long v = sysconf(name);
	if (!*bytes && v > 0)
		*bytes = (size_t)v;
}
#endif

struct n2d_cache n2d_cache_reported(void)
{
	struct n2d_cache c = {0, 0, 0};
	for (int index = 0; index < 8; index++) {
		int level = 0;
		size_t bytes = 0;
		if (sysfs_cache(index, &level, &bytes) && level >= 1 && level <= 3)
			*(level == 1 ? &c.l1d : level == 2 ? &c.l2 : &c.l3) = bytes;
	}
#ifdef _SC_LEVEL1_DCACHE_SIZE /* counts every L3 of the host as one, so sysfs goes first */
	sysconf_cache(&c.l1d, _SC_LEVEL1_DCACHE_SIZE);
	sysconf_cache(&c.l2, _SC_LEVEL2_CACHE_SIZE);
	sysconf_cache(&c.l3, _SC_LEVEL3_CACHE_SIZE);
#endif
	return c;
}

/* The first number in `path` that follows `key` ("" for the first of the file). */
static int number_after(const char *path, const char *key, size_t *v)
{
	char line[128];
	FILE *f = fopen(path, "r");
	int found = 0;
	while (f && !found && fgets(line, sizeof line, f))
		found = strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%zu", v) == 1;
	if (f)
		fclose(f);
	return found;
}

size_t n2d_memory_available(void)
{
	size_t left = SIZE_MAX, kib, limit, used, cached;
	if (number_after("/proc/meminfo", "MemAvailable:", &kib))
		left = kib << 10;
	if (number_after("/sys/fs/cgroup/memory.max", "", &limit) && number_after("/sys/fs/cgroup/memory.current", "", &used) &&
	    number_after("/sys/fs/cgroup/memory.stat", "inactive_file ", &cached)) {
		used = used > cached ? used - cached : 0; /* the kernel gives file pages back first */
		limit = limit > used ? limit - used : 0;
		left = limit < left ? limit : left;
	}
	return left;
}

void n2d_machine_read(struct n2d_machine *m)
{
	memset(m, 0, sizeof *m);
	cpu_name(m->cpu, sizeof m->cpu);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	m->processors = n > 0 ? (int)n : 1;
	m->cache = n2d_cache_reported();
}

void n2d_cache_doubt(const struct n2d_cache *c, char *text, size_t size)
{
	text[0] = 0;
	if (!c->l1d && !c->l2 && !c->l3)
		snprintf(text, size, "none is reported; usual sizes are assumed");
	else if (!c->l1d || !c->l2)
		snprintf(text, size, "not every level is reported; usual sizes are assumed");
	else if (c->l1d < 8 << 10 || c->l1d > 512 << 10)
		snprintf(text, size, "an L1d of %zu KiB is implausible", c->l1d >> 10);
	else if (c->l2 <= c->l1d || c->l2 > (size_t)64 << 20)
		snprintf(text, size, "an L2 of %zu KiB beside an L1d of %zu KiB is implausible", c->l2 >> 10, c->l1d >> 10);
	else if (c->l3 && c->l3 < c->l2)
		snprintf(text, size, "an L3 smaller than the L2 is implausible");
	else if (c->l3 > (size_t)128 << 20) /* the largest that one processor reaches, stacked cache included */
		snprintf(text, size, "an L3 of %zu MiB is more than one processor reaches: the host's total?", c->l3 >> 20);
}

size_t n2d_memory_peak(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (size_t)u.ru_maxrss * 1024;
}
