/* n2d make-data: parallel text whose right answer is known. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "text/task.h"

struct args {
	struct n2d_task_config c;
	long lines, seed, min, max, vocab; /* 0: not given; seed -1 */
	const char *prefix, *source, *target;
	int ids, split;
};

static void help(void)
{
	printf("usage: n2d make-data TASK -o PREFIX [options]\n\n"
	       "Writes PREFIX.src and PREFIX.trg, line by line source and target of a task:\n\n"
	       "  copy       the same symbols\n"
	       "  reverse    in reverse order\n"
	       "  sort       in alphabetical or numerical order\n"
	       "  numbers    English number words to German ones, 0 to 999,999, characters divided by spaces, a space as _:\n"
	       "             \"t w e n t y - o n e\" to \"e i n u n d z w a n z i g\"\n\n"
	       "  -o, --output PREFIX  where to write\n"
	       "  --lines N            pairs (10000)\n"
	       "  --seed N             other lines (1)\n"
	       "  --split NAME         train (default), valid or test: no source is in two of them, whatever the seeds\n"
	       "  --min-length N       least symbols of a line; of numbers: least digits (1)\n"
	       "  --max-length N       most symbols (20); of numbers: most digits (6)\n"
	       "  --vocab N            different symbols (26)\n"
	       "  --ids                integers from 0 on, where the symbols are letters otherwise\n"
	       "  --src-lang NAME      in place of src in the file's name\n"
	       "  --trg-lang NAME      in place of trg\n");
}

/* Keeps a number option in *to. 0, or the exit code. */
static int number(long *to, const char *option, long min, long max)
{
	*to = n2d_number("make-data", option, optarg, min, max);
	return *to < 0 ? N2D_EXIT_USAGE : 0;
}

/* One option. 0, or an exit code. */
static int option(struct args *a, int c, char **argv)
{
	switch (c) {
	case 'o': a->prefix = optarg; return 0;
	case 'n': return number(&a->lines, "--lines", 0, 1000000000);
	case 's': return number(&a->seed, "--seed", 0, 0x7fffffffffffffffL);
	case 'm': return number(&a->min, "--min-length", 1, N2D_TASK_LENGTH_MAX);
	case 'M': return number(&a->max, "--max-length", 1, N2D_TASK_LENGTH_MAX);
	case 'v': return number(&a->vocab, "--vocab", 1, 0x7fffffff);
	case 'i': a->ids = 1; return 0;
	case 'p':
		a->split = n2d_split_find(optarg);
		return a->split < 0 ? n2d_usage("make-data", "%s", n2d_error_text()) : 0;
	case 'S': a->source = optarg; return 0;
	case 'T': a->target = optarg; return 0;
	default: return n2d_bad_option(argv, c);
	}
}

/* The task's defaults with what was given. 0, or an exit code. */
static int settle(struct args *a, int argc, char **argv)
{
	if (optind == argc)
		return n2d_usage("make-data", "which task? copy, reverse, sort or numbers; see n2d make-data --help");
	if (optind + 1 < argc)
		return n2d_usage("make-data", "unexpected argument '%s'; see n2d make-data --help", argv[optind + 1]);
	int kind = n2d_task_find(argv[optind]);
	if (kind < 0)
		return n2d_usage("make-data", "%s", n2d_error_text());
	if (!a->prefix)
		return n2d_usage("make-data", "-o PREFIX must be given");
	if (kind == N2D_TASK_NUMBERS && a->vocab)
		return n2d_usage("make-data", "--vocab: numbers have their own characters");
	a->c = n2d_task_defaults((enum n2d_task_kind)kind);
	a->c.split = (enum n2d_split)a->split;
	a->c.ids = a->ids;
	if (a->seed >= 0)
		a->c.seed = (uint64_t)a->seed;
	if (a->min)
		a->c.min_length = (size_t)a->min;
	if (a->max)
		a->c.max_length = (size_t)a->max;
	if (a->vocab)
		a->c.vocab = (uint32_t)a->vocab;
	return 0;
}

int n2d_cmd_make_data(int argc, char **argv)
{
	static const struct option longs[] = {
		{"output", 1, 0, 'o'}, {"lines", 1, 0, 'n'}, {"seed", 1, 0, 's'}, {"min-length", 1, 0, 'm'},
		{"max-length", 1, 0, 'M'}, {"vocab", 1, 0, 'v'}, {"ids", 0, 0, 'i'}, {"split", 1, 0, 'p'},
		{"src-lang", 1, 0, 'S'}, {"trg-lang", 1, 0, 'T'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct args a = {.lines = 10000, .seed = -1, .source = "src", .target = "trg"};
	int code = 0;
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":ho:", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return N2D_EXIT_OK;
		}
		code = option(&a, c, argv);
	}
	if (code || (code = settle(&a, argc, argv)))
		return code;
	if (!*a.source || !*a.target || strcmp(a.source, a.target) == 0)
		return n2d_usage("make-data", "--src-lang '%s', --trg-lang '%s': expected two different names", a.source, a.target);
	struct n2d_task t; /* settings and paths that cannot be are usage, what goes wrong in writing is a failure */
	if (n2d_task_open(&t, &a.c))
		return n2d_usage("make-data", "%s", n2d_error_text());
	n2d_task_close(&t);
	if (n2d_task_writable(a.prefix, a.source, a.target))
		return n2d_usage("make-data", "%s", n2d_error_text());
	if (n2d_task_write(&a.c, (size_t)a.lines, a.prefix, a.source, a.target)) {
		fprintf(stderr, "n2d make-data: %s\n", n2d_error_text());
		return N2D_EXIT_FAILED;
	}
	return N2D_EXIT_OK;
}
