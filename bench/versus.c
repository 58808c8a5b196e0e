#include "bench/versus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/csv.h"
#include "bench/stats.h"

/* ---- what there is */

static struct versus_time *add(struct versus *v, const char *id, const char *program, double seconds)
{
	if ((v->n & (v->n - 1)) == 0) { /* room is the next power of two */
		v->time = realloc(v->time, (v->n ? 2 * v->n : 1) * sizeof *v->time);
		if (!v->time)
			abort();
	}
	struct versus_time *t = v->time + v->n++;
	memset(t, 0, sizeof *t);
	snprintf(t->id, sizeof t->id, "%s", id);
	snprintf(t->program, sizeof t->program, "%s", program);
	t->seconds = seconds;
	return t;
}

struct versus_time *versus_add_op(struct versus *v, const char *id, const char *op, const char *shape, const char *isa, int threads,
				   const char *program, double seconds)
{
	struct versus_time *t = add(v, id, program, seconds);
	snprintf(t->group, sizeof t->group, "%.*s", (int)strcspn(op, "@"), op);
	snprintf(t->key, sizeof t->key, "%s/%s/%s/%d", t->group, shape, isa, threads);
	if (strcmp(t->group, "gemm-packed") == 0)
		snprintf(t->also, sizeof t->also, "gemm-nt/%s/%s/%d", shape, isa, threads);
	return t;
}

struct versus_time *versus_add_layer(struct versus *v, const char *id, const char *layer, const char *pass, const char *shape, const char *isa,
				      int threads, const char *program, double seconds)
{
	struct versus_time *t = add(v, id, program, seconds);
	snprintf(t->group, sizeof t->group, "%s %s", layer, pass);
	snprintf(t->key, sizeof t->key, "%s/%s/%s/%s/%d", layer, pass, shape, isa, threads);
	return t;
}

void versus_tell(struct versus_time *t, const char *version, const char *isa, int disturbed)
{
	snprintf(t->version, sizeof t->version, "%s", version);
	snprintf(t->isa, sizeof t->isa, "%s", isa);
	t->disturbed = disturbed;
}

void versus_free(struct versus *v)
{
	free(v->time);
	*v = (struct versus){0};
}

/* ---- from files */

enum { ID, ISA, THREADS, PROGRAM, CLEAN, SECONDS, WHAT, SHAPE, PASS = SHAPE, STATE, N = STATE, D, BATCH, COLUMNS };

static int find_columns(const struct csv *c, int layers, int *column)
{
	static const char *const ops[COLUMNS] = {"id", "isa", "threads", "program", "clean", "seconds", "op", "shape", "state", "state", "state"};
	static const char *const layer[COLUMNS] = {"id", "isa", "threads", "program", "clean", "seconds", "layer", "pass", "n", "d", "batch"};
	for (int i = 0; i < COLUMNS; i++) {
		column[i] = csv_column(c, (layers ? layer : ops)[i]);
		if (column[i] < 0)
			return n2d_error("%s:1: expected a column '%s'", c->path, (layers ? layer : ops)[i]);
	}
	return 0;
}

/* The rows of one id, which lie together: of the clean ones, or all when there are none. */
static int median(const struct csv *c, const int *column, size_t from, size_t to, double *m, int *disturbed)
{
	double *x = malloc((to - from) * sizeof *x), clean;
	size_t n = 0;
	int bad = x ? 0 : n2d_error("no memory");
	for (int want = 1; want >= 0 && !n && !bad; want--) {
		for (size_t row = from; row < to && !bad; row++) {
			bad = csv_number(c, row, column[CLEAN], &clean) || csv_number(c, row, column[SECONDS], x + n);
			if (!bad && !(x[n] > 0 && x[n] < 1e9))
				bad = n2d_error("%s:%zu: expected seconds > 0", c->path, c->line[row + 1]);
			n += !bad && (clean != 0 || !want);
		}
		*disturbed = stat_disturbed(want ? n : 0, to - from);
	}
	*m = bad ? 0 : stat_median(x, n);
	free(x);
	return bad ? -1 : 0;
}

