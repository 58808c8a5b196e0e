/* The table as text, Markdown and CSV. */
#include <math.h>
#include <string.h>

#include "bench/limits.h"
#include "bench/sample.h"
#include "bench/table.h"

void growth_text(const struct growth *g, char *text, size_t size)
{
	switch (g->kind) {
	case GROWTH_NONE: snprintf(text, size, "-"); break;
	case GROWTH_CONSTANT: snprintf(text, size, "%.0f", g->a); break;
	case GROWTH_LOG: snprintf(text, size, "%.2f log2 n", g->b); break;
	default:
		if (g->b < 0.6)
			snprintf(text, size, "n/%.1f", 1 / g->b);
		else
			snprintf(text, size, "%.2f n", g->b);
	}
}

static void exponent(const struct stat_line *l, char *text, size_t size)
{
	if (!l->n)
		snprintf(text, size, "-");
	else if (isinf(l->half))
		snprintf(text, size, "%.2f", l->b);
	else
		snprintf(text, size, "%.2f +-%.2f", l->b, l->half);
}

int table_beyond(double percent) { return percent >= 100.5; }

static const char *const head[TABLE_CELLS] = {"layer", "stated", "n: mixing", "n: whole", "d: mixing", "d: whole", "sequential", "measured",
					"path", "measured", "layers", "limit %", "(range)"};

void table_cells(const struct table_row *r, char c[TABLE_CELLS][TABLE_CELL])
{
	snprintf(c[0], TABLE_CELL, "%s", r->layer);
	snprintf(c[1], TABLE_CELL, "%s", r->complexity ? r->complexity : "-");
	exponent(&r->n_mixing, c[2], TABLE_CELL);
	exponent(&r->n_whole, c[3], TABLE_CELL);
	exponent(&r->d_mixing, c[4], TABLE_CELL);
	exponent(&r->d_whole, c[5], TABLE_CELL);
	snprintf(c[6], TABLE_CELL, "%s", r->sequential && r->complexity ? r->sequential : "-");
	growth_text(&r->sequential_found, c[7], TABLE_CELL);
	snprintf(c[8], TABLE_CELL, "%s", r->path && r->complexity ? r->path : "-");
	growth_text(&r->path_found, c[9], TABLE_CELL);
	growth_text(&r->perturbed_found, c[10], TABLE_CELL);
	if (r->dilated_found.kind != GROWTH_NONE) {
		size_t used = strlen(c[9]);
		snprintf(c[9] + used, TABLE_CELL - used, "; ");
		growth_text(&r->dilated_found, c[9] + used + 2, TABLE_CELL - used - 2);
	}
	snprintf(c[11], TABLE_CELL, "%.0f", r->percent.median);
	snprintf(c[12], TABLE_CELL, "%.0f..%.0f%s", r->percent.min, r->percent.max, table_beyond(r->percent.max) ? " *" : "");
	if (!(r->percent.median > 0)) /* nan: interrupted; 0: --no-limits, or no length has a limit */
		snprintf(c[11], TABLE_CELL, "-"), snprintf(c[12], TABLE_CELL, "-");
}

static void widths(const struct table *t, int *w)
{
	for (int j = 0; j < TABLE_CELLS; j++)
		w[j] = (int)strlen(head[j]);
	for (size_t i = 0; i < t->rows; i++) {
		char c[TABLE_CELLS][TABLE_CELL];
		table_cells(t->row + i, c);
		for (int j = 0; j < TABLE_CELLS; j++)
			w[j] = (int)strlen(c[j]) > w[j] ? (int)strlen(c[j]) : w[j];
	}
}

const char table_notes[] =
	"n, d: exponents of time in length and width, from a sixteenth of the largest size on, with 95 % confidence intervals;\n"
	"mixing is what moves information between positions, timed by watching operators in calls of its own; whole includes the projections. materialised: attention that stores\n"
	"its n x n matrix of weights; without the word it goes over them in blocks. sequential: longest chain of\n"
	"dependent operator calls in the trace. path: fewest mixing steps from the first input to the last output over stacked\n"
	"layers (convolution: contiguous; dilated). layers: how many are stacked until changing the first input changes the last\n"
	"output, by running them. Restricted attention: unless --window says otherwise, n2d-bench layers times a window of 64 positions\n"
	"either side, n2d-bench paths traces one of 8.\n"
	"limit %: of the speed that the machine allows at most, min(peak, intensity x bandwidth) with intensity = operations a\n"
	"byte, measured in the same minutes, over the same lengths.\n";

