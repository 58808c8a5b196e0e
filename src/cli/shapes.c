/* n2d shapes: every tensor's shape through one forward pass, in the paper's notation. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/trace.h"
#include "cli/cli.h"
#include "cli/model_options.h"
#include "model/transformer.h"

/* A size and what the paper calls it, where: in the operators, or parts of a model, whose names have this in them (NULL: in all). */
struct symbol {
	size_t value;
	const char *name, *where;
};
enum { SYMBOLS = 24 };

struct view {
	struct symbol rows[SYMBOLS], widths[SYMBOLS];
	size_t nrows, nwidths;
	const char *where; /* printed last */
};

static void help(void)
{
	printf("usage: n2d shapes [--vocab N] [--preset NAME] [model options]\n\n"
	       "Runs one forward pass and prints the shape of what each operator reads and writes, in the paper's notation: B sentences of n source\n"
	       "and m target tokens. Layers of a stack are alike; the first is shown.\n\n"
	       "  --batch N                B (2)\n"
	       "  --src-length N           n (11)\n"
	       "  --trg-length N           m (7)\n\n"
	       "model options (default)\n");
	n2d_model_help(NULL);
}

static void symbol_in(struct symbol *s, size_t *n, size_t value, const char *name, const char *where)
{
	if (*n < SYMBOLS)
		s[(*n)++] = (struct symbol){value, name, where};
}

static void symbol(struct symbol *s, size_t *n, size_t value, const char *name) { symbol_in(s, n, value, name, NULL); }

static void name_sizes(struct view *v, const struct n2d_config *c, const struct n2d_shape *s)
{
	size_t h = c->heads, k = n2d_config_d_k(c), d_v = n2d_config_d_v(c), K = k > d_v ? k : d_v; /* layer/heads.h */
	int same = k == d_v;
	symbol(v->rows, &v->nrows, s->B * s->S, "B n");
	symbol(v->rows, &v->nrows, s->B * s->T, "B m");
	symbol(v->rows, &v->nrows, s->B * h * s->T, "B h m");
	symbol(v->rows, &v->nrows, s->B * h * s->S, "B h n");
	symbol(v->rows, &v->nrows, s->B, "B");
	symbol_in(v->widths, &v->nwidths, h * K, same ? "h d_k" : "h K", "attention_");
	symbol(v->widths, &v->nwidths, c->d_model, "d_model");
	symbol_in(v->widths, &v->nwidths, c->d_ff, "d_ff", "feed-forward");
	symbol_in(v->widths, &v->nwidths, 2 * c->d_ff, "2 d_ff", "feed-forward");
	symbol(v->widths, &v->nwidths, c->vocab, "V");
	symbol(v->widths, &v->nwidths, h * K, same ? "h d_k" : "h K");
	symbol(v->widths, &v->nwidths, 3 * h * K, same ? "3 h d_k" : "3 h K");
	symbol(v->widths, &v->nwidths, 2 * h * K, same ? "2 h d_k" : "2 h K");
	symbol(v->widths, &v->nwidths, k, "d_k");
	symbol(v->widths, &v->nwidths, d_v, "d_v");
	symbol(v->widths, &v->nwidths, 4 * c->d_model, "4 d_model");
	symbol(v->widths, &v->nwidths, 1, "1");
}

static void print_size(const struct symbol *s, size_t n, size_t value, const struct n2d_call *call)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].value == value && (!s[i].where || strstr(call->op, s[i].where) || (call->where && strstr(call->where, s[i].where)))) {
			printf("%s", s[i].name);
			return;
		}
	printf("%zu", value);
}

static void print_range(const struct view *v, const struct n2d_range *r, const struct n2d_call *call)
{
	printf(" [");
	print_size(v->rows, v->nrows, r->rows, call);
	printf(", ");
	print_size(v->widths, v->nwidths, r->width, call);
	printf("]");
}

/* One operator: what it reads whole rows of (weights, packed into one row, apart) and what it writes. */
static void see(struct n2d_trace *t, const struct n2d_call *call)
{
	struct view *v = t->user;
	const char *where = call->where ? call->where : "";
	if (!v->where || strcmp(where, v->where) != 0)
		printf("\n%s\n", where);
	v->where = where;
	printf("  %-16s", call->op);
	for (int i = 0; i < call->nranges; i++)
		if (!call->range[i].write && call->range[i].rows > 1)
			print_range(v, &call->range[i], call);
	printf(" ->");
	for (int i = 0; i < call->nranges; i++)
		if (call->range[i].write)
			print_range(v, &call->range[i], call);
	printf("   ");
	for (int i = 0; i < call->ndims; i++)
		printf(" %s=%zu", call->dim[i].name, call->dim[i].value);
	printf("\n");
}

/* ---- a batch of one word again and again */

struct batch {
	struct n2d_batch b;
	int32_t *block;
};

static int batch_init(struct batch *b, const struct n2d_shape *s)
{
	size_t n = s->B * s->S + 2 * s->B * s->T + 2 * s->B;
	int32_t *p = b->block = calloc(n, sizeof *p);
	if (!p)
		return n2d_error("no memory for a batch of %zu x (%zu + %zu) tokens", s->B, s->S, s->T);
	int32_t *in = p + s->B * s->S, *out = in + s->B * s->T, *slen = out + s->B * s->T, *tlen = slen + s->B;
	for (size_t i = 0; i < s->B; i++) {
		slen[i] = (int32_t)s->S;
		tlen[i] = (int32_t)s->T;
	}
	b->b = (struct n2d_batch){s->B, s->S, s->T, p, in, out, slen, tlen, s->B * s->S, s->B * s->T};
	return 0;
}