static int add_rows(struct versus *v, const struct csv *c, int layers, const int *column, size_t from, size_t to)
{
	const char *text[COLUMNS];
	char shape[128];
	double seconds, threads;
	int disturbed = 0;
	for (int i = 0; i < COLUMNS; i++)
		text[i] = csv_text(c, from, column[i]);
	if (median(c, column, from, to, &seconds, &disturbed) || csv_number(c, from, column[THREADS], &threads))
		return -1;
	if (!(threads >= 1 && threads <= 1024))
		return n2d_error("%s:%zu: threads is %g, which no run can have", c->path, c->line[from + 1], threads);
	if (layers)
		snprintf(shape, sizeof shape, "n=%s,d=%s,B=%s", text[N], text[D], text[BATCH]);
	else
		snprintf(shape, sizeof shape, "%s,%s", text[SHAPE], text[STATE]);
	struct versus_time *t;
	if (layers)
		t = versus_add_layer(v, text[ID], text[WHAT], text[PASS], shape, text[ISA], (int)threads, text[PROGRAM], seconds);
	else
		t = versus_add_op(v, text[ID], text[WHAT], shape, text[ISA], (int)threads, text[PROGRAM], seconds);
	versus_tell(t, csv_text_if(c, from, "program_version"), csv_text_if(c, from, "program_isa"), disturbed);
	return 0;
}

int versus_read(struct versus *v, const char *file)
{
	struct csv c;
	int column[COLUMNS];
	if (csv_read(&c, file))
		return -1;
	const char *schema = csv_schema(&c);
	int layers = schema && strcmp(schema, "layers/1") == 0, bad = !schema;
	if (schema && !layers && strcmp(schema, "kernels/1") != 0)
		bad = n2d_error("%s:2: schema '%s', expected kernels/1 or layers/1", file, schema);
	bad = bad || find_columns(&c, layers, column);
	for (size_t from = 0, to; from < c.rows && !bad; from = to) {
		for (to = from; to < c.rows && strcmp(csv_text(&c, to, column[ID]), csv_text(&c, from, column[ID])) == 0; to++)
			;
		bad = add_rows(v, &c, layers, column, from, to);
	}
	csv_free(&c);
	return bad ? -1 : 0;
}

/* ---- the table */

static int is_ours(const struct versus_time *t) { return strcmp(t->program, "n2d") == 0; }

const struct versus_time *versus_peer(const struct versus *v, const struct versus_time *ours)
{
	const struct versus_time *best = NULL;
	for (size_t i = 0; i < v->n && is_ours(ours); i++)
		if (!is_ours(v->time + i) && (strcmp(v->time[i].key, ours->key) == 0 || strcmp(v->time[i].key, ours->also) == 0) &&
		    (!best || v->time[i].seconds < best->seconds))
			best = v->time + i;
	return best;
}

/* Up to the number's end: what follows is how it was built. */
static int version_length(const char *version)
{
	size_t n = strcspn(version, "0123456789");
	return (int)(n + strcspn(version + n, " "));
}

/* Is the j-th the first time of its program, or, with isa, of what that chose? */
static int is_first(const struct versus *v, size_t j, int isa)
{
	for (size_t k = 0; k < j; k++)
		if (strcmp(v->time[k].program, v->time[j].program) == 0 && (!isa || strcmp(v->time[k].isa, v->time[j].isa) == 0))
			return 0;
	return !is_ours(v->time + j);
}

const char *versus_program(const struct versus *v, size_t i, char *text, size_t size)
{
	const struct versus_time *t;
	size_t at = 0;
	while (at < v->n && (!is_first(v, at, 0) || i--))
		at++;
	if (at == v->n)
		return NULL;
	t = v->time + at;
	size_t used = (size_t)snprintf(text, size, "%s: %.*s", t->program, version_length(t->version), t->version), none = used;
	for (size_t j = at; j < v->n && used < size; j++)
		if (strcmp(v->time[j].program, t->program) == 0 && v->time[j].isa[0] && is_first(v, j, 1))
			used += (size_t)snprintf(text + used, size - used, used == none ? " (%s" : ", %s", v->time[j].isa);
	if (used > none && used < size)
		snprintf(text + used, size - used, ")");
	return text;
}

struct summary {
	double sum, worst;
	size_t n, slower;
	const char *at;
};

