#include "config.h"

#include "bench/model_command.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/peak.h"
#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/machine.h"
#include "train/profile.h"

int model_profile;

static struct model_case *as_model(const struct bench_case *c) { return c->arg; }

/* ---- samples */

struct measuring {
	struct bench_case **selected;
	size_t n, want;
};

/* Of the samples that are wanted; the limits' own do not count. */
static void progress(void *arg, const struct bench_case *c)
{
	const struct measuring *m = arg;
	size_t taken = 0;
	for (size_t i = 0; i < m->n; i++)
		taken += m->selected[i]->samples < m->want ? m->selected[i]->samples : m->want;
	drive_progress((double)taken / (double)(m->want * m->n), -1, c->id);
}

static int measure(struct bench_case **selected, size_t n, size_t want)
{
	static struct roof_case peak[MODEL_CASES];
	struct measuring m = {selected, n, want};
	struct sample_plan p = SAMPLE_PLAN;
	int bad = 0;
	p.want = p.extra = want;
	p.stop = &n2d_stop;
	p.progress = progress;
	p.arg = &m;
	for (size_t first = 0, end; first < n && !n2d_stop; first = end) {
		struct bench_case *c[2 * MODEL_CASES];
		size_t cases = 0;
		for (end = first; end < n && strcmp(as_model(selected[end])->group, as_model(selected[first])->group) == 0; end++) {
			roof_case_init(&peak[end], selected[end]->ctx, ROOF_FMA, 0);
			as_model(selected[end])->peak = &peak[end];
			c[cases++] = selected[end];
			c[cases++] = &peak[end].c;
		}
		bad |= sample_group(c, cases, &p);
		for (size_t i = first; i < end; i++) {
			as_model(selected[i])->peak_flops = roof_rate(&peak[i]);
			as_model(selected[i])->peak_disturbed = sample_disturbed(&peak[i].c);
			sample_free(&peak[i].c);
			if (selected[i]->failed)
				fprintf(stderr, "n2d-bench: %s: %s\n", selected[i]->id, selected[i]->why);
		}
	}
	drive_progress_end();
	return bad;
}

/* ---- where the time goes */

/* Of one call, dearest first as they were printed; the last row is the time between operators. */
static void profile_rows(struct csv_out *out, const struct model_case *m, const struct n2d_profile *p, int calls)
{
	double rest = p->seconds;
	for (size_t i = 0; i < p->rows; i++) {
		const struct n2d_profile_row *r = p->row + i;
		csv_row(out, "\"%s\",%s,%s,%.9g,%.9g,%.17g,%.17g", m->c.id, r->where, r->op, r->seconds / calls, (double)r->calls / calls, r->flops / calls,
			r->bytes / calls);
		rest -= r->seconds;
	}
	csv_row(out, "\"%s\",,(between operators),%.9g,0,0,0", m->c.id, rest / calls);
}

/* out: NULL for none. Returns 1 when there was something to profile. */
static int profile(struct model_case *m, int calls, struct csv_out *out)
{
	static struct n2d_profile p;
	struct n2d_ctx ctx = *m->c.ctx;
	int bad = 0;
	n2d_profile_init(&p);
	n2d_profile_start(&p);
	ctx.trace = &p.trace;
	for (int i = 0; i < calls && !bad; i++)
		bad = m->once(m, &ctx);
	n2d_profile_stop(&p);
	if (bad) {
		fprintf(stderr, "n2d-bench: %s: %s\n", m->c.id, n2d_error_text());
		return 0;
	}
	printf("\n%s: %d call%s together\n", m->c.id, calls, n2d_plural((size_t)calls));
	n2d_profile_print(&p, stdout, m->peak_flops, n2d_peak_bandwidth(m->c.ctx));
	if (out)
		profile_rows(out, m, &p, calls);
	return 1;
}

/* FILE.csv has its profiles in FILE-profile.csv; what is not called so has none. -1 and a message. */
static int profiles(struct bench_case **c, size_t n, int calls, const char *csv)
{
	char path[4096];
	struct csv_out out;
	size_t len = csv ? strlen(csv) : 0;
	int any = 0, file = len > 4 && strcmp(csv + len - 4, ".csv") == 0 && snprintf(path, sizeof path, "%.*s-profile.csv", (int)(len - 4), csv) < (int)sizeof path;
	if (file && csv_create(&out, path, "profile/1", "id,where,op,seconds,calls,flops,bytes"))
		return -1;
	for (size_t i = 0; i < n && !n2d_stop; i++)
		if (as_model(c[i])->once && c[i]->samples)
			any |= profile(as_model(c[i]), calls, file ? &out : NULL);
	if (file && !any)
		csv_abandon(&out);
	return file && any ? csv_finish(&out) : 0;
}

/* ---- the command */

/* Contexts come widest first. */
static int of_widest(const struct n2d_ctx *ctx, int contexts)
{
	int n = 0;
	while (n < contexts && ctx[n].k == ctx[0].k)
		n++;
	return n;
}

static int measured(const struct model_command *m, struct bench_case **c, size_t n, const struct n2d_ctx *ctx, int contexts,
		    struct model_case *const *all, size_t nall)
{
	const struct common_options *o = m->command.common;
	struct csv_out out;
	if (o->csv && csv_create(&out, o->csv, m->schema, m->columns))
		return bench_failed(m->command.name);
	drive_catch();
	for (size_t i = 0; i < n && m->start; i++)
		m->start(as_model(c[i]));
	machine_start(ctx, contexts);
	int bad = measure(c, n, o->samples);
	struct drive_report report = {.describe = m->describe, .row = o->csv ? m->row : NULL, .user = &out};
	drive_report(c, n, &report);
	int failed = model_profile && profiles(c, n, m->profile_calls, o->csv);
	m->print(all, nall);
	if (failed || (o->csv && (csv_finish(&out) || machine_beside(o->csv, m->command.name, NULL, (int)o->threads.v[o->threads.n - 1]))))
		return bench_failed(m->command.name);
	return bad || n2d_stop ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}

int model_command(const struct model_command *m, int argc, char **argv)
{
	static struct model_case *all[MODEL_CASES];
	static struct bench_case *c[MODEL_CASES];
	const struct n2d_ctx *ctx;
	int code, contexts = bench_open(&m->command, &argc, argv, &ctx, &code);
	if (!contexts)
		return code;
	if (!m->command.common->isa)
		contexts = of_widest(ctx, contexts);
	int n = m->collect(all, ctx, contexts);
	for (int i = 0; i < n; i++)
		c[i] = &all[i]->c;
	long selected = n < 0 ? -1 : drive_select(c, (size_t)n, argv + optind, argc - optind);
	if (selected < 0)
		return bench_usage_error(m->command.name);
	return drive_listed() ? N2D_EXIT_OK : measured(m, c, (size_t)selected, ctx, contexts, all, (size_t)n);
}
