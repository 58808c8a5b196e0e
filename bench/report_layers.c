/* Of the report, what the sweep over layers says. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "bench/limits.h"
#include "bench/report.h"
#include "bench/style.h"

static const struct table_row *row_of(const struct table *t, const char *layer)
{
	for (size_t i = 0; i < t->rows; i++)
		if (strcmp(t->row[i].layer, layer) == 0)
			return t->row + i;
	return NULL;
}

static const char *threads_text(int threads) { return as_text("%d thread%s", threads, threads > 1 ? "s" : ""); }

static int any_rows(const struct report *r)
{
	for (size_t i = 0; i < r->machines; i++)
		if (r->machine[i].forward.rows || r->machine[i].train.rows)
			return 1;
	return 0;
}

/* The table that speaks for the machine. */
static const struct table *main_table(const struct report_machine *m) { return m->forward.rows ? &m->forward : &m->train; }

/* "COMMAND FILE...": with a machine's files of one schema, or of two. */
static void command_on(struct html *h, const struct report *r, size_t machine, const char *command, const char *schema,
		       const char *second)
{
	html(h, "<p class=\"command\"><code>$", command);
	for (size_t at = 0; at < r->files; at++) {
		const struct report_file *f = r->file + at;
		if (f->machine == machine && (strcmp(f->schema, schema) == 0 || (second && strcmp(f->schema, second) == 0)))
			html_word(h, f->path);
	}
	html(h, "</code></p>\n");
}

static const char *with_choice(const char *command, const struct choice *c)
{
	return as_text("%s --isa %s --threads %d --pass %s", command, c->isa, c->threads, c->pass);
}

/* ---- at a glance */

/* doubt: a row that it rests on was disturbed, or is more than the limit. */
static void tile(struct html *h, const char *number, const char *what, const char *small, int doubt)
{
	html(h, "<div class=\"tile\"><b>");
	html_formula(h, number);
	report_mark(h, doubt);
	html(h, "</b><span>");
	html_formula(h, what);
	html(h, "</span><small>");
	html_formula(h, small);
	html(h, "</small></div>\n");
}

static const struct table_pair *pair_of(const struct table *t, const char *a, const char *b)
{
	for (size_t i = 0; i < t->pairs; i++)
		if (strcmp(t->pair[i].a, a) == 0 && strcmp(t->pair[i].b, b) == 0)
			return t->pair + i;
	return NULL;
}

/* What the fits predict, beside what was measured: whether it was beyond that, or says something else. "": they predict nothing. */
static const char *predicted_text(const struct table_pair *p)
{
	char fits[TABLE_CELL];
	if (isnan(p->predicted))
		return "";
	table_predicted(p, fits);
	return as_text("predicted: %s%s%s", fits, p->predicted > p->to && isdigit((unsigned char)*fits) ? ", beyond the measured lengths" : "",
		       table_contradicted(p) ? "; what was measured counts" : "");
}

static void tile_crossing(struct html *h, const struct table *t, const char *other)
{
	const struct table_pair *p = pair_of(t, "self-attention", other);
	if (!p || isnan(p->n))
		return;
	int doubt = row_of(t, p->a)->disturbed || row_of(t, p->b)->disturbed;
	const char *name = layer_style(other)->name;
	const char *fits = predicted_text(p);
	if (isinf(p->n))
		tile(h, as_text("n ≤ %.0f", p->ties.last),
		     as_text("Self-attention is faster than the %s at every length measured%s (d = %.0f)", name,
			     p->ties.n ? " that tells them apart" : "", t->row[0].at_d), fits, doubt);
	else if (p->n > 0)
		tile(h, as_text("n = %.0f..%.0f", p->bracket[0], p->bracket[1]),
		     as_text("Between these measured lengths the %s becomes faster than self-attention (d = %.0f)", name, t->row[0].at_d),
		     as_text(*fits ? "interpolated %.0f; %s" : "interpolated %.0f", p->n, fits), doubt);
}

