#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "bench/bench.h"
#include "bench/drive.h"
#include "bench/machine.h"
#include "bench/options.h"

static const struct n2d_command commands[] = {
	{"roof", "the machine's limits: peak FLOP/s and bandwidth by memory level", bench_roof},
	{"kernels", "every kernel and operator on its shapes, in per cent of the limit", bench_kernels},
	{"layers", "sequence layers over length and width: the sweep behind Table 1", bench_layers},
	{"step", "the training step of whole models, and PyTorch's beside it", bench_step},
	{"decode", "decoding of whole batches, greedy and with a beam, with and without caches", bench_decode},
	{"paths", "sequential operations and maximum path length, from the trace and by perturbation", bench_paths},
	{"claims", "what the paper says of the Transformer, computed and timed: does it hold?", bench_claims},
	{"table", "Table 1 as measured beside Table 1 as stated, from the CSV files", bench_table},
	{"compare", "is one build, or one CSV file, slower than another? The regression gate", bench_compare},
	{"report", "one page with tables, figures and data, from the CSV files; machines side by side", bench_report},
	{"figures", "SVG figures from the CSV files (gnuplot)", bench_figures},
};

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

int bench_open(const struct bench_command *c, int *argc, char **argv, const struct n2d_ctx **ctx, int *code)
{
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			fputs(c->usage, stdout);
			*code = N2D_EXIT_OK;
			return 0;
		}
	drive_init(argc, argv);
	int contexts = c->parse(*argc, argv) ? -1 : open_contexts(ctx, c->common->isa, &c->common->threads);
	if (contexts > 0)
		return contexts;
	*code = bench_usage_error(c->name);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct n2d_program bench = {
		"n2d-bench", "Measures sequence layers against the machine's limits.", commands, sizeof commands / sizeof *commands,
	};
	machine_called(argc, argv);
	int code = n2d_program_run(&bench, argc, argv);
	close_contexts();
	return n2d_stop ? 128 + n2d_stop : code; /* half a comparison must not look like a regression */
}
