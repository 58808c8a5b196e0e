/* n2d translate: beam search from lines to lines. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/cli.h"
#include "decode/bundle.h"
#include "decode/translate.h"
#include "text/lines.h"

struct args {
	const char *model, *input, *vocab, *isa;
	long threads, buffer, nbest, longest;
	struct n2d_translate_options o;
	int ids, scores, quiet, interactive;
};

enum { BUFFER = 2000, LONGEST = 4096 };

static void help(void)
{
	printf("usage: n2d translate -m MODEL [options] <SOURCE >TRANSLATION\n\n"
	       "Translates each line; line i of the output belongs to line i of the input. An empty line gives an empty line.\n"
	       "Words that the vocabulary does not have are read as <unk>; at the end standard error says how many there were.\n\n"
	       "  -m, --model FILE      a model's safetensors file\n"
	       "  -i, --input FILE      read from FILE, plain or gzip (standard input)\n"
	       "  --beam N              hypotheses that go on at a time; 1: greedy (4)\n"
	       "  --penalty NAME        what a finished hypothesis is scored by: paper, log P / ((5 + |Y|) / 6)^alpha, or length, log P / |Y|;\n"
	       "                        |Y| counts the end (paper)\n"
	       "  --alpha X             of penalty paper (0.6)\n"
	       "  --max-len N           a translation has at most N words more than its source (50)\n"
	       "  --max-source N        a line of more tokens is an error (4096)\n"
	       "  --nbest N             the N best, N <= beam, a line each: LINE ||| TRANSLATION ||| SCORE, lines counted from 0\n"
	       "  --scores              the score before each translation, and a tab\n"
	       "  --interactive         translate each line as it comes\n"
	       "  --buffer N            lines read before they are translated together (2000); changes no result\n"
	       "  --batch-tokens N      padded source tokens at a time (2048); changes no result\n"
	       "  --vocab FILE          a vocabulary in place of the model's own\n"
	       "  --ids                 words are integers from 0 on\n"
	       "  --threads N           (all processors)\n"
	       "  --isa NAME            instruction set (the best)\n"
	       "  -q, --quiet           no progress on standard error\n");
}

static int number(size_t *to, const char *option, long min, long max)
{
	long n = n2d_number("translate", option, optarg, min, max);
	*to = (size_t)n;
	return n < 0 ? N2D_EXIT_USAGE : 0;
}

static int real(double *to, const char *option)
{
	char *end;
	*to = strtod(optarg, &end);
	if (end == optarg || *end || !(*to >= 0 && *to <= 100))
		return n2d_usage("translate", "%s: '%s' is not a number from 0 to 100", option, optarg);
	return 0;
}

static int penalty(struct args *a)
{
	if (strcmp(optarg, "paper") == 0)
		a->o.beam.penalty = N2D_PENALTY_PAPER;
	else if (strcmp(optarg, "length") == 0)
		a->o.beam.penalty = N2D_PENALTY_LENGTH;
	else
		return n2d_usage("translate", "--penalty: '%s' must be paper or length", optarg);
	return 0;
}

static int option(struct args *a, int c, char **argv)
{
	size_t n = 0;
	int code = 0;
	switch (c) {
	case 'm': a->model = optarg; break;
	case 'i': a->input = optarg; break;
	case 'v': a->vocab = optarg; break;
	case 'x': a->isa = optarg; break;
	case 'I': a->ids = 1; break;
	case 's': a->scores = 1; break;
	case 'q': a->quiet = 1; break;
	case 't': a->interactive = 1; break;
	case 'P': return penalty(a);
	case 'a': return real(&a->o.beam.alpha, "--alpha");
	case 'b': return number(&a->o.beam.beam, "--beam", 1, 10000);
	case 'e': return number(&a->o.extra, "--max-len", 0, 1000000);
	case 'B': return number(&a->o.batch_tokens, "--batch-tokens", 1, 1L << 40);
	case 'n': code = number(&n, "--nbest", 1, 10000); a->nbest = (long)n; break;
	case 'M': code = number(&n, "--max-source", 1, 0x7ffffffe); a->longest = (long)n; break;
	case 'u': code = number(&n, "--buffer", 1, 1L << 30); a->buffer = (long)n; break;
	case 'p': code = number(&n, "--threads", 1, N2D_THREADS_MOST); a->threads = (long)n; break;
	default: return n2d_bad_option(argv, c);
	}
	return code;
}

/* ---- lines */

