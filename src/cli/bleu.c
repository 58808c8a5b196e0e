/* n2d bleu: BLEU as sacreBLEU 2 computes it. */
#include "cli/bleu.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "cli/cli.h"

enum { /* options without a letter */
	TOK = 256, SMOOTH_VALUE, LOWER, ORDERS, EFFECTIVE, HYPHENS, SENTENCES, REFS, CONFIDENCE, CONFIDENCE_N, PAIRED, PAIRED_N, SEED, BRIEF,
	JSON, FORCE,
};

/* sacreBLEU's short names have two letters and more, so getopt_long_only takes them as long ones. */
static const struct option longs[] = {
	{"input", 1, 0, 'i'}, {"num-refs", 1, 0, REFS}, {"nr", 1, 0, REFS}, {"metrics", 1, 0, 'm'}, {"tokenize", 1, 0, TOK}, {"tok", 1, 0, TOK},
	{"lowercase", 0, 0, LOWER}, {"lc", 0, 0, LOWER}, {"smooth-method", 1, 0, 's'}, {"smooth-value", 1, 0, SMOOTH_VALUE},
	{"sv", 1, 0, SMOOTH_VALUE}, {"max-ngram-order", 1, 0, ORDERS}, {"effective-order", 0, 0, EFFECTIVE}, {"split-hyphens", 0, 0, HYPHENS},
	{"sentence-level", 0, 0, SENTENCES}, {"sl", 0, 0, SENTENCES}, {"confidence", 0, 0, CONFIDENCE}, {"ci", 0, 0, CONFIDENCE},
	{"confidence-n", 1, 0, CONFIDENCE_N}, {"cin", 1, 0, CONFIDENCE_N}, {"paired-bs", 0, 0, PAIRED}, {"pbs", 0, 0, PAIRED},
	{"paired-bs-n", 1, 0, PAIRED_N}, {"pbsn", 1, 0, PAIRED_N}, {"seed", 1, 0, SEED}, {"score-only", 0, 0, 'b'}, {"width", 1, 0, 'w'},
	{"short", 0, 0, BRIEF}, {"sh", 0, 0, BRIEF}, {"format", 1, 0, 'f'}, {"json", 0, 0, JSON}, {"quiet", 0, 0, 'q'}, {"force", 0, 0, FORCE},
	{"help", 0, 0, 'h'}, {0, 0, 0, 0},
};

static void help(void)
{
	printf("usage: n2d bleu REF... [-i HYP...] [options]\n\n"
	       "BLEU of hypotheses against references, line by line, with the numbers and the signature of sacreBLEU 2.\n"
	       "Files may be compressed with gzip. Without -i the hypotheses come from standard input.\n\n"
	       "  -i, --input HYP...            a file for each system\n"
	       "  -nr, --num-refs N             the reference file holds N references, divided by tabs (1)\n"
	       "  -tok, --tokenize NAME         13a (default), intl, char or none\n"
	       "  -lc, --lowercase              without regard to case\n"
	       "  -s, --smooth-method NAME      exp (default), floor, add-k or none\n"
	       "  -sv, --smooth-value X         of floor (0.1) and add-k (1)\n"
	       "  --max-ngram-order N           longest n-gram, 1 to %d (4)\n"
	       "  --effective-order             leave out the orders the text is too short for\n"
	       "  --split-hyphens               after tokenizing, as the paper's evaluation: rich ##AT##-##AT## text\n"
	       "  -sl, --sentence-level         a score for each line, with effective order\n"
	       "  -ci, --confidence             95 %% confidence interval, by bootstrap resampling\n"
	       "  -cin, --confidence-n N        from so many resamples (1000)\n"
	       "  -pbs, --paired-bs             test each system against the first, by paired bootstrap resampling\n"
	       "  -pbsn, --paired-bs-n N        from so many resamples (1000)\n"
	       "  --seed N                      of the resamples (12345)\n"
	       "  -b, --score-only              the score alone\n"
	       "  -w, --width N                 decimals of the score (1)\n"
	       "  -sh, --short                  a shorter signature\n"
	       "  -f, --format NAME, --json     text (default) or json\n"
	       "  -q, --quiet, --force          do not warn about hypotheses that look tokenized\n",
	       N2D_BLEU_ORDERS);
}

/* The whole number in optarg. 0, or an exit code. */
static int number(size_t *to, const char *option, long min, long max)
{
	long n = n2d_number("bleu", option, optarg, min, max);
	*to = (size_t)n;
	return n < 0 ? N2D_EXIT_USAGE : 0;
}

