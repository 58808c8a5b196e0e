/* n2d-bench layers: sequence layers over length and width. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/threads.h"
#include "bench/bench.h"
#include "bench/layer_peer.h"
#include "bench/layers.h"
#include "bench/machine.h"
#include "bench/options.h"

static const char usage[] =
	"usage: n2d-bench layers [options] [ID...]\n\n"
	"Times sequence layers over the length n at one width and over the width d at one length: forward, and forward +\n"
	"backward, with the mixing part apart from the projections, and measures the memory they touch. Every layer is\n"
	"checked against other instruction sets on its shape before it is timed.\n"
	"mixing: what moves information between positions. limit: the least time that the machine's peak and bandwidth allow\n"
	"for the layer's operations and bytes, in per cent of the measured time. -materialised: attention that stores its\n"
	"n x n matrix of weights instead of going over them in blocks.\n\n"
	"  --profile P       quick (n 16..1024 at d 256, about a minute), default (n 16..4096 at d 512 and d 64..1024 at\n"
	"                    n 512), full (the same for every instruction set, scalar too, without a time limit)\n"
	"  --layer LIST      default: all;  --list-layers prints them\n"
	"  --n LIST          lengths, as 16,64 or 16..4096 (doubled from 16 on); with --d every pair is measured\n"
	"  --d LIST          widths\n"
	"  --batch B         sequences at once (default 1)\n"
	"  --heads H         attention (default d/64, and 1 at least)\n"
	"  --window R        restricted attention: keys to each side (default 64)\n"
	"  --width W         convolution (default 3);  --dilation N (default 1)\n"
	"  --inner F         feed-forward (default 4 d)\n"
	"  --causal          attention and convolution see no later position\n"
	"  --pass LIST       forward,train (default: both)\n"
	"  --threads LIST    default: 1 and all\n"
	"  --isa LIST        default: the widest two this processor has\n"
	"  --samples N       clean samples of each (default 10, each of 1 ms at least)\n"
	"  --no-limits       times alone: what n2d-bench compare needs\n"
	"  --budget SECONDS  what does not fit is left out, the widest instruction set last (default 400, of profile quick 60, of full none; 0: no limit)\n"
	"  --peers[=LIST]    the layers of others too, where they are found (default: all of onednn,pytorch-best,onnxruntime), checked against\n"
	"                    ours; a table n2d / best peer. PyTorch, set as well as it can be, and ONNX Runtime (npm's onnxruntime-node; forward) are\n"
	"                    other processes: bench/peers/torch_layers.py and onnx_layers.js\n"
	"  --peer-path NAME=FILE   onednn's library, pytorch-best's python3, the directory where onnxruntime-node was installed (may be given again)\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv. Written\n"
	"                    whole, at the end or when interrupted (Ctrl-C)\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, ...\n"
	"  --help\n\n"
	"All times are wall-clock times of whole calls, of threaded layers too.\n";

static struct layers_options opt;

enum { O_PROFILE = 256, O_LAYER, O_N, O_D, O_BATCH, O_HEADS, O_WINDOW, O_WIDTH, O_DILATION, O_INNER, O_CAUSAL, O_PASS,
       O_THREADS, O_ISA, O_SAMPLES, O_BUDGET, O_CSV, O_LIST, O_NO_LIMITS, O_PEERS, O_PEER_PATH };

static const struct option longs[] = {
	{"profile", 1, 0, O_PROFILE}, {"layer", 1, 0, O_LAYER}, {"n", 1, 0, O_N}, {"d", 1, 0, O_D}, {"batch", 1, 0, O_BATCH},
	{"heads", 1, 0, O_HEADS}, {"window", 1, 0, O_WINDOW}, {"width", 1, 0, O_WIDTH}, {"dilation", 1, 0, O_DILATION},
	{"inner", 1, 0, O_INNER}, {"causal", 0, 0, O_CAUSAL}, {"pass", 1, 0, O_PASS}, {"threads", 1, 0, O_THREADS},
	{"isa", 1, 0, O_ISA}, {"samples", 1, 0, O_SAMPLES}, {"budget", 1, 0, O_BUDGET}, {"csv", 1, 0, O_CSV},
	{"list-layers", 0, 0, O_LIST}, {"no-limits", 0, 0, O_NO_LIMITS}, {"peers", 2, 0, O_PEERS},
	{"peer-path", 1, 0, O_PEER_PATH}, {0, 0, 0, 0},
};

static int set_profile(const char *name)
{
	if (strcmp(name, "quick") == 0) {
		parse_sizes(&opt.n, "", "16..1024");
		opt.d = opt.base_d = (struct size_list){1, {256}};
		opt.base_n = (struct size_list){0};
		opt.budget = 60;
	} else if (strcmp(name, "default") == 0 || strcmp(name, "full") == 0) {
		parse_sizes(&opt.n, "", "16..4096");
		parse_sizes(&opt.d, "", "64..1024");
		opt.base_n = opt.base_d = (struct size_list){1, {512}};
		opt.budget = name[0] == 'd' ? 400 : 0;
	} else {
		return n2d_error("--profile: '%s', expected quick, default or full", name);
	}
	opt.all_isas = name[0] == 'f';
	return 0;
}

static int is_layer(const char *word) { return n2d_layer_find(word) != NULL; }
static int is_pass(const char *word) { return strcmp(word, "forward") == 0 || strcmp(word, "train") == 0; }

static int set_option(int o)
{
	size_t budget;
	switch (o) {
	case O_PROFILE: return 0; /* taken before the others */
	case O_LAYER: opt.layer = optarg; return check_list("--layer", optarg, is_layer);
	case O_PASS: opt.pass = optarg; return check_list("--pass", optarg, is_pass);
	case O_N: opt.user_n = 1; return parse_sizes(&opt.n, "--n", optarg);
	case O_D: opt.user_d = 1; return parse_sizes(&opt.d, "--d", optarg);
	case O_BATCH: return parse_number(&opt.batch, "--batch", optarg, 1, 1 << 20);
	case O_HEADS: return parse_number(&opt.c.H, "--heads", optarg, 1, 4096);
	case O_WINDOW: return parse_number(&opt.c.R, "--window", optarg, 1, 1 << 20);
	case O_WIDTH: return parse_number(&opt.c.W, "--width", optarg, 1, 4096);
	case O_DILATION: return parse_number(&opt.c.dilation, "--dilation", optarg, 1, 1 << 20);
	case O_INNER: return parse_number(&opt.c.F, "--inner", optarg, 1, 1 << 24);
	case O_CAUSAL: opt.c.causal = 1; return 0;
	case O_THREADS: return parse_threads(&opt.threads, optarg);
	case O_ISA: opt.isa = optarg; return 0;
	case O_SAMPLES: return parse_number(&opt.samples, "--samples", optarg, 1, 100000);
	case O_BUDGET:
		if (parse_number(&budget, "--budget", optarg, 0, 1000000))
			return -1;
		opt.budget = (double)budget;
		return 0;
	case O_CSV: return n2d_out_try(opt.csv = optarg);
	case O_LIST: opt.list = 1; return 0;
	case O_NO_LIMITS: opt.no_limits = 1; return 0;
	case O_PEERS:
		opt.peers = 1;
		opt.which_peers = optarg;
		return optarg ? check_list("--peers", optarg, is_layer_peer) : 0;
	case O_PEER_PATH: return layer_peer_path(optarg);
	default: return n2d_error("unknown option or missing value: %s", opt.argv[optind - 1]);
	}
}