/* What Table 1 says of self-attention and the LSTM. */
static void tiles_table1(struct html *h, const struct table_row *self, const struct table_row *lstm)
{
	char a[TABLE_CELLS][TABLE_CELL], b[TABLE_CELLS][TABLE_CELL];
	table_cells(self, a);
	table_cells(lstm, b);
	html(h, "<div class=\"tile\"><b>n<sup>$</sup> | n<sup>$</sup>", as_text("%.2f", self->n_mixing.b), as_text("%.2f", lstm->n_mixing.b));
	report_mark(h, self->disturbed || lstm->disturbed);
	html(h, "</b><span>How self-attention's and the LSTM's time to mix positions grows with the length n</span><small>stated: n<sup>2</sup> | "
		"n</small></div>\n");
	if (self->sequential_found.kind && lstm->sequential_found.kind)
		tile(h, as_text("%s | %s", a[7], b[7]), "Operations that must wait for each other: self-attention | LSTM",
		     as_text("stated: %s | %s", a[6], b[6]), 0);
	if (self->path_found.kind && lstm->path_found.kind)
		tile(h, as_text("%s | %s", a[9], b[9]), "Steps from the first position to the last: self-attention | LSTM",
		     as_text("stated: %s | %s", a[8], b[8]), 0);
}

static void tile_percent(struct html *h, const struct table *t)
{
	double least = INFINITY, most = 0;
	int doubt = 0;
	for (size_t i = 0; i < t->rows; i++)
		if (t->row[i].percent.n && t->row[i].percent.median > 0) {
			least = fmin(least, t->row[i].percent.median);
			most = fmax(most, t->row[i].percent.median);
			doubt |= t->row[i].disturbed;
		}
	if (most > 0)
		tile(h, as_text("%.0f..%.0f %%", least, most), "of what this machine can do at most, the least and the best tuned "
		     "layer", "min(peak, intensity × bandwidth), measured in the same minutes", doubt || table_beyond(most));
}

static void tiles(struct html *h, const struct table *t)
{
	const struct table_row *self = row_of(t, "self-attention"), *lstm = row_of(t, "lstm");
	html(h, "<div class=\"tiles\">\n");
	if (self && lstm && self->n_mixing.n && lstm->n_mixing.n)
		tiles_table1(h, self, lstm);
	tile_crossing(h, t, "gru");
	tile_crossing(h, t, "lstm");
	tile_percent(h, t);
	html(h, "</div>\n");
	report_marks(h);
}

void report_glance(struct html *h, const struct report *r)
{
	if (!any_rows(r))
		return;
	report_heading(h, "glance", "At a glance");
	for (size_t i = 0; i < r->machines; i++) {
		const struct table *t = main_table(r->machine + i);
		if (!t->rows)
			continue;
		report_subject(h, r, i);
		tiles(h, t);
		html(h, "<p class=\"soft\">$, $, one sequence, n = $ … $</p>\n", t->choice.isa, threads_text(t->choice.threads),
		     as_text("%.0f", t->n_from),
		     as_text("%.0f", t->n_to));
		command_on(h, r, i, with_choice("n2d-bench table", &t->choice), "layers/1", "paths/1");
	}
}

/* ---- Table 1 */

static void table1_row(struct html *h, const struct table_row *row)
{
	/* of the cells: time stated, n, d; sequential; path */
	static const char *const kind[TABLE_CELLS] = {
		"", "group stated", "measured", "measured", "measured", "measured", "group stated", "measured",
		"group stated narrow", "measured narrow", "measured", "group measured", "measured",
	};
	char c[TABLE_CELLS][TABLE_CELL];
	table_cells(row, c);
	html(h, "<tr>");
	for (int i = 0; i + 1 < TABLE_CELLS; i++) {
		html(h, "<td class=\"$\">", kind[i]);
		if (i == 11 && row->percent.median > 0)
			report_bar(h, row->percent.median / 100,
				   as_text("%s (%s–%.0f)", c[11], as_text("%.0f", row->percent.min), row->percent.max));
		else
			html_formula(h, strcmp(c[i], "-") == 0 ? "–" : c[i]);
		report_mark(h, (!i && row->disturbed) || (i == 11 && table_beyond(row->percent.max)));
		html(h, "</td>");
	}
	html(h, "</tr>\n");
}

