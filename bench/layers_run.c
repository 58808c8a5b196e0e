/* The sweep: one group a shape, smallest first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/bench.h"
#include "bench/blas.h"
#include "bench/layer_peer.h"
#include "bench/layers.h"
#include "bench/machine.h"

enum { ROOM = 16384, GROUP_MOST = 256 };

static struct layer_case *cases;
static size_t ncases;

static struct {
	const struct layers_options *o;
	struct roof_levels levels;
	double start;
} run;

static const struct layer_peer *peer[LAYER_PEERS];
static int npeers;

/* After ours, on our widest set's threads: peers choose their own instructions. */
static void add_peers(const struct layer_case *ours)
{
	for (int i = 0; i < npeers && ncases < ROOM; i++)
		if (!ours->c.why[0] && !ours->rank && peer[i]->has(peer[i], ours)) {
			layer_case_init(cases + ncases, ours->kind, &ours->shape, ours->c.ctx, ours->train);
			layer_case_peer(cases + ncases++, peer[i]);
		}
}

static void add_shape(const struct n2d_ctx *ctx, int contexts, size_t n, size_t d)
{
	const struct layers_options *o = run.o;
	struct layer_shape s = {o->batch, n, o->c};
	s.c.D = d;
	s.c.F = o->c.F ? o->c.F : 4 * d;
	s.c.H = o->c.H ? o->c.H : d >= 128 ? d / 64 : 1; /* the paper's d_k */
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; *k; k++)
		for (int i = 0; i < contexts; i++)
			for (int train = 0; train < 2; train++) {
				if ((o->layer && !in_list(o->layer, (*k)->name)) || ncases == ROOM ||
				    (o->pass && !in_list(o->pass, train ? "train" : "forward")))
					continue;
				struct layer_case *l = cases + ncases++;
				layer_case_init(l, *k, &s, ctx + i, train);
				for (int j = 1; j <= i; j++) /* contexts come widest first */
					l->rank += ctx[j].k != ctx[j - 1].k;
				add_peers(l);
			}
}

static int has_shape(size_t n, size_t d)
{
	for (size_t i = 0; i < ncases; i++)
		if (cases[i].shape.n == n && cases[i].shape.c.D == d)
			return 1;
	return 0;
}

static void collect(const struct n2d_ctx *ctx, int contexts)
{
	const struct layers_options *o = run.o;
	for (size_t i = 0; i < o->n.n; i++)
		for (size_t j = 0; j < o->d.n; j++) {
			int every = !o->base_n.n && !o->base_d.n;
			int wanted = (o->base_d.n && o->d.v[j] == o->base_d.v[0]) || (o->base_n.n && o->n.v[i] == o->base_n.v[0]);
			if ((every || wanted) && !has_shape(o->n.v[i], o->d.v[j]))
				add_shape(ctx, contexts, o->n.v[i], o->d.v[j]);
		}
}

/* Marks what --benchmark_filter or the ids leave out. */
static long keep_selected(void)
{
	struct bench_case **c = calloc(ncases + 1, sizeof *c);
	if (!c)
		abort();
	for (size_t i = 0; i < ncases; i++) {
		c[i] = &cases[i].c;
		cases[i].out = 1;
	}
	long selected = drive_select(c, ncases, run.o->ids, run.o->nids);
	for (long i = 0; i < selected; i++)
		((struct layer_case *)c[i]->arg)->out = 0;
	free(c);
	return selected;
}

/* -1 and a message when no layer can have these sizes. */
static int check_possible(void)
{
	const struct layer_case *refused = NULL;
	for (size_t i = 0; i < ncases; i++) {
		if (plan_open(cases + i))
			return 0;
		if (!cases[i].out)
			refused = cases + i;
	}
	return refused ? n2d_error("%s", refused->c.why) : 0;
}

static void progress(void *arg, const struct bench_case *c)
{
	(void)arg;
	double done = n2d_now() - run.start, left = plan_left(cases, ncases, run.o->samples);
	drive_progress(done / (done + left), left, c->id);
}

