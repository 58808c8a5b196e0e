#define _GNU_SOURCE
#include "config.h"

#include "bench/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/error.h"
#include "base/file.h"
#include "bench/gbench.h"
#include "bench/noise.h"
#include "bench/pin.h"

static void cpu_model(char *text, size_t size)
{
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "r");
	snprintf(text, size, "unknown");
	while (f && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');
		if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "CPU part", 8) != 0))
			continue;
		colon[strcspn(colon, "\n")] = 0;
		snprintf(text, size, "%s", colon + 2);
		break;
	}
	if (f)
		fclose(f);
}

void machine_line(char *text, size_t size)
{
	char cpu[128];
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_model(cpu, sizeof cpu);
	snprintf(text, size, "%s, %ld processor%s, %s %s", cpu, n, n2d_plural((size_t)n), N2D_BUILD_CC, N2D_BUILD_CFLAGS);
}

/* Copies of the pointers: who reads arguments moves them, and takes some out. */
static struct {
	char **v;
	int n;
} called;

void machine_called(int argc, char **argv)
{
	called.v = malloc((size_t)argc * sizeof *argv);
	called.n = called.v ? argc : 0;
	for (int i = 0; i < called.n; i++)
		called.v[i] = argv[i];
}

#ifdef HAVE_JANSSON
/* The first line of a file, without its end; "" when it cannot be read. */
static void first_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	text[0] = 0;
	if (f && !fgets(text, (int)size, f))
		text[0] = 0;
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = 0;
}

/* The revision of the sources, when they are a git checkout and git is there. */
static void revision(char *text, size_t size)
{
	text[0] = 0;
	FILE *p = popen("git -C '" N2D_SRCDIR "' describe --always --dirty 2>/dev/null", "r");
	if (p && !fgets(text, (int)size, p))
		text[0] = 0;
	if (p)
		pclose(p);
	text[strcspn(text, "\n")] = 0;
}

static json_t *isas(void)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:b, s:b}", "name", isa[i].name, "compiled", isa[i].k != NULL,
						      "supported", isa[i].supported));
	return list;
}

static json_t *level_list(const struct roof_levels *l)
{
	json_t *list = json_array();
	for (size_t i = 0; l && i < l->n; i++) {
		json_t *o = json_pack("{s:s, s:f}", "name", l->level[i].name, "read_gbytes_per_s", l->level[i].bytes_per_s / 1e9);
		if (i + 1 < l->n)
			json_object_set_new(o, "capacity_bytes", json_integer((json_int_t)l->level[i].capacity));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *pinned(void)
{
	const int *cpu;
	json_t *list = json_array();
	for (int i = 0, n = pin_cpus(&cpu); i < n; i++)
		json_array_append_new(list, json_integer(cpu[i]));
	return list;
}

/* Without the program's own name. */
static json_t *arguments(void)
{
	json_t *list = json_array();
	for (int i = 1; i < called.n; i++)
		json_array_append_new(list, json_string(called.v[i]));
	return list;
}

static void set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, text[0] ? json_string(text) : json_null());
}

static void add_system(json_t *o)
{
	char text[256];
	struct utsname u;
	double load[3] = {0};
	time_t now = time(NULL);
	cpu_model(text, sizeof text);
	set_text(o, "cpu", text);
	if (!uname(&u)) {
		set_text(o, "architecture", u.machine);
		snprintf(text, sizeof text, "%.60s %.60s", u.sysname, u.release);
		set_text(o, "system", text);
	}
	first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text);
	set_text(o, "governor", text);
	first_line("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
	set_text(o, "transparent_hugepage", text);
	if (getloadavg(load, 3) == 3)
		json_object_set_new(o, "load", json_pack("[f,f,f]", load[0], load[1], load[2]));
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	set_text(o, "date", text);
	revision(text, sizeof text);
	set_text(o, "revision", text);
	json_object_set_new(o, "processors", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(o, "memory_bytes", json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
}

int machine_write(const char *path, const char *command, const struct roof_levels *levels, int threads)
{
	struct n2d_out out;
	struct n2d_cache cache = n2d_cache_read();
	json_t *o = json_object();
	set_text(o, "schema", "n2d-machine/1");
	set_text(o, "command", command);
	json_object_set_new(o, "arguments", arguments());
	set_text(o, "version", PACKAGE_VERSION);
	add_system(o);
	set_text(o, "compiler", N2D_BUILD_CC " " __VERSION__);
	set_text(o, "cflags", N2D_BUILD_CFLAGS);
	set_text(o, "google_benchmark", gbench_version());
	json_object_set_new(o, "threads", json_integer(threads));
	json_object_set_new(o, "pinned_to", pinned());
	json_object_set_new(o, "instruction_sets", isas());
	json_object_set_new(o, "caches_reported_bytes", json_pack("{s:I, s:I, s:I}", "l1d", (json_int_t)cache.l1d, "l2",
								  (json_int_t)cache.l2, "l3", (json_int_t)cache.l3));
	json_object_set_new(o, "levels_measured", level_list(levels));
	set_text(o, "levels_measured_with", levels && levels->isa ? levels->isa : "");
	int r = n2d_out_open(&out, path);
	if (!r) {
		json_dumpf(o, out.f, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
		n2d_out_printf(&out, "\n");
		r = n2d_out_commit(&out);
	}
	json_decref(o);
	return r;
}
#else
int machine_write(const char *path, const char *command, const struct roof_levels *levels, int threads)
{
	(void)path, (void)command, (void)levels, (void)threads;
	return 0; /* without jansson there is no machine file; configure's summary says so */
}
#endif

int machine_beside(const char *csv, const char *command, const struct roof_levels *levels, int threads)
{
	char path[1024];
	size_t len = strlen(csv);
	struct stat s;
	/* Nothing lies beside a device or a pipe, nor beside /dev/stdout when that is a file. */
	if (strncmp(csv, "/dev/", 5) == 0 || (stat(csv, &s) == 0 && !S_ISREG(s.st_mode)))
		return 0;
	if (len >= sizeof path - sizeof ".json")
		return n2d_error("no machine file: the name '%.40s...' is too long", csv);
	if (len > 4 && strcmp(csv + len - 4, ".csv") == 0)
		len -= 4;
	snprintf(path, sizeof path, "%.*s.json", (int)len, csv);
	return machine_write(path, command, levels, threads);
}

void machine_start(const struct n2d_ctx *ctx, int contexts)
{
	char line[512];
	const int *cpu;
	int threads = 1;
	for (int i = 0; i < contexts; i++)
		threads = ctx[i].threads > threads ? ctx[i].threads : threads;
	int cpus = pin_init(threads);
	pin_cpus(&cpu);
	noise_watch(cpu, cpus);
	machine_line(line, sizeof line);
	gbench_context("machine", line);
	gbench_context("time", "wall clock; threaded work too");
	fprintf(stderr, "n2d-bench: %s\n", line);
	if (threads > cpus)
		fprintf(stderr, "n2d-bench: %d threads on %d processor%s: the figures of so many threads mean little\n", threads, cpus,
			n2d_plural((size_t)cpus));
}
