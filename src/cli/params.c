/* n2d params: how many parameters a configuration has, and where they are. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/error.h"
#include "cli/cli.h"
#include "cli/model_options.h"
#include "base/size.h"
#include "model/transformer.h"

struct group {
	const char *name;
	size_t count;
};
enum { GROUPS = 32 };

/* The groups in the order of their first parameter. Returns their number. */
static size_t sum_groups(struct group *g, const struct n2d_parameters *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		size_t k = 0;
		while (k < n && strcmp(g[k].name, p->list[i].group) != 0)
			k++;
		if (k == n)
			g[n++] = (struct group){p->list[i].group, 0};
		g[k].count += p->list[i].count;
	}
	return n;
}

/* 65130496 as "65,130,496". */
static const char *grouped(char to[32], size_t n)
{
	char digits[24], *p = to;
	int length = snprintf(digits, sizeof digits, "%zu", n);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
	return to;
}

/* What a training step on a batch of this shape needs and does. */
struct cost {
	struct n2d_shape shape;
	size_t parameter_bytes; /* with Adam's moments, gradients and packed weights */
	size_t training, inference; /* bytes of activations and workspace */
	double flops, forward_flops;
};

static int cost_of(struct cost *k, const struct n2d_config *c)
{
	const struct n2d_shape *s = &k->shape;
	struct n2d_transformer m;
	struct n2d_ctx ctx;
	if (n2d_ctx_init(&ctx, NULL, 1))
		return -1;
	if (n2d_transformer_plan(&m, c)) {
		n2d_ctx_free(&ctx);
		return -1;
	}
	k->parameter_bytes = n2d_add(n2d_transformer_bytes(&ctx, &m), n2d_mul(n2d_mul(3, m.p.floats), sizeof(float)));
	k->training = n2d_pass_bytes(&ctx, &m, s->B, s->S, s->T, 1);
	k->inference = n2d_pass_bytes(&ctx, &m, s->B, s->S, s->T, 0);
	k->flops = n2d_transformer_flops(&m, s->B, s->S, s->T, 1);
	k->forward_flops = n2d_transformer_flops(&m, s->B, s->S, s->T, 0);
	n2d_transformer_free(&m);
	n2d_ctx_free(&ctx);
	if (k->parameter_bytes == N2D_TOO_LARGE)
		return n2d_error("the model is too large for memory");
	if (k->training == N2D_TOO_LARGE)
		return n2d_error("a batch of %zu x (%zu + %zu) tokens is too large for memory", s->B, s->S, s->T);
	return 0;
}

static void print_cost(const struct cost *k)
{
	const double M = 1 << 20;
	printf("\na step on %zu pairs of %zu + %zu tokens\n"
	       "  parameters, gradients, Adam, packed weights  %10.1f MiB\n"
	       "  activations and workspace, training          %10.1f MiB\n"
	       "  activations and workspace, inference         %10.1f MiB\n"
	       "  forward                                      %10.2f GFLOP\n"
	       "  forward and backward                         %10.2f GFLOP\n",
	       k->shape.B, k->shape.S, k->shape.T, (double)k->parameter_bytes / M, (double)k->training / M, (double)k->inference / M,
	       1e-9 * k->forward_flops, 1e-9 * k->flops);
}

static void print_text(const struct n2d_parameters *p)
{
	struct group g[GROUPS];
	char number[32];
	size_t n = sum_groups(g, p);
	for (size_t i = 0; i < n; i++)
		printf("%-26s %16s  %5.1f %%\n", g[i].name, grouped(number, g[i].count),
		       100.0 * (double)g[i].count / (double)p->count);
	printf("%-26s %16s  %.1f M\n", "all", grouped(number, p->count), 1e-6 * (double)p->count);
}

/* Name, shape, number: one parameter a line. */
static void print_list(const struct n2d_parameters *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct n2d_parameter *t = &p->list[i];
		printf("%s\t[", t->name);
		for (size_t k = 0; k < t->dims; k++)
			printf("%s%zu", k ? "," : "", t->shape[k]);
		printf("]\t%zu\n", t->count);
	}
}

#ifdef HAVE_JANSSON
static json_t *json_config(const struct n2d_config *c)
{
	json_t *o = json_object();
	for (size_t i = 0; i < n2d_options.count; i++) {
		char text[N2D_OPTION_TEXT];
		if (n2d_options.list[i].kind != N2D_OPTION_BOTH)
			json_object_set_new(o, n2d_options.list[i].name, json_string(n2d_option_get(c, &n2d_options.list[i], text)));
	}
	return o;
}

