/* n2d-bench paths: Table 1's sequential operations and maximum path length, measured. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/size.h"
#include "bench/bench.h"
#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/shadow.h"
#include "layer/layer.h"

static const char usage[] =
	"usage: n2d-bench paths [options]\n\n"
	"For every sequence layer and several lengths n:\n"
	"  sequential   the longest chain of operator calls of which each needs the one before, in the trace of one forward\n"
	"               pass\n"
	"  layers       stacked layers until the last output depends on the first input, in the trace\n"
	"  path         mixing steps on the shortest way between the two (a recurrent layer makes one a position)\n"
	"  perturbed    stacked layers until changing the first input changes the last output, by running them\n"
	"The convolution is stacked contiguous, and causal with dilation W^i in layer i.\n\n"
	"  --layer LIST   default: all\n"
	"  --n LIST       lengths (default 16..256)\n"
	"  --d D          width (default 32);  --heads H (default 2)\n"
	"  --window R     restricted attention (default 8);  --width W  convolution (default 3)\n"
	"  --isa NAME     instruction set\n"
	"  --csv FILE     see results/SCHEMA.md\n"
	"  --help\n";

static struct {
	const char *isa, *layer, *csv;
	struct size_list n;
	struct n2d_layer_config c;
} opt;

static double start;
static size_t done, todo; /* stacks */

/* A stack of layers of one kind, run one after the other from one of two activations to the other. */
struct stack {
	const struct n2d_layer_kind *kind;
	struct n2d_layer_config c; /* of the next layer */
	int dilated;
	size_t n;
	struct n2d_arena arena;
	float *x, *y, *saved, *ws, *params, *packed;
	struct n2d_ctx ctx;
	struct n2d_trace trace;
	struct shadow shadow;
};

/* A stack of thousands of layers takes its time. Called before each layer; says nothing in the first seconds. */
static void progress(const struct stack *s, int layer)
{
	char what[128];
	if (n2d_now() - start < 2)
		return;
	snprintf(what, sizeof what, "%s, n = %zu: layer %d of at most %zu", s->kind->name, s->n, layer, s->n);
	drive_progress((double)done / (double)todo, -1, what);
}

static int stack_open(struct stack *s, const struct n2d_ctx *ctx, const struct n2d_layer_kind *kind, size_t n, int dilated)
{
	memset(s, 0, sizeof *s);
	s->kind = kind;
	s->c = opt.c;
	s->c.causal = dilated; /* else the wide steps lead out of the sentence: only some offsets can be reached within it */
	s->n = n;
	s->dilated = dilated;
	s->ctx = *ctx;
	struct n2d_layer_config widest = s->c; /* dilations grow up to the length, and workspace with them */
	widest.dilation = dilated ? n : s->c.dilation;
	size_t rows = n2d_floats(1, n, s->c.D), ws = n2d_floats(1, 1, kind->workspace(ctx, &widest, 1, n, 0));
	size_t params = n2d_floats(1, 1, kind->params(&s->c)), packed = n2d_floats(1, 1, kind->packed(ctx, &s->c));
	size_t all = n2d_add(n2d_add(n2d_mul(2, rows), ws), n2d_add(params, packed));
	if (n2d_arena_init(&s->arena, n2d_mul(all, sizeof(float))))
		return -1;
	s->x = n2d_arena_floats(&s->arena, rows);
	s->y = n2d_arena_floats(&s->arena, rows);
	s->ws = n2d_arena_floats(&s->arena, ws);
	s->params = n2d_arena_floats(&s->arena, params);
	s->packed = n2d_arena_floats(&s->arena, packed);
	/* Weights and packed weights lie behind what is watched: they are constant. */
	if (shadow_init(&s->shadow, s->x, (size_t)(s->params - s->x)))
		return -1;
	s->trace = (struct n2d_trace){.see = shadow_see, .user = &s->shadow, .steps = 1};
	return 0;
}

static void stack_close(struct stack *s)
{
	shadow_free(&s->shadow);
	n2d_arena_free(&s->arena);
}