static void legend(const struct n2d_config *c)
{
	size_t d_k = n2d_config_d_k(c), d_v = n2d_config_d_v(c), K = d_k > d_v ? d_k : d_v;
	const char *wide = d_k == d_v ? "h d_k" : "h K", *spread = c->norm_kind == N2D_NORM_RMS ? "root mean square" : "deviation";
	printf("what an operator reads, weights apart -> what it writes, and its own sizes: a gemm multiplies [M, K] by weights [K, N]; attention's K is a "
	       "head's width\n");
	if (d_k != d_v)
		printf("K = %zu, the larger of d_k and d_v: queries, keys and values are that wide where they are computed, with zeros beyond their own width\n", K);
	printf("%s: the queries, keys or values of all heads%s; 2 %s, 3 %s: two and three of these side by side\n", wide,
	       d_k == d_v ? " (h d_v is as wide)" : "", wide, wide);
	if (c->heads * K == c->d_model)
		printf("%s is as wide as d_model here, and called so in a gemm\n", wide);
	if (c->norm_kind != N2D_NORM_NO)
		printf("a norm: x, f(x) -> Norm(x + f(x)), x + f(x), 1 / the %s of each row; of x alone Norm(x), 1 / the %s\n", spread, spread);
	printf("right: the largest logit of each row; cross-entropy: the gradient of the logits, the loss of each row\n");
}

static void title(const struct n2d_config *c, const struct n2d_shape *s)
{
	printf("B = %zu, n = %zu, m = %zu; d_model = %zu, h = %zu, d_k = %zu, d_v = %zu, d_ff = %zu, V = %zu; N = %zu encoder and %zu decoder layers, "
	       "of which the first is shown\n",
	       s->B, s->S, s->T, c->d_model, c->heads, n2d_config_d_k(c), n2d_config_d_v(c), c->d_ff, c->vocab, c->enc_layers, c->dec_layers);
	legend(c);
}

/* whole: the configuration of the model whose first layers m has. */
static int pass_through(const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_shape *s, const struct n2d_config *whole)
{
	struct n2d_pass p;
	struct n2d_pass_need need = {0};
	struct n2d_loss_sum sum = {0};
	struct batch b;
	n2d_pass_need_add(&need, ctx, m, s, 1, 0);
	if (n2d_pass_init(&p, m, &need, 0))
		return -1;
	int bad = batch_init(&b, s);
	if (!bad && !(bad = n2d_pass_shape(&p, ctx, m, s->B, s->S, s->T))) {
		title(whole, s);
		n2d_transformer_forward(ctx, m, &p, &b.b, NULL);
		n2d_transformer_loss(ctx, m, &p, &b.b, &sum, m->c.smoothing, 1, NULL, 0);
	}
	free(b.block);
	n2d_pass_free(&p);
	return bad;
}

static int run(const struct n2d_config *c, const struct n2d_shape *s)
{
	struct view v = {.nrows = 0};
	struct n2d_trace trace = {.see = see, .user = &v};
	struct n2d_config first = *c;
	struct n2d_transformer m;
	struct n2d_ctx ctx;
	name_sizes(&v, c, s);
	first.enc_layers = c->enc_layers ? 1 : 0;
	first.dec_layers = 1;
	if (n2d_ctx_init(&ctx, NULL, 1))
		return n2d_usage("shapes", "%s", n2d_error_text());
	int bad = n2d_transformer_zeros(&m, &ctx, &first);
	if (!bad) {
		ctx.trace = &trace;
		bad = pass_through(&ctx, &m, s, c);
		ctx.trace = NULL;
		n2d_transformer_free(&m);
	}
	n2d_ctx_free(&ctx);
	return bad ? n2d_usage("shapes", "%s", n2d_error_text()) : N2D_EXIT_OK;
}

static int size(size_t *to, const char *option)
{
	long n = n2d_number("shapes", option, optarg, 1, 100000);
	*to = (size_t)n;
	return n < 0 ? N2D_EXIT_USAGE : 0;
}

int n2d_cmd_shapes(int argc, char **argv)
{
	static const struct option own[] = {
		{"batch", 1, 0, 'b'}, {"src-length", 1, 0, 's'}, {"trg-length", 1, 0, 't'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
	struct option longs[N2D_TABLE_OPTIONS_MAX];
	struct n2d_model_args args;
	struct n2d_config c;
	struct n2d_shape shape = {2, 11, 7};
	int code = 0;
	n2d_model_args_init(&args);
	n2d_model_longs(longs, own, &args);
	opterr = 0;
	for (int o; !code && (o = getopt_long(argc, argv, ":h", longs, NULL)) != -1;)
		switch (o) {
		case 'b': code = size(&shape.B, "--batch"); break;
		case 's': code = size(&shape.S, "--src-length"); break;
		case 't': code = size(&shape.T, "--trg-length"); break;
		case 'h': help(); return N2D_EXIT_OK;
		default:
			if (!n2d_model_option(&args, o, optarg))
				code = n2d_bad_option(argv, o);
		}
	if (code)
		return code;
	if (optind < argc)
		return n2d_usage("shapes", "unexpected argument '%s'; see n2d shapes --help", argv[optind]);
	if (n2d_model_args_set(&c, &args))
		return n2d_usage("shapes", "%s", n2d_error_text());
	c.vocab = c.vocab ? c.vocab : 10000;
	if (n2d_config_check(&c))
		return n2d_usage("shapes", "%s", n2d_error_text());
	return run(&c, &shape);
}
