#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/layer_peer.h"
#include "bench/layers.h"
#include "bench/stats.h"
#include "bench/versus.h"

static const char *pass_name(const struct layer_case *l) { return l->train ? "train" : "forward"; }

static const char *program_version(const struct layer_case *l) { return l->peer ? l->peer->version : PACKAGE_VERSION; }
static const char *program_isa(const struct layer_case *l) { return l->peer ? l->peer_isa : l->c.ctx->k->isa; }

/* No observer looks into a peer. */
static double part(const struct layer_case *l, const struct sample *s, enum n2d_part part) { return l->peer ? NAN : s->part[part]; }

void layer_row(const struct bench_case *c, size_t sample, void *user)
{
	const struct layer_case *l = c->arg;
	const struct n2d_layer_config *k = &l->shape.c;
	const struct sample *s = c->sample + sample;
	csv_row(user,
		"\"%s\",%s,%s,%d,%s,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%d,%zu,%zu,%.9g,%.9g,%.9g,%d,%.17g,%.17g,%.17g,%.17g,%s,"
		"%.6g,%.6g,%.6g,%zu,%.17g,%s,\"%s\",%s",
		c->id, l->kind->name, c->ctx->k->isa, c->ctx->threads, pass_name(l), l->shape.B, l->shape.n, k->D, k->H, k->R,
		k->W, k->dilation, k->F, k->causal, sample, s->calls, s->seconds, part(l, s, N2D_PART_MIXING),
		part(l, s, N2D_PART_PROJECTION), s->clean, l->work.flops, l->mixing_flops, l->work.bytes, l->work.footprint,
		l->limit.level, l->limit.peak, l->limit.bandwidth, l->limit.seconds, l->params, l->memory_bytes,
		l->peer ? l->peer->name : "n2d", program_version(l), program_isa(l));
}

void layer_describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user)
{
	const struct layer_case *l = c->arg;
	double seconds = c->sample[sample].seconds;
	(void)user;
	gbench_counter(s, "GFLOP/s", l->work.flops / seconds / 1e9);
	gbench_counter(s, "percent", 100 * l->limit.seconds / seconds);
	if (!l->peer)
		gbench_counter(s, "mixing_us", 1e6 * c->sample[sample].part[N2D_PART_MIXING]);
}

static int same_table(const struct layer_case *a, const struct layer_case *b)
{
	return a->c.ctx == b->c.ctx && a->train == b->train;
}

enum { NAME_ROOM = 80 };
/* lstm, or lstm@onednn */
static const char *name_of(const struct layer_case *l, char *name)
{
	snprintf(name, NAME_ROOM, "%s%s%s", l->kind->name, l->peer ? "@" : "", l->peer ? l->peer->name : "");
	return name;
}

static void print_line(const struct layer_case *l)
{
	double x[4096];
	if (l->c.samples > 4096)
		return;
	struct stat_summary s = stat_summarise(x, sample_seconds(&l->c, -1, x));
	char name[NAME_ROOM], mixing[32] = "-", memory[32] = "-", limit[32] = "-";
	if (!l->peer) {
		snprintf(mixing, sizeof mixing, "%.1f", 1e6 * sample_median(&l->c, N2D_PART_MIXING));
		snprintf(memory, sizeof memory, "%.1f", l->memory_bytes / (1 << 20));
	}
	if (l->limit.seconds > 0)
		snprintf(limit, sizeof limit, "%.0f%%", 100 * l->limit.seconds / s.median);
	printf("  %-28s %6zu %6zu %12.1f %5.1f%% %12s %9.1f %6s %10s%s\n", name_of(l, name), l->shape.n, l->shape.c.D,
	       1e6 * s.median, 100 * s.mad / s.median, mixing, l->work.flops / s.median / 1e9, limit, memory,
	       sample_mark(&l->c, l->limit.disturbed));
}

static int missing(const struct layer_case *l) { return !l->out && l->c.why[0]; }

static int same_missing(const struct layer_case *a, const struct layer_case *b)
{
	return a->kind == b->kind && a->peer == b->peer && same_table(a, b) && strcmp(a->c.why, b->c.why) == 0;
}

/* One line a layer, set, pass and reason. */
static void print_missing(const struct layer_case *l, size_t n)
{
	int head = 0;
	char name[NAME_ROOM];
	for (size_t i = 0; i < n; i++) {
		int first = missing(l + i);
		for (size_t j = 0; j < i && first; j++)
			first = !(missing(l + j) && same_missing(l + i, l + j));
		if (!first)
			continue;
		printf("%s  %s/%s/%s, %d thread%s, (n, d) =", head++ ? "" : "\nnot measured\n", name_of(l + i, name), l[i].c.ctx->k->isa,
		       pass_name(l + i), l[i].c.ctx->threads, l[i].c.ctx->threads > 1 ? "s" : "");
		for (size_t j = i; j < n; j++)
			if (missing(l + j) && same_missing(l + i, l + j))
				printf(" (%zu, %zu)", l[j].shape.n, l[j].shape.c.D);
		printf(": %s\n", l[i].c.why);
	}
}

void layer_print(struct layer_case *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int first = 1;
		for (size_t j = 0; j < i; j++)
			first &= !(same_table(l + i, l + j) && l[j].c.samples);
		if (!first || !l[i].c.samples)
			continue;
		printf("\n%s, %d thread%s, %s\n  %-28s %6s %6s %12s %6s %12s %9s %6s %10s\n", l[i].c.ctx->k->isa, l[i].c.ctx->threads,
		       l[i].c.ctx->threads > 1 ? "s" : "", l[i].train ? "forward + backward" : "forward", "layer", "n", "d",
		       "median us", "+-", "mixing us", "GFLOP/s", "limit", "memory MiB");
		for (size_t j = i; j < n; j++)
			if (same_table(l + i, l + j) && l[j].c.samples)
				print_line(l + j);
	}
	print_missing(l, n);
}

void layer_print_versus(const struct layer_case *l, size_t n)
{
	struct versus v = {0};
	for (size_t i = 0; i < n; i++) {
		char shape[96];
		snprintf(shape, sizeof shape, "n=%zu,d=%zu,B=%zu", l[i].shape.n, l[i].shape.c.D, l[i].shape.B);
		if (l[i].c.samples)
			versus_tell(versus_add_layer(&v, l[i].c.id, l[i].kind->name, pass_name(l + i), shape, l[i].c.ctx->k->isa, l[i].c.ctx->threads,
					 l[i].peer ? l[i].peer->name : "n2d", sample_median(&l[i].c, -1)),
				    program_version(l + i), program_isa(l + i), sample_disturbed(&l[i].c));
	}
	versus_print(&v, stdout, VERSUS_TEXT);
	versus_free(&v);
}
