/* n2d bpe: byte-pair encoding, with subword-nmt's files and option names. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "text/bpe.h"

struct args {
	char **argv; /* [0]: "bpe learn", for messages */
	int argc;
	const char **input, **glossaries;
	size_t inputs, glossaries_n;
	const char *output, *codes, *separator, *vocabulary;
	long symbols, min_frequency, merges, threshold, seed;
	double dropout;
	int total, dictionary;
};

static void help(void)
{
	printf("usage: n2d bpe learn [-s N] < TEXT > CODES\n"
	       "       n2d bpe apply -c CODES < TEXT > ENCODED\n"
	       "       n2d bpe restore < ENCODED > TEXT\n\n"
	       "Byte-pair encoding of words, with the files and the results of subword-nmt. Text is UTF-8; only spaces divide words.\n\n"
	       "all\n"
	       "  -i, --input FILE          plain or .gz (standard input); learn takes several, each after an -i\n"
	       "  -o, --output FILE         written whole or not at all (standard output)\n\n"
	       "learn\n"
	       "  -s, --symbols N           merges (10000)\n"
	       "  --min-frequency N         end when no pair comes so often (2)\n"
	       "  -t, --total-symbols       N counts the characters too, those within words and those at their ends\n"
	       "  --dict-input              the input is words and their counts, one a line\n\n"
	       "apply\n"
	       "  -c, --codes FILE          what learn wrote\n"
	       "  -m, --merges N            use only the first N\n"
	       "  -s, --separator TEXT      after each piece of a word but the last (@@); restore takes it too\n"
	       "  --vocabulary FILE         pieces and their counts, one a line: no piece is made that is not in it ...\n"
	       "  --vocabulary-threshold N  ... or comes less often there\n"
	       "  --glossaries WORD...      keep these whole; a backslash goes before punctuation that means more in a regular expression\n"
	       "  --dropout P               leave out each possible merge with probability P in each step\n"
	       "  --seed N                  of the dropout (1); a line's choices depend on the seed and its number\n");
}

/* ---- options */

static int usage(const struct args *a, const char *what)
{
	return n2d_usage(a->argv[0], "%s; see n2d %s --help", what, a->argv[0]);
}

/* A number option in *to. 0, or the exit code. */
static int number(const struct args *a, long *to, const char *name, long min)
{
	*to = n2d_number(a->argv[0], name, optarg, min, LONG_MAX);
	return *to < 0 ? N2D_EXIT_USAGE : 0;
}

static int probability(struct args *a)
{
	char *end;
	a->dropout = strtod(optarg, &end);
	if (end == optarg || *end || !(a->dropout >= 0 && a->dropout <= 1))
		return n2d_usage(a->argv[0], "--dropout: '%s' is not a number from 0 to 1", optarg);
	return 0;
}

/* All words up to the next option. */
static int glossaries(struct args *a)
{
	a->glossaries[a->glossaries_n++] = optarg;
	while (optind < a->argc && a->argv[optind][0] != '-')
		a->glossaries[a->glossaries_n++] = a->argv[optind++];
	return 0;
}

/* One option. 0, or an exit code. */
static int option(struct args *a, int c)
{
	switch (c) {
	case 'i': a->input[a->inputs++] = optarg; return 0;
	case 'o': a->output = optarg; return 0;
	case 'n': return number(a, &a->symbols, "--symbols", 0);
	case 'f': return number(a, &a->min_frequency, "--min-frequency", 1);
	case 't': a->total = 1; return 0;
	case 'd': a->dictionary = 1; return 0;
	case 'c': a->codes = optarg; return 0;
	case 'm': return number(a, &a->merges, "--merges", 1);
	case 's': a->separator = optarg; return 0;
	case 'v': a->vocabulary = optarg; return 0;
	case 'T': return number(a, &a->threshold, "--vocabulary-threshold", 0);
	case 'g': return glossaries(a);
	case 'p': return probability(a);
	case 'S': return number(a, &a->seed, "--seed", 0);
	default: return n2d_bad_option(a->argv, c);
	}
}

/* ---- what they do: an exit code each */

static int bad_input(const struct args *a) { return n2d_usage(a->argv[0], "%s", n2d_error_text()); }

static int failed(const struct args *a)
{
	bad_input(a);
	return N2D_EXIT_FAILED;
}

static int learn(const struct args *a)
{
	struct n2d_words words = {0};
	struct n2d_bpe_learn how = {(size_t)a->symbols, (size_t)a->min_frequency, a->total};
	struct n2d_out out = {0};
	size_t merges;
	int code = N2D_EXIT_OK;
	for (size_t i = 0; !code && i < a->inputs; i++) {
		struct n2d_lines l;
		if (n2d_lines_open(&l, a->input[i]) || n2d_words_count(&words, &l, a->dictionary))
			code = bad_input(a);
		n2d_lines_close(&l);
	}
	if (!code && (n2d_out_open(&out, a->output) || n2d_bpe_learn(&out, &merges, &words, &how) || n2d_out_commit(&out)))
		code = failed(a);
	if (!code && merges < how.symbols && !how.total)
		fprintf(stderr, "n2d %s: %zu merge%s: no other pair comes %zu time%s or more\n", a->argv[0], merges, n2d_plural(merges),
			how.min_frequency, n2d_plural(how.min_frequency));
	n2d_out_cancel(&out);
	n2d_words_free(&words);
	return code;
}

