/* n2d attention: the attention weights of one sentence pair, as pictures and as a table. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "decode/bundle.h"
#include "decode/maps.h"
#include "decode/maps_draw.h"
#include "decode/translate.h"
#include "text/utf8.h"

enum { LINES, HEAT, CSV, OUTPUTS };
enum { LAST_LAYER = 0, ALL = -1 };

struct args {
	const char *model, *vocab, *isa, *heads, *word, *text[N2D_SIDES], *out[OUTPUTS];
	long threads, layer, beam;
	int kind, ids;
};

static void help(void)
{
	printf("usage: n2d attention -m MODEL (--lines FILE | --heat FILE | --csv FILE)... [options] SOURCE [TARGET]\n\n"
	       "Shows how much each token of a sentence attends to each other: the weights of every head, as pictures (SVG) and as a table.\n"
	       "SOURCE and TARGET are sentences, an argument each, in the words that the model was trained on; TARGET is the translation unless\n"
	       "it is given. The decoder's tokens are its input, <s> and the target's: at each of them it says the next.\n\n"
	       "  -m, --model FILE      a model's safetensors file\n"
	       "  --lines FILE          queries on the left, keys on the right, lines between them, a colour a head (the paper's figures 3 to 5)\n"
	       "  --heat FILE           a matrix a head, all on one page: a row a query, a column a key\n"
	       "  --csv FILE            the weights; - is standard output\n"
	       "  --kind NAME           encoder, decoder (self-attention), cross (decoder over the source) or all (cross)\n"
	       "  --layer N             from 1 on, last or all (last)\n"
	       "  --heads LIST          as 1,4-6 (all)\n"
	       "  --word TOKEN          only what this token, as it is written in the pictures, attends to\n"
	       "  --beam N              of the translation (4)\n"
	       "  --vocab FILE          a vocabulary in place of the model's own\n"
	       "  --ids                 words are integers from 0 on\n"
	       "  --threads N           (all processors)\n"
	       "  --isa NAME            instruction set (the best)\n");
}

static int kind(struct args *a)
{
	static const char *const names[] = {"encoder", "decoder", "cross", "all"};
	for (int i = 0; i < 4; i++)
		if (strcmp(optarg, names[i]) == 0) {
			a->kind = i < 3 ? i : ALL;
			return 0;
		}
	return n2d_usage("attention", "--kind: '%s' must be encoder, decoder, cross or all", optarg);
}

static int number(long *to, const char *option, long max)
{
	*to = n2d_number("attention", option, optarg, 1, max);
	return *to < 0 ? N2D_EXIT_USAGE : 0;
}

static int layer(struct args *a)
{
	if (strcmp(optarg, "all") != 0 && strcmp(optarg, "last") != 0)
		return number(&a->layer, "--layer", 1000000);
	a->layer = *optarg == 'a' ? ALL : LAST_LAYER;
	return 0;
}

static int option(struct args *a, int c, char **argv)
{
	switch (c) {
	case 'm': a->model = optarg; return 0;
	case 'l': a->out[LINES] = optarg; return 0;
	case 'e': a->out[HEAT] = optarg; return 0;
	case 'c': a->out[CSV] = optarg; return 0;
	case 'k': return kind(a);
	case 'y': return layer(a);
	case 'd': a->heads = optarg; return 0;
	case 'w': a->word = optarg; return 0;
	case 'b': return number(&a->beam, "--beam", 10000);
	case 'v': a->vocab = optarg; return 0;
	case 'i': a->ids = 1; return 0;
	case 'p': return number(&a->threads, "--threads", N2D_THREADS_MOST);
	case 'x': a->isa = optarg; return 0;
	default: return n2d_bad_option(argv, c);
	}
}

/* ---- the pair */