static json_t *json_list(const struct n2d_parameters *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->n; i++) {
		const struct n2d_parameter *t = &p->list[i];
		json_t *shape = json_array();
		for (size_t k = 0; k < t->dims; k++)
			json_array_append_new(shape, json_integer((json_int_t)t->shape[k]));
		json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:I}", "name", t->name, "group", t->group, "shape", shape,
						      "count", (json_int_t)t->count));
	}
	return list;
}

static json_t *json_cost(const struct cost *k)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "pairs", (json_int_t)k->shape.B, "source_tokens", (json_int_t)k->shape.S,
			 "target_tokens", (json_int_t)k->shape.T, "parameter_bytes", (json_int_t)k->parameter_bytes, "training_bytes",
			 (json_int_t)k->training, "inference_bytes", (json_int_t)k->inference, "forward_flops", k->forward_flops, "flops",
			 k->flops);
}

static int print_json(const struct n2d_config *c, const struct n2d_parameters *p, const struct cost *k, int list)
{
	struct group g[GROUPS];
	size_t n = sum_groups(g, p);
	json_t *groups = json_object();
	for (size_t i = 0; i < n; i++)
		json_object_set_new(groups, g[i].name, json_integer((json_int_t)g[i].count));
	json_t *o = json_pack("{s:o, s:I, s:o, s:o}", "config", json_config(c), "parameters", (json_int_t)p->count, "groups", groups, "step",
			      json_cost(k));
	if (list)
		json_object_set_new(o, "list", json_list(p));
	int bad = !o || json_dumpf(o, stdout, JSON_INDENT(2)) || putchar('\n') < 0;
	json_decref(o);
	return bad ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
#else
static int print_json(const struct n2d_config *c, const struct n2d_parameters *p, const struct cost *k, int list)
{
	(void)c, (void)p, (void)k, (void)list;
	return n2d_usage("params", "--json: built without jansson (Debian: libjansson-dev; then ./configure again)");
}
#endif

static void help(void)
{
	printf("usage: n2d params --vocab N [--preset NAME] [--json] [--list] [model options]\n\n"
	       "Counts the parameters of a model, by group, and the memory and the FLOPs of a training step.\n\n"
	       "  --batch N                pairs of the step (16)\n"
	       "  --src-length N           tokens of a source sentence, its end among them (32)\n"
	       "  --trg-length N           tokens of a target sentence (32)\n"
	       "  --json                   as one JSON object\n"
	       "  --list                   every parameter: name, shape, number\n\n"
	       "model options (default)\n");
	n2d_model_help(NULL);
}

static int size(size_t *to, const char *option)
{
	long n = n2d_number("params", option, optarg, 1, 1000000000);
	*to = (size_t)n;
	return n < 0 ? N2D_EXIT_USAGE : 0;
}

int n2d_cmd_params(int argc, char **argv)
{
	static const struct option own[] = {
		{"json", 0, 0, 'j'}, {"list", 0, 0, 'l'}, {"batch", 1, 0, 'b'}, {"src-length", 1, 0, 's'}, {"trg-length", 1, 0, 't'},
		{"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct option longs[N2D_TABLE_OPTIONS_MAX];
	struct n2d_model_args args;
	struct n2d_config config;
	struct n2d_parameters p;
	struct cost cost = {.shape = {16, 32, 32}};
	int json = 0, list = 0, code = N2D_EXIT_OK;
	n2d_model_args_init(&args);
	n2d_model_longs(longs, own, &args);
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1;)
		switch (c) {
		case 'j': json = 1; break;
		case 'l': list = 1; break;
		case 'b': code = size(&cost.shape.B, "--batch"); break;
		case 's': code = size(&cost.shape.S, "--src-length"); break;
		case 't': code = size(&cost.shape.T, "--trg-length"); break;
		case 'h': help(); return N2D_EXIT_OK;
		default:
			if (!n2d_model_option(&args, c, optarg))
				return n2d_bad_option(argv, c);
		}
	if (code)
		return code;
	if (optind < argc)
		return n2d_usage("params", "unexpected argument '%s'; see n2d params --help", argv[optind]);
	if (n2d_model_args_config(&config, &args) || n2d_parameters_list(&p, &config))
		return n2d_usage("params", "%s", n2d_error_text());
	if ((!list || json) && cost_of(&cost, &config))
		code = n2d_usage("params", "%s", n2d_error_text());
	else if (json)
		code = print_json(&config, &p, &cost, list);
	else if (list)
		print_list(&p);
	else {
		print_text(&p);
		print_cost(&cost);
	}
	n2d_parameters_free(&p);
	return code;
}
