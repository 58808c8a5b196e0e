/* n2d-bench compare: the regression gate. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/compare.h"
#include "bench/options.h"

/* Others' code, the machine's limits, memory beyond the caches and calls of 50 ms and more: the same kernels are there with less
 * noise or in less time. */
#define EXCLUDE "_sleef/|^fma_peak|^stream_|,cold|n=[0-9]{8}|rows=65536|M=4096|K=64,n=(2048|4096)"

static const char usage[] =
	"usage: n2d-bench compare [options] BASE HEAD\n\n"
	"Is HEAD slower than BASE? Exit code 1 when it is. Both are build directories, whose n2d-bench are run in turn, in new\n"
	"processes each time, or CSV files that n2d-bench wrote, whose samples are compared (two runs differ by more than their\n"
	"samples tell: files show what to look at, builds decide).\n\n"
	"Files: a benchmark is slower when every value of HEAD is above the faster three fifths of BASE's, and the median of all ratios\n"
	"is above the threshold. Builds: a value is the fastest clean sample of a run; where the median ratio is above the threshold, two\n"
	"of up to three more passes, of three times as many pairs of runs, must say so again, by the values as above or by most pairs (sign test,\n"
	"0.1 %).\n\n"
	"  --threshold P     per cent (default 5)\n"
	"  --format F        text (default), markdown or json\n"
	"  --base-name TEXT, --head-name TEXT   what they are called there (default: as given)\n"
	"  --filter REGEX    only benchmarks whose id matches (extended regular expression)\n"
	"  --exclude REGEX   not those (default of builds: " EXCLUDE ")\n"
	"  --help\n\n"
	"of builds alone\n"
	"  --rounds N        runs of each build (default 8)\n"
	"  --command LIST    kernels,layers,step,decode (default: kernels,layers)\n"
	"  --isa LIST        default: the widest\n"
	"  --threads N       default 1\n"
	"  --samples N       clean samples of each in a run (default 5)\n";

static struct {
	const char *format, *name[SIDES];
	size_t threshold;
	struct compare_plan plan;
} opt;

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"threshold", 1, 0, 'p'}, {"format", 1, 0, 'f'}, {"rounds", 1, 0, 'r'}, {"command", 1, 0, 'c'}, {"filter", 1, 0, 'm'},
		{"exclude", 1, 0, 'x'}, {"isa", 1, 0, 'i'}, {"threads", 1, 0, 't'}, {"samples", 1, 0, 's'}, {"base-name", 1, 0, 'b'},
		{"head-name", 1, 0, 'h'}, {0, 0, 0, 0},
	};
	int bad = 0;
	opt.format = "text";
	opt.threshold = 5;
	opt.plan = (struct compare_plan){.command = "kernels,layers", .rounds = 8, .threads = 1, .samples = 5};
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		switch (c) {
		case 'p': bad = parse_number(&opt.threshold, "--threshold", optarg, 1, 1000); break;
		case 'f': opt.format = optarg; break;
		case 'r': bad = parse_number(&opt.plan.rounds, "--rounds", optarg, 3, COMPARE_MOST); break;
		case 'c': bad = check_list("--command", opt.plan.command = optarg, compare_is_command); break;
		case 'm': opt.plan.filter = optarg; break;
		case 'x': opt.plan.exclude = optarg; break;
		case 'i': opt.plan.isa = optarg; break;
		case 't': bad = parse_number(&opt.plan.threads, "--threads", optarg, 1, 1024); break;
		case 'b': opt.name[BASE] = optarg; break;
		case 'h': opt.name[HEAD] = optarg; break;
		case 's': bad = parse_number(&opt.plan.samples, "--samples", optarg, 1, 1000); break;
		default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
		}
	if (bad)
		return -1;
	if (strcmp(opt.format, "text") != 0 && strcmp(opt.format, "markdown") != 0 && strcmp(opt.format, "json") != 0)
		return n2d_error("--format: '%s', expected text, markdown or json", opt.format);
	if (argc - optind != 2)
		return n2d_error("%d argument%s, expected BASE and HEAD", argc - optind, n2d_plural((size_t)(argc - optind)));
	return 0;
}

static int is_directory(const char *path)
{
	struct stat s;
	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* What N2D_ISA names is left to the programs. */
static void choose_isa(void)
{
	const char *env = getenv("N2D_ISA");
	if (!opt.plan.isa && !(env && *env))
		opt.plan.isa = n2d_isa_best()->name;
}

static int fill(struct comparison *c, char **side)
{
	int builds = is_directory(side[BASE]);
	if (builds != is_directory(side[HEAD]))
		return n2d_error("%s, %s: expected two build directories or two CSV files", side[BASE], side[HEAD]);
	if (!builds)
		return compare_read(c, BASE, side[BASE], 0) || compare_read(c, HEAD, side[HEAD], 0) || compare_select(c, &opt.plan) ? -1 : 0;
	choose_isa();
	if (!opt.plan.exclude)
		opt.plan.exclude = EXCLUDE;
	return compare_run(c, (const char *const[]){side[BASE], side[HEAD]}, &opt.plan);
}

int bench_compare(int argc, char **argv)
{
	struct comparison c;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	if (parse(argc, argv))
		return bench_usage_error("compare");
	c = (struct comparison){.threshold = (double)opt.threshold / 100};
	for (int side = 0; side < SIDES; side++)
		c.name[side] = opt.name[side] ? opt.name[side] : argv[optind + side];
	if (fill(&c, argv + optind)) {
		compare_free(&c);
		return bench_usage_error("compare");
	}
	compare_judge(&c);
	(opt.format[0] == 't' ? compare_text : opt.format[0] == 'm' ? compare_markdown : compare_json)(&c, stdout);
	int bad = compare_count(&c, SLOWER) || compare_count(&c, FAILED);
	compare_free(&c);
	return bad ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