static int parse(int argc, char **argv)
{
	size_t all = (size_t)n2d_threads_default();
	opt = (struct layers_options){.threads = {all > 1 ? 2 : 1, {1, all}}, .samples = 10, .batch = 1, .argv = argv,
				      .c = {.R = 64, .W = 3, .dilation = 1}};
	int c, bad = set_profile("default");
	opterr = 0;
	while (!bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1) /* a profile is the ground for the others */
		if (c == O_PROFILE)
			bad = set_profile(optarg);
	optind = 1;
	while (!bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1)
		bad = set_option(c);
	if (opt.user_n && opt.user_d) /* every pair */
		opt.base_n = opt.base_d = (struct size_list){0};
	else if (opt.user_n)
		opt.base_n = (struct size_list){0}, opt.d = opt.base_d;
	else if (opt.user_d)
		opt.base_d = (struct size_list){0}, opt.n = opt.base_n.n ? opt.base_n : opt.n;
	opt.ids = argv + optind;
	opt.nids = argc - optind;
	return bad;
}

static int list_layers(void)
{
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; *k; k++)
		printf("%-28s %s\n", (*k)->name, (*k)->table1 ? (*k)->table1 : "");
	return N2D_EXIT_OK;
}

int bench_layers(int argc, char **argv)
{
	const struct n2d_ctx *ctx;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	drive_init(&argc, argv);
	if (parse(argc, argv))
		return bench_usage_error("layers");
	if (opt.list)
		return list_layers();
	int contexts = open_contexts(&ctx, opt.isa, &opt.threads);
	if (contexts < 0)
		return bench_usage_error("layers");
	if (!opt.isa && !opt.all_isas && contexts > 2 * (int)opt.threads.n)
		contexts = 2 * (int)opt.threads.n; /* the widest come first */
	return layers_run(&opt, ctx, contexts);
}
