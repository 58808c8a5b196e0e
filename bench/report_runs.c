/* Of the report: training steps, whole commands, claims, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/report.h"

/* ---- training steps */

static int step_rows(struct html *h, const struct csv *c)
{
	static const char *const name[] = {"preset", "program", "isa", "threads", "flops", "tokens", "peak_flops"};
	int k[7];
	struct timing *t;
	size_t n;
	if (csv_columns(c, name, k, 7) || timings_read(&t, &n, c))
		return -1;
	for (size_t i = 0; i < n; i++) {
		double v[3] = {0};
		size_t row = t[i].row;
		for (int j = 0; j < 3; j++)
			if (strcmp(csv_text(c, row, k[4 + j]), "nan") != 0 && csv_number(c, row, k[4 + j], v + j)) {
				free(t);
				return -1;
			}
		const char *version = csv_text_if(c, row, "program_version"), *isa = csv_text_if(c, row, "program_isa"), *pairs = csv_text_if(c, row, "pairs");
		html(h, "<tr><td>$</td><td class=\"left\">$</td><td class=\"left\">$</td><td>$</td><td>$",
		     as_text(*pairs ? "%s, %s pairs" : "%s", csv_text(c, row, k[0]), pairs),
		     as_text(*version ? "%s (%s)" : "%s", csv_text(c, row, k[1]), version), *isa ? isa : csv_text(c, row, k[2]), csv_text(c, row, k[3]),
		     as_text("%.1f", 1e3 * t[i].seconds));
		report_mark(h, t[i].disturbed);
		html(h, "</td><td class=\"left\">");
		double part = v[2] > 0 ? v[0] / t[i].seconds / v[2] : 0;
		report_bar(h, part, part > 0 ? as_text("%.0f %%", 100 * part) : "–");
		report_mark(h, part > 1); /* the file does not tell of the peak's own samples */
		html(h, "</td><td>$</td></tr>\n", as_text("%.0f", v[1] / t[i].seconds));
	}
	free(t);
	return 0;
}

static int decode_rows(struct html *h, const struct csv *c)
{
	static const char *const name[] = {"model", "isa", "threads", "beam", "cache", "words"};
	int k[6];
	double most = 0;
	struct timing *t;
	size_t n;
	if (csv_columns(c, name, k, 6) || timings_read(&t, &n, c))
		return -1;
	double *rate = malloc((n + 1) * sizeof *rate);
	int bad = rate ? 0 : n2d_error("%s: no memory", c->path);
	for (size_t i = 0; i < n && !bad; i++) {
		bad = csv_number(c, t[i].row, k[5], rate + i);
		most = fmax(most, rate[i] /= t[i].seconds);
	}
	for (size_t i = 0; i < n && !bad; i++) {
		size_t row = t[i].row;
		html(h, "<tr><td>$</td><td class=\"left\">$</td><td>$</td><td>$</td><td class=\"left\">$</td><td>$",
		     csv_text(c, row, k[0]),
		     csv_text(c, row, k[1]), csv_text(c, row, k[2]), csv_text(c, row, k[3]), csv_text(c, row, k[4]),
		     as_text("%.1f", 1e3 * t[i].seconds));
		report_mark(h, t[i].disturbed);
		html(h, "</td><td class=\"left\">");
		report_bar(h, rate[i] / most, as_text("%.0f", rate[i]));
		html(h, "</td></tr>\n");
	}
	free(rate);
	free(t);
	return bad;
}

/* Rows of one step lie together, dearest first. */
static int profile_rows(struct html *h, const struct csv *c, const int *k, size_t from, size_t to)
{
	double all = 0, v[3];
	for (size_t row = from; row < to; row++) {
		if (csv_number(c, row, k[3], v))
			return -1;
		all += v[0];
	}
	html(h, "<h3>Where the time goes: $</h3>\n<div class=\"scroll\"><table><thead><tr><th>part of the model</th><th "
	     "class=\"left\">operator</th><th>calls</th>"
		"<th>ms a step</th><th class=\"left\">share</th><th>GFLOP/s</th></tr></thead><tbody>\n", csv_text(c, from, k[0]));
	for (size_t row = from; row < to; row++) {
		if (csv_number(c, row, k[3], v) || csv_number(c, row, k[4], v + 1) || csv_number(c, row, k[5], v + 2))
			return -1;
		html(h, "<tr><td>$</td><td class=\"left\">$</td><td>$</td><td>$</td><td class=\"left\">", csv_text(c, row, k[1]),
		     csv_text(c, row, k[2]), as_text("%g", v[1]),
		     as_text("%.2f", 1e3 * v[0]));
		report_bar(h, v[0] / all, as_text("%.1f %%", 100 * v[0] / all));
		html(h, "</td><td>$</td></tr>\n", v[2] > 0 ? as_text("%.0f", v[2] / v[0] / 1e9) : "–");
	}
	html(h, "</tbody></table></div>\n");
	html_command(h, as_text("n2d-bench %.*s --profile %s", (int)strcspn(csv_text(c, from, k[0]), "/"), csv_text(c, from, k[0]),
				csv_text(c, from, k[0])));
	return 0;
}

