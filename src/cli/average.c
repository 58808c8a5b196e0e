/* n2d average: one model from several. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "model/average.h"
#include "train/checkpoint.h"

static void help(void)
{
	printf("usage: n2d average -o FILE MODEL...\n"
	       "       n2d average -o FILE --last N DIR\n\n"
	       "Writes the mean of the parameters of several models of one configuration: the files named, or the last checkpoints of a training.\n\n"
	       "  -o, --output FILE  where to write\n"
	       "  --last N           the N newest checkpoints in DIR (all, if there are fewer)\n");
}

/* The exit code, said why when it is not 0. */
static int average(const char *out, const char *const *paths, size_t n)
{
	int code = n2d_average(out, paths, n);
	if (code)
		n2d_usage("average", "%s", n2d_error_text());
	return code;
}

/* The newest n models of dir, as paths in one block; NULL and a message. */
static char (*newest(const char *dir, size_t n, size_t *count))[N2D_CHECKPOINT_PATH]
{
	uint64_t *steps;
	size_t all;
	if (n2d_checkpoint_list(&steps, &all, dir, 0))
		return NULL;
	*count = all < n ? all : n;
	char(*paths)[N2D_CHECKPOINT_PATH] = calloc(*count + 1, sizeof *paths);
	int bad = !paths || !*count;
	if (bad)
		n2d_error(paths ? "%s: there is no checkpoint" : "%s: no memory for the list of checkpoints", dir);
	for (size_t i = 0; !bad && i < *count; i++)
		bad = n2d_checkpoint_path(paths[i], dir, steps[all - *count + i], 0);
	free(steps);
	if (!bad)
		return paths;
	free(paths);
	return NULL;
}

static int average_last(const char *out, const char *dir, size_t n)
{
	size_t count = 0;
	char(*paths)[N2D_CHECKPOINT_PATH] = newest(dir, n, &count);
	const char **list = paths ? calloc(count, sizeof *list) : NULL;
	if (!list) {
		free(paths);
		return n2d_usage("average", "%s", n2d_error_text());
	}
	for (size_t i = 0; i < count; i++)
		list[i] = paths[i];
	int code = average(out, list, count);
	if (code == N2D_EXIT_OK)
		fprintf(stderr, "%s: the mean of %zu checkpoint%s, %s to %s\n", out, count, n2d_plural(count), list[0], list[count - 1]);
	free(list);
	free(paths);
	return code;
}

int n2d_cmd_average(int argc, char **argv)
{
	static const struct option longs[] = {{"output", 1, 0, 'o'}, {"last", 1, 0, 'n'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
	const char *out = NULL;
	long last = 0;
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":ho:", longs, NULL)) != -1;)
		switch (c) {
		case 'o': out = optarg; break;
		case 'n':
			if ((last = n2d_number("average", "--last", optarg, 1, 1000000)) < 0)
				return N2D_EXIT_USAGE;
			break;
		case 'h': help(); return N2D_EXIT_OK;
		default: return n2d_bad_option(argv, c);
		}
	if (!out || optind == argc)
		return n2d_usage("average", "-o FILE and models must be given; see n2d average --help");
	if (last && optind + 1 < argc)
		return n2d_usage("average", "--last takes one directory; unexpected '%s'", argv[optind + 1]);
	if (n2d_check_output("average", out))
		return N2D_EXIT_USAGE;
	if (last)
		return average_last(out, argv[optind], (size_t)last);
	return average(out, (const char *const *)argv + optind, (size_t)(argc - optind));
}
