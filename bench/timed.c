#include "config.h"

#include "bench/timed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/blas.h"
#include "bench/pin.h"
#include "bench/served.h"
#include "bench/stats.h"

struct timed *timed_new(struct timed *t, size_t *n, size_t room, const struct n2d_ctx *ctx, const char *op,
			const char *shape, const char *state)
{
	if (*n == room)
		return NULL;
	struct timed *x = t + (*n)++;
	memset(x, 0, sizeof *x);
	x->op = op;
	x->state = state;
	x->c.arg = x;
	x->c.ctx = ctx;
	x->program = "n2d";
	x->program_version = PACKAGE_VERSION;
	x->program_isa = ctx->k->isa;
	snprintf(x->shape, sizeof x->shape, "%s", shape);
	snprintf(x->group, sizeof x->group, "%s/%s", op, shape);
	size_t used = (size_t)snprintf(x->c.id, sizeof x->c.id, "%s/%s/%s", op, ctx->k->isa, shape);
	if (strcmp(state, "warm") != 0 && used < sizeof x->c.id)
		used += (size_t)snprintf(x->c.id + used, sizeof x->c.id - used, ",%s", state);
	if (ctx->threads > 1 && used < sizeof x->c.id)
		snprintf(x->c.id + used, sizeof x->c.id - used, ",threads=%d", ctx->threads);
	return x;
}

void timed_peer(struct timed *t, const struct blas *peer)
{
	t->peer = peer;
	t->program = peer->name;
	t->program_version = peer->version;
	t->program_isa = peer->arch;
}

void timed_served(struct timed *t, struct served *peer)
{
	t->served = peer;
	t->c.outside = 1;
	t->program = peer->name;
	t->program_version = peer->worker->process.version;
	t->program_isa = peer->worker->process.isa;
}

int timed_group(struct bench_case **c, size_t n, const struct sample_plan *p, const struct roof_levels *levels)
{
	static struct limits limits;
	struct bench_case *all[TIMED_GROUP + LIMITS_MOST];
	size_t m = 0;
	limits_init(&limits, levels);
	for (size_t i = 0; i < n; i++) {
		pin_threads(c[i]->ctx);
		if (c[i]->open(c[i])) {
			snprintf(c[i]->why, sizeof c[i]->why, "%s", n2d_error_text());
			c[i]->failed = 1;
			fprintf(stderr, "n2d-bench: %s: %s\n", c[i]->id, c[i]->why);
			continue;
		}
		c[i]->open = NULL; /* done here: the limits depend on what it found */
		if (levels->n)
			limits_need(&limits, c[i]->ctx, &timed_of(c[i])->work);
		all[m++] = c[i];
	}
	int bad = m < n;
	bad |= sample_group(all, limits_cases(&limits, all, m), p) != 0;
	for (size_t i = 0; i < m; i++)
		timed_of(all[i])->limit = limits_of(&limits, all[i]->ctx, &timed_of(all[i])->work);
	limits_free(&limits);
	return bad ? -1 : 0;
}

/* How many times as fast as the same case with one thread; NAN where that is not there. */
static double speedup(struct bench_case **c, size_t n, const struct timed *t)
{
	for (size_t i = 0; t->c.ctx->threads > 1 && i < n; i++) {
		const struct timed *o = timed_of(c[i]);
		if (o->c.ctx->threads == 1 && o->c.ctx->k == t->c.ctx->k && strcmp(o->op, t->op) == 0 &&
		    strcmp(o->shape, t->shape) == 0 && strcmp(o->state, t->state) == 0 && c[i]->samples)
			return sample_median(c[i], -1) / sample_median(&t->c, -1);
	}
	return NAN;
}

void timed_print(struct bench_case **c, size_t n, const struct roof_levels *levels)
{
	int beaten = 0;
	printf("%-58s %11s %6s %9s %8s  %5s  %s\n", "op/isa/shape", "median", "+-", "GFLOP/s", "GB/s", "% of", "limit");
	for (size_t i = 0; i < n; i++) {
		const struct timed *t = timed_of(c[i]);
		double x[4096];
		if (!c[i]->samples || c[i]->samples > 4096) {
			printf("%-58s %s\n", c[i]->id, c[i]->why);
			continue;
		}
		struct stat_summary s = stat_summarise(x, sample_seconds(c[i], -1, x));
		int memory = !(t->work.flops / t->limit.peak >= t->limit.seconds);
		printf("%-58s %8.2f us %5.1f%% %9.1f %8.1f", c[i]->id, 1e6 * s.median, 100 * s.mad / s.median, t->work.flops / s.median / 1e9,
		       t->work.bytes / s.median / 1e9);
		if (levels->n && limit_beaten(t->work.flops, s.median, t->limit.peak))
			beaten = printf("  %5s  peak", "-") > 0;
		else if (levels->n)
			printf("  %4.0f%%  %s", limit_percent(&t->limit, &t->work, s.median), memory ? t->limit.level : "peak");
		double faster = speedup(c, n, t);
		if (!isnan(faster))
			printf("  %.2fx one thread", faster);
		puts(sample_mark(c[i], t->limit.disturbed));
	}
	fputs(beaten ? "% of limit -: " LIMIT_BEATEN_NOTE ".\n" : "", stdout);
}

void timed_describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user)
{
	const struct timed *t = timed_of(c);
	double seconds = c->sample[sample].seconds;
	(void)user;
	gbench_counter(s, "GFLOP/s", t->work.flops / seconds / 1e9);
	gbench_counter(s, "GB/s", t->work.bytes / seconds / 1e9);
	gbench_counter(s, "percent", limit_percent(&t->limit, &t->work, seconds));
}

void timed_row(const struct bench_case *c, size_t sample, void *user)
{
	const struct timed *t = timed_of(c);
	const struct sample *s = c->sample + sample;
	csv_row(user, "\"%s\",%s,%s,%d,\"%s\",%s,%zu,%zu,%.9g,%d,%.17g,%.17g,%.17g,%s,%s,%.6g,%.6g,%.6g,%s,\"%s\",%s", c->id, t->op,
		c->ctx->k->isa, c->ctx->threads, t->shape, t->state, sample, s->calls, s->seconds, s->clean, t->work.flops,
		t->work.bytes, t->work.footprint, roof_names[t->work.stream], t->limit.level, t->limit.peak,
		t->limit.bandwidth, t->limit.seconds, t->program, t->program_version, t->program_isa);
}
