/* The subcommands of n2d-bench: one file each, listed in main.c. argv[0] is the name; returns an exit code of
 * base/error.h. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

int bench_roof(int argc, char **argv);
int bench_kernels(int argc, char **argv);
int bench_layers(int argc, char **argv);
int bench_step(int argc, char **argv);
int bench_decode(int argc, char **argv);
int bench_paths(int argc, char **argv);
int bench_claims(int argc, char **argv);
int bench_table(int argc, char **argv);
int bench_compare(int argc, char **argv);
int bench_figures(int argc, char **argv);
int bench_report(int argc, char **argv);

/* Prints "n2d-bench COMMAND: message" and a pointer to --help; returns N2D_EXIT_USAGE. */
int bench_usage_error(const char *command);
/* Prints the message; returns N2D_EXIT_FAILED. */
int bench_failed(const char *command);

struct common_options;
struct n2d_ctx;

/* How a command that measures begins: --help, Google's flags, its own by parse, which fills common, and contexts for these. */
struct bench_command {
	const char *name, *usage;
	int (*parse)(int argc, char **argv); /* -1 and a message */
	const struct common_options *common;
};
/* Returns the number of contexts (options.h), the first in *ctx; 0 when there is nothing more to do, with the exit code in *code. */
int bench_open(const struct bench_command *c, int *argc, char **argv, const struct n2d_ctx **ctx, int *code);

#endif
