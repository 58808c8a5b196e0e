/* Of the report: sequential operations and path lengths, instruction sets and threads, machines side by side. */
#include <math.h>
#include <string.h>

#include "bench/report.h"
#include "bench/style.h"

/* ---- paths */

enum { DILATED = sizeof "-dilated" - 1 };

static int is_dilated(const char *layer)
{
	size_t n = strlen(layer);
	return n > DILATED && strcmp(layer + n - DILATED, "-dilated") == 0;
}

static double sequential(const struct path_point *p) { return p->sequential; }
static double path_length(const struct path_point *p) { return p->path; }

static int first_of_layer(const struct results *r, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(r->path[j].layer, r->path[i].layer) == 0)
			return 0;
	return 1;
}

static void path_curve(struct chart *c, const struct results *r, size_t first, double (*value)(const struct path_point *))
{
	enum { MOST = 64 };
	double x[MOST], y[MOST];
	char plain[NAME_MOST];
	const char *layer = r->path[first].layer;
	size_t n = 0;
	int dilated = is_dilated(layer);
	for (size_t i = first; i < r->paths && n < MOST; i++)
		if (strcmp(r->path[i].layer, layer) == 0 && value(r->path + i) > 0) {
			x[n] = r->path[i].n;
			y[n++] = value(r->path + i);
		}
	if (!n)
		return;
	snprintf(plain, sizeof plain, "%.*s", (int)(strlen(layer) - (dilated ? DILATED : 0)), layer);
	const struct layer_style *s = layer_style(plain);
	chart_curve(c, x, y, n, s->colour, dilated ? "dashed" : "solid");
	chart_curve(c, x, y, n, s->colour, "dots");
	chart_name(c, y[n - 1], dilated ? "dilated" : s->name, s->colour);
}

static void path_figure(struct html *h, const struct report *all, size_t machine, const char *what, const char *unit,
			double (*value)(const struct path_point *))
{
	struct chart c;
	const struct results *r = &all->machine[machine].results;
	double x0 = INFINITY, x1 = 0, y1 = 1;
	for (size_t i = 0; i < r->paths; i++) {
		x0 = fmin(x0, r->path[i].n);
		x1 = fmax(x1, r->path[i].n);
		y1 = fmax(y1, value(r->path + i));
	}
	if (!(x0 > 0))
		return;
	html(h, "<figure><figcaption><b>$</b></figcaption>\n", what);
	chart_open(&c, h, what, unit, 1, x0, x1, 1, y1);
	for (size_t i = 0; i < r->paths; i++)
		if (first_of_layer(r, i))
			path_curve(&c, r, i, value);
	chart_close(&c);
	report_commands(h, all, machine, "paths/1");
	html(h, "</figure>\n");
}

void report_paths(struct html *h, const struct report *r)
{
	int begun = 0;
	for (size_t i = 0; i < r->machines; i++) {
		if (!r->machine[i].results.paths)
			continue;
		if (!begun++) {
			report_heading(h, "paths", "Sequential operations and path length");
			html(h, "<p>Sequential operations: calls of one forward pass of which each waits for the one before. Path: steps "
			     "on the shortest way from the first "
				"position to the last, over as many stacked layers as it takes. A flat line does not grow with the "
					"length.</p>\n");
		}
		report_subject(h, r, i);
		html(h, "<div class=\"grid\">\n");
		path_figure(h, r, i, "Sequential operations", "operations", sequential);
		path_figure(h, r, i, "Path from the first position to the last", "steps", path_length);
		html(h, "</div>\n");
	}
}

/* ---- speed of one choice against another */

struct ratio {
	double value; /* NAN: no shape of both */
	int disturbed; /* a time in it was */
};

/* Geometric mean of the times of b over those of a at the shapes both have. */
static struct ratio ratio(const struct results *ra, const struct choice *a, const struct results *rb, const struct choice *b,
			  const char *layer)
{
	enum { MOST = 1024 };
	const struct point *p[MOST], *q[MOST];
	size_t n = results_all(p, MOST, ra, a, layer), m = results_all(q, MOST, rb, b, layer), k = 0;
	double sum = 0;
	int marked = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			if (p[i]->n == q[j]->n && p[i]->d == q[j]->d && p[i]->batch == q[j]->batch) {
				sum += log(q[j]->seconds / p[i]->seconds);
				marked |= results_disturbed(p[i]) || results_disturbed(q[j]);
				k++;
			}
	return (struct ratio){k ? exp(sum / (double)k) : NAN, marked};
}

static void ratio_cell(struct html *h, struct ratio r, double most)
{
	html(h, "<td>");
	if (isnan(r.value))
		html(h, "–");
	else
		report_bar(h, r.value / most, as_text("%.2f×", r.value));
	report_mark(h, r.disturbed);
	html(h, "</td>");
}