/* Writes what line() makes of each line of the input, with as many '\n'. */
static int each_line(const struct args *a, int (*line)(void *what, const struct n2d_lines *l, struct n2d_out *out), void *what)
{
	struct n2d_lines l;
	struct n2d_out out = {0};
	int more = -1, code = N2D_EXIT_OK;
	if (n2d_lines_open(&l, a->input[0]))
		return bad_input(a);
	if (n2d_out_open(&out, a->output))
		code = failed(a);
	while (!code && !out.error && (more = n2d_lines_next(&l)) > 0 && (more = line(what, &l, &out)) == 0) {
		n2d_out_write(&out, "\n", (size_t)l.ended);
		if (n2d_lines_waits(&l))
			n2d_out_flush(&out);
	}
	if (!code)
		code = more < 0 ? bad_input(a) : n2d_out_commit(&out) ? failed(a) : code;
	n2d_out_cancel(&out);
	n2d_lines_close(&l);
	return code;
}

struct apply {
	const struct args *a;
	struct n2d_bpe_worker w;
};

static int apply_line(void *what, const struct n2d_lines *l, struct n2d_out *out)
{
	struct apply *x = what;
	struct n2d_rng rng;
	n2d_rng_init(&rng, (uint64_t)x->a->seed, l->number);
	if (n2d_lines_utf8(l) || n2d_bpe_apply(&x->w, l->text, l->length, x->a->dropout, &rng))
		return -1;
	n2d_out_write(out, x->w.text, x->w.length);
	return 0;
}

static int apply(const struct args *a)
{
	struct n2d_bpe bpe;
	struct apply x = {.a = a};
	struct n2d_bpe_options o = {a->separator, (size_t)a->merges, a->vocabulary, (size_t)(a->threshold < 0 ? 0 : a->threshold),
				    a->glossaries, a->glossaries_n};
	if (!a->codes)
		return usage(a, "which codes? --codes FILE");
	if (a->threshold >= 0 && !a->vocabulary)
		return usage(a, "--vocabulary-threshold needs --vocabulary FILE");
	if (n2d_bpe_load(&bpe, a->codes, &o))
		return bad_input(a);
	n2d_bpe_worker_init(&x.w, &bpe);
	int code = each_line(a, apply_line, &x);
	n2d_bpe_worker_free(&x.w);
	n2d_bpe_free(&bpe);
	return code;
}

struct restore {
	const char *separator;
	char *text;
	size_t room;
};

static int restore_line(void *what, const struct n2d_lines *l, struct n2d_out *out)
{
	struct restore *x = what;
	char *text = n2d_grow(x->text, &x->room, l->length + 1, 1);
	if (!text)
		return -1;
	x->text = text;
	n2d_out_write(out, text, n2d_bpe_restore(text, l->text, l->length, x->separator));
	return 0;
}

static int restore(const struct args *a)
{
	struct restore x = {.separator = a->separator};
	int code = *x.separator ? each_line(a, restore_line, &x) : usage(a, "--separator: nothing given");
	free(x.text);
	return code;
}

/* ---- the command */

#define ALL {"input", 1, 0, 'i'}, {"output", 1, 0, 'o'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}
static const struct option learn_longs[] = {
	{"symbols", 1, 0, 'n'}, {"min-frequency", 1, 0, 'f'}, {"total-symbols", 0, 0, 't'}, {"dict-input", 0, 0, 'd'}, ALL};
static const struct option apply_longs[] = {
	{"codes", 1, 0, 'c'}, {"merges", 1, 0, 'm'}, {"separator", 1, 0, 's'}, {"vocabulary", 1, 0, 'v'},
	{"vocabulary-threshold", 1, 0, 'T'}, {"glossaries", 1, 0, 'g'}, {"dropout", 1, 0, 'p'}, {"seed", 1, 0, 'S'}, ALL};
static const struct option restore_longs[] = {{"separator", 1, 0, 's'}, ALL};

static const struct command {
	const char *name, *shorts;
	const struct option *longs;
	int (*run)(const struct args *a);
} commands[] = {
	{"bpe learn", ":hi:o:s:t", learn_longs, learn},
	{"bpe apply", ":hi:o:c:m:s:", apply_longs, apply},
	{"bpe restore", ":hi:o:s:", restore_longs, restore},
};

static int parse(struct args *a, const struct command *c)
{
	int code = 0;
	opterr = 0;
	for (int o; !code && (o = getopt_long(a->argc, a->argv, c->shorts, c->longs, NULL)) != -1;) {
		if (o == 'h') {
			help();
			return -1;
		}
		code = option(a, o == 's' && c->run == learn ? 'n' : o);
	}
	if (!code && optind < a->argc)
		return n2d_usage(c->name, "unexpected argument '%s'; see n2d %s --help", a->argv[optind], c->name);
	if (!code && a->inputs > 1 && c->run != learn)
		return usage(a, "one --input at a time");
	return code;
}

int n2d_cmd_bpe(int argc, char **argv)
{
	const struct command *c = NULL;
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (strcmp(argv[1], commands[i].name + 4) == 0)
			c = &commands[i];
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		help();
		return N2D_EXIT_OK;
	}
	if (!c)
		return n2d_usage("bpe", "expected learn, apply or restore; see n2d bpe --help");
	struct args a = {.argv = argv + 1, .argc = argc - 1, .output = "-", .separator = N2D_BPE_SEPARATOR, .symbols = 10000,
			 .min_frequency = 2, .threshold = -1, .seed = 1};
	a.argv[0] = (char *)c->name;
	a.input = calloc((size_t)argc, sizeof *a.input);
	a.glossaries = calloc((size_t)argc, sizeof *a.glossaries);
	int code = !a.input || !a.glossaries ? n2d_usage(c->name, "no memory") : parse(&a, c);
	if (!code && !a.inputs)
		a.input[a.inputs++] = "-";
	if (!code)
		code = n2d_check_output(c->name, a.output);
	code = code < 0 ? N2D_EXIT_OK : code ? code : c->run(&a);
	free(a.input);
	free(a.glossaries);
	return code;
}
