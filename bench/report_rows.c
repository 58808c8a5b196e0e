/* Of the report: the machine with its limits, and peers. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/error.h"
#include "bench/report.h"
#include "bench/versus.h"

/* ---- the machine */

static const char levels_note[] = "Levels are counted from the fastest, as they were found: caches that the widest instruction set asked for reads nearly as fast are "
				  "one, so that in a file of other sets L1 can be another one.";

#ifdef HAVE_JANSSON
static void fact(struct html *h, const char *name, const json_t *v)
{
	if (json_is_string(v))
		html(h, "<dt>$</dt><dd>$</dd>\n", name, json_string_value(v));
	else if (json_is_integer(v))
		html(h, "<dt>$</dt><dd>$</dd>\n", name, as_text("%lld", (long long)json_integer_value(v)));
	else if (json_is_array(v) && json_array_size(v)) {
		html(h, "<dt>$</dt><dd>", name);
		for (size_t i = 0; i < json_array_size(v); i++)
			html(h, "$$", i ? ", " : "", as_text("%g", json_number_value(json_array_get(v, i))));
		html(h, "</dd>\n");
	}
}

/* levels_too: of memory, as they were found before the layers. */
static void facts(struct html *h, const struct report_file *f, int levels_too)
{
	const json_t *o = f->facts;
	const char *slash = strrchr(f->facts_path, '/');
	static const char *const key[][2] = {
		{"cpu", "processor"}, {"architecture", "architecture"}, {"processors", "processors"}, {"threads", "threads used"},
		{"pinned_to", "pinned to"}, {"system", "system"}, {"governor", "governor"}, {"load", "load"},
		{"transparent_hugepage", "huge pages"}, {"compiler", "compiler"}, {"cflags", "flags"}, {"version", "n2d"},
		{"revision", "revision"}, {"date", "date"},
	};
	size_t i;
	json_t *level, *levels = json_object_get(o, "levels_measured");
	html(h, "<p class=\"soft\">When $ was made; other files have their revision and date at their commands.</p>\n<dl>\n", slash ? slash + 1 : f->facts_path);
	for (i = 0; i < sizeof key / sizeof *key; i++)
		fact(h, key[i][1], json_object_get(o, key[i][0]));
	json_t *memory = json_object_get(o, "memory_bytes");
	if (json_is_number(memory))
		html(h, "<dt>memory</dt><dd>$ GiB</dd>\n", as_text("%.1f", json_number_value(memory) / (1 << 30)));
	html(h, "</dl>\n");
	if (!levels_too)
		return;
	const char *isa = json_string_value(json_object_get(o, "levels_measured_with"));
	html(h, "<h4>Memory, as measured$$</h4>\n", isa ? " with " : "", isa ? isa : "");
	html(h, "<p class=\"soft\">$</p>\n<dl>\n", levels_note);
	json_array_foreach(levels, i, level) {
		const char *name = json_string_value(json_object_get(level, "name"));
		double capacity = json_number_value(json_object_get(level, "capacity_bytes"));
		html(h, "<dt>$</dt><dd>$ GB/s read$</dd>\n", name ? name : "level",
		     as_text("%.0f", json_number_value(json_object_get(level, "read_gbytes_per_s"))),
		     capacity > 0 ? as_text(", up to %.0f KiB", capacity / 1024) : "");
	}
	html(h, "</dl>\n");
}
#else
static void facts(struct html *h, const struct report_file *f, int levels_too) { (void)h, (void)f, (void)levels_too; }
#endif

const char *report_cpu(const struct report_machine *m)
{
#ifdef HAVE_JANSSON
	const char *cpu = json_string_value(json_object_get(m->told ? m->told->facts : NULL, "cpu"));
	return cpu ? cpu : "";
#else
	(void)m;
	return "";
#endif
}

/* One limit of a machine: a roof kernel with an instruction set, threads and level. */
struct roof_rate {
	const char *kernel, *isa, *level;
	double threads, rate;
	int disturbed;
};

enum { RATES = 512 };
struct roof_rates {
	struct roof_rate rate[RATES];
	size_t n;
};

static int is_peak(const struct roof_rate *x) { return strcmp(x->kernel, "fma_peak") == 0; }

