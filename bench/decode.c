/* n2d-bench decode: translation of whole batches, with caches and without. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/csv.h"
#include "bench/decode_case.h"

static const char usage[] =
	"usage: n2d-bench decode [options] [ID...]\n\n"
	"Times translation: encoder, then beam search over the decoder, with caches of keys and values and without (then the decoder runs\n"
	"over all words so far for each next word; the encoder runs once). The two must first make the same choices for 16 sentences.\n\n"
	"  --preset NAME     tiny or base, with random weights, vocabulary 10,000 and random sources of 13 to 16 tokens (default tiny)\n"
	"  --model FILE      a trained model; sources are the lines of --src FILE\n"
	"  --sentences N     so many sources (default 64; of --src all)\n"
	"  --words N         words of each translation (default 16; of a trained model as many as it says)\n"
	"  --batch-tokens N  padded source tokens a batch (default 2048, as n2d translate)\n"
	"  --beam LIST       hypotheses a sentence; 1: greedy (default 1,5)\n"
	"  --cache LIST      yes, no (default: both)\n"
	"  --isa LIST        instruction sets (default: the widest)\n"
	"  --threads LIST    default: 1 and all\n"
	"  --samples N       clean samples of each (default 10)\n"
	"  --profile         a table of each by operator; with --csv FILE.csv also in FILE-profile.csv\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, ...\n"
	"  --help\n\n"
	"Per cent are of the multiply-add peak of the same run; what the operators read and write at least is given beside it, most of it in\n"
	"caches. All times are wall-clock times.\n";

static struct {
	struct common_options common;
	struct size_list beam;
	const char *preset, *model, *source, *cache;
	size_t sentences, words, batch_tokens;
} opt;

static int is_cache(const char *name) { return strcmp(name, "yes") == 0 || strcmp(name, "no") == 0; }

static int preset(const char *name)
{
	opt.preset = name;
	return strcmp(name, "tiny") == 0 || strcmp(name, "base") == 0 ? 0 : n2d_error("--preset: '%s', expected tiny or base", name);
}

static int option(int c, char **argv)
{
	switch (c) {
	case 0: return 0;
	case 'p': return preset(optarg);
	case 'm': opt.model = optarg; return 0;
	case 'S': opt.source = optarg; return 0;
	case 'n': return parse_number(&opt.sentences, "--sentences", optarg, 1, 1000000);
	case 'w': return parse_number(&opt.words, "--words", optarg, 1, 100000);
	case 'T': return parse_number(&opt.batch_tokens, "--batch-tokens", optarg, 1, (size_t)1 << 40);
	case 'b': return parse_sizes(&opt.beam, "--beam", optarg);
	case 'C': return check_list("--cache", opt.cache = optarg, is_cache);
	default: return common_option(&opt.common, c, argv);
	}
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		MODEL_OPTIONS, {"preset", 1, 0, 'p'}, {"model", 1, 0, 'm'}, {"src", 1, 0, 'S'}, {"sentences", 1, 0, 'n'}, {"words", 1, 0, 'w'},
		{"batch-tokens", 1, 0, 'T'}, {"beam", 1, 0, 'b'}, {"cache", 1, 0, 'C'}, {0, 0, 0, 0},
	};
	int bad = 0;
	common_defaults(&opt.common);
	opt.preset = "tiny";
	opt.cache = "yes,no";
	opt.beam = (struct size_list){2, {1, 5}};
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		bad = option(c, argv);
	if (!bad && !opt.model != !opt.source)
		return n2d_error("--model and --src belong together");
	return bad;
}

/* ---- cases: one group */

enum { ISAS = 16 };

/* The subject of an instruction set, whose weights all its cases share. NULL and a message. */
static struct decode_subject *subject(const struct n2d_ctx *ctx)
{
	static struct decode_subject all[ISAS];
	size_t i = 0;
	while (i < ISAS - 1 && all[i].k && all[i].k != ctx->k)
		i++;
	if (all[i].k == ctx->k)
		return &all[i];
	int bad = opt.model ? decode_subject_read(&all[i], ctx, opt.model, opt.source, opt.sentences ? opt.sentences : SIZE_MAX)
			    : decode_subject_make(&all[i], ctx, opt.preset, opt.sentences ? opt.sentences : 64);
	return bad ? NULL : &all[i];
}

