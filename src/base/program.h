/* A program of subcommands: n2d and n2d-bench. */
#ifndef N2D_PROGRAM_H
#define N2D_PROGRAM_H

#include <stddef.h>

struct n2d_program {
	const char *name, *about; /* about: what --help says before the commands */
	const struct n2d_command {
		const char *name, *what;
		int (*run)(int argc, char **argv); /* argv[0] is the command; returns an exit code of base/error.h */
	} *commands;
	size_t count;
};

/* All of main: --help, --version or the command that argv[1] names; its exit code, or N2D_EXIT_FAILED when standard output could not be
 * written. */
int n2d_program_run(const struct n2d_program *p, int argc, char **argv);

#endif
