/* The files of a report. */
#define _GNU_SOURCE
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/error.h"
#include "bench/report.h"
#include "bench/stats.h"

/* What the project's programs write; some of it is there to be downloaded only. */
static int is_known(const char *schema)
{
	static const char *const known[] = {"layers/1", "paths/1", "roof/1", "kernels/1", "step/1", "decode/1", "profile/1",
					    "claims/1", "cli/1", "table/1", "versus/1", "mixers/1"};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i], schema) == 0)
			return 1;
	return 0;
}

static int is_layers(const char *schema) { return strcmp(schema, "layers/1") == 0 || strcmp(schema, "paths/1") == 0; }

/* ---- facts about the machine */

#ifdef HAVE_JANSSON
/* -1 and a message when the two were written on different machines. */
static int same_machine(const struct report_machine *m, json_t *o, const char *path)
{
	static const char *const key[] = {"cpu", "architecture", "processors"};
	for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
		json_t *a = json_object_get(m->told->facts, key[i]), *b = json_object_get(o, key[i]);
		if (a && b && !json_equal(a, b))
			return n2d_error("%s: %s is not that of %s: another machine's files are to be in a directory of their own, or given as "
					 "NAME=FILE", path, key[i], m->told->facts_path);
	}
	return 0;
}

/* From the JSON file beside a CSV file. */
static int read_facts(struct report_machine *m, struct report_file *f)
{
	char path[REPORT_PATH];
	size_t n = strlen(f->path);
	json_error_t e;
	if (n < 4 || strcmp(f->path + n - 4, ".csv") != 0)
		return 0;
	snprintf(path, sizeof path, "%.*s.json", (int)(n - 4), f->path);
	if (access(path, F_OK))
		return 0;
	json_t *o = json_load_file(path, 0, &e);
	if (!o)
		return n2d_error("%s:%d: expected JSON: %s", path, e.line, e.text);
	const char *schema = json_string_value(json_object_get(o, "schema"));
	if (!schema || strcmp(schema, "n2d-machine/1") != 0) { /* hyperfine's */
		json_decref(o);
		return 0;
	}
	f->facts = o;
	memcpy(f->facts_path, path, sizeof path);
	if (m->told && same_machine(m, o, path))
		return -1;
	if (!m->told || (strcmp(f->schema, "layers/1") == 0 && strcmp(m->told->schema, "layers/1") != 0))
		m->told = f;
	return 0;
}

static void free_facts(struct report_file *f) { json_decref(f->facts); }
#else
static int read_facts(struct report_machine *m, struct report_file *f)
{
	(void)m, (void)f;
	return 0;
}

static void free_facts(struct report_file *f) { (void)f; }
#endif

/* ---- files */

/* The machine of this name, made when it is not there. */
static int find_machine(struct report *r, const char *name, size_t *at)
{
	for (*at = 0; *at < r->machines; ++*at)
		if (strcmp(r->machine[*at].name, name) == 0)
			return 0;
	if (r->machines == REPORT_MACHINES)
		return n2d_error("%s: expected at most %d machines", name, REPORT_MACHINES);
	snprintf(r->machine[*at].name, sizeof r->machine->name, "%s", name);
	r->machines++;
	return 0;
}

/* any: what the report has no use for is passed over. */
static int add_file(struct report *r, const char *path, const char *name, int any)
{
	struct report_file *f = r->file + r->files;
	if (r->files == REPORT_FILES)
		return n2d_error("%s: expected at most %d files", path, REPORT_FILES);
	snprintf(f->path, sizeof f->path, "%s", path);
	if (csv_read(&f->csv, f->path))
		return -1;
	if (any && strcmp(f->csv.cell[0], "schema") != 0) {
		csv_free(&f->csv);
		return 0;
	}
	f->schema = csv_schema(&f->csv);
	int known = f->schema && is_known(f->schema);
	if (!known) {
		if (f->schema)
			n2d_error("%s:2: schema '%s', expected one of results/SCHEMA.md", path, f->schema);
		any = any && f->schema;
		csv_free(&f->csv);
		return any ? 0 : -1;
	}
	r->files++;
	if (find_machine(r, name, &f->machine))
		return -1;
	struct report_machine *m = r->machine + f->machine;
	return (is_layers(f->schema) && results_read(&m->results, path)) || read_facts(m, f) ? -1 : 0;
}