/* ---- instruction sets and threads */

enum { SETS = 12 };

static size_t sets_of(struct choice *set, const struct results *r, const char *pass)
{
	size_t n = 0;
	for (size_t i = 0; i < r->points && n < SETS; i++) {
		const struct point *p = r->point + i;
		int known = strcmp(p->pass, pass) != 0;
		for (size_t j = 0; j < n && !known; j++)
			known = set[j].threads == p->threads && strcmp(set[j].isa, p->isa) == 0;
		if (!known)
			set[n++] = (struct choice){p->isa, pass, p->threads};
	}
	return n;
}

static void sets_table(struct html *h, const struct report_machine *m, const struct table *t, const struct choice *set, size_t n)
{
	const struct choice *base = set;
	double most = 1;
	for (size_t j = 1; j < n; j++) /* the narrowest, which comes last, with the fewest threads */
		if (strcmp(set[j].isa, base->isa) != 0 || set[j].threads < base->threads)
			base = set + j;
	html(h, "<div class=\"scroll\"><table><thead><tr><th>layer</th>");
	for (size_t j = 0; j < n; j++) {
		html(h, "<th>$<br>$ thread$</th>", set[j].isa, as_text("%d", set[j].threads), set[j].threads > 1 ? "s" : "");
		for (size_t i = 0; i < t->rows; i++)
			most = fmax(most, ratio(&m->results, set + j, &m->results, base, t->row[i].layer).value);
	}
	html(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < t->rows; i++) {
		html(h, "<tr><td>$</td>", t->row[i].layer);
		for (size_t j = 0; j < n; j++)
			ratio_cell(h, ratio(&m->results, set + j, &m->results, base, t->row[i].layer), most);
		html(h, "</tr>\n");
	}
	html(h, "</tbody></table></div>\n");
}

void report_sets(struct html *h, const struct report *r)
{
	int begun = 0;
	for (size_t i = 0; i < r->machines; i++) {
		const struct report_machine *m = r->machine + i;
		const struct table *t = m->forward.rows ? &m->forward : &m->train;
		struct choice set[SETS];
		size_t n = t->rows ? sets_of(set, &m->results, t->choice.pass) : 0;
		if (n < 2)
			continue;
		if (!begun++) {
			report_heading(h, "sets", "Instruction sets and threads side by side");
			html(h, "<p>Times as fast as the narrowest instruction set on the fewest threads: the geometric mean over "
			     "the shapes that both were measured on.</p>\n");
		}
		report_subject(h, r, i);
		html(h, "<p class=\"soft\">Pass: $</p>\n", report_pass(t));
		sets_table(h, m, t, set, n);
		report_marks(h);
		report_commands(h, r, i, "layers/1");
	}
}

/* ---- machines */

void report_machines(struct html *h, const struct report *r)
{
	const struct report_machine *first = r->machine;
	double most = 1;
	if (r->machines < 2 || !first->forward.rows)
		return;
	report_heading(h, "machines", "Side by side");
	html(h, "<p>Times as fast as $: the geometric mean over the shapes that both were measured on, forward, each with its "
	     "widest instruction set and fewest threads; "
		"and per cent of the own limit. –: not measured, or no shape of it on both.</p>\n<div class=\"scroll\"><table><thead><tr><th>layer</th>", first->name);
	for (size_t i = 0; i < r->machines; i++) {
		html(h, "<th>$</th><th>limit</th>", r->machine[i].name);
		for (size_t j = 0; j < first->forward.rows; j++)
			most = fmax(most, ratio(&r->machine[i].results, &r->machine[i].forward.choice, &first->results,
						&first->forward.choice, first->forward.row[j].layer).value);
	}
	html(h, "</tr></thead><tbody>\n");
	for (size_t j = 0; j < first->forward.rows; j++) {
		const char *layer = first->forward.row[j].layer;
		html(h, "<tr><td>$</td>", layer);
		for (size_t i = 0; i < r->machines; i++) {
			const struct table *t = &r->machine[i].forward;
			const struct table_row *row = NULL;
			for (size_t k = 0; k < t->rows; k++)
				row = strcmp(t->row[k].layer, layer) == 0 ? t->row + k : row;
			ratio_cell(h, row ? ratio(&r->machine[i].results, &t->choice, &first->results, &first->forward.choice,
						  layer) : (struct ratio){NAN, 0}, most);
			html(h, "<td>$", row && row->percent.median > 0 ? as_text("%.0f %%", row->percent.median) : "–");
			report_mark(h, row && row->percent.median > 0 && (row->disturbed || table_beyond(row->percent.median)));
			html(h, "</td>");
		}
		html(h, "</tr>\n");
	}
	html(h, "</tbody></table></div>\n");
	report_marks(h);
	for (size_t i = 0; i < r->machines; i++)
		report_commands(h, r, i, "layers/1");
}