static int is_row(const struct roof_rate *a, const struct roof_rate *b)
{
	return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->level, b->level) == 0 && a->threads == b->threads;
}

/* The best of all footprints in a level. -1 and a message: more than a table can show. */
static int add_rate(struct roof_rates *r, const struct roof_rate *x)
{
	size_t i = 0;
	while (i < r->n && !(is_row(r->rate + i, x) && strcmp(r->rate[i].isa, x->isa) == 0))
		i++;
	if (i == RATES)
		return n2d_error("more than %d limits of kernel, instruction set, threads and level", RATES);
	if (i == r->n)
		r->rate[r->n++] = *x;
	if (x->rate > r->rate[i].rate)
		r->rate[i] = *x;
	return 0;
}

static int read_rates(struct roof_rates *r, const struct csv *c)
{
	static const char *const name[] = {"kernel", "isa", "level", "threads", "flops", "bytes"};
	int k[6];
	struct timing *t;
	size_t n;
	if (csv_columns(c, name, k, 6) || timings_read(&t, &n, c))
		return -1;
	int bad = 0;
	for (size_t i = 0; i < n && !bad; i++) {
		struct roof_rate one, *x = &one;
		double flops, bytes;
		x->kernel = csv_text(c, t[i].row, k[0]);
		x->isa = csv_text(c, t[i].row, k[1]);
		x->level = csv_text(c, t[i].row, k[2]);
		bad = csv_number(c, t[i].row, k[3], &x->threads) || csv_number(c, t[i].row, k[4], &flops) || csv_number(c, t[i].row, k[5], &bytes);
		x->rate = bad ? 0 : (is_peak(x) ? flops : bytes) / t[i].seconds / 1e9;
		x->disturbed = t[i].disturbed;
		bad = bad || add_rate(r, x);
	}
	free(t);
	return bad ? -1 : 0;
}

enum rates { PEAKS, READING, OTHER_STREAMS };
static int is_of(const struct roof_rate *x, enum rates what)
{
	return what == (is_peak(x) ? PEAKS : strcmp(x->kernel, "stream_read") == 0 ? READING : OTHER_STREAMS);
}

/* Files of before have numbers. */
static const char *level_name(const struct roof_rates *r, const struct roof_rate *x)
{
	if (!atoi(x->level))
		return x->level;
	for (size_t i = 0; i < r->n; i++)
		if (atoi(r->rate[i].level) > atoi(x->level))
			return as_text("L%d", atoi(x->level));
	return "memory";
}

static int any_rates(const struct roof_rates *r, enum rates what)
{
	size_t i = 0;
	while (i < r->n && !is_of(r->rate + i, what))
		i++;
	return i < r->n;
}

/* Rows: kernel, level, threads; columns: instruction sets. */
static void rates(struct html *h, const struct roof_rates *r, enum rates what, const char *title)
{
	const char *isa[16];
	size_t isas = 0;
	if (!any_rates(r, what))
		return;
	html(h, title);
	for (size_t i = 0; i < r->n; i++) {
		size_t j = 0;
		while (j < isas && strcmp(isa[j], r->rate[i].isa) != 0)
			j++;
		if (j == isas && isas < 16)
			isa[isas++] = r->rate[i].isa;
	}
	html(h, "<div class=\"scroll\"><table><thead><tr>");
	html(h, what == PEAKS ? "" : what == READING ? "<th>level</th>" : "<th>stream</th><th class=\"left\">level</th>");
	html(h, "<th>threads</th>");
	for (size_t j = 0; j < isas; j++)
		html(h, "<th>$</th>", isa[j]);
	html(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < r->n; i++) {
		int first = is_of(r->rate + i, what);
		for (size_t j = 0; j < i && first; j++)
			first = !is_row(r->rate + j, r->rate + i);
		if (!first)
			continue;
		const struct roof_rate *x = r->rate + i;
		html(h, "<tr>");
		if (what == OTHER_STREAMS)
			html(h, "<td>$</td>", x->kernel);
		if (what != PEAKS)
			html(h, "<td class=\"left\">$</td>", level_name(r, x));
		html(h, "<td>$</td>", as_text("%g", x->threads));
		for (size_t j = 0; j < isas; j++) {
			const struct roof_rate *best = NULL;
			for (size_t k = i; k < r->n; k++)
				if (is_row(r->rate + k, x) && strcmp(r->rate[k].isa, isa[j]) == 0)
					best = r->rate + k;
			html(h, "<td>$", best ? as_text("%.1f", best->rate) : "–");
			report_mark(h, best && best->disturbed);
			html(h, "</td>");
		}
		html(h, "</tr>\n");
	}
	html(h, "</tbody></table></div>\n");
}

