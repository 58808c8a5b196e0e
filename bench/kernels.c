/* n2d-bench kernels: every problem kind on its bench shapes, and the operators, on every instruction set. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/blas.h"
#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/machine.h"
#include "bench/operators.h"
#include "bench/options.h"
#include "bench/pin.h"
#include "bench/served.h"
#include "bench/timed.h"
#include "bench/versus.h"

static const char usage[] =
	"usage: n2d-bench kernels [options] [ID...]\n\n"
	"Times every kernel (one thread) and operator on its shapes, each checked first (products and attention by sample), in per cent of the limit\n"
	"min(peak, intensity x bandwidth) measured in the same minute (intensity: operations a byte). An ID is op/isa/shape as it is printed.\n\n"
	"  --isa LIST        instruction sets (default: all this processor has)\n"
	"  --threads LIST    threads of the operators (default: 1 and all)\n"
	"  --samples N       clean samples of each (default 10)\n"
	"  --no-limits       times alone, in half the time: what n2d-bench compare needs\n"
	"  --peers[=LIST]    matrix products of OpenBLAS, BLIS and oneDNN too, where they are found, and of plain loops as compiled; oneDNN's layer\n"
	"                    normalisation and softmax; a table n2d / best peer. A library whose detection may be wrong is there again as NAME-forced, told to use what our widest set does.\n"
	"                    ONNX Runtime's products of constant weights (npm's onnxruntime-node) by another process, bench/peers/onnx_layers.js\n"
	"                    (default: all of openblas,blis,onednn,compiler,onnxruntime)\n"
	"  --peer-path NAME=FILE   openblas, blis or onednn from here; onnxruntime: the directory where onnxruntime-node was installed (may be given again)\n"
	"  --csv FILE        one row a sample, see results/SCHEMA.md; machine facts in FILE with .json for .csv\n"
	"  --benchmark_...   Google Benchmark's flags: --benchmark_filter=REGEX, --benchmark_list_tests, --benchmark_format,\n"
	"                    --benchmark_out, ...\n"
	"  --help\n\n"
	"All times are wall-clock times of whole calls.\n";

static struct common_options opt;
static int no_limits, with_peers;
static const char *which_peers; /* NULL: all there are */

static int is_peer(const char *name) { return is_blas(name) || is_served(name, "product"); }

static int set_peers(const char *list)
{
	with_peers = 1;
	which_peers = list;
	return list ? check_list("--peers", list, is_peer) : 0;
}

static int peer_path(const char *text)
{
	if (served_path(text, "product") || blas_path(text, NULL))
		return 0;
	return n2d_error("--peer-path: '%s', expected NAME=FILE with openblas, blis, onednn or onnxruntime for NAME", text);
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {COMMON_OPTIONS, {"no-limits", 0, &no_limits, 1}, {"peers", 2, 0, 'E'},
					      {"peer-path", 1, 0, 'P'}, {0, 0, 0, 0}};
	int bad = 0;
	common_defaults(&opt);
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		if (c == 'P')
			bad = peer_path(optarg);
		else if (c == 'E')
			bad = set_peers(optarg);
		else if (c)
			bad = common_option(&opt, c, argv);
	return bad;
}

/* Of our widest set's contexts, which come first: peers choose their own instructions. */
static int collect_peers(struct timed *t, size_t *n, size_t room, const struct n2d_ctx *ctx, int contexts)
{
	const struct blas *peer;
	struct served *program[SERVED_MOST];
	int programs = served_start(program, which_peers, "product", &opt.threads);
	int peers = programs < 0 ? -1 : blas_load(&peer, ctx->k->isa, which_peers);
	for (int i = 0; i < contexts && ctx[i].k == ctx->k; i++) {
		for (int j = 0; j < peers; j++) {
			*n = operators_gemm_peers(t, *n, room, ctx + i, peer + j);
			*n = operators_norm_peers(t, *n, room, ctx + i, peer + j);
		}
		for (int j = 0; j < programs && peers >= 0; j++)
			*n = operators_gemm_served(t, *n, room, ctx + i, program[j]);
	}
	return peers;
}