static void table1(struct html *h, const struct table *t)
{
	html(h, "<div class=\"scroll\"><table class=\"t1\">\n<thead><tr><th rowspan=\"2\">layer</th><th class=\"group\">time</th>"
		"<th colspan=\"2\">exponent of n</th><th colspan=\"2\">exponent of d</th><th class=\"group\" colspan=\"2\">sequential "
		"operations</th><th class=\"group\" colspan=\"3\">longest path</th><th class=\"group\" rowspan=\"2\">per cent of the limit "
		"(range)</th></tr>\n<tr><th class=\"group\">stated</th><th>mixing</th><th>whole</th><th>mixing</th><th>whole</th>"
		"<th class=\"group\">stated</th><th>measured</th><th class=\"group\">stated</th><th>measured</th><th>layers</th></tr></thead>\n"
		"<tbody>\n");
	for (size_t i = 0; i < t->rows; i++)
		table1_row(h, t->row + i);
	html(h, "</tbody></table></div>\n");
	report_marks(h);
	if (!t->paths)
		html(h, "<p class=\"notes\">$.</p>\n", TABLE_NO_PATHS);
	if (*t->disturbed.text)
		html(h, "<p class=\"notes\">Disturbed: $.</p>\n", t->disturbed.text);
	if (*t->beaten.text)
		html(h, "<p class=\"notes\">Per cents of the limit leave out $: $.</p>\n", t->beaten.text, LIMIT_BEATEN_NOTE);
	html(h, "<details><summary>What the columns mean</summary><p class=\"notes\">$</p></details>\n",
	     table_notes);
}

void report_table1(struct html *h, const struct report *r)
{
	if (!any_rows(r))
		return;
	report_heading(h, "table1", "Table 1, stated and measured");
	html(h, "<p>What the paper states for each kind of layer, and what was measured (shaded). An exponent of 2 means: twice the "
	     "length, four times the time. Mixing is the part of a layer that moves information between positions, whole is with its "
	     "projections; materialised attention stores its n × n matrix of weights, the other goes over them in blocks; the limit is "
	     "the most that the machine's peak and bandwidth allow for the layer's operations and bytes.</p>\n");
	for (size_t i = 0; i < r->machines; i++) {
		const struct table *t = main_table(r->machine + i);
		if (!t->rows)
			continue;
		report_subject(h, r, i);
		table1(h, t);
		command_on(h, r, i, with_choice("n2d-bench table", &t->choice), "layers/1", "paths/1");
	}
}

/* ---- curves over n */

static double milliseconds(const struct point *p) { return 1e3 * p->seconds; }
static double percent(const struct point *p) { return p->percent; }
static double mebibytes(const struct point *p) { return p->memory_bytes / (1 << 20); }

static size_t values(const struct results *r, const struct choice *c, const char *layer, double (*value)(const struct point *),
		     double *x, double *y)
{
	struct series s;
	results_over_n(&s, r, c, layer);
	for (size_t i = 0; i < s.n; i++) {
		x[i] = s.p[i]->n;
		y[i] = value(s.p[i]);
	}
	return s.n;
}

/* The same axes on all machines. */
struct range {
	double x0, x1, y0, y1;
};

static void widen(struct range *a, const struct results *r, const struct choice *c, const char *layer,
		  double (*value)(const struct point *))
{
	double x[SERIES_MOST], y[SERIES_MOST];
	size_t n = values(r, c, layer, value, x, y);
	for (size_t i = 0; i < n; i++) {
		if (!(y[i] > 0) || isinf(y[i]))
			continue;
		a->x0 = fmin(a->x0, x[i]);
		a->x1 = fmax(a->x1, x[i]);
		a->y0 = fmin(a->y0, y[i]);
		a->y1 = fmax(a->y1, y[i]);
	}
}

