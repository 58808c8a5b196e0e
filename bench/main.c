#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"

static const struct {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"roof", "the machine's limits: peak FLOP/s and bandwidth by memory level", bench_roof},
	{"kernels", "every kernel and operator on its shapes, in per cent of the limit", bench_kernels},
	{"layers", "sequence layers over length and width: the sweep behind Table 1", bench_layers},
	{"step", "the training step of whole models, and PyTorch's beside it", bench_step},
	{"paths", "sequential operations and maximum path length, from the trace and by perturbation", bench_paths},
	{"table", "Table 1 as measured beside Table 1 as stated, from the CSV files", bench_table},
	{"figures", "SVG figures from the CSV files (gnuplot)", bench_figures},
};

static void help(FILE *f)
{
	fprintf(f, "usage: n2d-bench COMMAND [options]\n\n"
		   "Measures sequence layers against the machine's limits.\n\n");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].what);
	fprintf(f, "\n  n2d-bench COMMAND --help   the options of a command\n  n2d-bench --version\n");
}

int bench_usage_error(const char *command)
{
	fprintf(stderr, "n2d-bench %s: %s\n", command, n2d_error_text());
	return N2D_EXIT_USAGE;
}

int bench_failed(const char *command)
{
	fprintf(stderr, "n2d-bench %s: %s\n", command, n2d_error_text());
	return N2D_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return N2D_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help(stdout);
		return N2D_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("n2d-bench %s\n", PACKAGE_VERSION);
		return N2D_EXIT_OK;
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "n2d-bench: unknown command '%s'; n2d-bench --help lists them\n", argv[1]);
	return N2D_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int code = run(argc, argv);
	if (fflush(stdout) || ferror(stdout)) { /* a full disk must not look like success */
		perror("n2d-bench: standard output");
		return code ? code : N2D_EXIT_FAILED;
	}
	return code;
}
