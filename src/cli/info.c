/* n2d info: what this machine and this build are. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/ctx.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/threads.h"
#include "cli/cli.h"

#ifdef _OPENMP
#define OPENMP_DATE _OPENMP /* of the standard, as yyyymm */
#else
#define OPENMP_DATE 0
#endif

#ifndef N2D_VERSION_SLEEF
#define N2D_VERSION_SLEEF NULL
#endif
#ifndef N2D_VERSION_JANSSON
#define N2D_VERSION_JANSSON NULL
#endif
#ifndef N2D_VERSION_ZLIB
#define N2D_VERSION_ZLIB NULL
#endif
#ifndef N2D_VERSION_UTF8PROC
#define N2D_VERSION_UTF8PROC NULL
#endif
#ifndef N2D_VERSION_HWLOC
#define N2D_VERSION_HWLOC NULL
#endif
#ifndef N2D_VERSION_BENCHMARK
#define N2D_VERSION_BENCHMARK NULL
#endif

static const struct {
	const char *name, *version, *what; /* version: NULL when the build is without */
} libraries[] = {
	{"sleef", N2D_VERSION_SLEEF, "vector mathematics beside our own"},
	{"jansson", N2D_VERSION_JANSSON, "model files and JSON output"},
	{"zlib", N2D_VERSION_ZLIB, "checksums of model files"},
	{"utf8proc", N2D_VERSION_UTF8PROC, "BLEU in lower case and tokenizer intl"},
	{"hwloc", N2D_VERSION_HWLOC, "topology"},
	{"benchmark", N2D_VERSION_BENCHMARK, "n2d-bench (Google Benchmark)"},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

struct info {
	struct n2d_ctx ctx;
	struct n2d_machine machine;
	struct n2d_thread_limits limits;
	int asked;   /* --threads, or 0 */
	int cores;   /* physical cores, 0 where unknown */
	char doubt[128];
};

static int physical_cores(void)
{
	int n = 0;
#ifdef HAVE_HWLOC
	hwloc_topology_t t;
	if (hwloc_topology_init(&t))
		return 0;
	if (!hwloc_topology_load(t))
		n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
	hwloc_topology_destroy(t);
#endif
	return n > 0 ? n : 0;
}

static void print_caches(const struct info *f)
{
	const struct n2d_cache *c = &f->ctx.cache;
	printf("caches      L1d %zu KiB, L2 %zu KiB, L3 %zu KiB, as reported", c->l1d >> 10, c->l2 >> 10, c->l3 >> 10);
	printf(*f->doubt ? " (doubtful: %s)\n" : "\n", f->doubt);
}

static void print_threads(const struct info *f)
{
	const struct n2d_thread_limits *l = &f->limits;
	printf("threads     %d", f->ctx.threads);
	if (!OPENMP_DATE) {
		printf(" (built without OpenMP)\n");
		return;
	}
	if (f->asked)
		printf(" (--threads; usual is %d)\n", n2d_threads_default());
	else
		printf(" (the least of:");
	if (!f->asked) {
		printf(" %d processor%s in the affinity mask", l->affinity, n2d_plural((size_t)l->affinity));
		if (l->cgroup)
			printf(", cgroup quota of %d", l->cgroup);
		if (l->omp)
			printf(", OMP_NUM_THREADS=%d", l->omp);
		printf(")\n");
	}
}

static void print_isas(const struct info *f)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	printf("\ninstruction sets\n");
	for (size_t i = 0; i < n; i++)
		printf("  %-9s %-12s  %-13s  %-6s  needs %s\n", isa[i].name, isa[i].k ? "compiled" : "not compiled",
		       isa[i].supported ? "supported" : "not supported", isa[i].k == f->ctx.k ? "in use" : "", isa[i].what);
}

static void print_text(const struct info *f)
{
	printf("n2d %s\n\nprocessor   %s, %d processor%s online", PACKAGE_VERSION, f->machine.cpu, f->machine.processors,
	       n2d_plural((size_t)f->machine.processors));
	if (f->cores)
		printf(", %d core%s", f->cores, n2d_plural((size_t)f->cores));
	printf("\n");
	print_caches(f);
	print_threads(f);
	print_isas(f);
	printf("\nlibraries\n");
	if (OPENMP_DATE)
		printf("  %-9s %-12d  threads\n", "OpenMP", OPENMP_DATE);
	else
		printf("  %-9s %-12s  threads\n", "OpenMP", "without");
	for (size_t i = 0; i < LIBRARIES; i++)
		printf("  %-9s %-12s  %s\n", libraries[i].name, libraries[i].version ? libraries[i].version : "without",
		       libraries[i].what);
	printf("\nbuild\n  compiler  %s (%s)\n  flags     %s\n", N2D_BUILD_CC, __VERSION__, N2D_BUILD_CFLAGS);
}

