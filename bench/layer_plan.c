#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/layers.h"

int plan_open(const struct layer_case *l) { return !l->out && !l->c.samples && !l->c.why[0]; }

/* Opening a case checks it (a call or two, and its share of the references); a sample lasts a millisecond or one call, short
 * calls are made again to observe them. */
static double cost(const struct layer_case *l, size_t samples)
{
	double sample = l->predicted > 0.002 ? l->predicted : 0.005;
	return 3 * l->predicted + 0.004 + sample * (double)samples;
}

/* Nothing is known yet: 60 % of the peak and of a thread's bandwidth. */
void plan_init(struct layer_case *l, size_t n, const struct n2d_ctx *ctx, int contexts, const struct roof_levels *levels)
{
	struct roof_case peak[CTX_MOST];
	struct bench_case *c[CTX_MOST];
	struct sample_plan p = SAMPLE_PLAN;
	p.want = 3;
	p.seconds = 0.001;
	for (int i = 0; i < contexts; i++) {
		roof_case_init(peak + i, ctx + i, ROOF_FMA, 0);
		c[i] = &peak[i].c;
	}
	sample_group(c, (size_t)contexts, &p);
	for (size_t i = 0; i < n; i++) {
		const struct roof_case *r = peak + (l[i].c.ctx - ctx);
		size_t level = roof_level_of(levels, l[i].work.footprint / l[i].c.ctx->threads);
		double bandwidth = levels->level[level].bytes_per_s * l[i].c.ctx->threads;
		l[i].predicted = fmax(l[i].work.flops / (0.6 * roof_rate(r)), l[i].work.bytes / (0.6 * bandwidth));
	}
	for (int i = 0; i < contexts; i++)
		sample_free(c[i]);
}

double plan_left(const struct layer_case *l, size_t n, size_t samples)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		if (plan_open(l + i))
			sum += cost(l + i, samples);
	return sum;
}

void plan_cut(struct layer_case *l, size_t n, size_t samples, double seconds, double budget)
{
	for (size_t i = 0; i < n; i++)
		if (l[i].cut)
			l[i].cut = l[i].c.why[0] = 0;
	double left = plan_left(l, n, samples);
	while (left > seconds) {
		struct layer_case *worst = NULL;
		for (size_t i = 0; i < n; i++)
			if (plan_open(l + i) && (!worst || l[i].rank > worst->rank ||
						 (l[i].rank == worst->rank && l[i].predicted > worst->predicted)))
				worst = l + i;
		if (!worst)
			return;
		left -= cost(worst, samples);
		worst->cut = 1;
		snprintf(worst->c.why, sizeof worst->c.why, "over the budget of %.0f s", budget);
	}
}

void plan_learn(struct layer_case *l, size_t n, const struct layer_case *m)
{
	if (!(m->work.flops > 0))
		return;
	for (size_t i = 0; i < n; i++)
		if ((plan_open(l + i) || l[i].cut) && l[i].kind == m->kind && l[i].peer == m->peer && l[i].c.ctx == m->c.ctx && l[i].train == m->train)
			l[i].predicted = sample_median(&m->c, -1) * fmax(l[i].work.flops / m->work.flops, 1e-3);
}