static void count(struct summary *s, const struct versus_time *ours, const struct versus_time *peer)
{
	double ratio = peer->seconds / ours->seconds;
	if (!s->n || ratio < s->worst) {
		s->worst = ratio;
		s->at = ours->id;
	}
	s->sum += log(ratio);
	s->slower += ratio < 1;
	s->n++;
}

static void print_pair(FILE *f, enum versus_format format, const struct versus_time *a, const struct versus_time *b)
{
	double ratio = b->seconds / a->seconds;
	int disturbed = a->disturbed || b->disturbed;
	if (format == VERSUS_CSV)
		fprintf(f, "versus/1,\"%s\",%s,%.9g,%s,%.9g,%.6g\n", a->id, a->group, a->seconds, b->program, b->seconds, ratio);
	else if (format == VERSUS_MARKDOWN)
		fprintf(f, "| %s | %.2f | %.2f | %s | %.2f%s |\n", a->id, 1e6 * a->seconds, 1e6 * b->seconds, b->program, ratio,
			disturbed ? ", disturbed" : "");
	else
		fprintf(f, "%-62s %11.2f us %11.2f us %7.2fx  %s%s%s\n", a->id, 1e6 * a->seconds, 1e6 * b->seconds, ratio, b->program,
			ratio < 1 ? "  slower" : "", disturbed ? "  disturbed" : "");
}

static void print_summary(FILE *f, enum versus_format format, const char *name, const struct summary *s)
{
	double mean = exp(s->sum / (double)s->n);
	if (format == VERSUS_MARKDOWN)
		fprintf(f, "| %s | %.2f | %zu | %zu | %.2f | %s |\n", name, mean, s->n, s->slower, s->worst, s->at);
	else
		fprintf(f, "%-34s %7.2fx %6zu %7zu %7.2fx  %s\n", name, mean, s->n, s->slower, s->worst, s->at);
}

static void print_summaries(const struct versus *v, FILE *f, enum versus_format format)
{
	struct summary all = {0};
	if (format == VERSUS_MARKDOWN)
		fputs("\n| | geometric mean | of | slower in | worst | at |\n|---|---|---|---|---|---|\n", f);
	else
		fprintf(f, "\n%-34s %8s %6s %7s %8s\n", "geometric means", "n2d is", "of", "slower", "worst");
	for (size_t i = 0; i < v->n; i++) {
		struct summary s = {0};
		int first = versus_peer(v, v->time + i) != NULL;
		for (size_t j = 0; j < i && first; j++)
			first = !(versus_peer(v, v->time + j) && strcmp(v->time[j].group, v->time[i].group) == 0);
		for (size_t j = i; j < v->n && first; j++) {
			const struct versus_time *ours = v->time + j, *peer = versus_peer(v, ours);
			if (peer && strcmp(ours->group, v->time[i].group) == 0) {
				count(&s, ours, peer);
				count(&all, ours, peer);
			}
		}
		if (first)
			print_summary(f, format, v->time[i].group, &s);
	}
	print_summary(f, format, "all", &all);
}

static void print_programs(const struct versus *v, FILE *f)
{
	char text[512];
	for (size_t i = 0; versus_program(v, i, text, sizeof text); i++)
		fprintf(f, i ? "; %s" : "\n%s", text);
	putc('\n', f);
}

static void print_head(FILE *f, enum versus_format format)
{
	if (format == VERSUS_CSV)
		fputs("schema,id,group,seconds,peer,peer_seconds,ratio\n", f);
	else if (format == VERSUS_MARKDOWN)
		fputs("| n2d / best peer | n2d, us | best peer, us | which | n2d is times as fast |\n|---|---|---|---|---|\n", f);
	else
		fprintf(f, "\n%-62s %14s %14s %8s\n", "n2d / best peer", "n2d", "best peer", "n2d is");
}

size_t versus_print(const struct versus *v, FILE *f, enum versus_format format)
{
	size_t pairs = 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct versus_time *peer = versus_peer(v, v->time + i);
		if (!peer)
			continue;
		if (!pairs++)
			print_head(f, format);
		print_pair(f, format, v->time + i, peer);
	}
	if (pairs && format != VERSUS_CSV) {
		print_summaries(v, f, format);
		print_programs(v, f);
	} else if (!pairs) {
		fputs(format == VERSUS_CSV ? "" : "\nno peer at the same work\n", f);
	}
	return pairs;
}