static struct range range_of(const struct report *r, double (*value)(const struct point *))
{
	struct range a = {INFINITY, 0, INFINITY, 0};
	for (size_t i = 0; i < r->machines; i++)
		for (int train = 0; train < 2; train++) {
			const struct table *t = train ? &r->machine[i].train : &r->machine[i].forward;
			for (size_t j = 0; j < t->rows; j++)
				widen(&a, &r->machine[i].results, &t->choice, t->row[j].layer, value);
		}
	return a;
}

static void caption(struct html *h, const char *what, const struct table *t)
{
	html(h, "<figure><figcaption><b>$</b>, d = $, $, $</figcaption>\n", what, as_text("%.0f", t->row[0].at_d), t->choice.isa,
	     threads_text(t->choice.threads));
}

const char *report_pass(const struct table *t)
{
	return strcmp(t->choice.pass, "train") == 0 ? "forward and backward" : "forward";
}

static void fit_curve(struct chart *c, const struct table_row *w, const char *colour)
{
	enum { STEPS = 64 };
	double x[STEPS + 1], y[STEPS + 1];
	for (int i = 0; i <= STEPS; i++) {
		x[i] = w->n_from * pow(w->n_to / w->n_from, (double)i / STEPS);
		y[i] = 1e3 * fit_at(&w->fit, x[i], w->at_d);
	}
	chart_curve(c, x, y, STEPS + 1, colour, "solid");
}

static void time_figure(struct html *h, const struct report_machine *m, const struct table *t, const struct range *a)
{
	struct chart c;
	double x[SERIES_MOST], y[SERIES_MOST];
	struct series self;
	results_over_n(&self, &m->results, &t->choice, "self-attention");
	caption(h, as_text("Time of a layer, %s", report_pass(t)), t);
	chart_open(&c, h, as_text("Time against length, %s", report_pass(t)), "milliseconds", 1, a->x0, a->x1, a->y0, a->y1);
	for (size_t i = 0; i < t->rows; i++) {
		const struct layer_style *s = layer_style(t->row[i].layer);
		size_t n = values(&m->results, &t->choice, t->row[i].layer, milliseconds, x, y);
		if (table_fit_shown(t->row + i))
			fit_curve(&c, t->row + i, s->colour);
		chart_curve(&c, x, y, n, s->colour, "dots");
		chart_name(&c, y[n - 1], report_marked(s->name, t->row[i].disturbed), s->colour);
	}
	for (size_t i = 0; i < t->pairs; i++) {
		const struct table_pair *p = t->pair + i;
		if (strcmp(p->a, "self-attention") == 0 && p->n > 0 && isfinite(p->n))
			chart_ring(&c, p->n, 1e3 * results_at(&self, p->n));
	}
	chart_close(&c);
}

static void percent_figure(struct html *h, const struct report_machine *m, const struct table *t, const struct range *a)
{
	struct chart c;
	static struct where hidden;
	double x[SERIES_MOST], y[SERIES_MOST], top = a->y1 > 100 ? 120 : 100;
	caption(h, as_text("Share of the limit, %s", report_pass(t)), t);
	chart_open(&c, h, as_text("Per cent of the limit against length, %s", report_pass(t)), "per cent of the limit", 0, a->x0, a->x1, 0, top);
	for (size_t i = 0; i < t->rows; i++) {
		const struct layer_style *s = layer_style(t->row[i].layer);
		size_t n = values(&m->results, &t->choice, t->row[i].layer, percent, x, y);
		chart_curve(&c, x, y, n, s->colour, "solid");
		chart_curve(&c, x, y, n, s->colour, "dots");
		while (n && isnan(y[n - 1])) /* the name stands beside the last point that has a limit */
			n--;
		if (n)
			chart_name(&c, y[n - 1], report_marked(s->name, t->row[i].disturbed), s->colour);
	}
	chart_close(&c);
	table_hidden(&hidden, t, &m->results, top);
	if (*hidden.text)
		html(h, "<p class=\"notes\">Not shown: $ ($).</p>\n", hidden.text, TABLE_HIDDEN_NOTE);
}

