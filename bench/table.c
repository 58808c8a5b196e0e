#include "bench/table.h"

#include <math.h>
#include <string.h>

#include "layer/layer.h"

/* Root mean square of the residuals of v = a + b x, relative to the mean of v. */
static double residual(const double *x, const double *v, size_t n, struct growth *g)
{
	struct stat_line l;
	double sum = 0, mean = 0;
	if (stat_line(&l, x, v, n))
		return INFINITY;
	g->a = l.a;
	g->b = l.b;
	for (size_t i = 0; i < n; i++) {
		double e = v[i] - l.a - l.b * x[i];
		sum += e * e;
		mean += v[i] / (double)n;
	}
	return sqrt(sum / (double)n) / mean;
}

struct growth growth_of(const double *n, const double *v, size_t points)
{
	struct growth g = {GROWTH_NONE, 0, 0}, line = {GROWTH_LINEAR, 0, 0}, log_n = {GROWTH_LOG, 0, 0};
	double least = INFINITY, most = 0, l2[64];
	if (!points || points > 64)
		return g;
	for (size_t i = 0; i < points; i++) {
		least = fmin(least, v[i]);
		most = fmax(most, v[i]);
		l2[i] = log2(n[i]);
	}
	if (least <= 0)
		return g;
	if (least == most || points < 3)
		return least == most ? (struct growth){GROWTH_CONSTANT, most, 0} : g;
	return residual(n, v, points, &line) <= residual(l2, v, points, &log_n) ? line : log_n;
}

/* The part of a series that slopes are taken over. */
static size_t first_of(const double *x, size_t n)
{
	size_t i = 0;
	while (i < n && x[i] * SLOPE_SPAN < x[n - 1])
		i++;
	return i;
}

static void slopes(struct stat_line *whole, struct stat_line *mixing, const struct series *s, int over_d)
{
	double x[SERIES_MOST], y[SERIES_MOST], m[SERIES_MOST];
	for (size_t i = 0; i < s->n; i++) {
		x[i] = over_d ? s->p[i]->d : s->p[i]->n;
		y[i] = s->p[i]->seconds;
		m[i] = s->p[i]->mixing_seconds;
	}
	size_t from = first_of(x, s->n);
	stat_power(whole, x + from, y + from, s->n - from);
	stat_power(mixing, x + from, m + from, s->n - from);
}

static void fit_row(struct table_row *row, const struct results *r, const struct choice *c)
{
	const struct point *p[1024];
	struct fit_point f[1024];
	size_t n = results_all(p, 1024, r, c, row->layer);
	for (size_t i = 0; i < n; i++)
		f[i] = (struct fit_point){p[i]->n, p[i]->d, p[i]->seconds};
	fit_cost(&row->fit, f, n);
}

static size_t path_series(const struct results *r, const char *layer, double *n, double *sequential, double *path,
			  double *perturbed)
{
	size_t k = 0;
	for (size_t i = 0; i < r->paths && k < 64; i++) {
		if (strcmp(r->path[i].layer, layer) != 0)
			continue;
		n[k] = r->path[i].n;
		sequential[k] = r->path[i].sequential;
		path[k] = r->path[i].path;
		perturbed[k++] = r->path[i].perturbed;
	}
	return k;
}

static void path_row(struct table_row *row, const struct results *r)
{
	double n[64], s[64], p[64], q[64];
	char dilated[NAME_MOST + 8];
	size_t k = path_series(r, row->layer, n, s, p, q);
	row->sequential_found = growth_of(n, s, k);
	row->path_found = growth_of(n, p, k);
	row->perturbed_found = growth_of(n, q, k);
	snprintf(dilated, sizeof dilated, "%s-dilated", row->layer);
	k = path_series(r, dilated, n, s, p, q);
	row->dilated_found = growth_of(n, p, k);
}

static void percent_row(struct table_row *row, const struct series *s)
{
	double x[SERIES_MOST];
	size_t k = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->p[i]->n * SLOPE_SPAN >= s->p[s->n - 1]->n && !s->p[i]->beaten)
			x[k++] = s->p[i]->percent;
	row->percent = stat_summarise(x, k);
}