static int collect(struct model_case **c, const struct n2d_ctx *ctx, int contexts)
{
	static struct decode_case cases[MODEL_CASES];
	struct n2d_translate_options o = n2d_translate_defaults();
	int n = 0;
	o.words = opt.words || opt.model ? opt.words : 16;
	o.batch_tokens = opt.batch_tokens ? opt.batch_tokens : o.batch_tokens;
	for (int i = 0; i < contexts; i++) {
		struct decode_subject *s = subject(ctx + i);
		if (!s)
			return -1;
		for (size_t b = 0; b < opt.beam.n; b++)
			for (o.whole = 0; o.whole < 2; o.whole++) {
				o.beam.beam = opt.beam.v[b];
				if (!in_list(opt.cache, o.whole ? "no" : "yes"))
					continue;
				if (n == MODEL_CASES)
					return n2d_error("--isa, --threads, --beam, --cache: expected at most %d cases together", MODEL_CASES);
				decode_case_init(&cases[n++], ctx + i, s, &o);
			}
	}
	for (int i = 0; i < n; i++)
		c[i] = &cases[i].m;
	return n;
}

/* ---- reports */

static void describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user)
{
	const struct decode_case *d = c->arg;
	double t = c->sample[sample].seconds;
	(void)user;
	gbench_counter(s, "sentences/s", (double)d->subject->corpus.pairs / t);
	gbench_counter(s, "words/s", d->words / t);
	gbench_counter(s, "GFLOP/s", d->m.flops / t / 1e9);
}

static void row(const struct bench_case *c, size_t sample, void *csv)
{
	const struct decode_case *d = c->arg;
	const struct sample *s = c->sample + sample;
	const struct n2d_translate_options *o = &d->translator.o;
	csv_row(csv, "\"%s\",%s,%d,%s,%zu,%s,%zu,%zu,%.9g,%d,%zu,%.17g,%.17g,%.17g,%.9g", c->id, c->ctx->k->isa, d->m.threads, d->subject->name,
		o->beam.beam, o->whole ? "no" : "yes", sample, s->calls, s->seconds, s->clean, d->subject->corpus.pairs, d->words, d->m.flops,
		d->bytes, d->m.peak_flops);
}

/* Seconds without caches of what c does with them; NAN: not measured, or c has none. */
static double without(struct model_case *const *c, size_t n, size_t i)
{
	const struct decode_case *a = c[i]->c.arg;
	for (size_t j = 0; j < n && !a->translator.o.whole; j++) {
		const struct decode_case *b = c[j]->c.arg;
		if (b->translator.o.whole && b->translator.o.beam.beam == a->translator.o.beam.beam && c[j]->c.ctx == c[i]->c.ctx)
			return c[j]->c.samples ? sample_median(&c[j]->c, -1) : NAN;
	}
	return NAN;
}

static void print(struct model_case *const *c, size_t n)
{
	printf("\n%-56s %9s %12s %9s %9s %7s %7s %9s\n", "decoding", "ms", "sentences/s", "words/s", "GFLOP/s", "% peak", "GB/s", "no cache");
	for (size_t i = 0; i < n; i++) {
		const struct decode_case *d = c[i]->c.arg;
		if (!c[i]->c.samples)
			continue;
		double s = sample_median(&c[i]->c, -1), other = without(c, n, i), rate = c[i]->flops / s;
		printf("%-56s %9.1f %12.1f %9.0f %9.1f %7.1f %7.1f", c[i]->c.id, 1e3 * s, (double)d->subject->corpus.pairs / s, d->words / s, rate / 1e9,
		       100 * rate / c[i]->peak_flops, d->bytes / s / 1e9);
		if (!isnan(other))
			printf(" %8.2fx", other / s);
		puts(sample_mark(&c[i]->c, c[i]->peak_disturbed));
	}
}

int bench_decode(int argc, char **argv)
{
	static const struct model_command decode = {
		.command = {"decode", usage, parse, &opt.common}, .schema = "decode/1",
		.columns = "id,isa,threads,model,beam,cache,sample,calls,seconds,clean,sentences,words,flops,bytes,peak_flops", .collect = collect,
		.describe = describe, .row = row, .print = print, .profile_calls = 1,
	};
	return model_command(&decode, argc, argv);
}