struct session {
	const struct args *a;
	struct n2d_ctx ctx;
	struct n2d_bundle bundle;
	struct n2d_corpus corpus;
	int32_t *target; /* with its end */
	size_t T;
	struct n2d_maps maps;
	/* what is shown */
	const struct n2d_attention_map **map;
	const char **token[N2D_SIDES];
	unsigned char *head;
	size_t H;
};

static int check_text(const char *text, const char *side)
{
	size_t n = strlen(text), good = n2d_utf8_valid(text, n);
	if (good < n)
		return n2d_error("%s: byte %zu (0x%02x) is no UTF-8", side, good + 1, (unsigned)(unsigned char)text[good]);
	return strchr(text, '\n') ? n2d_error("%s: one line is expected, not several", side) : 0;
}

static int check_length(const struct args *a, size_t tokens)
{
	if (!(a->out[LINES] || a->out[HEAT]) || tokens <= N2D_MAP_TOKENS)
		return 0;
	return n2d_error("a sentence of %zu tokens: a picture shows at most %d (--csv alone takes any number)", tokens, N2D_MAP_TOKENS);
}

/* Source, and target if it was given, as ids. */
static int read_pair(struct session *s)
{
	const struct args *a = s->a;
	const char *const *text = a->text;
	struct n2d_coder source = n2d_bundle_coder(&s->bundle, N2D_SOURCE), target = n2d_bundle_coder(&s->bundle, N2D_TARGET);
	const size_t bytes[N2D_SIDES] = {strlen(text[0]), text[1] ? strlen(text[1]) : 0};
	if (check_text(text[0], "SOURCE") || (text[1] && check_text(text[1], "TARGET")))
		return -1;
	if (n2d_corpus_init(&s->corpus, &source, text[1] ? &target : NULL, 0) || n2d_corpus_add(&s->corpus, text, bytes))
		return -1;
	const struct n2d_config *c = &s->bundle.model.c;
	for (int side = 0; side < N2D_SIDES && text[side] && c->positions == N2D_POSITIONS_LEARNED; side++)
		if (n2d_corpus_length(&s->corpus, side, 0) > c->max_length)
			return n2d_error("%s: %zu tokens: the model's learned positions end after %zu and the end", side ? "TARGET" : "SOURCE",
					 n2d_corpus_length(&s->corpus, side, 0) - 1, c->max_length - 1);
	return check_length(a, s->corpus.longest[N2D_SOURCE]);
}

static int translate(struct session *s, struct n2d_translation *t)
{
	struct n2d_translate_options o = n2d_translate_defaults();
	o.beam.beam = s->a->beam ? (size_t)s->a->beam : o.beam.beam;
	return n2d_translate(t, &s->ctx, &s->bundle.model, &s->corpus, &o);
}

/* s->target: the one given, or the translation. */
static int find_target(struct session *s)
{
	struct n2d_translation t = {0};
	int given = s->a->text[N2D_TARGET] != NULL;
	/* Translating a long sentence takes minutes: what cannot fit even with a translation of its own length is refused before. */
	size_t S = n2d_corpus_length(&s->corpus, N2D_SOURCE, 0);
	if (!given && (n2d_maps_fit(&s->ctx, &s->bundle.model, S, S) || translate(s, &t)))
		return -1;
	const int32_t *words = given ? s->corpus.id[N2D_TARGET] : t.best[0].word;
	size_t n = given ? n2d_corpus_length(&s->corpus, N2D_TARGET, 0) - 1 : t.best[0].length;
	s->T = n + 1;
	s->target = calloc(n + 1, sizeof *s->target);
	if (s->target) {
		if (n)
			memcpy(s->target, words, n * sizeof *words);
		s->target[n] = N2D_ID_END;
	}
	n2d_translations_free(&t, 1);
	return s->target ? check_length(s->a, n + 1) : n2d_error("no memory for a target of %zu words", n);
}

/* ---- what is shown of it */