/* The cases of all kinds in id order of the tables: kernels first. */
static size_t collect(struct timed *t, size_t room, const struct n2d_ctx *ctx, int contexts)
{
	size_t n = 0;
	for (int i = 0; i < contexts; i++)
		if (ctx[i].threads == 1)
			n = timed_kernels(t, n, room, ctx + i);
	for (int i = 0; i < contexts; i++)
		n = timed_operators(t, n, room, ctx + i);
	for (int i = 0; i < contexts && !no_limits; i++)
		n = operators_rows(t, n, room, ctx + i);
	return n;
}

/* Groups: the same op and shape on every instruction set and thread count, interleaved. Without limits, whatever comes next: then
 * a disturbance of some milliseconds does not meet all samples of one case. */
static int sample_all(struct bench_case **c, size_t n, const struct roof_levels *levels)
{
	struct sample_plan plan = SAMPLE_PLAN;
	int bad = 0;
	plan.want = plan.extra = opt.samples;
	plan.stop = &n2d_stop;
	for (size_t done = 0; done < n && !n2d_stop;) {
		struct bench_case *group[TIMED_GROUP];
		size_t m = 0;
		const char *key = timed_of(c[done])->group;
		for (size_t i = 0; i < n && m < TIMED_GROUP; i++)
			if (!c[i]->samples && !c[i]->why[0] && (no_limits || strcmp(timed_of(c[i])->group, key) == 0))
				group[m++] = c[i];
		drive_progress((double)done / (double)n, -1, group[0] ? c[done]->id : "");
		bad |= m && timed_group(group, m, &plan, levels);
		while (done < n && (c[done]->samples || c[done]->why[0]))
			done++;
	}
	drive_progress_end();
	return bad;
}

static void print_versus(struct bench_case **c, size_t n)
{
	struct versus v = {0};
	for (size_t i = 0; i < n; i++) {
		const struct timed *t = timed_of(c[i]);
		if (c[i]->samples)
			versus_tell(versus_add_op(&v, c[i]->id, t->op, t->shape, c[i]->ctx->k->isa, c[i]->ctx->threads, t->program,
						  sample_median(c[i], -1)), t->program_version, t->program_isa, sample_disturbed(c[i]));
	}
	versus_print(&v, stdout, VERSUS_TEXT);
	versus_free(&v);
}

static int report(struct bench_case **c, size_t n, struct csv_out *out)
{
	struct drive_report r = {.describe = timed_describe, .row = opt.csv ? timed_row : NULL, .user = out};
	drive_report(c, n, &r);
	return opt.csv ? csv_finish(out) : 0;
}

int bench_kernels(int argc, char **argv)
{
	enum { ROOM = 4096 };
	static struct timed t[ROOM];
	static struct bench_case *c[ROOM];
	const struct n2d_ctx *ctx;
	struct roof_levels levels = {0};
	struct csv_out out;
	int code, contexts = bench_open(&(struct bench_command){"kernels", usage, parse, &opt}, &argc, argv, &ctx, &code);
	if (!contexts)
		return code;
	size_t n = collect(t, ROOM, ctx, contexts);
	if (with_peers && collect_peers(t, &n, ROOM, ctx, contexts) < 0)
		return bench_usage_error("kernels");
	for (size_t i = 0; i < n; i++)
		c[i] = &t[i].c;
	long selected = drive_select(c, n, argv + optind, argc - optind);
	if (selected < 0)
		return bench_usage_error("kernels");
	if (drive_listed())
		return N2D_EXIT_OK;
	if (opt.csv && csv_create(&out, opt.csv, "kernels/1", TIMED_COLUMNS))
		return bench_failed("kernels");
	drive_catch();
	machine_start(ctx, contexts);
	blas_pin();
	if (!no_limits && roof_find_levels(&levels, ctx)) {
		if (opt.csv)
			csv_abandon(&out);
		return bench_failed("kernels");
	}
	int bad = sample_all(c, (size_t)selected, &levels);
	served_stop();
	timed_print(c, (size_t)selected, &levels);
	if (with_peers)
		print_versus(c, (size_t)selected);
	if (report(c, (size_t)selected, &out) ||
	    (opt.csv && machine_beside(opt.csv, "kernels", &levels, (int)opt.threads.v[opt.threads.n - 1])))
		return bench_failed("kernels");
	return bad || n2d_stop ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
