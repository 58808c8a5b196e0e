/* n2d-bench table: Table 1 from the CSV files. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/options.h"
#include "bench/table.h"
#include "bench/versus.h"

static const char usage[] =
	"usage: n2d-bench table [options] [CSV...]\n\n"
	"Prints the paper's Table 1 as measured beside Table 1 as stated, from the files of n2d-bench layers and paths\n"
	"(default: results/local/layers.csv results/local/paths.csv); what the columns mean is below it.\n\n"
	"  --format F     text (default), markdown or csv\n"
	"  --isa NAME     default: the first in the file\n"
	"  --threads N    default: the fewest in the file\n"
	"  --pass P       forward (default) or train\n"
	"  --peers        instead: n2d / best peer, from files of n2d-bench layers --peers and kernels --peers\n"
	"  --help\n";

static int peers;

static int print_peers(char **file, int files, char format)
{
	struct versus v = {0};
	int bad = files ? 0 : n2d_error("--peers: expected files of n2d-bench layers --peers or kernels --peers");
	for (int i = 0; i < files && !bad; i++)
		bad = versus_read(&v, file[i]);
	if (!bad)
		versus_print(&v, stdout, format == 't' ? VERSUS_TEXT : format == 'm' ? VERSUS_MARKDOWN : VERSUS_CSV);
	versus_free(&v);
	return bad ? bench_usage_error("table") : N2D_EXIT_OK;
}

static int parse(int argc, char **argv, const char **format, const char **isa, const char **pass, size_t *threads)
{
	static const struct option longs[] = {
		{"format", 1, 0, 'f'}, {"isa", 1, 0, 'i'}, {"threads", 1, 0, 't'}, {"pass", 1, 0, 'p'}, {"peers", 0, &peers, 1}, {0, 0, 0, 0},
	};
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		switch (c) {
		case 0: break;
		case 'f': *format = optarg; break;
		case 'i': *isa = optarg; break;
		case 'p': *pass = optarg; break;
		case 't':
			if (parse_number(threads, "--threads", optarg, 1, 1024))
				return -1;
			break;
		default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
		}
	if (strcmp(*format, "text") != 0 && strcmp(*format, "markdown") != 0 && strcmp(*format, "csv") != 0)
		return n2d_error("--format: '%s', expected text, markdown or csv", *format);
	return 0;
}

int bench_table(int argc, char **argv)
{
	static struct table t;
	const char *format = "text", *isa = NULL, *pass = NULL;
	size_t threads = 0;
	struct results r;
	struct choice c;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	if (parse(argc, argv, &format, &isa, &pass, &threads))
		return bench_usage_error("table");
	if (peers)
		return print_peers(argv + optind, argc - optind, format[0]);
	if (results_read_all(&r, argv + optind, argc - optind))
		return bench_usage_error("table");
	if (results_choose(&c, &r, isa, (int)threads, pass, 1)) {
		results_free(&r);
		return bench_usage_error("table");
	}
	table_make(&t, &r, &c);
	(format[0] == 't' ? table_text : format[0] == 'm' ? table_markdown : table_csv)(&t, stdout);
	results_free(&r);
	return N2D_EXIT_OK;
}
