#include "bench/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

enum { MAX_CPUS = 1024 };
static unsigned char watched[MAX_CPUS];

void noise_watch(const int *cpus, int n)
{
	memset(watched, 0, sizeof watched);
	for (int i = 0; i < n; i++)
		if (cpus[i] >= 0 && cpus[i] < MAX_CPUS)
			watched[cpus[i]] = 1;
}

/* Lines "cpu3 user nice system idle iowait irq softirq steal ...": all but idle and iowait is busy, stolen time too. */
double noise_parse(const char *text, double ticks)
{
	double busy = 0;
	for (const char *s = text; s && *s; s = strchr(s, '\n'), s = s ? s + 1 : s) {
		unsigned cpu;
		double v[8] = {0};
		if (sscanf(s, "cpu%u %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6,
			   v + 7) >= 8 &&
		    cpu < MAX_CPUS && watched[cpu])
			busy += v[0] + v[1] + v[2] + v[5] + v[6] + v[7];
	}
	return busy / ticks;
}

void noise_now(struct noise *s)
{
	static char text[256 << 10];
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	s->own = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
		 1e-6 * ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec);
	s->wall = n2d_now();
	FILE *f = fopen("/proc/stat", "r");
	size_t got = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[got] = 0;
	s->busy = got ? noise_parse(text, (double)sysconf(_SC_CLK_TCK)) : -1;
}

double noise_others(const struct noise *a, const struct noise *b)
{
	if (a->busy < 0 || b->busy < 0)
		return 0;
	double others = (b->busy - a->busy) - (b->own - a->own);
	return others > 0 ? others : 0;
}

int noise_dirty(const struct noise *a, const struct noise *b)
{
	return noise_others(a, b) > 0.03 + 0.03 * (b->wall - a->wall);
}
