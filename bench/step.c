/* n2d-bench step: the training step of whole models, and PyTorch's beside it. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/csv.h"
#include "bench/step_case.h"

static const char usage[] =
	"usage: n2d-bench step [options] [ID...]\n\n"
	"Times the training step (forward, loss, backward, Adam) of the presets: tiny on pairs of 13 to 16 tokens a side, base and big on\n"
	"pairs of 32 + 32; vocabulary 10,000; with dropout. Per cent are of the multiply-add peak of the same run.\n\n"
	"  --preset LIST     tiny, base, big (default: tiny,base)\n"
	"  --batch LIST      pairs a batch, up to 1000000 (default: tiny 282, base and big 16); ids name it where it is given\n"
	"  --isa LIST        instruction sets (default: the widest)\n"
	"  --threads LIST    default: 1 and all\n"
	"  --samples N       clean samples of each (default 10)\n"
	"  --peers           PyTorch's step, interleaved (python3-torch): as it comes, and set as well as it can be\n"
	"                    (bench/peers/torch_step.py tells how), with one thread and all; from our weights and on our words, of which its\n"
	"                    loss and gradients must first be ours, with dropout off\n"
	"  --profile         a table of each step by operator, of five calls together, the update of the weights by itself, which otherwise\n"
	"                    runs beside products; with --csv FILE.csv also in FILE-profile.csv\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, ...\n"
	"  --help\n\n"
	"All times are wall-clock times.\n";

static struct {
	struct common_options common;
	struct size_list batch; /* 0: the preset's own */
	const char *preset;
	int peers;
} opt;

static const char *const presets[] = {"tiny", "base", "big"};
enum { PRESETS = sizeof presets / sizeof *presets };

static int is_preset(const char *name)
{
	for (int i = 0; i < PRESETS; i++)
		if (strcmp(name, presets[i]) == 0)
			return 1;
	return 0;
}

static int batch(const char *text)
{
	if (parse_sizes(&opt.batch, "--batch", text))
		return -1;
	for (size_t i = 0; i < opt.batch.n; i++)
		if (opt.batch.v[i] > STEP_PAIRS_MOST)
			return n2d_error("--batch: '%s', expected at most %d pairs", text, STEP_PAIRS_MOST);
	return 0;
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {MODEL_OPTIONS, {"preset", 1, 0, 'p'}, {"batch", 1, 0, 'b'}, {"peers", 0, &opt.peers, 1}, {0, 0, 0, 0}};
	int bad = 0;
	common_defaults(&opt.common);
	opt.preset = "tiny,base";
	opt.batch = (struct size_list){1, {0}};
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		if (c == 'p')
			bad = check_list("--preset", opt.preset = optarg, is_preset);
		else if (c == 'b')
			bad = batch(optarg);
		else if (c)
			bad = common_option(&opt.common, c, argv);
#ifndef HAVE_MODEL_FILES
	if (!bad && opt.peers)
		return n2d_error("--peers: PyTorch gets our weights as a model file, and this program was built without (it needs jansson and zlib)");
#endif
	return bad;
}

static struct step_case cases[MODEL_CASES];

/* Of one preset and batch; returns how many there are now. */
static int group(int n, const struct n2d_ctx *ctx, int contexts, const char *preset, size_t pairs)
{
	for (int i = 0; i < contexts; i++)
		step_case_init(&cases[n++], ctx + i, preset, pairs);
	for (size_t i = 0; opt.peers && i < opt.common.threads.n; i++)
		for (int best = 0; best < 2; best++)
			step_case_peer(&cases[n++], ctx, preset, pairs, (int)opt.common.threads.v[i], best);
	return n;
}

static int collect(struct model_case **c, const struct n2d_ctx *ctx, int contexts)
{
	int n = 0, each = contexts + (opt.peers ? 2 * (int)opt.common.threads.n : 0);
	for (int p = 0; p < PRESETS; p++)
		for (size_t i = 0; in_list(opt.preset, presets[p]) && i < opt.batch.n; i++) {
			if (n + each > MODEL_CASES)
				return n2d_error("--preset, --batch, --isa, --threads, --peers: expected at most %d cases together", MODEL_CASES);
			n = group(n, ctx, contexts, presets[p], opt.batch.v[i]);
		}
	for (int i = 0; i < n; i++)
		c[i] = &cases[i].m;
	return n;
}

/* ---- reports */

static void describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user)
{
	const struct step_case *t = c->arg;
	(void)user;
	gbench_counter(s, "tokens/s", t->tokens / c->sample[sample].seconds);
	gbench_counter(s, "GFLOP/s", t->m.flops / c->sample[sample].seconds / 1e9);
}

static void row(const struct bench_case *c, size_t sample, void *csv)
{
	const struct step_case *t = c->arg;
	const struct sample *s = c->sample + sample;
	csv_row(csv, "\"%s\",%s,%s,%d,%s,%zu,%zu,%.9g,%d,%.17g,%.17g,%.9g,\"%s\",\"%s\",%zu", c->id, t->program, t->peer.name ? "" : c->ctx->k->isa, t->m.threads,
		t->preset, sample, s->calls, s->seconds, s->clean, t->m.flops, t->tokens, t->m.peak_flops,
		t->peer.name ? t->peer.version : PACKAGE_VERSION, t->peer.name ? t->peer.isa : c->ctx->k->isa, t->pairs);
}

/* The fastest peer of a group; NAN without. */
static double best_peer(struct model_case *const *c, size_t n, const char *group)
{
	double best = NAN;
	for (size_t i = 0; i < n; i++) {
		double t = !c[i]->once && c[i]->c.samples ? sample_median(&c[i]->c, -1) : NAN;
		if (strcmp(c[i]->group, group) == 0 && !(t >= best))
			best = isnan(t) ? best : t;
	}
	return best;
}

static void print(struct model_case *const *c, size_t n)
{
	printf("\n%-52s %9s %10s %9s %7s %10s\n", "training step", "ms", "tokens/s", "GFLOP/s", "% peak", "best peer");
	for (size_t i = 0; i < n; i++) {
		const struct step_case *t = c[i]->c.arg;
		if (!c[i]->c.samples)
			continue;
		double s = sample_median(&c[i]->c, -1), peer = c[i]->once ? best_peer(c, n, c[i]->group) : NAN, rate = c[i]->flops / s;
		printf("%-52s %9.1f %10.0f %9.1f %7.1f", c[i]->c.id, 1e3 * s, t->tokens / s, rate / 1e9, 100 * rate / c[i]->peak_flops);
		if (!isnan(peer))
			printf(" %9.2fx", peer / s);
		puts(sample_mark(&c[i]->c, c[i]->peak_disturbed));
	}
}

int bench_step(int argc, char **argv)
{
	static const struct model_command step = {
		.command = {"step", usage, parse, &opt.common}, .schema = "step/1",
		.columns = "id,program,isa,threads,preset,sample,calls,seconds,clean,flops,tokens,peak_flops,program_version,program_isa,pairs", .collect = collect,
		.start = step_case_start, .describe = describe, .row = row, .print = print, .profile_calls = 5,
	};
	return model_command(&step, argc, argv);
}
