/* n2d-bench roof: peak multiply-add of every instruction set and thread count, bandwidth of every memory level. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/machine.h"
#include "bench/options.h"

static const char usage[] =
	"usage: n2d-bench roof [options] [ID...]\n\n"
	"Measures the limits: peak multiply-add of every instruction set, and the bandwidth of reading, copying, triad\n"
	"(z = x + a y) and updating in place over footprints from 8 KiB on. Memory levels are the plateaus of the reading\n"
	"curve, whatever sizes the system reports.\n\n"
	"  --isa LIST        instruction sets (default: all this processor has)\n"
	"  --threads LIST    default: 1 and all\n"
	"  --samples N       clean samples of each (default 10)\n"
	"  --sweep           every footprint for every instruction set; without it only the widest sweeps, the others are\n"
	"                    measured in the middle of each level\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, ...\n"
	"  --help\n\n"
	"All times are wall-clock times. GB/s counts the bytes the program reads and writes.\n";

static struct common_options opt;
static int whole_sweep;

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {COMMON_OPTIONS, {"sweep", 0, &whole_sweep, 1}, {0, 0, 0, 0}};
	int bad = 0;
	common_defaults(&opt);
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		if (c)
			bad = common_option(&opt, c, argv);
	return bad;
}

enum { ROOM = 4096 };
static struct roof_case cases[ROOM];
static size_t ncases;

static void add(const struct n2d_ctx *ctx, enum roof_kind kind, size_t bytes, const char *level)
{
	if (ncases == ROOM)
		return;
	struct roof_case *r = cases + ncases++;
	roof_case_init(r, ctx, kind, bytes);
	r->level = level;
}

/* The footprint for all threads together: the last level has one for all. */
static size_t probe(const struct roof_levels *l, size_t level, int threads)
{
	return level + 1 == l->n ? l->level[level].probe : l->level[level].probe * (size_t)threads;
}

static void collect(const struct n2d_ctx *ctx, int contexts, const struct roof_levels *l)
{
	for (int i = 0; i < contexts; i++)
		add(ctx + i, ROOF_FMA, 0, "");
	for (int i = 0; i < contexts; i++)
		for (size_t v = 0; v < l->n; v++)
			for (int k = ROOF_READ; k < ROOF_KINDS; k++)
				add(ctx + i, k, probe(l, v, ctx[i].threads), l->level[v].name);
	for (int i = 0; i < contexts; i++)
		for (double b = 8192; (whole_sweep || ctx[i].k == ctx->k) && b <= (double)roof_largest(); b *= 2)
			for (int k = ROOF_READ; k < ROOF_KINDS; k++)
				add(ctx + i, k, (size_t)b, roof_level_name(l, b / ctx[i].threads));
}

/* Cases that come twice (a probe that is a power of two) are one, of the level that it probes. */
static size_t unique(struct bench_case **c)
{
	size_t n = 0;
	for (size_t i = 0; i < ncases; i++) {
		size_t j = 0;
		while (j < n && strcmp(c[j]->id, cases[i].c.id) != 0)
			j++;
		if (j == n)
			c[n++] = &cases[i].c;
	}
	return n;
}

static int sample_all(struct bench_case **c, size_t n)
{
	enum { GROUP = 48 };
	struct sample_plan p = SAMPLE_PLAN;
	p.want = p.extra = opt.samples;
	p.stop = &n2d_stop;
	int bad = 0;
	for (size_t i = 0; i < n && !n2d_stop; i += GROUP) {
		drive_progress((double)i / (double)n, -1, c[i]->id);
		bad |= sample_group(c + i, n - i < GROUP ? n - i : GROUP, &p);
	}
	drive_progress_end();
	return bad;
}

static void row(const struct bench_case *c, size_t sample, void *user)
{
	const struct roof_case *r = c->arg;
	const struct sample *s = c->sample + sample;
	csv_row(user, "\"%s\",%s,%s,%d,%zu,%s,%zu,%zu,%.9g,%d,%.17g,%.17g", c->id, roof_names[r->kind], c->ctx->k->isa,
		c->ctx->threads, r->bytes, r->level, sample, s->calls,
		s->seconds, s->clean, r->flops, r->traffic);
}

static void describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user)
{
	const struct roof_case *r = c->arg;
	(void)user;
	gbench_counter(s, r->kind == ROOF_FMA ? "GFLOP/s" : "GB/s",
		       (r->kind == ROOF_FMA ? r->flops : r->traffic) / c->sample[sample].seconds / 1e9);
}