struct session {
	const struct args *a;
	struct n2d_ctx ctx;
	struct n2d_bundle bundle;
	struct n2d_corpus corpus;
	int learned; /* the model's positions end before --max-source */
	size_t done; /* lines written */
	size_t unknown, with_unknown; /* words that the vocabulary does not have, and the lines that have any */
	double start;
};

static int failed(void)
{
	fprintf(stderr, "n2d translate: %s\n", n2d_error_text());
	return N2D_EXIT_FAILED;
}

/* The words, pieces put together again. */
static void print_words(const struct session *s, const struct n2d_hypothesis *h)
{
	size_t bytes = 0;
	char *text = n2d_pieces_text(&s->bundle.pieces, &s->bundle.vocab, h->word, h->length, &bytes);
	if (!text)
		exit(failed());
	fwrite(text, 1, bytes, stdout);
	free(text);
}

static void print(const struct session *s, const struct n2d_translation *t)
{
	for (size_t i = 0; s->a->nbest && i < t->count; i++) {
		printf("%zu ||| ", s->done);
		print_words(s, &t->best[i]);
		printf(" ||| %.6f\n", t->best[i].score);
	}
	if (s->a->nbest)
		return;
	if (s->a->scores)
		printf("%.6f\t", t->best[0].score);
	print_words(s, &t->best[0]);
	printf("\n");
}

static void progress(const struct session *s)
{
	double t = n2d_now() - s->start;
	if (!s->a->quiet && !s->a->interactive)
		fprintf(stderr, "%zu line%s in %.1f s, %.1f a second\n", s->done, n2d_plural(s->done), t, (double)s->done / t);
}

/* What has been read, written out. */
static int flush(struct session *s)
{
	struct n2d_corpus *c = &s->corpus;
	if (!c->pairs)
		return 0;
	struct n2d_translation *t = calloc(c->pairs, sizeof *t);
	if (!t)
		return n2d_error("no memory for %zu translations", c->pairs);
	int bad = n2d_translate(t, &s->ctx, &s->bundle.model, c, &s->a->o);
	for (size_t i = 0; !bad && i < c->pairs; i++, s->done++)
		print(s, &t[i]);
	if (!bad) {
		s->unknown += c->unknown[N2D_SOURCE];
		s->with_unknown += c->with_unknown;
		n2d_translations_free(t, c->pairs);
		bad = fflush(stdout) || ferror(stdout) ? n2d_error("standard output: %s", strerror(errno)) : 0;
		progress(s);
	}
	n2d_corpus_clear(c);
	free(t);
	return bad;
}

/* The lines before it are translated first. */
static int bad_line(struct session *s)
{
	char why[512];
	snprintf(why, sizeof why, "%s", n2d_error_text());
	return flush(s) ? failed() : n2d_usage("translate", "%s", why);
}

static int all_lines(struct session *s, struct n2d_lines *l)
{
	size_t buffer = s->a->interactive ? 1 : s->a->buffer ? (size_t)s->a->buffer : BUFFER;
	size_t longest = s->corpus.max_length;
	int more;
	while ((more = n2d_lines_next(l)) > 0) {
		const char *const text[N2D_SIDES] = {l->text, NULL};
		const size_t bytes[N2D_SIDES] = {l->length, 0};
		size_t left_out = s->corpus.left_out;
		if (n2d_lines_utf8(l) || (n2d_corpus_add(&s->corpus, text, bytes) && n2d_lines_error(l, "%s", n2d_error_text())))
			return bad_line(s);
		if (s->corpus.left_out > left_out) {
			n2d_lines_error(l, "expected at most %zu tokens (%s)", longest, s->learned ? "the model's learned positions less the end" : "--max-source");
			return bad_line(s);
		}
		if (s->corpus.pairs == buffer && flush(s))
			return failed();
	}
	if (more < 0)
		return bad_line(s);
	return flush(s) ? failed() : N2D_EXIT_OK;
}

