/* Of the table, what there is to say of two layers: where one overtakes the other. */
#include <math.h>
#include <string.h>

#include "bench/table.h"

/* to: the last length of which it is known, where there is no end. */
static void crossing(double n, double to, char *text)
{
	if (isnan(n))
		snprintf(text, TABLE_CELL, "-");
	else if (isinf(n))
		snprintf(text, TABLE_CELL, "> %.0f", to);
	else if (n == 0)
		snprintf(text, TABLE_CELL, "nowhere");
	else
		snprintf(text, TABLE_CELL, "%.0f", n);
}

static void measured(const struct table_pair *p, double n, const struct table_ties *ties, char *text)
{
	if (ties->n == p->lengths)
		snprintf(text, TABLE_CELL, "tied");
	else
		crossing(n, ties->last, text);
	if (ties->n && ties->n < p->lengths)
		strcat(text, " ~");
}

static void predicted(double n, double to, char *text)
{
	if (isinf(n))
		snprintf(text, TABLE_CELL, "always");
	else
		crossing(n > TABLE_FAR * to ? INFINITY : n, TABLE_FAR * to, text);
}

/* Of n* measured, and predicted: is there one within the measured lengths by one of them alone? */
static int contradicted(const struct table_pair *p, double n, const struct table_ties *ties, double fits)
{
	if (isnan(n) || isnan(fits))
		return 0;
	return isinf(n) ? fits <= ties->last : n > 0 ? fits < p->from || fits > p->to : fits > p->from;
}

static void predicted_beside(const struct table_pair *p, double n, const struct table_ties *ties, double fits, char *text)
{
	char plain[TABLE_CELL];
	predicted(fits, p->to, plain);
	snprintf(text, TABLE_CELL, contradicted(p, n, ties, fits) ? "(%.36s)" : "%.36s", plain);
}

void table_predicted(const struct table_pair *p, char text[TABLE_CELL]) { predicted(p->predicted, p->to, text); }
int table_contradicted(const struct table_pair *p) { return contradicted(p, p->n, &p->ties, p->predicted); }
int table_tied(const struct table_pair *p) { return p->ties.n == p->lengths; }
int table_unclear(const struct table_pair *p) { return isnan(p->n) && !table_tied(p); }

int table_crosses(const struct table_pair *p) { return !isnan(p->n) && ((isfinite(p->n) && p->n > 0) || p->predicted <= TABLE_FAR * p->to); }

const char table_pair_note[] =
	"n*: up to this length the first is cheaper, by measurement. > n: it still is at n, the longest measured length that tells\n"
	"them apart; nowhere: at none of them; tied: no length does; -: they change places more than once, or have no such part.\n"
	"~: at some measured lengths neither is cheaper: the medians are within 3 %, or nearer than the samples scatter, and say nothing.\n"
	"predicted: where the fitted times cross, beyond the measured lengths too; always: the first is cheaper at every length,\n"
	"nowhere: at none. In brackets where something else was measured, which counts: fits are off by their errors, so that of\n"
	"two that run side by side they cross anywhere.\n";

void table_pair_cells(const struct table_pair *p, char c[4][TABLE_CELL])
{
	measured(p, p->n, &p->ties, c[0]);
	predicted_beside(p, p->n, &p->ties, p->predicted, c[1]);
	measured(p, p->mixing, &p->mixing_ties, c[2]);
	predicted_beside(p, p->mixing, &p->mixing_ties, p->mixing_predicted, c[3]);
}

/* Whether any two do. */
static int cross(const struct table *t)
{
	for (size_t i = 0; i < t->pairs; i++)
		if (table_crosses(t->pair + i))
			return 1;
	return 0;
}

/* What a layer is cheaper than throughout, after `begin`; returns whether there is anything. */
static int cheaper(const struct table *t, const char *layer, const char *begin, FILE *f)
{
	int n = 0;
	for (size_t i = 0; i < t->pairs; i++) {
		const struct table_pair *p = t->pair + i;
		if (strcmp(p->a, layer) == 0 && !table_crosses(p) && !isnan(p->n))
			fprintf(f, "%s%s%s", n++ ? ", " : begin, p->b, p->ties.n ? " ~" : "");
	}
	return n > 0;
}

static void listed(const struct table *t, FILE *f, int (*which)(const struct table_pair *), const char *begin)
{
	int n = 0;
	for (size_t i = 0; i < t->pairs; i++)
		if (which(t->pair + i))
			fprintf(f, "%s %s and %s", n++ ? "," : begin, t->pair[i].a, t->pair[i].b);
	if (n)
		putc('\n', f);
}

/* The pairs in which one stays cheaper, a line a layer; and those without an order. */
static void always(const struct table *t, FILE *f, int markdown)
{
	int n = 0;
	fprintf(f, "\nCheaper throughout, and by the fits up to %d times the largest n (~: tied at some lengths, within %.0f %%\nor the scatter of the samples):%s",
		TABLE_FAR, 100 * TABLE_TIE, markdown ? "\n\n" : "\n");
	for (size_t i = 0; i < t->rows; i++) {
		char begin[NAME_MOST + 32];
		snprintf(begin, sizeof begin, markdown ? "* %s than " : "  %-28s than ", t->row[i].layer);
		if (cheaper(t, t->row[i].layer, begin, f))
			n += fputs("\n", f) >= 0;
	}
	fputs(n ? "" : markdown ? "* none\n" : "  none\n", f);
	listed(t, f, table_unclear, "\nNo order, they change places more than once:");
	listed(t, f, table_tied, "\nTied at every measured length:");
}

void table_pairs_text(const struct table *t, FILE *f)
{
	char c[4][TABLE_CELL];
	if (cross(t))
		fprintf(f, "\nup to n* the first is cheaper (d = %.0f)%18s %10s  %14s %10s\n", t->row[0].at_d, "whole: n*", "predicted", "mixing: n*", "predicted");
	for (size_t i = 0; i < t->pairs; i++) {
		const struct table_pair *p = t->pair + i;
		char names[2 * NAME_MOST + 4];
		if (!table_crosses(p))
			continue;
		snprintf(names, sizeof names, "%s, %s", p->a, p->b);
		table_pair_cells(p, c);
		fprintf(f, "  %-48s %8s %10s  %14s %10s\n", names, c[0], c[1], c[2], c[3]);
	}
	if (cross(t))
		fprintf(f, "\n%s", table_pair_note);
	always(t, f, 0);
}

void table_pairs_markdown(const struct table *t, FILE *f)
{
	char c[4][TABLE_CELL];
	if (cross(t))
		fprintf(f, "\n| up to n* the first is cheaper (d = %.0f) | n* measured | predicted | mixing alone: n* measured | predicted |\n"
			   "|--|--:|--:|--:|--:|\n", t->row[0].at_d);
	for (size_t i = 0; i < t->pairs; i++) {
		if (!table_crosses(t->pair + i))
			continue;
		table_pair_cells(t->pair + i, c);
		fprintf(f, "| %s, %s | %s | %s | %s | %s |\n", t->pair[i].a, t->pair[i].b, c[0], c[1], c[2], c[3]);
	}
	if (cross(t))
		fprintf(f, "\n%s", table_pair_note);
	always(t, f, 1);
}