/* Shares of a limit that cannot be. */
static void limits(const struct table *t, FILE *f)
{
	int above = 0;
	for (size_t i = 0; i < t->rows; i++)
		above |= table_beyond(t->row[i].percent.max);
	if (above)
		fprintf(f, "*: more than the limit: what is bound by memory has some of it nearer than it was measured for, or the limit was disturbed.\n");
	if (*t->beaten.text)
		fprintf(f, "limit %% leaves out %s: " LIMIT_BEATEN_NOTE ".\n", t->beaten.text);
}

/* How steady the machine was. */
static void peak(const struct table *t, FILE *f)
{
	if (!t->peak_high)
		return;
	fprintf(f, "peak: %.4g to %.4g GFLOP/s while this was measured", 1e-9 * t->peak_low, 1e-9 * t->peak_high);
	fprintf(f, t->peak_high > PEAK_STEADY * t->peak_low ? ": the machine's speed changed, and times taken apart compare by their per cents of the limit only.\n" : ".\n");
}

/* What a mark at a row means, where there is one. */
static void disturbed(const struct table *t, FILE *f)
{
	if (*t->disturbed.text)
		fprintf(f, "disturbed: %s: " SAMPLE_DISTURBED_NOTE ".\n", t->disturbed.text);
}

void table_text(const struct table *t, FILE *f)
{
	int w[TABLE_CELLS];
	char c[TABLE_CELLS][TABLE_CELL];
	widths(t, w);
	fprintf(f, "Table 1, stated | measured: %s, %d thread%s, %s, n = %.0f .. %.0f\n\n", t->choice.isa, t->choice.threads,
		t->choice.threads > 1 ? "s" : "", t->choice.pass, t->n_from, t->n_to);
	for (int j = 0; j < TABLE_CELLS; j++)
		fprintf(f, j ? "  %*s" : "%-*s", w[j], head[j]);
	putc('\n', f);
	for (size_t i = 0; i < t->rows; i++) {
		table_cells(t->row + i, c);
		for (int j = 0; j < TABLE_CELLS; j++)
			fprintf(f, j ? "  %*s" : "%-*s", w[j], c[j]);
		fputs(t->row[i].disturbed ? "  disturbed\n" : "\n", f);
	}
	fprintf(f, "\n%s", table_notes);
	fputs(t->paths ? "" : TABLE_NO_PATHS ".\n", f);
	disturbed(t, f);
	limits(t, f);
	peak(t, f);
	fprintf(f, "\nT = c0 + c1 n d^2 + c2 n^2 d, fitted to all shapes by relative error\n  %-28s %12s %12s %12s %8s\n", "layer",
		"c0 us", "c1 ps", "c2 ps", "error");
	for (size_t i = 0; i < t->rows; i++) {
		const struct fit *q = &t->row[i].fit;
		fprintf(f, "  %-28s %12.2f %12.3f %12.3f %7.1f%%\n", t->row[i].layer, 1e6 * q->c[0], 1e12 * q->c[1], 1e12 * q->c[2],
			100 * q->rms);
	}
	table_pairs_text(t, f);
}