static const char **tokens(const struct n2d_vocab *v, const int32_t *id, size_t n)
{
	const char **token = calloc(n + 1, sizeof *token);
	for (size_t i = 0; token && i < n; i++)
		token[i] = n2d_vocab_token(v, id[i], NULL);
	return token;
}

/* "1,4-6" */
static int choose_heads(struct session *s, const char *list)
{
	memset(s->head, !list, s->H);
	for (const char *at = list; at; at = *at ? at + 1 : NULL) {
		char *end;
		long first = strtol(at, &end, 10), last = first;
		int bad = end == at;
		if (*end == '-') {
			at = end + 1;
			last = strtol(at, &end, 10);
			bad = bad || end == at;
		}
		if (bad || first < 1 || last < first || last > (long)s->H || (*end && *end != ','))
			return n2d_error("--heads: '%s' is no list of heads from 1 to %zu, as 1,4-6", list, s->H);
		memset(s->head + first - 1, 1, (size_t)(last - first + 1));
		at = end;
	}
	return 0;
}

/* The maps of the kinds and layers that were asked for; their number, 0 and a message. */
static size_t choose_maps(struct session *s)
{
	const struct args *a = s->a;
	size_t n = 0, layers = 0;
	for (size_t i = 0; i < s->maps.n; i++) {
		const struct n2d_attention_map *m = &s->maps.map[i];
		size_t wanted = a->layer == LAST_LAYER ? m->layers : (size_t)a->layer;
		if (a->kind != ALL && a->kind != (int)m->kind)
			continue;
		layers = m->layers > layers ? m->layers : layers;
		if (a->layer == ALL || m->layer + 1 == wanted)
			s->map[n++] = m;
	}
	if (!n && layers)
		n2d_error("--layer %ld: there are %zu layers", a->layer, layers);
	else if (!n)
		n2d_error("--kind: this model has no attention of this kind");
	return n;
}

/* There must be some query to show. */
static int check_view(const struct n2d_map_view *v)
{
	size_t queries = 0;
	for (size_t i = 0; i < v->n; i++)
		queries += n2d_map_queries(v, v->map[i]);
	return queries ? 0 : n2d_error("--word: '%s' is none of the tokens that attend here", v->word);
}

static int write_one(const struct n2d_map_view *v, const char *path, void (*draw)(struct n2d_out *, const struct n2d_map_view *))
{
	struct n2d_out out;
	if (!path)
		return 0;
	if (n2d_out_open(&out, path))
		return -1;
	draw(&out, v);
	return n2d_out_commit(&out);
}

static int view(struct session *s, struct n2d_map_view *v)
{
	size_t S = n2d_corpus_length(&s->corpus, N2D_SOURCE, 0);
	s->H = s->bundle.model.c.heads;
	s->map = calloc(s->maps.n + 1, sizeof *s->map);
	s->head = calloc(s->H, 1);
	s->token[N2D_SOURCE] = tokens(n2d_bundle_vocab(&s->bundle, N2D_SOURCE), s->corpus.id[N2D_SOURCE], S);
	s->token[N2D_TARGET] = tokens(n2d_bundle_vocab(&s->bundle, N2D_TARGET), s->maps.in, s->T);
	if (!s->map || !s->head || !s->token[N2D_SOURCE] || !s->token[N2D_TARGET])
		return n2d_error("no memory for the tokens");
	size_t n = choose_maps(s);
	*v = (struct n2d_map_view){s->map, n, s->token[N2D_SOURCE], s->token[N2D_TARGET], s->head, s->a->word};
	return !n || choose_heads(s, s->a->heads) || check_view(v) ? -1 : 0;
}

static int failed(void)
{
	fprintf(stderr, "n2d attention: %s\n", n2d_error_text());
	return N2D_EXIT_FAILED;
}