static int profile(struct html *h, const struct csv *c)
{
	static const char *const name[] = {"id", "where", "op", "seconds", "calls", "flops"};
	int k[6];
	if (csv_columns(c, name, k, 6))
		return -1;
	for (size_t i = 0, end; i < c->rows; i = end) {
		for (end = i + 1; end < c->rows && strcmp(csv_text(c, end, k[0]), csv_text(c, i, k[0])) == 0; end++)
			continue;
		if (profile_rows(h, c, k, i, end))
			return -1;
	}
	return 0;
}

static int profiles(struct html *h, const struct report *r)
{
	for (size_t i = 0; i < r->machines; i++) {
		const struct report_file *f;
		for (size_t at = 0; (f = report_next(r, i, "profile/1", &at));) {
			report_subject(h, r, i);
			if (profile(h, &f->csv))
				return -1;
		}
	}
	return 0;
}

/* The files of one schema, a table each. */
static int runs(struct html *h, const struct report *r, const char *schema, const char *head,
		int (*rows)(struct html *h, const struct csv *c))
{
	for (size_t i = 0; i < r->machines; i++) {
		const struct report_file *f;
		for (size_t at = 0; (f = report_next(r, i, schema, &at));) {
			report_subject(h, r, i);
			html(h, "<div class=\"scroll\"><table><thead><tr>");
			html(h, head);
			html(h, "</tr></thead><tbody>\n");
			if (rows(h, &f->csv))
				return -1;
			html(h, "</tbody></table></div>\n");
			report_marks(h);
			if (strcmp(schema, "cli/1") == 0)
				html_command(h, "make bench-cli");
			else
				report_command(h, f);
		}
	}
	return 0;
}

static int has(const struct report *r, const char *schema)
{
	size_t at = 0;
	for (size_t i = 0; i < r->machines; i++, at = 0)
		if (report_next(r, i, schema, &at))
			return 1;
	return 0;
}

int report_step(struct html *h, const struct report *r)
{
	if (!has(r, "step/1") && !has(r, "profile/1") && !has(r, "decode/1"))
		return 0;
	report_heading(h, "step", "Whole models");
	if (has(r, "step/1"))
		html(h, "<p>A training step: forward, loss, backward and Adam on one batch. Tokens are those of both sides; per "
		     "cent are of the multiply-add peak of as many "
			"threads, sampled among the steps.</p>\n");
	if (runs(h, r, "step/1", "<th>preset</th><th class=\"left\">program</th><th "
		 "class=\"left\">set</th><th>threads</th><th>ms</th><th class=\"left\">of the peak</th>"
		 "<th>tokens/s</th>", step_rows) || profiles(h, r))
		return -1;
	if (has(r, "decode/1"))
		html(h, "<p>Translation: encoder and beam search, all sentences.</p>\n");
	return runs(h, r, "decode/1", "<th>model</th><th class=\"left\">set</th><th>threads</th><th>beam</th><th "
		    "class=\"left\">caches</th><th>ms</th><th class=\"left\">words/s</th>",
		    decode_rows);
}

/* ---- whole commands */

static int cli_rows(struct html *h, const struct csv *c)
{
	static const char *const name[] = {"command", "median", "min", "max"};
	int k[4];
	double v[3], most = 0;
	if (csv_columns(c, name, k, 4))
		return -1;
	for (size_t row = 0; row < c->rows; row++) {
		if (csv_number(c, row, k[1], v))
			return -1;
		most = fmax(most, v[0]);
	}
	for (size_t row = 0; row < c->rows; row++) {
		for (int j = 0; j < 3; j++)
			if (csv_number(c, row, k[1 + j], v + j))
				return -1;
		html(h, "<tr><td>$</td><td class=\"left\">", csv_text(c, row, k[0]));
		report_bar(h, v[0] / most, as_text("%.0f ms", 1e3 * v[0]));
		html(h, "</td><td>$ – $</td></tr>\n", as_text("%.0f", 1e3 * v[1]), as_text("%.0f", 1e3 * v[2]));
	}
	return 0;
}