void table_markdown(const struct table *t, FILE *f)
{
	char c[TABLE_CELLS][TABLE_CELL];
	fprintf(f, "Table 1 as stated and as measured: %s, %d thread%s, %s, n = %.0f … %.0f.\n\n|", t->choice.isa, t->choice.threads,
		t->choice.threads > 1 ? "s" : "", t->choice.pass, t->n_from, t->n_to);
	for (int j = 0; j < TABLE_CELLS; j++)
		fprintf(f, " %s |", head[j]);
	fprintf(f, "\n|");
	for (int j = 0; j < TABLE_CELLS; j++)
		fprintf(f, j ? "--:|" : "--|");
	for (size_t i = 0; i < t->rows; i++) {
		table_cells(t->row + i, c);
		fprintf(f, "\n|");
		for (int j = 0; j < TABLE_CELLS; j++) {
			char *s = strstr(c[j], "+-");
			if (s)
				fprintf(f, " %.*s± %s |", (int)(s - c[j]), c[j], s + 2);
			else
				fprintf(f, " %s%s |", c[j], !j && t->row[i].disturbed ? ", disturbed" : "");
		}
	}
	fprintf(f, "\n\n%s", table_notes);
	fputs(t->paths ? "" : TABLE_NO_PATHS ".\n", f);
	disturbed(t, f);
	limits(t, f);
	peak(t, f);
	table_pairs_markdown(t, f);
}

static void csv_value(FILE *f, const struct table *t, const char *layer, const char *other, const char *quantity,
		      const char *stated, double value, double half)
{
	fprintf(f, "table/1,%s,%d,%s,%s,%s,%s,\"%s\",%.6g,%.6g\n", t->choice.isa, t->choice.threads, t->choice.pass, layer, other,
		quantity, stated ? stated : "", value, half);
}

static void csv_growth(FILE *f, const struct table *t, const struct table_row *r, const char *quantity, const char *stated,
		       const struct growth *g)
{
	static const char *const kind[] = {"none", "constant", "log2_n", "n"};
	char name[64];
	if (g->kind == GROWTH_NONE)
		return;
	snprintf(name, sizeof name, "%s_%s", quantity, kind[g->kind]);
	csv_value(f, t, r->layer, "", name, stated, g->kind == GROWTH_CONSTANT ? g->a : g->b, NAN);
}

static void csv_slope(FILE *f, const struct table *t, const struct table_row *r, const char *quantity, const struct stat_line *l)
{
	if (l->n)
		csv_value(f, t, r->layer, "", quantity, r->complexity, l->b, l->half);
}

void table_csv(const struct table *t, FILE *f)
{
	fprintf(f, "schema,isa,threads,pass,layer,other,quantity,stated,value,half_width\n");
	for (size_t i = 0; i < t->rows; i++) {
		const struct table_row *r = t->row + i;
		csv_slope(f, t, r, "n_exponent_mixing", &r->n_mixing);
		csv_slope(f, t, r, "n_exponent_whole", &r->n_whole);
		csv_slope(f, t, r, "d_exponent_mixing", &r->d_mixing);
		csv_slope(f, t, r, "d_exponent_whole", &r->d_whole);
		for (int k = 0; k < 3; k++)
			csv_value(f, t, r->layer, "", (const char *[]){"c0_seconds", "c1_seconds", "c2_seconds"}[k], "", r->fit.c[k], NAN);
		csv_growth(f, t, r, "sequential", r->sequential, &r->sequential_found);
		csv_growth(f, t, r, "path", r->path, &r->path_found);
		csv_growth(f, t, r, "path_dilated", r->path, &r->dilated_found);
		csv_growth(f, t, r, "perturbed", r->path, &r->perturbed_found);
		csv_value(f, t, r->layer, "", "percent_of_limit", "", r->percent.n ? r->percent.median : NAN, r->percent.mad);
		csv_value(f, t, r->layer, "", "disturbed", "", r->disturbed, NAN);
	}
	for (size_t i = 0; i < t->pairs; i++) {
		const struct table_pair *p = t->pair + i;
		csv_value(f, t, p->a, p->b, "crossover_n", "", p->n, NAN);
		csv_value(f, t, p->a, p->b, "crossover_ties", "", (double)p->ties.n, NAN);
		csv_value(f, t, p->a, p->b, "crossover_n_predicted", "", p->predicted, NAN);
		csv_value(f, t, p->a, p->b, "crossover_n_mixing", "", p->mixing, NAN);
		csv_value(f, t, p->a, p->b, "crossover_ties_mixing", "", (double)p->mixing_ties.n, NAN);
		csv_value(f, t, p->a, p->b, "crossover_n_mixing_predicted", "", p->mixing_predicted, NAN);
	}
}
