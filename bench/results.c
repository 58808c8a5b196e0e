#include "bench/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/csv.h"
#include "bench/limits.h"
#include "bench/stats.h"
#include "layer/layer.h"

static void *grow(void *p, size_t n, size_t size)
{
	if (n & (n - 1)) /* room is the next power of two */
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

enum { L_LAYER, L_ISA, L_PASS, L_TEXTS, L_THREADS = L_TEXTS, L_BATCH, L_N, L_D, L_CLEAN, L_SECONDS, L_MIXING, L_LIMIT, L_MEMORY,
       L_COLUMNS, L_PEAK = L_COLUMNS, L_FLOPS, L_ALL }; /* from L_PEAK on: -1 in files without it */
static const char *const layer_columns[L_COLUMNS] = {"layer", "isa", "pass", "threads", "batch", "n", "d", "clean", "seconds",
						     "mixing_seconds", "limit_seconds", "memory_bytes"};

static int same(const struct point *a, const struct point *b)
{
	return a->n == b->n && a->d == b->d && a->threads == b->threads && a->batch == b->batch &&
	       strcmp(a->layer, b->layer) == 0 && strcmp(a->isa, b->isa) == 0 && strcmp(a->pass, b->pass) == 0;
}

/* The point of this row; new rows mostly belong to the last one. */
static struct point *find_point(struct results *r, const struct point *key)
{
	for (size_t i = r->points; i-- > 0;)
		if (same(r->point + i, key))
			return r->point + i;
	r->point = grow(r->point, r->points, sizeof *r->point);
	r->point[r->points] = *key;
	return r->point + r->points++;
}

static void add_sample(struct point *p, double seconds, double mixing, int clean)
{
	p->sample = grow(p->sample, p->samples, sizeof *p->sample);
	p->mixing = grow(p->mixing, p->samples, sizeof *p->mixing);
	p->sample[p->samples] = seconds;
	p->mixing[p->samples++] = mixing;
	p->dirty += !clean;
}

/* A limit is nan where the run was interrupted before it was measured. */
static int number_or_nan(const struct csv *c, size_t row, int column, double *v)
{
	if (strcmp(csv_text(c, row, column), "nan") != 0)
		return csv_number(c, row, column, v);
	*v = NAN;
	return 0;
}

/* Names and values that n2d-bench layers can have written. */
static int check_layer_row(const struct csv *c, size_t row, const int *column, const double *v)
{
	const char *layer = csv_text(c, row, column[L_LAYER]), *pass = csv_text(c, row, column[L_PASS]);
	if (!n2d_layer_find(layer))
		return n2d_error("%s:%zu: unknown layer '%s'", c->path, c->line[row + 1], layer);
	if (strcmp(pass, "forward") != 0 && strcmp(pass, "train") != 0)
		return n2d_error("%s:%zu: pass '%s', expected forward or train", c->path, c->line[row + 1], pass);
	for (int i = L_TEXTS; i <= L_D; i++)
		if (!(v[i] >= 1) || v[i] > (i == L_THREADS ? 1024 : 0x1p40))
			return n2d_error("%s:%zu: %s is %g, which no run can have", c->path, c->line[row + 1], layer_columns[i], v[i]);
	if (!(v[L_SECONDS] > 0 && v[L_SECONDS] < 1e9) || !(v[L_MIXING] >= 0 && v[L_MIXING] < 1e9) || v[L_LIMIT] < 0)
		return n2d_error("%s:%zu: expected seconds > 0, mixing_seconds >= 0 and limit_seconds >= 0", c->path,
				 c->line[row + 1]);
	return 0;
}

static int read_layer_row(struct results *r, const struct csv *c, size_t row, const int *column, int want_clean)
{
	struct point key = {0};
	double v[L_COLUMNS];
	for (int i = L_TEXTS; i < L_COLUMNS; i++)
		if (i == L_LIMIT ? number_or_nan(c, row, column[i], v + i) : csv_number(c, row, column[i], v + i))
			return -1;
	key.peak = key.flops = NAN;
	if (check_layer_row(c, row, column, v) || (column[L_PEAK] >= 0 && number_or_nan(c, row, column[L_PEAK], &key.peak)) ||
	    (column[L_FLOPS] >= 0 && number_or_nan(c, row, column[L_FLOPS], &key.flops)))
		return -1;
	snprintf(key.layer, sizeof key.layer, "%s", csv_text(c, row, column[L_LAYER]));
	snprintf(key.isa, sizeof key.isa, "%s", csv_text(c, row, column[L_ISA]));
	snprintf(key.pass, sizeof key.pass, "%s", csv_text(c, row, column[L_PASS]));
	key.threads = (int)v[L_THREADS];
	key.batch = v[L_BATCH];
	key.n = v[L_N];
	key.d = v[L_D];
	key.limit_seconds = v[L_LIMIT];
	key.memory_bytes = v[L_MEMORY];
	key.file = r->files;
	struct point *p = find_point(r, &key);
	if (p->file != r->files)
		return 0;
	p->disturbed += !want_clean && v[L_CLEAN] == 0;
	if (want_clean == (v[L_CLEAN] != 0) && (want_clean || p->dirty == p->samples))
		add_sample(p, v[L_SECONDS], v[L_MIXING], want_clean);
	return 0;
}

static int read_layers(struct results *r, const struct csv *c)
{
	int column[L_ALL];
	if (csv_columns(c, layer_columns, column, L_COLUMNS))
		return -1;
	r->files++;
	column[L_PEAK] = csv_column(c, "peak_flops_per_s");
	column[L_FLOPS] = csv_column(c, "flops");
	int program = csv_column(c, "program"); /* peers' times are for n2d-bench table --peers */
	for (int want_clean = 1; want_clean >= 0; want_clean--) /* disturbed samples count where there are no others */
		for (size_t row = 0; row < c->rows; row++)
			if ((program < 0 || strcmp(csv_text(c, row, program), "n2d") == 0) && read_layer_row(r, c, row, column, want_clean))
				return -1;
	for (size_t i = 0; i < r->points; i++) {
		struct point *p = r->point + i;
		p->seconds = stat_median(p->sample, p->samples);
		p->mixing_seconds = stat_median(p->mixing, p->samples);
		p->beaten = limit_beaten(p->flops, p->seconds, p->peak);
		p->percent = p->beaten ? NAN : 100 * p->limit_seconds / p->seconds;
	}
	return 0;
}

static int read_paths(struct results *r, const struct csv *c)
{
	static const char *const name[] = {"layer", "n", "sequential", "layers", "path", "perturbed"};
	int column[6];
	if (csv_columns(c, name, column, 6))
		return -1;
	for (size_t row = 0; row < c->rows; row++) {
		struct path_point p;
		if (csv_number(c, row, column[1], &p.n) || csv_number(c, row, column[2], &p.sequential) ||
		    csv_number(c, row, column[3], &p.layers) || csv_number(c, row, column[4], &p.path) ||
		    csv_number(c, row, column[5], &p.perturbed))
			return -1;
		snprintf(p.layer, sizeof p.layer, "%s", csv_text(c, row, column[0]));
		r->path = grow(r->path, r->paths, sizeof *r->path);
		r->path[r->paths++] = p;
	}
	return 0;
}

static void name_file(struct results *r, const char *file)
{
	size_t used = strlen(r->names), left = sizeof r->names - used;
	if (strlen(file) + sizeof ", ..." < left)
		snprintf(r->names + used, left, "%s%s", used ? ", " : "", file);
	else if (used < 4 || strcmp(r->names + used - 4, " ...") != 0)
		snprintf(r->names + used, left, "%s", " ...");
}

int results_read(struct results *r, const char *file)
{
	struct csv c;
	name_file(r, file);
	if (csv_read(&c, file))
		return -1;
	const char *schema = csv_schema(&c);
	int bad = !schema;
	if (schema && strcmp(schema, "layers/1") == 0)
		bad = read_layers(r, &c);
	else if (schema && strcmp(schema, "paths/1") == 0)
		bad = read_paths(r, &c);
	else if (schema && strcmp(schema, "roof/1") != 0 && strcmp(schema, "kernels/1") != 0)
		bad = n2d_error("%s:2: schema '%s', expected layers/1, paths/1, roof/1 or kernels/1", file, schema);
	csv_free(&c);
	return bad ? -1 : 0;
}

int results_read_all(struct results *r, char **file, int files)
{
	static const char *const usual[] = {"results/local/layers.csv", "results/local/paths.csv"};
	memset(r, 0, sizeof *r);
	for (int i = 0; i < (files ? files : 2); i++)
		if (results_read(r, files ? file[i] : usual[i])) {
			results_free(r);
			return -1;
		}
	return 0;
}

void results_free(struct results *r)
{
	for (size_t i = 0; i < r->points; i++) {
		free(r->point[i].sample);
		free(r->point[i].mixing);
	}
	free(r->point);
	free(r->path);
	memset(r, 0, sizeof *r);
}

double results_at(const struct series *s, double n)
{
	for (size_t i = 0; i + 1 < s->n; i++) {
		const struct point *p = s->p[i], *q = s->p[i + 1];
		if (p->n <= n && n <= q->n)
			return p->seconds * exp(log(q->seconds / p->seconds) * log(n / p->n) / log(q->n / p->n));
	}
	return NAN;
}

int results_disturbed(const struct point *p)
{
	size_t clean = p->samples - p->dirty;
	return stat_disturbed(clean, clean + p->disturbed);
}

static int fits(const struct choice *c, const struct point *p)
{
	return (!c->isa || strcmp(p->isa, c->isa) == 0) && (!c->pass || strcmp(p->pass, c->pass) == 0) &&
	       (!c->threads || p->threads == c->threads);
}

int results_choose(struct choice *c, const struct results *r, const char *isa, int threads, const char *pass, int asked)
{
	*c = (struct choice){isa, pass, threads};
	for (size_t i = 0; i < r->points && !c->isa; i++)
		if (fits(c, r->point + i))
			c->isa = r->point[i].isa;
	for (size_t i = 0; i < r->points && !c->pass; i++)
		if (fits(c, r->point + i) && strcmp(r->point[i].pass, "forward") == 0)
			c->pass = "forward";
	for (size_t i = 0; i < r->points && !c->pass; i++)
		if (fits(c, r->point + i))
			c->pass = r->point[i].pass;
	for (size_t i = 0; i < r->points && !threads; i++)
		if (fits(&(struct choice){c->isa, c->pass, 0}, r->point + i) && (!c->threads || r->point[i].threads < c->threads))
			c->threads = r->point[i].threads;
	for (size_t i = 0; i < r->points; i++)
		if (fits(c, r->point + i))
			return 0;
	char count[32] = "";
	if (threads)
		snprintf(count, sizeof count, " --threads %d", threads);
	const char *option = asked && pass ? " --pass " : "", *of = !asked && pass ? " of pass " : "", *which = pass ? pass : "";
	return n2d_error("%s: no row of a layer%s%s%s%s%s%s%s%s", r->names, of, *of ? which : "", isa || threads || *option ? " with" : "", isa ? " --isa " : "",
			 isa ? isa : "", count, option, *option ? which : "");
}

size_t results_all(const struct point **p, size_t most, const struct results *r, const struct choice *c, const char *layer)
{
	size_t n = 0;
	for (size_t i = 0; i < r->points && n < most; i++)
		if (fits(c, r->point + i) && strcmp(r->point[i].layer, layer) == 0)
			p[n++] = r->point + i;
	return n;
}

static double size_of(const struct point *p, int over_d) { return over_d ? p->d : p->n; }

static void over(struct series *s, const struct results *r, const struct choice *c, const char *layer, int over_d)
{
	const struct point *all[1024];
	size_t n = results_all(all, 1024, r, c, layer);
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < n; i++) { /* the fixed size with the most points */
		struct series t = {.at = size_of(all[i], !over_d)};
		for (size_t j = 0; j < n && t.n < SERIES_MOST; j++)
			if (size_of(all[j], !over_d) == t.at)
				t.p[t.n++] = all[j];
		if (t.n > s->n)
			*s = t;
	}
	for (size_t i = 1; i < s->n; i++)
		for (size_t j = i; j && size_of(s->p[j - 1], over_d) > size_of(s->p[j], over_d); j--) {
			const struct point *t = s->p[j];
			s->p[j] = s->p[j - 1];
			s->p[j - 1] = t;
		}
}

void results_over_n(struct series *s, const struct results *r, const struct choice *c, const char *layer)
{
	over(s, r, c, layer, 0);
}

void results_over_d(struct series *s, const struct results *r, const struct choice *c, const char *layer)
{
	over(s, r, c, layer, 1);
}

size_t results_layers(const char **name, size_t most, const struct results *r, const struct choice *c)
{
	size_t n = 0;
	const struct point *p;
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; *k && n < most; k++)
		if (results_all(&p, 1, r, c, (*k)->name))
			name[n++] = (*k)->name;
	return n;
}