/* A cell of the table, nan where it was not measured; its row's mark is put into *mark. */
static double rate(struct bench_case **c, size_t n, const struct n2d_ctx *ctx, int kind, size_t bytes, const char **mark)
{
	for (size_t i = 0; i < n; i++) {
		const struct roof_case *r = c[i]->arg;
		if (c[i]->ctx != ctx || (int)r->kind != kind || r->bytes != bytes || !c[i]->samples)
			continue;
		*mark = **mark ? *mark : sample_mark(c[i], 0);
		return roof_rate(r) / 1e9;
	}
	return NAN;
}

static void print_peaks(struct bench_case **c, size_t n, const struct n2d_ctx *ctx, int contexts)
{
	const char *head = "\npeak multiply-add, GFLOP/s\n";
	for (int i = 0; i < contexts; i++) {
		const char *mark = "";
		double peak = rate(c, n, ctx + i, ROOF_FMA, 0, &mark);
		if (isnan(peak))
			continue;
		printf("%s  %-8s %2d thread%s %9.1f%s\n", head, ctx[i].k->isa, ctx[i].threads, ctx[i].threads > 1 ? "s" : " ", peak, mark);
		head = "";
	}
}

/* A row of the table; returns whether there was anything to tell. */
static int print_level(struct bench_case **c, size_t n, const struct n2d_ctx *ctx, const struct roof_levels *l, size_t v, const char *head)
{
	char upto[32] = "", cell[ROOF_KINDS][16];
	const char *mark = "";
	int any = 0;
	for (int k = ROOF_READ; k < ROOF_KINDS; k++) {
		double x = rate(c, n, ctx, k, probe(l, v, ctx->threads), &mark);
		any |= !isnan(x);
		snprintf(cell[k], sizeof cell[k], isnan(x) ? "-" : "%.1f", x);
	}
	if (v + 1 < l->n)
		snprintf(upto, sizeof upto, "%.0f KiB", (double)l->level[v].capacity / 1024);
	if (any)
		printf("%s  %-8s %10s %-10s %-8d %9s %9s %9s %9s%s\n", head, l->level[v].name, upto, ctx->k->isa, ctx->threads, cell[ROOF_READ],
		       cell[ROOF_COPY], cell[ROOF_TRIAD], cell[ROOF_UPDATE], mark);
	return any;
}

static void print(struct bench_case **c, size_t n, const struct n2d_ctx *ctx, int contexts, const struct roof_levels *l)
{
	char head[400];
	snprintf(head, sizeof head, "\nbandwidth, GB/s (levels as %s reads, counted from the fastest: footprint a thread up to their capacity; caches that it reads\n"
		 "nearly as fast are one level, so that with another instruction set L1 can be another one)\n"
		 "  %-8s %10s %-10s %-8s %9s %9s %9s %9s\n", l->isa, "level", "up to", "isa", "threads", "read", "copy", "triad", "update");
	print_peaks(c, n, ctx, contexts);
	for (size_t v = 0; v < l->n; v++)
		for (int i = 0; i < contexts; i++)
			if (print_level(c, n, ctx + i, l, v, head))
				*head = 0;
}

int bench_roof(int argc, char **argv)
{
	static struct bench_case *c[ROOM];
	const struct n2d_ctx *ctx;
	struct roof_levels levels;
	struct csv_out out;
	int code, contexts = bench_open(&(struct bench_command){"roof", usage, parse, &opt}, &argc, argv, &ctx, &code);
	if (!contexts)
		return code;
	drive_catch();
	machine_start(ctx, contexts);
	if (roof_find_levels(&levels, ctx))
		return bench_failed("roof");
	collect(ctx, contexts, &levels);
	long selected = drive_select(c, unique(c), argv + optind, argc - optind);
	if (selected < 0)
		return bench_usage_error("roof");
	if (drive_listed())
		return N2D_EXIT_OK;
	if (opt.csv && csv_create(&out, opt.csv, "roof/1",
				  "id,kernel,isa,threads,footprint,level,sample,calls,seconds,clean,flops,bytes"))
		return bench_failed("roof");
	int bad = sample_all(c, (size_t)selected);
	struct drive_report report = {.describe = describe, .row = opt.csv ? row : NULL, .user = &out};
	drive_report(c, (size_t)selected, &report);
	print(c, (size_t)selected, ctx, contexts, &levels);
	if (opt.csv && (csv_finish(&out) ||
			machine_beside(opt.csv, "roof", &levels, (int)opt.threads.v[opt.threads.n - 1])))
		return bench_failed("roof");
	return bad || n2d_stop ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
