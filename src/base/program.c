#include "config.h"

#include "base/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static void help(const struct n2d_program *p, FILE *f)
{
	fprintf(f, "usage: %s COMMAND [options]\n\n%s\n\n", p->name, p->about);
	for (size_t i = 0; i < p->count; i++)
		fprintf(f, "  %-10s %s\n", p->commands[i].name, p->commands[i].what);
	fprintf(f, "\n  %s COMMAND --help   the options of a command\n  %s --version\n", p->name, p->name);
}

static int run(const struct n2d_program *p, int argc, char **argv)
{
	if (argc < 2) {
		help(p, stderr);
		return N2D_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help(p, stdout);
		return N2D_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("%s %s\n", p->name, PACKAGE_VERSION);
		return N2D_EXIT_OK;
	}
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(argv[1], p->commands[i].name) == 0)
			return p->commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "%s: unknown command '%s'; %s --help lists them\n", p->name, argv[1], p->name);
	return N2D_EXIT_USAGE;
}

/* Files must not get the numbers of standard streams that the caller closed: messages would be written into them. Opened the wrong way round, so that
 * these streams go on failing. */
static void reserve_standard_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the lowest number that is free: fd */
}

int n2d_program_run(const struct n2d_program *p, int argc, char **argv)
{
	reserve_standard_streams();
	int code = run(p, argc, argv);
	if ((fflush(stdout) || ferror(stdout)) && !code) { /* a full disk must not look like success; what failed has told why */
		fprintf(stderr, "%s: ", p->name);
		perror("standard output");
		return N2D_EXIT_FAILED;
	}
	return code;
}