/* Peaks between the layers, where roof itself did not run. */
static int read_peaks(struct roof_rates *r, const struct csv *c)
{
	static const char *const name[] = {"isa", "threads", "peak_flops_per_s"};
	int k[3];
	if (csv_columns(c, name, k, 3))
		return 0; /* an old file, or a made one */
	for (size_t row = 0; row < c->rows; row++) {
		struct roof_rate x = {"fma_peak", csv_text(c, row, k[0]), "", 0, 0, 0};
		if (strcmp(csv_text(c, row, k[2]), "nan") == 0)
			continue;
		if (csv_number(c, row, k[1], &x.threads) || csv_number(c, row, k[2], &x.rate))
			return -1;
		x.rate /= 1e9;
		if (add_rate(r, &x))
			return -1;
	}
	return 0;
}

/* schema: of the files that they are from. */
static int read_limits(struct roof_rates *all, const char **schema, const struct report *r, size_t machine)
{
	const struct report_file *f;
	*schema = "roof/1";
	for (size_t at = 0; (f = report_next(r, machine, *schema, &at));)
		if (read_rates(all, &f->csv))
			return -1;
	if (all->n)
		return 0;
	*schema = "layers/1";
	for (size_t at = 0; (f = report_next(r, machine, *schema, &at));)
		if (read_peaks(all, &f->csv))
			return -1;
	return 0;
}

static void limits(struct html *h, const struct roof_rates *all)
{
	rates(h, all, PEAKS, "<h4>Peak of multiply-adds, GFLOP/s</h4>\n");
	rates(h, all, READING, "<h4>Reading by memory level, GB/s: the best of all sizes in it</h4>\n");
	if (any_rates(all, READING))
		html(h, "<p class=\"soft\">$</p>\n", levels_note);
	if (any_rates(all, OTHER_STREAMS)) {
		rates(h, all, OTHER_STREAMS, "<details><summary>Copying, triad (z = x + a y) and updating in place</summary>\n");
		html(h, "</details>\n");
	}
	report_marks(h);
}

/* begun: the section's head is there. */
static int limits_of(struct html *h, const struct report *r, size_t machine, int *begun)
{
	const struct report_machine *m = r->machine + machine;
	struct roof_rates all = {.n = 0};
	const char *schema;
	size_t at = 0;
	if (read_limits(&all, &schema, r, machine))
		return -1;
	if (!m->told && !all.n)
		return 0;
	if (!*begun) {
		report_heading(h, "machine", "Machine and limits");
		html(h, "<div class=\"grid\">\n");
		*begun = 1;
	}
	html(h, "<div><h3>$</h3>\n", m->name);
	if (m->told)
		facts(h, m->told, !report_next(r, machine, "roof/1", &at));
	else
		html(h, "<p class=\"soft\">There is no machine file (NAME.json) beside its CSV files.</p>\n");
	if (r->machines == 1 && all.n) /* beside the facts */
		html(h, "</div><div>\n");
	if (all.n) {
		limits(h, &all);
		report_commands(h, r, machine, schema);
	}
	html(h, "</div>\n");
	return 0;
}

int report_limits(struct html *h, const struct report *r)
{
	int begun = 0;
	for (size_t i = 0; i < r->machines; i++)
		if (limits_of(h, r, i, &begun))
			return -1;
	html(h, begun ? "</div>\n" : "");
	return 0;
}

/* ---- peers */

/* What each peer is, and what it chose. */
static void programs(struct html *h, const struct versus *v)
{
	char text[512];
	html(h, "<p class=\"soft\">");
	for (size_t i = 0; versus_program(v, i, text, sizeof text); i++)
		html(h, "$$", i ? "; " : "", text);
	html(h, "</p>\n");
}