struct listing {
	char *name[REPORT_FILES];
	size_t n;
};

static int list_csv(void *arg, const char *name)
{
	struct listing *l = arg;
	size_t n = strlen(name);
	if (n <= 4 || strcmp(name + n - 4, ".csv") != 0)
		return 0;
	if (l->n == REPORT_FILES)
		return n2d_error("expected at most %d CSV files", REPORT_FILES);
	l->name[l->n++] = strdup(name);
	return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int add_directory(struct report *r, const char *path, const char *name)
{
	struct listing l = {.n = 0};
	size_t before = r->files;
	int bad = n2d_dir_each(path, list_csv, &l);
	if (bad && l.n == REPORT_FILES)
		n2d_error("%s: %s", path, n2d_error_text());
	qsort(l.name, l.n, sizeof *l.name, by_name);
	for (size_t i = 0; i < l.n; i++) {
		char file[REPORT_PATH];
		if (snprintf(file, sizeof file, "%s/%s", path, l.name[i]) >= (int)sizeof file)
			bad = n2d_error("%s: the name is too long", path);
		else if (!bad && !n2d_file_again(file)) /* a pipe would be waited for */
			bad = n2d_error("%s: expected a file", file);
		bad = bad || add_file(r, file, name, 1);
		free(l.name[i]);
	}
	return bad ? -1 : r->files > before ? 0 : n2d_error("%s: expected CSV files of n2d-bench in it", path);
}

/* A machine's name where none was given: its directory's, all of it where another machine is called so. */
static int name_of(const struct report *r, const char *directory, char *name, size_t size)
{
	char real[REPORT_PATH];
	if (strlen(directory) >= size || !realpath(directory, real))
		return n2d_error("%s: cannot be read", directory);
	const char *last = strrchr(real, '/') + 1;
	snprintf(name, size, "%s", *last ? last : real);
	for (size_t i = 0; i < r->files; i++) {
		char other[REPORT_PATH], *end;
		snprintf(other, sizeof other, "%s", r->file[i].path);
		end = strrchr(other, '/');
		if (end)
			*end = 0;
		char *there = realpath(end ? other : ".", NULL);
		if (there && strcmp(there, real) != 0 && strcmp(r->machine[r->file[i].machine].name, name) == 0)
			snprintf(name, size, "%s", real);
		free(there);
	}
	return 0;
}

int report_add(struct report *r, const char *argument)
{
	char name[REPORT_PATH], directory[REPORT_PATH];
	const char *equals = access(argument, F_OK) ? strchr(argument, '=') : NULL, *path = equals ? equals + 1 : argument;
	struct stat s;
	if (strlen(argument) >= REPORT_PATH)
		return n2d_error("%.40s...: the name is too long", argument);
	if (stat(path, &s))
		return n2d_error("%s: no such file or directory", path);
	snprintf(directory, sizeof directory, "%s", path);
	char *slash = strrchr(directory, '/');
	if (S_ISREG(s.st_mode))
		snprintf(slash ? slash + (slash == directory) : directory, 2, slash ? "" : ".");
	else if (!S_ISDIR(s.st_mode))
		return n2d_error("%s: expected a file or a directory", path);
	if (equals && equals > argument)
		snprintf(name, sizeof name, "%.*s", (int)(equals - argument), argument);
	else if (name_of(r, directory, name, sizeof name))
		return -1;
	return S_ISDIR(s.st_mode) ? add_directory(r, path, name) : add_file(r, path, name, 0);
}

static int make(struct table *t, const struct results *r, const char *isa, int threads, const char *pass)
{
	struct choice c;
	for (size_t i = 0; i < r->points; i++)
		if (strcmp(r->point[i].pass, pass) == 0) {
			if (results_choose(&c, r, isa, threads, pass, 0))
				return -1;
			table_make(t, r, &c);
			return 0;
		}
	return 0;
}

/* results/local is called so on every machine: such a one gets its processor's name, unless another is called like that. */
static void name_local(struct report *r, struct report_machine *m)
{
	const char *cpu = report_cpu(m);
	if (strcmp(m->name, "local") != 0 || !*cpu)
		return;
	for (size_t i = 0; i < r->machines; i++)
		if (strcmp(r->machine[i].name, cpu) == 0)
			return;
	snprintf(m->name, sizeof m->name, "%s", cpu);
}

int report_tables(struct report *r, const char *isa, int threads)
{
	for (size_t i = 0; i < r->machines; i++) {
		struct report_machine *m = r->machine + i;
		name_local(r, m);
		if (make(&m->forward, &m->results, isa, threads, "forward") || make(&m->train, &m->results, isa, threads, "train"))
			return -1;
	}
	return 0;
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->files; i++) {
		csv_free(&r->file[i].csv);
		free_facts(r->file + i);
	}
	for (size_t i = 0; i < r->machines; i++)
		results_free(&r->machine[i].results);
}

