/* n2d-bench step: the training step of whole models, and PyTorch's beside it. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/machine.h"
#include "bench/options.h"
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
	"  --profile         a table of each step by operator\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, ...\n"
	"  --help\n\n"
	"All times are wall-clock times.\n";

static struct {
	struct common_options common;
	const char *preset;
	int peers, profile;
} opt;

static int is_preset(const char *name) { return strcmp(name, "tiny") == 0 || strcmp(name, "base") == 0; }

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		COMMON_OPTIONS, {"preset", 1, 0, 'p'}, {"peers", 0, &opt.peers, 1}, {"profile", 0, &opt.profile, 1}, {0, 0, 0, 0},
	};
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

/* ---- cases: one group a preset */

enum { ROOM = 64 };
static struct step_case cases[ROOM];
static size_t ncases;

static void collect(const struct n2d_ctx *ctx, int contexts)
{
	static const char *const presets[] = {"tiny", "base"};
	for (int p = 0; p < 2; p++) {
		if (!in_list(opt.preset, presets[p]))
			continue;
		for (int i = 0; i < contexts && ncases < ROOM; i++)
			step_case_init(&cases[ncases++], ctx + i, presets[p]);
		for (size_t i = 0; opt.peers && i < opt.common.threads.n && ncases + 1 < ROOM; i++) {
			step_case_peer(&cases[ncases++], ctx, presets[p], (int)opt.common.threads.v[i], 0);
			step_case_peer(&cases[ncases++], ctx, presets[p], (int)opt.common.threads.v[i], 1);
		}
	}
}

/* Of the samples that are wanted; the limits' own do not count. */
static void progress(void *arg, const struct bench_case *c)
{
	const size_t *selected = arg;
	size_t taken = 0, most = opt.common.samples * *selected;
	for (size_t i = 0; i < ncases; i++)
		taken += cases[i].c.samples < opt.common.samples ? cases[i].c.samples : opt.common.samples;
	drive_progress((double)taken / (double)most, -1, c->id);
}

static int measure(struct bench_case **selected, size_t n)
{
	static struct roof_case peak[CTX_MOST];
	struct sample_plan p = SAMPLE_PLAN;
	int bad = 0;
	p.want = p.extra = opt.common.samples;
	p.stop = &drive_stop;
	p.progress = progress;
	p.arg = &n;
	for (size_t first = 0, end; first < n && !drive_stop; first = end) {
		struct bench_case *c[ROOM + CTX_MOST];
		size_t m = 0, peaks = 0;
		const char *preset = ((struct step_case *)selected[first]->arg)->preset;
		for (end = first; end < n && strcmp(((struct step_case *)selected[end]->arg)->preset, preset) == 0; end++)
			c[m++] = selected[end];
		for (size_t i = first; i < end && peaks < CTX_MOST; i++) {
			struct step_case *s = selected[i]->arg;
			roof_case_init(&peak[peaks], selected[i]->ctx, ROOF_FMA, 0);
			s->peak = &peak[peaks];
			c[m++] = &peak[peaks++].c;
		}
		bad |= sample_group(c, m, &p);
		for (size_t i = first; i < end; i++) {
			struct step_case *s = selected[i]->arg;
			s->peak_flops = roof_rate(s->peak);
			if (s->c.failed)
				fprintf(stderr, "n2d-bench: %s: %s\n", s->c.id, s->c.why);
		}
		for (size_t i = 0; i < peaks; i++)
			sample_free(&peak[i].c);
	}
	drive_progress_end();
	return bad;
}

/* ---- reports */

static void describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user)
{
	const struct step_case *t = c->arg;
	(void)user;
	gbench_counter(s, "tokens/s", t->tokens / c->sample[sample].seconds);
	gbench_counter(s, "GFLOP/s", t->flops / c->sample[sample].seconds / 1e9);
}

static void row(const struct bench_case *c, size_t sample, void *user)
{
	const struct step_case *t = c->arg;
	const struct sample *s = c->sample + sample;
	csv_row(user, "\"%s\",%s,%s,%d,%s,%zu,%zu,%.9g,%d,%.17g,%.17g,%.9g", c->id, t->program, t->peer.name ? "" : c->ctx->k->isa, t->threads,
		t->preset, sample, s->calls, s->seconds, s->clean, t->flops, t->tokens, t->peak_flops);
}

/* The fastest peer of a preset; NAN without. */
static double best_peer(const char *preset)
{
	double best = NAN;
	for (size_t i = 0; i < ncases; i++) {
		double t = cases[i].peer.name && cases[i].c.samples ? sample_median(&cases[i].c, -1) : NAN;
		if (strcmp(cases[i].preset, preset) == 0 && !(t >= best))
			best = isnan(t) ? best : t;
	}
	return best;
}

static void print(void)
{
	printf("\n%-52s %9s %10s %9s %7s %10s\n", "training step", "ms", "tokens/s", "GFLOP/s", "% peak", "best peer");
	for (size_t i = 0; i < ncases; i++) {
		const struct step_case *t = &cases[i];
		if (!t->c.samples)
			continue;
		double s = sample_median(&t->c, -1), peer = t->peer.name ? NAN : best_peer(t->preset);
		printf("%-52s %9.1f %10.0f %9.1f %7.1f", t->c.id, 1e3 * s, t->tokens / s, t->flops / s / 1e9, 100 * t->flops / s / t->peak_flops);
		printf(isnan(peer) ? "\n" : " %9.2fx\n", peer / s);
	}
}

static void profiles(void)
{
	for (size_t i = 0; opt.profile && i < ncases && !drive_stop; i++)
		if (!cases[i].peer.name && cases[i].c.samples)
			step_case_profile(&cases[i]);
}

int bench_step(int argc, char **argv)
{
	static struct bench_case *c[ROOM];
	struct n2d_ctx ctx[CTX_MOST];
	struct csv_out out;
	int code, contexts = bench_open(&(struct bench_command){"step", usage, parse, &opt.common}, &argc, argv, ctx, &code);
	if (!contexts)
		return code;
	if (!opt.common.isa) /* the widest alone: contexts come widest first */
		for (int i = 0; i < contexts; i++)
			if (ctx[i].k != ctx[0].k)
				contexts = i;
	collect(ctx, contexts);
	for (size_t i = 0; i < ncases; i++)
		c[i] = &cases[i].c;
	long selected = drive_select(c, ncases, argv + optind, argc - optind);
	if (drive_listed())
		return N2D_EXIT_OK;
	if (selected < 0)
		return bench_usage_error("step");
	if (opt.common.csv && csv_create(&out, opt.common.csv, "step/1", "id,program,isa,threads,preset,sample,calls,seconds,clean,flops,tokens,peak_flops"))
		return bench_failed("step");
	drive_catch();
	for (long i = 0; i < selected; i++) /* before threads are pinned */
		step_case_start(c[i]->arg);
	machine_start(ctx, contexts);
	int bad = measure(c, (size_t)selected);
	struct drive_report report = {.describe = describe, .row = opt.common.csv ? row : NULL, .user = &out};
	drive_report(c, (size_t)selected, &report);
	profiles();
	print();
	if (opt.common.csv && (csv_finish(&out) || machine_beside(opt.common.csv, "step", NULL, (int)opt.common.threads.v[opt.common.threads.n - 1])))
		return bench_failed("step");
	return bad || drive_stop ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