#ifdef HAVE_JANSSON
static json_t *json_or_null(int n) { return n ? json_integer(n) : json_null(); }

static json_t *json_isas(const struct info *f)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:b, s:b}", "name", isa[i].name, "needs", isa[i].what,
						      "compiled", isa[i].k != NULL, "supported", isa[i].supported, "in_use",
						      isa[i].k == f->ctx.k));
	return list;
}

static json_t *json_libraries(void)
{
	json_t *o = json_pack("{s:o}", "openmp", json_or_null(OPENMP_DATE));
	for (size_t i = 0; i < LIBRARIES; i++)
		json_object_set_new(o, libraries[i].name,
				    libraries[i].version ? json_string(libraries[i].version) : json_null());
	return o;
}

static int print_json(const struct info *f)
{
	const struct n2d_cache *c = &f->ctx.cache;
	json_t *o = json_pack(
		"{s:s, s:{s:s, s:i, s:o}, s:{s:I, s:I, s:I, s:o}, s:{s:i, s:i, s:o, s:o}, s:o, s:o, s:{s:s, s:s, s:s}}",
		"version", PACKAGE_VERSION,
		"processor", "name", f->machine.cpu, "online", f->machine.processors, "cores", json_or_null(f->cores),
		"caches", "l1d", (json_int_t)c->l1d, "l2", (json_int_t)c->l2, "l3", (json_int_t)c->l3,
		"doubt", *f->doubt ? json_string(f->doubt) : json_null(),
		"threads", "in_use", f->ctx.threads, "affinity", f->limits.affinity, "cgroup", json_or_null(f->limits.cgroup),
		"omp_num_threads", json_or_null(f->limits.omp),
		"instruction_sets", json_isas(f), "libraries", json_libraries(),
		"build", "compiler", N2D_BUILD_CC, "compiler_version", __VERSION__, "flags", N2D_BUILD_CFLAGS);
	int bad = !o || json_dumpf(o, stdout, JSON_INDENT(2)) || putchar('\n') < 0;
	json_decref(o);
	return bad ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
#else
static int print_json(const struct info *f)
{
	(void)f;
	return n2d_usage("info", "--json: built without jansson (Debian: libjansson-dev; then ./configure again)");
}
#endif

static void help(void)
{
	printf("usage: n2d info [--json] [--isa NAME] [--threads N]\n\n"
	       "Shows the processor, its caches, the instruction sets compiled, supported and in use,\n"
	       "the threads, the libraries and the build.\n\n"
	       "  --json       as one JSON object\n"
	       "  --isa NAME   as if this instruction set were chosen (N2D_ISA does the same)\n"
	       "  --threads N  as if this many threads were chosen\n");
}

int n2d_cmd_info(int argc, char **argv)
{
	static const struct option longs[] = {
		{"json", 0, 0, 'j'}, {"isa", 1, 0, 'i'}, {"threads", 1, 0, 't'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct info f = {.asked = 0};
	const char *isa = NULL;
	int json = 0;
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1;)
		switch (c) {
		case 'j': json = 1; break;
		case 'i': isa = optarg; break;
		case 't':
			f.asked = (int)n2d_number("info", "--threads", optarg, 1, 1024);
			if (f.asked < 0)
				return N2D_EXIT_USAGE;
			break;
		case 'h': help(); return N2D_EXIT_OK;
		default: return n2d_bad_option(argv, c);
		}
	if (optind < argc)
		return n2d_usage("info", "unexpected argument '%s'; see n2d info --help", argv[optind]);
	if (n2d_ctx_init(&f.ctx, isa, f.asked))
		return n2d_usage("info", "%s", n2d_error_text());
	n2d_machine_read(&f.machine);
	n2d_cache_doubt(&f.machine.cache, f.doubt, sizeof f.doubt);
	f.limits = n2d_thread_limits();
	f.cores = physical_cores();
	int code = N2D_EXIT_OK;
	if (json)
		code = print_json(&f);
	else
		print_text(&f);
	n2d_ctx_free(&f.ctx);
	return code;
}