const struct report_file *report_next(const struct report *r, size_t machine, const char *schema, size_t *at)
{
	while (*at < r->files) {
		const struct report_file *f = r->file + (*at)++;
		if (f->machine == machine && strcmp(f->schema, schema) == 0)
			return f;
	}
	return NULL;
}

/* ---- timings */

struct reading {
	const char *id;
	size_t row;
	double seconds;
	int clean;
};

static int by_id(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;
	int order = strcmp(x->id, y->id);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int by_row(const void *a, const void *b)
{
	const struct timing *x = a, *y = b;
	return (x->row > y->row) - (x->row < y->row);
}

static int read_sample(struct reading *x, const struct csv *c, size_t row, int id, int seconds, int clean)
{
	double whole = 1;
	x->id = csv_text(c, row, id);
	x->row = row;
	if (csv_number(c, row, seconds, &x->seconds) || (clean >= 0 && csv_number(c, row, clean, &whole)))
		return -1;
	x->clean = whole != 0;
	return x->seconds > 0 ? 0 : n2d_error("%s:%zu: seconds is %g, expected more than 0", c->path, c->line[row + 1], x->seconds);
}

/* n of them have one id. value: room for as many. */
static struct timing summary(const struct reading *x, size_t n, double *value)
{
	size_t k = 0, whole = 0;
	for (size_t i = 0; i < n; i++)
		whole += (size_t)x[i].clean;
	for (size_t i = 0; i < n; i++)
		if (x[i].clean || !whole)
			value[k++] = x[i].seconds;
	return (struct timing){x->id, x->row, stat_median(value, k), stat_disturbed(whole, n)};
}

int timings_read(struct timing **list, size_t *n, const struct csv *c)
{
	int id = csv_column(c, "id"), seconds = csv_column(c, "seconds"), clean = csv_column(c, "clean"), bad = 0;
	struct reading *x = malloc(c->rows * sizeof *x);
	double *value = malloc(c->rows * sizeof *value);
	size_t k = 0;
	*list = malloc(c->rows * sizeof **list);
	*n = 0;
	if (!x || !value || !*list)
		bad = n2d_error("%s: no memory", c->path);
	else if (id < 0 || seconds < 0)
		bad = n2d_error("%s:1: expected a column '%s'", c->path, id < 0 ? "id" : "seconds");
	for (size_t row = 0; row < c->rows && !bad; row++)
		if (strcmp(csv_text(c, row, seconds), "nan") != 0) /* an interrupted run */
			bad = read_sample(x + k++, c, row, id, seconds, clean);
	if (!bad) {
		qsort(x, k, sizeof *x, by_id);
		for (size_t i = 0, end; i < k; i = end) {
			for (end = i + 1; end < k && strcmp(x[end].id, x[i].id) == 0; end++)
				continue;
			(*list)[(*n)++] = summary(x + i, end - i, value);
		}
		qsort(*list, *n, sizeof **list, by_row);
	}
	free(x);
	free(value);
	if (!bad)
		return 0;
	free(*list);
	*list = NULL;
	return -1;
}