/* A name that find knows. */
static int name(int found, const char *option)
{
	return found < 0 ? n2d_usage("bleu", "%s: %s", option, n2d_error_text()) : 0;
}

static int smooth_value(struct n2d_bleu_args *a)
{
	char *end;
	a->valued = 1;
	a->c.value = strtod(optarg, &end);
	if (end == optarg || *end || !(a->c.value >= 0 && a->c.value <= N2D_SMOOTH_MOST))
		return n2d_usage("bleu", "--smooth-value: '%s' is not a number from 0 to %g", optarg, N2D_SMOOTH_MOST);
	return 0;
}

static int format(struct n2d_bleu_args *a)
{
	a->json = strcmp(optarg, "json") == 0;
	if (!a->json && strcmp(optarg, "text") != 0)
		return n2d_usage("bleu", "--format: '%s' must be text or json", optarg);
	return 0;
}

/* What a score is made with. 0, or an exit code. */
static int option_of_score(struct n2d_bleu_args *a, int c, char **argv)
{
	int found;
	switch (c) {
	case TOK: found = n2d_tokenizer_find(optarg); a->c.rules.kind = (enum n2d_tokenizer)found; return name(found, "--tokenize");
	case LOWER: a->c.rules.lowercase = 1; return 0;
	case HYPHENS: a->c.rules.split_hyphens = 1; return 0;
	case 's': found = n2d_bleu_smooth_find(optarg); a->c.smooth = (enum n2d_bleu_smooth)found; return name(found, "--smooth-method");
	case SMOOTH_VALUE: return smooth_value(a);
	case ORDERS: return number(&a->orders, "--max-ngram-order", 1, N2D_BLEU_ORDERS);
	case EFFECTIVE: a->c.effective_order = 1; return 0;
	case 'm': return strcmp(optarg, "bleu") == 0 ? 0 : n2d_usage("bleu", "--metrics: '%s': there is bleu alone", optarg);
	default: return n2d_bad_option(argv, c);
	}
}

static int option(struct n2d_bleu_args *a, int c, char **argv)
{
	switch (c) {
	case REFS: return number(&a->columns, "--num-refs", 1, 1000);
	case SENTENCES: a->sentences = a->c.effective_order = 1; return 0;
	case CONFIDENCE: a->confidence = 1; return 0;
	case CONFIDENCE_N: return number(&a->confidence_n, "--confidence-n", 2, 100000000);
	case PAIRED: a->paired = 1; return 0;
	case PAIRED_N: return number(&a->paired_n, "--paired-bs-n", 2, 100000000);
	case SEED: return number(&a->seed, "--seed", 0, 0x7fffffffffffffffL);
	case 'b': a->score_only = 1; return 0;
	case 'w': return number(&a->width, "--width", 0, 15);
	case BRIEF: a->brief = 1; return 0;
	case 'f': return format(a);
	case JSON: a->json = 1; return 0;
	case 'q':
	case FORCE: a->quiet = 1; return 0;
	default: return option_of_score(a, c, argv);
	}
}