static int with_input(struct session *s)
{
	struct n2d_lines l;
	if (n2d_lines_open(&l, s->a->input ? s->a->input : "-"))
		return n2d_usage("translate", "%s", n2d_error_text());
	s->start = n2d_now();
	int code = all_lines(s, &l);
	if (s->unknown && !s->a->quiet)
		fprintf(stderr, "unknown words: %zu, in %zu of %zu line%s\n", s->unknown, s->with_unknown, s->done, n2d_plural(s->done));
	n2d_lines_close(&l);
	return code;
}

static int run(const struct args *a)
{
	struct session s = {.a = a};
	struct n2d_coder coder;
	int code;
	if (n2d_ctx_init(&s.ctx, a->isa, (int)a->threads))
		return n2d_usage("translate", "%s", n2d_error_text());
	if (n2d_bundle_open(&s.bundle, &s.ctx, a->model, a->vocab, a->ids)) {
		n2d_ctx_free(&s.ctx);
		return n2d_usage("translate", "%s", n2d_error_text());
	}
	coder = n2d_bundle_coder(&s.bundle, N2D_SOURCE);
	size_t longest = a->longest ? (size_t)a->longest : LONGEST;
	const struct n2d_config *c = &s.bundle.model.c;
	s.learned = c->positions == N2D_POSITIONS_LEARNED && c->max_length - 1 < longest;
	if (n2d_corpus_init(&s.corpus, &coder, NULL, !s.learned ? longest : c->max_length > 1 ? c->max_length - 1 : 1))
		code = failed();
	else {
		code = with_input(&s);
		n2d_corpus_free(&s.corpus);
	}
	n2d_bundle_close(&s.bundle);
	n2d_ctx_free(&s.ctx);
	return code;
}

int n2d_cmd_translate(int argc, char **argv)
{
	static const struct option longs[] = {
		{"model", 1, 0, 'm'}, {"input", 1, 0, 'i'}, {"beam", 1, 0, 'b'}, {"penalty", 1, 0, 'P'}, {"alpha", 1, 0, 'a'}, {"max-len", 1, 0, 'e'},
		{"nbest", 1, 0, 'n'}, {"max-source", 1, 0, 'M'}, {"scores", 0, 0, 's'}, {"interactive", 0, 0, 't'}, {"buffer", 1, 0, 'u'}, {"batch-tokens", 1, 0, 'B'},
		{"vocab", 1, 0, 'v'}, {"ids", 0, 0, 'I'}, {"threads", 1, 0, 'p'}, {"isa", 1, 0, 'x'}, {"quiet", 0, 0, 'q'}, {"help", 0, 0, 'h'},
		{0, 0, 0, 0},
	};
	struct args a = {.o = n2d_translate_defaults()};
	int code = 0;
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":hm:i:q", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return N2D_EXIT_OK;
		}
		code = option(&a, c, argv);
	}
	if (code)
		return code;
	if (optind < argc)
		return n2d_usage("translate", "unexpected argument '%s'; see n2d translate --help", argv[optind]);
	if (!a.model)
		return n2d_usage("translate", "-m MODEL must be given; see n2d translate --help");
	if (a.nbest > (long)a.o.beam.beam)
		return n2d_usage("translate", "--nbest %ld is more than --beam %zu", a.nbest, a.o.beam.beam);
	a.o.beam.nbest = a.nbest ? (size_t)a.nbest : 1;
	return run(&a);
}
