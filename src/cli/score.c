/* n2d score: log-probabilities of given translations. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "cli/cli.h"
#include "decode/bundle.h"
#include "decode/score.h"
#include "model/model_file.h"

struct args {
	const char *model, *src, *trg, *vocab, *grad, *isa;
	long threads, batch, longest;
	int ids, tokens;
};

enum { LONGEST = 4096 };

static void help(void)
{
	printf("usage: n2d score -m MODEL --src FILE --trg FILE [options]\n\n"
	       "Prints for each pair the log-probability (nats) of the target given the source, its end among them, one a line; and on standard\n"
	       "error tokens, perplexity and accuracy of all together.\n\n"
	       "  -m, --model FILE      a model's safetensors file\n"
	       "  --src FILE, --trg FILE  line i of one and of the other; - is standard input\n"
	       "  --tokens              each token's log-probability in place of their sum, divided by spaces, the end's last\n"
	       "  --grad FILE           writes the gradients of the loss (with the model's label smoothing, without dropout), summed over all\n"
	       "                        tokens, as safetensors, named and shaped as the parameters\n"
	       "  --vocab FILE          a vocabulary in place of the model's own\n"
	       "  --ids                 words are integers from 0 on\n"
	       "  --max-length N        a line of more tokens is an error (4096)\n"
	       "  --batch-tokens N      padded tokens a batch (4096); changes no result\n"
	       "  --threads N           (all processors)\n"
	       "  --isa NAME            instruction set (the best)\n");
}

static int number(long *to, const char *option, long max)
{
	*to = n2d_number("score", option, optarg, 1, max);
	return *to < 0 ? N2D_EXIT_USAGE : 0;
}

static int option(struct args *a, int c, char **argv)
{
	switch (c) {
	case 'm': a->model = optarg; return 0;
	case 's': a->src = optarg; return 0;
	case 't': a->trg = optarg; return 0;
	case 'v': a->vocab = optarg; return 0;
	case 'g': a->grad = optarg; return 0;
	case 'x': a->isa = optarg; return 0;
	case 'i': a->ids = 1; return 0;
	case 'k': a->tokens = 1; return 0;
	case 'b': return number(&a->batch, "--batch-tokens", 1L << 40);
	case 'l': return number(&a->longest, "--max-length", 0x7ffffffe);
	case 'p': return number(&a->threads, "--threads", N2D_THREADS_MOST);
	default: return n2d_bad_option(argv, c);
	}
}

static int failed(void)
{
	fprintf(stderr, "n2d score: %s\n", n2d_error_text());
	return N2D_EXIT_FAILED;
}

static void print(const struct args *a, const struct n2d_corpus *c, const struct n2d_scores *s)
{
	for (size_t i = 0; i < c->pairs; i++) {
		size_t first = c->start[N2D_TARGET][i], end = c->start[N2D_TARGET][i + 1];
		if (!a->tokens)
			printf("%.6f\n", s->total[i]);
		for (size_t j = first; a->tokens && j < end; j++)
			printf("%.6f%c", (double)s->token[j], j + 1 < end ? ' ' : '\n');
	}
	double tokens = (double)s->sum.tokens;
	fprintf(stderr, "%zu pair%s, %zu tokens, nll %.6f a token, perplexity %.4f, accuracy %.2f %%\n", c->pairs, n2d_plural(c->pairs), s->sum.tokens,
		s->sum.nll / tokens, exp(s->sum.nll / tokens), 100 * (double)s->sum.right / tokens);
	if (c->unknown[N2D_SOURCE] + c->unknown[N2D_TARGET])
		fprintf(stderr, "unknown words: %zu + %zu, in %zu of %zu pair%s\n", c->unknown[N2D_SOURCE], c->unknown[N2D_TARGET], c->with_unknown,
			c->pairs, n2d_plural(c->pairs));
}

/* A damaged model, or one whose training diverged, must not look like a score. */
static int check_scores(const struct args *a, const struct n2d_corpus *c, const struct n2d_scores *s)
{
	for (size_t i = 0; i < c->pairs; i++)
		if (!isfinite(s->total[i]))
			return n2d_error("%s: gives line %zu of %s a log-probability of %g", a->model, i + 1, a->trg, s->total[i]);
	return 0;
}

