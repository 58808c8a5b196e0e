/* n2d-bench step: the training step of whole models, and PyTorch's beside it. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/csv.h"
#include "bench/step_case.h"

static const char usage[] =
	"usage: n2d-bench step [options] [ID...]\n\n"
	"Times the training step (forward, loss, backward, Adam) of the presets: tiny on 282 pairs of 13 to 16 tokens a side, base on 16\n"
	"pairs of 32 + 32; vocabulary 10,000; with dropout. Per cent are of the multiply-add peak of the same run.\n\n"
	"  --preset LIST     tiny, base (default: both)\n"
	"  --isa LIST        instruction sets (default: the widest)\n"
	"  --threads LIST    default: 1 and all\n"
	"  --samples N       clean samples of each (default 10)\n"
	"  --peers           PyTorch's step on the same shapes, interleaved (python3-torch): as it comes, and set as well as it can be\n"
	"                    (bench/peers/torch_step.py tells how), with one thread and all\n"
	"  --profile         a table of each step by operator; with --csv FILE.csv also in FILE-profile.csv\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, ...\n"
	"  --help\n\n"
	"All times are wall-clock times.\n";

static struct {
	struct common_options common;
	const char *preset;
	int peers;
} opt;

static int is_preset(const char *name) { return strcmp(name, "tiny") == 0 || strcmp(name, "base") == 0; }

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {MODEL_OPTIONS, {"preset", 1, 0, 'p'}, {"peers", 0, &opt.peers, 1}, {0, 0, 0, 0}};
	int bad = 0;
	common_defaults(&opt.common);
	opt.preset = "tiny,base";
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		if (c == 'p')
			bad = check_list("--preset", opt.preset = optarg, is_preset);
		else if (c)
			bad = common_option(&opt.common, c, argv);
	return bad;
}

/* One group a preset. */
static int collect(struct model_case **c, const struct n2d_ctx *ctx, int contexts)
{
	static const char *const presets[] = {"tiny", "base"};
	static struct step_case cases[MODEL_CASES];
	int n = 0;
	for (int p = 0; p < 2; p++) {
		if (!in_list(opt.preset, presets[p]))
			continue;
		for (int i = 0; i < contexts && n < MODEL_CASES; i++)
			step_case_init(&cases[n++], ctx + i, presets[p]);
		for (size_t i = 0; opt.peers && i < opt.common.threads.n && n + 1 < MODEL_CASES; i++) {
			step_case_peer(&cases[n++], ctx, presets[p], (int)opt.common.threads.v[i], 0);
			step_case_peer(&cases[n++], ctx, presets[p], (int)opt.common.threads.v[i], 1);
		}
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
	csv_row(csv, "\"%s\",%s,%s,%d,%s,%zu,%zu,%.9g,%d,%.17g,%.17g,%.9g,\"%s\",\"%s\"", c->id, t->program, t->peer.name ? "" : c->ctx->k->isa, t->m.threads,
		t->m.group, sample, s->calls, s->seconds, s->clean, t->m.flops, t->tokens, t->m.peak_flops,
		t->peer.name ? t->peer.version : PACKAGE_VERSION, t->peer.name ? t->peer.isa : c->ctx->k->isa);
}

/* The fastest peer of a preset; NAN without. */
static double best_peer(struct model_case *const *c, size_t n, const char *preset)
{
	double best = NAN;
	for (size_t i = 0; i < n; i++) {
		double t = !c[i]->once && c[i]->c.samples ? sample_median(&c[i]->c, -1) : NAN;
		if (strcmp(c[i]->group, preset) == 0 && !(t >= best))
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
		printf(isnan(peer) ? "" : " %9.2fx", peer / s);
		puts(sample_mark(&c[i]->c, c[i]->peak_disturbed));
	}
}

int bench_step(int argc, char **argv)
{
	static const struct model_command step = {
		.command = {"step", usage, parse, &opt.common}, .schema = "step/1",
		.columns = "id,program,isa,threads,preset,sample,calls,seconds,clean,flops,tokens,peak_flops,program_version,program_isa", .collect = collect,
		.start = step_case_start, .describe = describe, .row = row, .print = print, .profile_calls = 5,
	};
	return model_command(&step, argc, argv);
}