/* All arguments: files before -i are references, those behind it systems until the next option. 0, or an exit code; -1: help was printed. */
static int parse(struct n2d_bleu_args *a, int argc, char **argv)
{
	int inputs = 0, code = 0;
	opterr = 0;
	for (int c; !code && (c = getopt_long_only(argc, argv, "-:i:m:s:bw:f:qh", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return -1;
		}
		inputs = c == 'i' || (c == 1 && inputs);
		if (inputs)
			a->inputs[a->n_inputs++] = optarg;
		else if (c == 1)
			a->refs[a->n_refs++] = optarg;
		else
			code = option(a, c, argv);
	}
	for (; !code && optind < argc; optind++) /* behind -- */
		a->refs[a->n_refs++] = argv[optind];
	return code;
}

/* Each file has one part. The baseline may come again, as in -i base *, and is left out then. */
static int check_files(struct n2d_bleu_args *a)
{
	size_t kept = 0, streams = !a->n_inputs;
	if (!a->n_refs)
		return n2d_usage("bleu", "no reference: expected REF... before -i; see n2d bleu --help");
	if (a->columns > 1 && a->n_refs > 1)
		return n2d_usage("bleu", "--num-refs %zu: expected one file of references, not %zu", a->columns, a->n_refs);
	for (size_t i = 0; i < a->n_inputs; i++) {
		size_t k = 0;
		while (k < kept && strcmp(a->inputs[k], a->inputs[i]) != 0)
			k++;
		if (k < kept && !(a->paired && k == 0))
			return n2d_usage("bleu", "-i: '%s' comes twice", a->inputs[i]);
		if (k == kept)
			a->inputs[kept++] = a->inputs[i];
	}
	a->n_inputs = kept;
	for (size_t i = 0; i < a->n_refs + a->n_inputs; i++)
		streams += strcmp(i < a->n_refs ? a->refs[i] : a->inputs[i - a->n_refs], "-") == 0;
	return streams < 2 ? 0 : n2d_usage("bleu", "standard input can be one file only: expected -i HYP...");
}

static int settle(struct n2d_bleu_args *a)
{
	int valued = a->c.smooth == N2D_SMOOTH_FLOOR || a->c.smooth == N2D_SMOOTH_ADD_K;
	if (a->valued && !valued)
		return n2d_usage("bleu", "--smooth-value: belongs to --smooth-method floor or add-k");
	if (!a->valued)
		a->c.value = n2d_bleu_smooth_value(a->c.smooth);
	a->c.orders = (int)a->orders;
	if (a->sentences && (a->confidence || a->paired))
		return n2d_usage("bleu", "--sentence-level: tests are of whole texts");
	if (a->sentences && a->json)
		return n2d_usage("bleu", "--sentence-level: scores are text, one a line");
	if (a->confidence && a->paired)
		return n2d_usage("bleu", "--paired-bs gives confidence intervals: leave out --confidence");
	return check_files(a);
}

/* What the number of systems decides. */
static int check_systems(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a)
{
	if (a->sentences && d->n > 1)
		return n2d_usage("bleu", "--sentence-level: expected one system, not %zu", d->n);
	if (a->confidence && d->n > 1)
		return n2d_usage("bleu", "--confidence: expected one system, not %zu: --paired-bs compares several", d->n);
	if (a->paired && d->n < 2)
		return n2d_usage("bleu", "--paired-bs: expected two systems or more");
	return 0;
}

static void warn(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a)
{
	enum { SUSPICIOUS = 100 };
	for (size_t i = 0; i < d->n && !a->quiet && a->c.rules.kind != N2D_TOKENIZE_NONE; i++)
		if (d->system[i].spaced >= SUSPICIOUS)
			fprintf(stderr,
				"n2d bleu: warning: %zu hypotheses of %s end in \" .\" and may be tokenized already: then give -tok none, or restore them\n",
				d->system[i].spaced, d->system[i].name ? d->system[i].name : "standard input");
}

static int test_and_print(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a)
{
	struct n2d_bleu_test *tests = NULL;
	struct n2d_bleu_rows *rows = NULL;
	int code = N2D_EXIT_OK;
	if (a->confidence || a->paired) {
		struct n2d_ctx ctx;
		if (n2d_ctx_init(&ctx, NULL, 0))
			return n2d_usage("bleu", "%s", n2d_error_text());
		tests = calloc(d->n, sizeof *tests);
		rows = calloc(d->n, sizeof *rows);
		for (size_t i = 0; rows && i < d->n; i++)
			rows[i] = d->system[i].rows;
		if (!tests || !rows)
			code = n2d_usage("bleu", "no memory for %zu systems", d->n);
		else if (n2d_bleu_resample(&ctx, tests, &a->c, rows, d->n, a->paired ? a->paired_n : a->confidence_n, a->seed))
			code = n2d_usage("bleu", "%s", n2d_error_text());
		n2d_ctx_free(&ctx);
	}
	if (code == N2D_EXIT_OK)
		code = n2d_bleu_print(d, a, tests);
	free(tests);
	free(rows);
	return code;
}

static int run(const struct n2d_bleu_args *a)
{
	struct n2d_bleu_data d;
	int code;
	if (n2d_bleu_read(&d, a))
		code = n2d_usage("bleu", "%s", n2d_error_text());
	else if (!(code = check_systems(&d, a))) {
		warn(&d, a);
		code = test_and_print(&d, a);
	}
	n2d_bleu_data_free(&d);
	return code;
}

int n2d_cmd_bleu(int argc, char **argv)
{
	struct n2d_bleu_args a = {.c = n2d_bleu_defaults(), .orders = 4, .columns = 1, .width = 1, .confidence_n = 1000, .paired_n = 1000,
				  .seed = 12345};
	const char **files = calloc(2 * (size_t)argc, sizeof *files);
	if (!files)
		return n2d_usage("bleu", "no memory");
	a.refs = files;
	a.inputs = files + argc;
	int code = parse(&a, argc, argv);
	if (!code)
		code = settle(&a);
	if (!code)
		code = run(&a);
	free(files);
	return code < 0 ? N2D_EXIT_OK : code;
}