struct mean {
	double sum;
	size_t n, slower;
};

static void count(struct mean *m, double ratio)
{
	m->sum += log(ratio);
	m->slower += ratio < 1;
	m->n++;
}

static void mean_row(struct html *h, const char *name, const struct mean *m)
{
	double ratio = exp(m->sum / (double)m->n);
	html(h, "<tr><td>$</td><td class=\"left $\">", name, ratio < 1 ? "bad" : "good");
	report_bar(h, ratio / 2, as_text("%.2f×", ratio));
	html(h, "</td><td>$ of $</td></tr>\n", as_text("%zu", m->slower), as_text("%zu", m->n));
}

/* Geometric means by operator, or layer and pass. */
static void means(struct html *h, const struct versus *v)
{
	struct mean all = {0};
	html(h, "<div class=\"scroll\"><table><thead><tr><th>n2d against the best peer</th><th class=\"left\">so many times as fast "
	     "(half a bar: as fast)</th>"
		"<th>slower in</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < v->n; i++) {
		struct mean m = {0};
		int first = versus_peer(v, v->time + i) != NULL;
		for (size_t j = 0; j < i && first; j++)
			first = strcmp(v->time[j].group, v->time[i].group) != 0 || !versus_peer(v, v->time + j);
		for (size_t j = i; j < v->n && first; j++) {
			const struct versus_time *peer = versus_peer(v, v->time + j);
			if (!peer || strcmp(v->time[j].group, v->time[i].group) != 0)
				continue;
			count(&m, peer->seconds / v->time[j].seconds);
			count(&all, peer->seconds / v->time[j].seconds);
		}
		if (first)
			mean_row(h, v->time[i].group, &m);
	}
	if (all.n)
		mean_row(h, "geometric mean of all", &all);
	html(h, "</tbody></table></div>\n");
}

static void pairs(struct html *h, const struct versus *v)
{
	html(h, "<details><summary>Every shape</summary><div class=\"scroll\"><table><thead><tr><th>n2d's</th><th>µs</th><th>best "
	     "peer, µs</th><th "
		"class=\"left\">which</th><th class=\"left\">n2d is so many times as fast</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < v->n; i++) {
		const struct versus_time *ours = v->time + i, *peer = versus_peer(v, ours);
		double ratio = peer ? peer->seconds / ours->seconds : 0;
		if (!peer)
			continue;
		html(h, "<tr><td>$</td><td>$</td><td>$</td><td class=\"left\">$</td><td class=\"left $\">", ours->id,
		     as_text("%.2f", 1e6 * ours->seconds),
		     as_text("%.2f", 1e6 * peer->seconds), peer->program, ratio < 1 ? "bad" : "good");
		report_bar(h, ratio / 2, as_text("%.2f×", ratio));
		report_mark(h, ours->disturbed || peer->disturbed);
		html(h, "</td></tr>\n");
	}
	html(h, "</tbody></table></div>\n");
	report_marks(h);
	html(h, "</details>\n");
}

static int has_peers(const struct csv *c)
{
	int program = csv_column(c, "program");
	for (size_t i = 0; program >= 0 && i < c->rows; i++)
		if (strcmp(csv_text(c, i, program), "n2d") != 0)
			return 1;
	return 0;
}

int report_peers(struct html *h, const struct report *r)
{
	int begun = 0;
	for (size_t i = 0; i < r->machines; i++)
		for (size_t j = 0; j < r->files; j++) {
			const struct report_file *f = r->file + j;
			struct versus v = {0};
			int layers = strcmp(f->schema, "layers/1") == 0;
			if (f->machine != i || (!layers && strcmp(f->schema, "kernels/1") != 0) || !has_peers(&f->csv))
				continue;
			if (versus_read(&v, f->path)) {
				versus_free(&v);
				return -1;
			}
			if (!begun++)
				report_heading(h, "peers", "Against other libraries");
			report_subject(h, r, i);
			means(h, &v);
			programs(h, &v);
			pairs(h, &v);
			report_command(h, f);
			html(h, "<p class=\"command\"><code>n2d-bench table --peers");
			html_word(h, f->path);
			html(h, "</code></p>\n");
			versus_free(&v);
		}
	return 0;
}