static void set_weights(struct stack *s, float gain)
{
	struct n2d_rng rng;
	size_t n = s->kind->params(&s->c);
	n2d_rng_init(&rng, 1, 1);
	s->kind->init(&s->c, s->params, &rng);
	for (size_t i = 0; i < n; i++)
		s->params[i] *= gain;
	s->kind->pack(&s->ctx, &s->c, s->packed, s->params);
}

static void forward(struct stack *s, int traced)
{
	struct n2d_ctx ctx = s->ctx;
	struct n2d_layer l = {s->kind, s->c, s->params, s->packed};
	ctx.trace = traced ? &s->trace : NULL;
	s->kind->forward(&ctx, &l, s->y, NULL, s->x, &(struct n2d_sentences){.B = 1, .T = s->n}, s->ws);
}

/* The output becomes the next layer's input. */
static void advance(struct stack *s)
{
	memcpy(s->x, s->y, s->n * s->c.D * sizeof(float));
	if (s->dilated && s->c.dilation < s->n)
		s->c.dilation *= s->c.W;
}

struct path {
	int sequential;
	int layers, steps; /* by the trace; 0: never */
	int perturbed;     /* 0: never */
};

static void by_trace(struct stack *s, struct path *p)
{
	const float *last = s->y + (s->n - 1) * s->c.D;
	set_weights(s, 1);
	shadow_clear(&s->shadow);
	forward(s, 1);
	p->sequential = s->shadow.deepest;
	shadow_clear(&s->shadow);
	shadow_mark(&s->shadow, s->x, s->c.D);
	s->c.dilation = opt.c.dilation;
	for (p->layers = 1; p->layers <= (int)s->n; p->layers++) {
		progress(s, p->layers);
		forward(s, 1);
		p->steps = shadow_hops(&s->shadow, last, s->c.D);
		if (p->steps != SHADOW_FAR)
			return;
		shadow_move(&s->shadow, s->x, s->y, s->n * s->c.D);
		advance(s);
	}
	p->layers = p->steps = 0;
}

/* Two runs side by side, the second with its first position times `factor`; layers until they differ in the last. Large
 * weights keep a change from dying out below the precision of float on its way; NaN cannot die out, and reaches only what
 * depends on it: an invisible key has weight 0 whatever it holds. */
static int by_perturbation(struct stack *s, float gain, float factor)
{
	size_t D = s->c.D, rows = s->n * D;
	float *a = malloc(2 * rows * sizeof *a), *b = a + rows;
	struct n2d_rng rng;
	int layers, found = 0;
	if (!a)
		abort();
	s->c.dilation = opt.c.dilation;
	set_weights(s, gain);
	n2d_rng_init(&rng, 1, 2);
	n2d_rng_fill_normal(&rng, a, rows, 0, 1);
	memcpy(b, a, rows * sizeof *a);
	for (size_t i = 0; i < D; i++)
		b[i] *= factor;
	for (layers = 1; !found && layers <= (int)s->n; layers += !found) {
		progress(s, layers);
		memcpy(s->x, a, rows * sizeof *a);
		forward(s, 0);
		memcpy(a, s->y, rows * sizeof *a);
		memcpy(s->x, b, rows * sizeof *a);
		forward(s, 0);
		memcpy(b, s->y, rows * sizeof *a);
		found = memcmp(a + rows - D, b + rows - D, D * sizeof *a) != 0;
		advance(s);
	}
	free(a);
	return found ? layers : 0;
}

static int measure(const struct n2d_ctx *ctx, const struct n2d_layer_kind *kind, size_t n, int dilated, struct path *p)
{
	struct stack s;
	static const struct {
		float gain, factor;
	} trials[] = {{1, NAN}, {1, -1}, {4, -1}};
	memset(p, 0, sizeof *p);
	if (stack_open(&s, ctx, kind, n, dilated))
		return -1;
	by_trace(&s, p);
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		int layers = by_perturbation(&s, trials[i].gain, trials[i].factor);
		if (layers && (!p->perturbed || layers < p->perturbed))
			p->perturbed = layers;
	}
	stack_close(&s);
	return 0;
}