static int show(struct session *s)
{
	struct n2d_map_view v;
	if (read_pair(s))
		return n2d_usage("attention", "%s", n2d_error_text());
	if (find_target(s) || n2d_maps_make(&s->maps, &s->ctx, &s->bundle.model, s->corpus.id[N2D_SOURCE],
					    n2d_corpus_length(&s->corpus, N2D_SOURCE, 0), s->target, s->T))
		return failed();
	if (view(s, &v))
		return n2d_usage("attention", "%s", n2d_error_text());
	size_t unknown = s->corpus.unknown[N2D_SOURCE] + s->corpus.unknown[N2D_TARGET];
	if (unknown)
		fprintf(stderr, "unknown words, shown as <unk>: %zu\n", unknown);
	int bad = write_one(&v, s->a->out[LINES], n2d_maps_lines) || write_one(&v, s->a->out[HEAT], n2d_maps_heat) ||
		  write_one(&v, s->a->out[CSV], n2d_maps_csv);
	return bad ? failed() : N2D_EXIT_OK;
}

static int run(const struct args *a)
{
	struct session s = {.a = a};
	int code;
	if (n2d_ctx_init(&s.ctx, a->isa, (int)a->threads))
		return n2d_usage("attention", "%s", n2d_error_text());
	if (n2d_bundle_open(&s.bundle, &s.ctx, a->model, a->vocab, a->ids))
		code = n2d_usage("attention", "%s", n2d_error_text());
	else {
		code = show(&s);
		n2d_maps_free(&s.maps);
		n2d_corpus_free(&s.corpus);
		n2d_bundle_close(&s.bundle);
	}
	free(s.target);
	free(s.map);
	free(s.head);
	free(s.token[N2D_SOURCE]);
	free(s.token[N2D_TARGET]);
	n2d_ctx_free(&s.ctx);
	return code;
}

static int check(const struct args *a, int argc, char **argv)
{
	if (optind + 2 < argc)
		return n2d_usage("attention", "unexpected argument '%s': SOURCE and TARGET are one argument each, in quotes", argv[optind + 2]);
	if (!a->model)
		return n2d_usage("attention", "-m MODEL must be given; see n2d attention --help");
	if (optind == argc)
		return n2d_usage("attention", "a sentence must be given; see n2d attention --help");
	if (!a->out[LINES] && !a->out[HEAT] && !a->out[CSV])
		return n2d_usage("attention", "--lines, --heat or --csv must be given: what to write; see n2d attention --help");
	for (size_t i = 0; i < OUTPUTS; i++)
		for (size_t k = 0; k < i; k++)
			if (a->out[i] && a->out[k] && strcmp(a->out[i], a->out[k]) == 0)
				return n2d_usage("attention", "%s: two outputs into one file", a->out[i]);
	int code = 0;
	for (size_t i = 0; i < OUTPUTS && !code; i++)
		code = n2d_check_output("attention", a->out[i]);
	return code;
}

int n2d_cmd_attention(int argc, char **argv)
{
	static const struct option longs[] = {
		{"model", 1, 0, 'm'}, {"lines", 1, 0, 'l'}, {"heat", 1, 0, 'e'}, {"csv", 1, 0, 'c'}, {"kind", 1, 0, 'k'}, {"layer", 1, 0, 'y'},
		{"heads", 1, 0, 'd'}, {"word", 1, 0, 'w'}, {"beam", 1, 0, 'b'}, {"vocab", 1, 0, 'v'}, {"ids", 0, 0, 'i'}, {"threads", 1, 0, 'p'},
		{"isa", 1, 0, 'x'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct args a = {.kind = N2D_MAP_CROSS, .layer = LAST_LAYER};
	int code = 0;
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":hm:", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return N2D_EXIT_OK;
		}
		code = option(&a, c, argv);
	}
	if (!code)
		code = check(&a, argc, argv);
	if (code)
		return code;
	a.text[N2D_SOURCE] = argv[optind];
	a.text[N2D_TARGET] = optind + 1 < argc ? argv[optind + 1] : NULL;
	return run(&a);
}