static int measure(struct layer_case **l, size_t n)
{
	static struct layer_group group;
	static struct limits limits;
	struct bench_case *c[GROUP_MOST + LIMITS_MOST];
	struct sample_plan p = SAMPLE_PLAN;
	p.want = p.extra = run.o->samples;
	p.seconds = 0.002;
	p.stop = &n2d_stop;
	p.progress = progress;
	p.seed = l[0]->shape.n * 8192 + l[0]->shape.c.D;
	progress(NULL, &l[0]->c); /* the memory of large shapes takes seconds to touch */
	if (layer_group_open(&group, l, n)) {
		for (size_t i = 0; i < n; i++)
			snprintf(l[i]->c.why, sizeof l[i]->c.why, "%s", n2d_error_text());
		return -1;
	}
	limits_init(&limits, &run.levels);
	for (size_t i = 0; i < n; i++) {
		c[i] = &l[i]->c;
		if (!run.o->no_limits)
			limits_need(&limits, l[i]->c.ctx, &l[i]->work);
	}
	int bad = sample_group(c, limits_cases(&limits, c, n), &p);
	for (size_t i = 0; i < n; i++) {
		l[i]->limit = limits_of(&limits, l[i]->c.ctx, &l[i]->work);
		if (l[i]->c.failed)
			fprintf(stderr, "n2d-bench: %s: %s\n", l[i]->c.id, l[i]->c.why);
		if (l[i]->c.samples)
			plan_learn(cases, ncases, l[i]);
	}
	limits_free(&limits);
	layer_group_close(&group);
	return bad;
}

/* The shape whose cases take least, of those not measured yet. */
static size_t next_group(struct layer_case **l)
{
	const struct layer_case *first = NULL;
	size_t n = 0;
	for (size_t i = 0; i < ncases; i++)
		if (plan_open(cases + i) &&
		    (!first || cases[i].shape.n * cases[i].shape.c.D < first->shape.n * first->shape.c.D))
			first = cases + i;
	for (size_t i = 0; first && i < ncases && n < GROUP_MOST; i++)
		if (plan_open(cases + i) && cases[i].shape.n == first->shape.n && cases[i].shape.c.D == first->shape.c.D)
			l[n++] = cases + i;
	return n;
}

static int sweep(void)
{
	struct layer_case *l[GROUP_MOST];
	int bad = 0;
	while (!n2d_stop) {
		if (run.o->budget > 0)
			plan_cut(cases, ncases, run.o->samples, run.o->budget - (n2d_now() - run.start), run.o->budget);
		size_t n = next_group(l);
		if (!n)
			break;
		bad |= measure(l, n);
	}
	for (size_t i = 0; i < ncases; i++)
		if (plan_open(cases + i))
			snprintf(cases[i].c.why, sizeof cases[i].c.why, "interrupted");
	drive_progress_end();
	return bad;
}

static int report(struct csv_out *out)
{
	struct bench_case **c = calloc(ncases + 1, sizeof *c);
	struct drive_report r = {.describe = layer_describe, .row = run.o->csv ? layer_row : NULL, .user = out};
	size_t n = 0;
	if (!c)
		abort();
	for (size_t i = 0; i < ncases; i++)
		if (!cases[i].out)
			c[n++] = &cases[i].c;
	drive_report(c, n, &r);
	free(c);
	layer_print(cases, ncases);
	if (run.o->peers)
		layer_print_versus(cases, ncases);
	return run.o->csv ? csv_finish(out) : 0;
}

static int measured(void)
{
	for (size_t i = 0; i < ncases; i++)
		if (cases[i].c.samples)
			return 1;
	return 0;
}

int layers_run(const struct layers_options *o, const struct n2d_ctx *ctx, int contexts)
{
	struct csv_out out;
	run.o = o;
	run.start = n2d_now();
	cases = calloc(ROOM, sizeof *cases);
	if (!cases)
		abort();
	if (o->peers && (npeers = layer_peers(peer, ctx->k->isa, o->which_peers, &o->threads)) < 0)
		return bench_usage_error("layers");
	collect(ctx, contexts);
	long selected = keep_selected();
	if (selected < 0)
		return bench_usage_error("layers");
	if (drive_listed())
		return N2D_EXIT_OK;
	if (check_possible())
		return bench_usage_error("layers");
	if (o->csv && csv_create(&out, o->csv, "layers/1", LAYER_COLUMNS))
		return bench_failed("layers");
	drive_catch();
	machine_start(ctx, contexts);
	blas_pin();
	if (roof_find_levels(&run.levels, ctx)) {
		if (o->csv)
			csv_abandon(&out);
		return bench_failed("layers");
	}
	plan_init(cases, ncases, ctx, contexts, &run.levels);
	int bad = sweep();
	layer_peers_stop();
	if (report(&out) ||
	    (o->csv && machine_beside(o->csv, "layers", &run.levels, (int)o->threads.v[o->threads.n - 1])))
		return bench_failed("layers");
	return bad || n2d_stop || !measured() ? N2D_EXIT_FAILED : N2D_EXIT_OK; /* why is in the table */
}