/* What the notes below the table tell of a layer. */
static void notes_row(struct table *t, const struct series *s, const char *layer)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct point *p = s->p[i];
		if (results_disturbed(p))
			where_add(&t->disturbed, layer, p->n, p->dirty == p->samples ? " (none clean)" : "");
		if (p->beaten)
			where_add(&t->beaten, layer, p->n, "");
	}
}

static void make_row(struct table_row *row, const char *layer, const struct results *r, const struct choice *c)
{
	const struct n2d_layer_kind *kind = n2d_layer_find(layer);
	struct series s;
	memset(row, 0, sizeof *row);
	row->layer = layer;
	row->complexity = kind->table1;
	row->sequential = kind->sequential;
	row->path = kind->path;
	results_over_n(&s, r, c, layer);
	row->at_d = s.at;
	for (size_t i = 0; i < s.n; i++)
		row->lengths += !i || s.p[i]->n > s.p[i - 1]->n;
	row->n_from = s.p[0]->n;
	row->n_to = s.p[s.n - 1]->n;
	slopes(&row->n_whole, &row->n_mixing, &s, 0);
	percent_row(row, &s);
	for (size_t i = 0; i < s.n; i++)
		row->disturbed |= results_disturbed(s.p[i]);
	results_over_d(&s, r, c, layer);
	row->at_n = s.at;
	slopes(&row->d_whole, &row->d_mixing, &s, 1);
	fit_row(row, r, c);
	path_row(row, r);
}

void table_hidden(struct where *w, const struct table *t, const struct results *r, double top)
{
	struct series s;
	char percent[32];
	memset(w, 0, sizeof *w);
	for (size_t i = 0; i < t->rows; i++) {
		results_over_n(&s, r, &t->choice, t->row[i].layer);
		for (size_t k = 0; k < s.n; k++) {
			int beyond = s.p[k]->percent > top;
			snprintf(percent, sizeof percent, " (%.0f %%)", s.p[k]->percent);
			if (beyond || s.p[k]->beaten)
				where_add(w, t->row[i].layer, s.p[k]->n, beyond ? percent : "");
		}
	}
	where_end(w);
}

int table_fit_shown(const struct table_row *r) { return r->lengths > sizeof r->fit.c / sizeof *r->fit.c; }

static double scatter(const double *sample, size_t n)
{
	struct stat_summary s = stat_summarise(sample, n);
	return s.median > 0 ? s.mad / s.median : 0;
}

static double tie(const double *a, size_t na, const double *b, size_t nb) { return fmax(TABLE_TIE, scatter(a, na) + scatter(b, nb)); }

/* Two layers at the lengths both have, at the same width: seconds, of the mixing part too, and what is a tie. */
enum { WHOLE, OTHER_WHOLE, MIXING, OTHER_MIXING, TIE, MIXING_TIE, COMMON };
static size_t common(const struct series *a, const struct series *b, double n[SERIES_MOST], double t[COMMON][SERIES_MOST])
{
	size_t k = 0;
	for (size_t i = 0; a->at == b->at && i < a->n; i++)
		for (size_t j = 0; j < b->n; j++)
			if (a->p[i]->n == b->p[j]->n && k < SERIES_MOST) {
				const struct point *p = a->p[i], *q = b->p[j];
				n[k] = p->n;
				t[WHOLE][k] = p->seconds;
				t[OTHER_WHOLE][k] = q->seconds;
				t[MIXING][k] = p->mixing_seconds;
				t[OTHER_MIXING][k] = q->mixing_seconds;
				t[TIE][k] = tie(p->sample, p->samples, q->sample, q->samples);
				t[MIXING_TIE][k++] = tie(p->mixing, p->samples, q->mixing, q->samples);
			}
	return k;
}