static int run_kind(const struct n2d_ctx *ctx, const struct n2d_layer_kind *kind, int dilated, struct csv_out *out)
{
	char name[64];
	snprintf(name, sizeof name, "%s%s", kind->name, dilated ? "-dilated" : "");
	for (size_t i = 0; i < opt.n.n; i++) {
		struct path p;
		if (measure(ctx, kind, opt.n.v[i], dilated, &p))
			return -1;
		done++;
		drive_progress_end();
		printf("%-28s %6zu %12d %8d %8d %10d\n", name, opt.n.v[i], p.sequential, p.layers, p.steps, p.perturbed);
		if (opt.csv)
			csv_row(out, "%s,%zu,%zu,%zu,%zu,%zu,%d,%d,%d,%d", name, opt.n.v[i], opt.c.D, opt.c.H, opt.c.R, opt.c.W,
				p.sequential, p.layers, p.steps, p.perturbed);
	}
	return 0;
}

static int is_layer(const char *word) { return n2d_layer_find(word) != NULL; }

static int selected(const struct n2d_layer_kind *k) { return !opt.layer || in_list(opt.layer, k->name); }
static int dilatable(const struct n2d_layer_kind *k) { return strcmp(k->name, "convolution") == 0; }

/* Counts what is to be done. Sizes that a layer refuses are told before anything is measured. */
static int check_sizes(void)
{
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; *k; k++) {
		if (selected(*k) && (*k)->check(&opt.c))
			return -1;
		todo += selected(*k) ? opt.n.n * (size_t)(1 + dilatable(*k)) : 0;
	}
	return 0;
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"layer", 1, 0, 'l'}, {"n", 1, 0, 'n'}, {"d", 1, 0, 'd'}, {"heads", 1, 0, 'h'}, {"window", 1, 0, 'r'},
		{"width", 1, 0, 'w'}, {"isa", 1, 0, 'i'}, {"csv", 1, 0, 'c'}, {0, 0, 0, 0},
	};
	int bad = parse_sizes(&opt.n, "--n", "16..256");
	opt.c = (struct n2d_layer_config){.D = 32, .H = 2, .R = 8, .W = 3, .dilation = 1, .F = 64};
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		switch (c) {
		case 'l':
			opt.layer = optarg;
			bad = check_list("--layer", optarg, is_layer);
			break;
		case 'n': bad = parse_sizes(&opt.n, "--n", optarg); break;
		case 'd': bad = parse_number(&opt.c.D, "--d", optarg, 1, 4096); break;
		case 'h': bad = parse_number(&opt.c.H, "--heads", optarg, 1, 4096); break;
		case 'r': bad = parse_number(&opt.c.R, "--window", optarg, 1, 1 << 20); break;
		case 'w': bad = parse_number(&opt.c.W, "--width", optarg, 1, 4096); break;
		case 'i': opt.isa = optarg; break;
		case 'c': bad = n2d_out_try(opt.csv = optarg); break;
		default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
		}
	if (!bad && optind < argc)
		return n2d_error("unexpected argument '%s'", argv[optind]);
	return bad || check_sizes();
}

int bench_paths(int argc, char **argv)
{
	struct n2d_ctx ctx;
	struct csv_out out;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	if (parse(argc, argv) || n2d_ctx_init(&ctx, opt.isa, 1))
		return bench_usage_error("paths");
	if (opt.csv && csv_create(&out, opt.csv, "paths/1", "layer,n,d,heads,window,width,sequential,layers,path,perturbed"))
		return bench_failed("paths");
	printf("%-28s %6s %12s %8s %8s %10s\n", "layer", "n", "sequential", "layers", "path", "perturbed");
	int bad = 0;
	start = n2d_now();
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; !bad && *k; k++)
		for (int dilated = 0; !bad && selected(*k) && dilated <= dilatable(*k); dilated++)
			bad = run_kind(&ctx, *k, dilated, &out);
	n2d_ctx_free(&ctx);
	if (bad && opt.csv)
		csv_abandon(&out);
	if (bad || (opt.csv && (csv_finish(&out) || machine_beside(opt.csv, "paths", NULL, 1))))
		return bench_failed("paths");
	return N2D_EXIT_OK;
}
