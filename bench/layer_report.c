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
	gbench_counter(s, "percent", limit_percent(&l->limit, &l->work, seconds));
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

/* Returns whether its limit has been beaten. */
static int print_line(const struct layer_case *l)
{
	double x[4096];
	if (l->c.samples > 4096)
		return 0;
	struct stat_summary s = stat_summarise(x, sample_seconds(&l->c, -1, x));
	char name[NAME_ROOM], mixing[32] = "-", memory[32] = "-", limit[32] = "-";
	if (!l->peer) {
		snprintf(mixing, sizeof mixing, "%.1f", 1e6 * sample_median(&l->c, N2D_PART_MIXING));
		snprintf(memory, sizeof memory, "%.1f", l->memory_bytes / (1 << 20));
	}
	double percent = limit_percent(&l->limit, &l->work, s.median);
	if (percent > 0)
		snprintf(limit, sizeof limit, "%.0f%%", percent);
	printf("  %-28s %6zu %6zu %12.1f %5.1f%% %12s %9.1f %6s  %10s%s\n", name_of(l, name), l->shape.n, l->shape.c.D,
	       1e6 * s.median, 100 * s.mad / s.median, mixing, l->work.flops / s.median / 1e9, limit, memory,
	       sample_mark(&l->c, l->limit.disturbed));
	return limit_beaten(l->work.flops, s.median, l->limit.peak);
}

/* What the marks at the lines of a table mean, where there are some. */
static void print_marks(const struct layer_case *l, size_t n, size_t first)
{
	int disturbed = 0, limit = 0;
	for (size_t i = first; i < n; i++)
		if (same_table(l + i, l + first) && l[i].c.samples) {
			int own = sample_disturbed(&l[i].c); /* comes before that of the limit */
			disturbed |= own;
			limit |= !own && l[i].limit.disturbed;
		}
	fputs(disturbed ? "disturbed: " SAMPLE_DISTURBED_NOTE ".\n" : "", stdout);
	fputs(limit ? "limit disturbed: the same of the peak or the bandwidth, so that the per cents can be too high.\n" : "", stdout);
}

static int missing(const struct layer_case *l) { return !l->out && l->c.why[0]; }

/* Of one instruction set; of one layer of it, when not whole. */
static int same_group(const struct layer_case *a, const struct layer_case *b, int whole)
{
	return strcmp(a->c.ctx->k->isa, b->c.ctx->k->isa) == 0 && (whole || (a->kind == b->kind && a->peer == b->peer));
}

static int same_missing(const struct layer_case *a, const struct layer_case *b, int whole)
{
	return missing(a) && missing(b) && same_group(a, b, whole) && strcmp(a->c.why, b->c.why) == 0;
}

/* Is all of this instruction set missing, for one reason? */
static int lacks_all(const struct layer_case *l, size_t n, const struct layer_case *one)
{
	for (size_t i = 0; i < n; i++)
		if (!l[i].out && same_group(l + i, one, 1) && !same_missing(l + i, one, 1))
			return 0;
	return 1;
}

/* " n = 16..512," */
static void print_range(const char *name, size_t least, size_t most)
{
	printf(least < most ? " %s = %zu..%zu," : " %s = %zu,", name, least, most);
}

static void print_missing_group(const struct layer_case *l, size_t n, const struct layer_case *one, int whole)
{
	size_t all = 0, lacking = 0, n0 = one->shape.n, n1 = n0, d0 = one->shape.c.D, d1 = d0;
	char name[NAME_ROOM];
	for (size_t i = 0; i < n; i++) {
		size_t at = l[i].shape.n, d = l[i].shape.c.D;
		all += !l[i].out && same_group(l + i, one, whole);
		if (!same_missing(l + i, one, whole))
			continue;
		lacking++;
		n0 = at < n0 ? at : n0, n1 = at > n1 ? at : n1;
		d0 = d < d0 ? d : d0, d1 = d > d1 ? d : d1;
	}
	printf("  %s%s%s:", whole ? "" : name_of(one, name), whole ? "" : "/", one->c.ctx->k->isa);
	print_range("n", n0, n1);
	print_range("d", d0, d1);
	printf(" %zu of %zu cases: %s\n", lacking, all, one->c.why);
}

/* One line an instruction set that lacks altogether, then one a layer of the others, and reason. */
static void print_missing(const struct layer_case *l, size_t n)
{
	int head = 0, cut = 0;
	for (int whole = 1; whole >= 0; whole--)
		for (size_t i = 0; i < n; i++) {
			int first = missing(l + i) && lacks_all(l, n, l + i) == whole;
			for (size_t j = 0; j < i && first; j++)
				first = !same_missing(l + i, l + j, whole);
			if (!first)
				continue;
			fputs(head++ ? "" : "\nnot measured\n", stdout);
			print_missing_group(l, n, l + i, whole);
			cut |= l[i].cut;
		}
	if (cut)
		printf("without the budget: --budget 0 (through make: BENCH_LAYERS='--budget 0')\n");
}

void layer_print(struct layer_case *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int first = 1;
		for (size_t j = 0; j < i; j++)
			first &= !(same_table(l + i, l + j) && l[j].c.samples);
		if (!first || !l[i].c.samples)
			continue;
		printf("\n%s, %d thread%s, %s\n  %-28s %6s %6s %12s %6s %12s %9s %6s  %10s\n", l[i].c.ctx->k->isa, l[i].c.ctx->threads,
		       l[i].c.ctx->threads > 1 ? "s" : "", l[i].train ? "forward + backward" : "forward", "layer", "n", "d",
		       "median us", "+-", "mixing us", "GFLOP/s", "limit", "memory MiB");
		int beaten = 0;
		for (size_t j = i; j < n; j++)
			if (same_table(l + i, l + j) && l[j].c.samples)
				beaten |= print_line(l + j);
		print_marks(l, n, i);
		fputs(beaten ? "limit -: " LIMIT_BEATEN_NOTE ".\n" : "", stdout);
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