/* The fit of the mixing part along n at this width, for prediction. */
static int fit_mixing(struct fit *f, const struct results *r, const struct choice *c, const char *layer)
{
	const struct point *p[1024];
	struct fit_point q[1024];
	size_t n = results_all(p, 1024, r, c, layer);
	for (size_t i = 0; i < n; i++)
		q[i] = (struct fit_point){p[i]->n, p[i]->d, p[i]->mixing_seconds};
	return fit_cost(f, q, n);
}

static struct table_ties ties(const double *n, const double *a, const double *b, const double *tie, size_t k)
{
	size_t last = 0, count = fit_ties(a, b, tie, k, &last);
	return (struct table_ties){count, n[last]};
}

static void make_pair(struct table *t, const struct results *r, const struct table_row *x, const struct table_row *y)
{
	struct series a, b;
	double n[SERIES_MOST], v[COMMON][SERIES_MOST];
	struct table_pair *p = t->pair + t->pairs;
	results_over_n(&a, r, &t->choice, x->layer);
	results_over_n(&b, r, &t->choice, y->layer);
	size_t k = common(&a, &b, n, v);
	if (k < 2)
		return;
	int first_below = fit_first_below(v[WHOLE], v[OTHER_WHOLE], v[TIE], k), swap = first_below > 0; /* the first is cheaper where lengths are short */
	const struct table_row *first = swap ? y : x, *second = swap ? x : y;
	*p = (struct table_pair){.a = first->layer, .b = second->layer, .from = n[0], .to = n[k - 1], .lengths = k, .bracket = {NAN, NAN},
				 .n = NAN, .predicted = NAN, .mixing = NAN, .mixing_predicted = NAN};
	t->pairs++;
	p->ties = ties(n, v[WHOLE], v[OTHER_WHOLE], v[TIE], k);
	if (!first_below)
		return;
	p->n = fit_crossing(n, v[WHOLE + swap], v[WHOLE + !swap], v[TIE], k, p->bracket);
	struct fit f, g;
	int shown = table_fit_shown(x) && table_fit_shown(y);
	if (shown)
		p->predicted = fit_crossing_predicted(&first->fit, &second->fit, a.at);
	if (!fit_mixing(&f, r, &t->choice, first->layer) && !fit_mixing(&g, r, &t->choice, second->layer)) {
		p->mixing = fit_crossing(n, v[MIXING + swap], v[MIXING + !swap], v[MIXING_TIE], k, NULL);
		p->mixing_ties = ties(n, v[MIXING], v[OTHER_MIXING], v[MIXING_TIE], k);
		if (p->mixing_ties.n == k)
			p->mixing = NAN;
		if (shown)
			p->mixing_predicted = fit_crossing_predicted(&f, &g, a.at);
	}
}

static void peak_range(struct table *t, const struct results *r)
{
	for (size_t i = 0; i < r->points; i++) {
		const struct point *p = r->point + i;
		if (!(p->peak > 0) || p->threads != t->choice.threads || strcmp(p->isa, t->choice.isa) != 0 || strcmp(p->pass, t->choice.pass) != 0)
			continue;
		t->peak_low = t->peak_high && t->peak_low < p->peak ? t->peak_low : p->peak;
		t->peak_high = fmax(t->peak_high, p->peak);
	}
}

void table_make(struct table *t, const struct results *r, const struct choice *c)
{
	const char *layer[ROWS_MOST];
	memset(t, 0, sizeof *t);
	t->choice = *c;
	t->paths = r->paths > 0;
	t->rows = results_layers(layer, ROWS_MOST, r, c);
	peak_range(t, r);
	for (size_t i = 0; i < t->rows; i++) {
		const struct table_row *row = t->row + i;
		struct series s;
		make_row(t->row + i, layer[i], r, c);
		results_over_n(&s, r, c, layer[i]);
		notes_row(t, &s, layer[i]);
		t->n_to = fmax(t->n_to, row->n_to);
		t->n_from = i ? fmin(t->n_from, row->n_from) : row->n_from;
	}
	where_end(&t->disturbed);
	where_end(&t->beaten);
	for (size_t i = 0; i < t->rows; i++)
		for (size_t j = i + 1; j < t->rows; j++)
			make_pair(t, r, t->row + i, t->row + j);
}
