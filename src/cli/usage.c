/* How a command says what is wrong with its arguments. */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"

int n2d_usage(const char *command, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fprintf(stderr, "n2d %s: ", command);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	return N2D_EXIT_USAGE;
}

int n2d_bad_option(char **argv, int c)
{
	const char *what = c == ':' ? "needs an argument" : "is not known, or takes no argument";
	if (optopt > 0 && optopt < 256 && c != ':' && argv[optind - 1][1] != '-') /* in a group: -xyz */
		return n2d_usage(argv[0], "option '-%c' %s; see n2d %s --help", optopt, what, argv[0]);
	return n2d_usage(argv[0], "option '%s' %s; see n2d %s --help", argv[optind - 1], what, argv[0]);
}

int n2d_check_output(const char *command, const char *path) { return path && n2d_out_try(path) ? n2d_usage(command, "%s", n2d_error_text()) : 0; }

long n2d_number(const char *command, const char *option, const char *text, long min, long max)
{
	char *end;
	errno = 0;
	long v = strtol(text, &end, 10);
	if (end == text || *end || errno || v < min || v > max) {
		n2d_usage(command, "%s: '%s' is not a whole number from %ld to %ld", option, text, min, max);
		return -1;
	}
	return v;
}
