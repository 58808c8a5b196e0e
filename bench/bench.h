/* The subcommands of n2d-bench: one file each, listed in main.c. argv[0] is the name; returns an exit code of
 * base/error.h. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

int bench_roof(int argc, char **argv);
int bench_kernels(int argc, char **argv);
int bench_layers(int argc, char **argv);
int bench_step(int argc, char **argv);
int bench_paths(int argc, char **argv);
int bench_table(int argc, char **argv);
int bench_figures(int argc, char **argv);

/* Prints "n2d-bench COMMAND: message" and a pointer to --help; returns N2D_EXIT_USAGE. */
int bench_usage_error(const char *command);
/* Prints the message; returns N2D_EXIT_FAILED. */
int bench_failed(const char *command);

#endif
