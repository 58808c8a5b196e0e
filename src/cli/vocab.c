/* n2d vocab: the tokens of texts, by frequency, as a vocabulary file. */
#include <getopt.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/cli.h"
#include "text/vocab.h"

struct args {
	const char *output;
	long min_count, max_size; /* 0: not given */
	int ids;
};

static void help(void)
{
	printf("usage: n2d vocab FILE... -o OUTPUT [options]\n\n"
	       "Counts the tokens of the files together (UTF-8, plain or .gz, - for standard input), divided by spaces, and writes\n"
	       "OUTPUT: a line `token count` an id, <pad> <s> </s> <unk> first, then the tokens from the most frequent on, equally\n"
	       "frequent ones by code point. The count of <unk> is that of the tokens left out.\n\n"
	       "  -o, --output OUTPUT  where to write\n"
	       "  --min-count N        leaves out what comes less than N times (1)\n"
	       "  --max-size N         at most N entries, <pad> <s> </s> <unk> among them\n"
	       "  --ids                tokens are integers from 0 on: all up to the largest are entries, in their order\n");
}

static int number(long *to, const char *option, long min)
{
	*to = n2d_number("vocab", option, optarg, min, INT32_MAX);
	return *to < 0 ? N2D_EXIT_USAGE : 0;
}

/* One option. 0, or an exit code. */
static int option(struct args *a, int c, char **argv)
{
	switch (c) {
	case 'o': a->output = optarg; return 0;
	case 'c': return number(&a->min_count, "--min-count", 1);
	case 's': return number(&a->max_size, "--max-size", N2D_IDS_SPECIAL + 1);
	case 'i': a->ids = 1; return 0;
	default: return n2d_bad_option(argv, c);
	}
}

/* What the vocabulary is worth. */
static void report(const struct n2d_vocab *v, size_t types)
{
	uint64_t tokens = 0, unknown = n2d_vocab_frequency(v, N2D_ID_UNKNOWN);
	for (size_t i = 0; i < v->size; i++)
		tokens += n2d_vocab_frequency(v, (int32_t)i);
	printf("%zu entries for %zu token%s of %zu type%s; <unk>: %zu (%.2f %%)\n", v->size, (size_t)tokens, n2d_plural((size_t)tokens), types,
	       n2d_plural(types), (size_t)unknown, 100.0 * (double)unknown / (double)tokens);
}

/* An exit code. */
static int make(struct n2d_vocab *v, const struct args *a, char **files, int n)
{
	for (int i = 0; i < n; i++)
		if (n2d_vocab_count_file(v, files[i]))
			return n2d_usage("vocab", "%s", n2d_error_text());
	size_t types = v->size - N2D_IDS_SPECIAL;
	if (!types)
		return n2d_usage("vocab", "%s%s: no token in it", files[0], n > 1 ? " and the others" : "");
	if (!a->ids && n2d_vocab_order(v, (uint64_t)a->min_count, (size_t)a->max_size))
		return n2d_usage("vocab", "%s", n2d_error_text());
	if (n2d_vocab_save(v, a->output)) {
		fprintf(stderr, "n2d vocab: %s\n", n2d_error_text());
		return N2D_EXIT_FAILED;
	}
	report(v, types);
	return N2D_EXIT_OK;
}

int n2d_cmd_vocab(int argc, char **argv)
{
	static const struct option longs[] = {
		{"output", 1, 0, 'o'}, {"min-count", 1, 0, 'c'}, {"max-size", 1, 0, 's'},
		{"ids", 0, 0, 'i'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct args a = {0};
	struct n2d_vocab v;
	int code = 0;
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":ho:", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return N2D_EXIT_OK;
		}
		code = option(&a, c, argv);
	}
	if (code)
		return code;
	if (optind == argc)
		return n2d_usage("vocab", "which files? see n2d vocab --help");
	if (!a.output)
		return n2d_usage("vocab", "-o OUTPUT must be given");
	if (a.ids && (a.min_count || a.max_size))
		return n2d_usage("vocab", "--ids takes every integer: --min-count and --max-size have no meaning");
	if ((code = n2d_check_output("vocab", a.output)))
		return code;
	if (n2d_vocab_init(&v, a.ids)) {
		fprintf(stderr, "n2d vocab: %s\n", n2d_error_text());
		return N2D_EXIT_FAILED;
	}
	code = make(&v, &a, argv + optind, argc - optind);
	n2d_vocab_free(&v);
	return code;
}