int report_cli(struct html *h, const struct report *r)
{
	if (!has(r, "cli/1"))
		return 0;
	report_heading(h, "cli", "Whole commands");
	return runs(h, r, "cli/1", "<th>command</th><th class=\"left\">median</th><th>range, ms</th>", cli_rows);
}

/* ---- claims */

enum { C_CLAIM, C_SECTION, C_QUANTITY, C_VALUE, C_HOLDS, C_COMMAND, C_ALL };

static int same(const struct csv *c, size_t a, size_t b, int column) { return strcmp(csv_text(c, a, column),
										     csv_text(c, b, column)) == 0; }

/* Shorter, where it is a number. */
static const char *rounded(const char *value)
{
	char *end;
	double x = strtod(value, &end);
	return *value && !*end ? as_text("%.4g", x) : value;
}

/* The claim that begins in this row, with all of its numbers. */
static void claim(struct html *h, const struct csv *c, const int *k, size_t first)
{
	int holds = -1;
	for (size_t i = first; i < c->rows && holds; i++)
		if (same(c, i, first, k[C_CLAIM]) && csv_text(c, i, k[C_HOLDS])[0])
			holds = strcmp(csv_text(c, i, k[C_HOLDS]), "0") != 0;
	html(h, "<tr><td class=\"left wrap\">$<br><span class=\"soft\">section $</span></td><td class=\"left $\">$</td><td "
	     "class=\"left wrap\">",
	     csv_text(c, first, k[C_CLAIM]), csv_text(c, first, k[C_SECTION]), holds < 0 ? "soft" : holds ? "good" : "bad",
	     holds < 0 ? "measured" : holds ? "✓ holds" : "✗ does not hold");
	for (size_t i = first; i < c->rows; i++)
		if (same(c, i, first, k[C_CLAIM]))
			html(h, "$: <b>$</b>$<br>", csv_text(c, i, k[C_QUANTITY]), rounded(csv_text(c, i, k[C_VALUE])),
			     strcmp(csv_text(c, i, k[C_HOLDS]), "0") == 0 ? " (does not hold)" : "");
	html_command(h, csv_text(c, first, k[C_COMMAND]));
	html(h, "</td></tr>\n");
}

int report_claims(struct html *h, const struct report *r)
{
	static const char *const name[C_ALL] = {"claim", "section", "quantity", "value", "holds", "command"};
	int begun = 0, k[C_ALL];
	for (size_t i = 0; i < r->machines; i++) {
		const struct report_file *f;
		for (size_t at = 0; (f = report_next(r, i, "claims/1", &at));) {
			const struct csv *c = &f->csv;
			if (csv_columns(c, name, k, C_ALL))
				return -1;
			if (!begun++)
				report_heading(h, "claims", "What the paper claims");
			report_subject(h, r, i);
			html(h, "<p class=\"soft\">$</p>\n<div class=\"scroll\"><table class=\"top\"><thead><tr><th>claim</th><th "
			     "class=\"left\">verdict</th><th class=\"left\">numbers</th></tr></thead>"
				"<tbody>\n", f->path);
			for (size_t row = 0; row < c->rows; row++) {
				size_t j = 0;
				while (j < row && !same(c, j, row, k[C_CLAIM]))
					j++;
				if (j == row)
					claim(h, c, k, row);
			}
			html(h, "</tbody></table></div>\n");
		}
	}
	return 0;
}

/* ---- files */

static int download(struct html *h, const char *path)
{
	const char *slash = strrchr(path, '/');
	return html_download(h, path, slash ? slash + 1 : path);
}

int report_data(struct html *h, const struct report *r)
{
	report_heading(h, "data", "The data");
	html(h, "<p>Every number above comes from these files. They lie in this page; the columns are described in "
	     "results/SCHEMA.md.</p>\n");
	for (size_t i = 0; i < r->machines; i++) {
		report_subject(h, r, i);
		html(h, "<ul>\n");
		for (const struct report_file *f = r->file; f < r->file + r->files; f++) {
			if (f->machine != i)
				continue;
			html(h, "<li>");
			if (download(h, f->path))
				return -1;
			if (f->facts) {
				html(h, ", ");
				if (download(h, f->facts_path))
					return -1;
				report_command(h, f);
			}
			html(h, "</li>\n");
		}
		html(h, "</ul>\n");
	}
	return 0;
}