static int score(const struct args *a, const struct n2d_ctx *ctx, const struct n2d_bundle *b, const struct n2d_corpus *c)
{
	struct n2d_scores s;
	const struct n2d_transformer *m = &b->model;
	float *grads = a->grad ? calloc(m->p.floats, sizeof *grads) : NULL;
	if (a->grad && !grads) {
		n2d_error("no memory for %zu gradients", m->p.floats);
		return failed();
	}
	int bad = n2d_score(&s, ctx, m, c, a->batch ? (size_t)a->batch : 4096, grads);
	if (!bad) {
		if (!(bad = check_scores(a, c, &s))) {
			print(a, c, &s);
			bad = a->grad && n2d_model_save(a->grad, &m->c, &m->p, grads, NULL, 0);
		}
		n2d_scores_free(&s);
	}
	free(grads);
	return bad ? failed() : N2D_EXIT_OK;
}

/* Time grows with the square of a line's length: one that is no sentence would take hours. And a learned table of positions ends. */
static int check_lengths(const struct args *a, const struct n2d_config *m, const struct n2d_corpus *c, const char *const path[N2D_SIDES])
{
	if (n2d_corpus_check(c, path, a->longest ? (size_t)a->longest : LONGEST, "--max-length"))
		return -1;
	return m->positions == N2D_POSITIONS_LEARNED ? n2d_corpus_check(c, path, m->max_length - 1, "the model's learned positions less the end") : 0;
}

static int with_corpus(const struct args *a, const struct n2d_ctx *ctx, struct n2d_bundle *b)
{
	struct n2d_corpus c;
	struct n2d_coder source = n2d_bundle_coder(b, N2D_SOURCE), target = n2d_bundle_coder(b, N2D_TARGET);
	const char *const path[N2D_SIDES] = {a->src, a->trg};
	if (n2d_corpus_init(&c, &source, &target, 0))
		return failed();
	int code = n2d_corpus_read(&c, path) || check_lengths(a, &b->model.c, &c, path) ? n2d_usage("score", "%s", n2d_error_text()) : score(a, ctx, b, &c);
	n2d_corpus_free(&c);
	return code;
}

static int run(const struct args *a)
{
	struct n2d_ctx ctx;
	struct n2d_bundle b;
	if (!a->model || !a->src || !a->trg)
		return n2d_usage("score", "-m MODEL, --src FILE and --trg FILE must be given; see n2d score --help");
	if (n2d_check_output("score", a->grad))
		return N2D_EXIT_USAGE;
	if (n2d_ctx_init(&ctx, a->isa, (int)a->threads))
		return n2d_usage("score", "%s", n2d_error_text());
	int code;
	if (n2d_bundle_open(&b, &ctx, a->model, a->vocab, a->ids))
		code = n2d_usage("score", "%s", n2d_error_text());
	else {
		code = with_corpus(a, &ctx, &b);
		n2d_bundle_close(&b);
	}
	n2d_ctx_free(&ctx);
	return code;
}

int n2d_cmd_score(int argc, char **argv)
{
	static const struct option longs[] = {
		{"model", 1, 0, 'm'}, {"src", 1, 0, 's'}, {"trg", 1, 0, 't'}, {"tokens", 0, 0, 'k'}, {"grad", 1, 0, 'g'}, {"vocab", 1, 0, 'v'},
		{"ids", 0, 0, 'i'}, {"max-length", 1, 0, 'l'}, {"batch-tokens", 1, 0, 'b'}, {"threads", 1, 0, 'p'}, {"isa", 1, 0, 'x'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct args a = {0};
	int code = 0;
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":hm:", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return N2D_EXIT_OK;
		}
		code = option(&a, c, argv);
	}
	if (!code && optind < argc)
		return n2d_usage("score", "unexpected argument '%s'; see n2d score --help", argv[optind]);
	return code ? code : run(&a);
}