typedef void figure(struct html *h, const struct report_machine *m, const struct table *t, const struct range *a);

/* A figure of each machine and pass. */
static void figures(struct html *h, const struct report *r, figure *draw, double (*value)(const struct point *))
{
	struct range a = range_of(r, value);
	for (size_t i = 0; i < r->machines && a.x1 > 0; i++) {
		report_subject(h, r, i);
		html(h, "<div class=\"grid\">\n");
		for (int train = 0; train < 2; train++) {
			const struct table *t = train ? &r->machine[i].train : &r->machine[i].forward;
			if (!t->rows)
				continue;
			draw(h, r->machine + i, t, &a);
			command_on(h, r, i, with_choice("n2d-bench figures", &t->choice), "layers/1", "paths/1");
			html(h, "</figure>\n");
		}
		html(h, "</div>\n");
		report_marks(h);
	}
}

static void crossings(struct html *h, const struct table *t, int of_attention)
{
	char c[4][TABLE_CELL];
	int rows = 0;
	for (size_t i = 0; i < t->pairs; i++) {
		const struct table_pair *p = t->pair + i;
		int attention = strcmp(p->a, "self-attention") == 0 || strcmp(p->b, "self-attention") == 0;
		if (attention != of_attention || !table_crosses(p))
			continue;
		if (!rows++)
			html(h, "<div class=\"scroll\"><table><thead><tr><th>up to n* faster</th><th class=\"left\">than</th><th>n* measured</th>"
				"<th>predicted</th><th>mixing alone: n* measured</th><th>predicted</th></tr></thead><tbody>\n");
		table_pair_cells(p, c);
		html(h, "<tr><td>$", p->a);
		report_mark(h, row_of(t, p->a)->disturbed);
		html(h, "</td><td class=\"left\">$", p->b);
		report_mark(h, row_of(t, p->b)->disturbed);
		html(h, "</td>");
		for (int k = 0; k < 4; k++)
			html(h, "<td>$</td>", strcmp(c[k], "-") == 0 ? "–" : c[k]);
		html(h, "</tr>\n");
	}
	html(h, rows ? "</tbody></table></div>\n" : "<p>No pair of these crosses.</p>\n");
}

static void crossing_table(struct html *h, const struct table *t)
{
	crossings(h, t, 1);
	html(h, "<p class=\"notes\">$</p>\n<details><summary>The other pairs, and the fits</summary>\n", table_pair_note);
	crossings(h, t, 0);
	html(h, "<p class=\"notes\">Pairs that are not listed do not cross: one is faster throughout, by "
	     "the fits up to $ times the largest n, or they change places more than once, which is noise, or are tied.</p>\n"
		"<div class=\"scroll\"><table><thead><tr><th>T = c0 + c1·n·d<sup>2</sup> + c2·n<sup>2</sup>·d</th><th>c0, "
			"µs</th><th>c1, ps</th><th>c2, ps</th>"
		"<th>error</th></tr></thead><tbody>\n", as_text("%d", TABLE_FAR));
	for (size_t i = 0; i < t->rows; i++) {
		const struct fit *f = &t->row[i].fit;
		html(h, "<tr><td>$", t->row[i].layer);
		report_mark(h, t->row[i].disturbed);
		html(h, "</td><td>$</td><td>$</td><td>$</td><td>$ %</td></tr>\n", as_text("%.2f", 1e6 * f->c[0]),
		     as_text("%.3f", 1e12 * f->c[1]), as_text("%.3f", 1e12 * f->c[2]), as_text("%.1f", 100 * f->rms));
	}
	html(h, "</tbody></table></div></details>\n");
	report_marks(h);
}

void report_time(struct html *h, const struct report *r)
{
	if (!any_rows(r))
		return;
	report_heading(h, "time", "Time against length");
	html(h, "<p>Dots are measured; lines are fits T = c0 + c1·n·d<sup>2</sup> + c2·n<sup>2</sup>·d to all shapes, from "
	     "the first measured length to the last, where there are more lengths than coefficients. Both axes are "
	     "logarithmic: a steeper line grows "
		"faster. A ring marks where another layer becomes faster than self-attention, by measurement.</p>\n");
	figures(h, r, time_figure, milliseconds);
	html(h, "<h3>Where one layer overtakes another</h3>\n");
	for (size_t i = 0; i < r->machines; i++) {
		const struct table *t = main_table(r->machine + i);
		if (!t->rows)
			continue;
		report_subject(h, r, i);
		crossing_table(h, t);
		command_on(h, r, i, with_choice("n2d-bench table", &t->choice), "layers/1", NULL);
	}
}

void report_percent(struct html *h, const struct report *r)
{
	struct range a = range_of(r, percent);
	if (!(a.x1 > 0))
		return;
	report_heading(h, "limit", "Per cent of the machine's limit");
	html(h, "<p>How near each layer comes to the best this machine could do: min(peak, intensity × bandwidth), measured between "
	     "the layers in the same minutes. The nearer the layers are to each other here, the fairer their comparison.</p>\n");
	figures(h, r, percent_figure, percent);
}

/* ---- memory */

static void memory_figure(struct html *h, const struct report_machine *m, const struct range *a)
{
	static const char *const layers[] = {"self-attention", "self-attention-materialised"},
		*const names[] = {"streaming, fwd", "streaming", "materialised, fwd", "materialised"};
	struct chart c;
	double x[SERIES_MOST], y[SERIES_MOST];
	caption(h, "Memory beyond input, output and weights", main_table(m));
	chart_open(&c, h, "Memory against length", "MiB", 1, a->x0, a->x1, a->y0, a->y1);
	for (int i = 0; i < 4; i++) {
		const struct table *t = i % 2 ? &m->train : &m->forward;
		const struct layer_style *s = layer_style(layers[i / 2]);
		size_t n = t->rows ? values(&m->results, &t->choice, layers[i / 2], mebibytes, x, y) : 0;
		chart_curve(&c, x, y, n, s->colour, i % 2 ? "solid" : "dashed");
		chart_curve(&c, x, y, n, s->colour, "dots");
		if (n)
			chart_name(&c, y[n - 1], names[i], s->colour);
	}
	chart_close(&c);
}

void report_memory(struct html *h, const struct report *r)
{
	struct range a = {INFINITY, 0, INFINITY, 0};
	for (size_t i = 0; i < r->machines; i++)
		for (int train = 0; train < 2; train++) {
			const struct table *t = train ? &r->machine[i].train : &r->machine[i].forward;
			for (int k = 0; t->rows && k < 2; k++)
				widen(&a, &r->machine[i].results, &t->choice, k ? "self-attention-materialised" : "self-attention",
				      mebibytes);
		}
	if (!(a.x1 > 0))
		return;
	report_heading(h, "memory", "Memory");
	html(h, "<p>Materialised attention keeps the n × n matrix of weights; streaming attention never stores it, and its memory "
	     "grows with n alone. Solid: forward and backward; dashed: forward (fwd).</p>\n<div class=\"grid\">\n");
	for (size_t i = 0; i < r->machines; i++)
		if (main_table(r->machine + i)->rows) {
			html(h, "<div>\n");
			report_subject(h, r, i);
			memory_figure(h, r->machine + i, &a);
			command_on(h, r, i, "n2d-bench figures", "layers/1", NULL);
			html(h, "</figure></div>\n");
		}
	html(h, "</div>\n");
}
