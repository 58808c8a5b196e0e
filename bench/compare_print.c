/* A comparison as a table for a terminal, for a pull request, and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/compare.h"
#include "text/utf8.h"

/* ---- texts of others: names from the command line, ids from files */

enum medium { TEXT, CODE, CELL, JSON }; /* CODE, CELL: a code span of Markdown, outside a table and in one */

/* What the medium takes for its own is escaped, what is no UTF-8 is U+FFFD, and a control character is a space where it cannot be told. */
static void put(FILE *f, enum medium m, const char *s)
{
	for (size_t n; *s; s += n ? n : 1) {
		unsigned char c = (unsigned char)*s;
		n = n2d_utf8_valid(s, strnlen(s, 4)) ? n2d_utf8_bytes(s) : 0;
		if (!n)
			fputs("\xef\xbf\xbd", f);
		else if (m == JSON && (c < 0x20 || c == '"' || c == '\\'))
			fprintf(f, "\\u%04x", c);
		else if (m != JSON && (c < 0x20 || c == 0x7f))
			putc(' ', f);
		else {
			if (m == CELL && c == '|')
				putc('\\', f);
			fwrite(s, 1, n, f);
		}
	}
}

/* Between as many backquotes as end at none of its own, and spaces, of which Markdown takes one away on both sides. */
static void code(FILE *f, enum medium m, const char *s)
{
	size_t most = 0;
	for (const char *t = s; (t = strchr(t, '`')); t += strspn(t, "`"))
		most = strspn(t, "`") > most ? strspn(t, "`") : most;
	for (size_t i = 0; i <= most; i++)
		putc('`', f);
	fputs(most ? " " : "", f);
	put(f, m, s);
	fputs(most ? " " : "", f);
	for (size_t i = 0; i <= most; i++)
		putc('`', f);
}

static int measured(const struct compare_row *r) { return r->side[BASE].n && r->side[HEAD].n; }
/* A value a side says nothing about others. */
static int has_interval(const struct compare_row *r) { return measured(r) && r->shift.high < INFINITY; }

static int disturbed(const struct compare_row *r) { return r->side[BASE].disturbed || r->side[HEAD].disturbed; }
static const char *mark(const struct compare_row *r) { return disturbed(r) ? ", disturbed" : ""; }

/* One side has it: counted in the summary, not listed, because two files of different cases have hundreds. JSON lists all. */
static int alone(const struct compare_row *r) { return r->verdict == ONLY_BASE || r->verdict == ONLY_HEAD; }

/* "12.3 us" */
static const char *time_text(char *text, size_t size, const struct compare_values *v)
{
	double s = v->n ? stat_median(v->x, v->n) : NAN, us = 1e6 * s;
	snprintf(text, size, isnan(s) ? "-" : us < 1000 ? "%.2f us" : "%.0f us", us);
	return text;
}

static void cells(const struct compare_row *r, char c[4][48])
{
	time_text(c[0], sizeof c[0], &r->side[BASE]);
	time_text(c[1], sizeof c[1], &r->side[HEAD]);
	snprintf(c[2], sizeof c[2], measured(r) ? "%.3f" : "-", r->shift.ratio);
	if (has_interval(r))
		snprintf(c[3], sizeof c[3], "%.3f..%.3f", r->shift.low, r->shift.high);
	else
		snprintf(c[3], sizeof c[3], "-");
}

/* The geometric mean of the ratios. */
static double mean_ratio(const struct comparison *c)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < c->rows; i++)
		if (measured(c->row + i)) {
			sum += log(c->row[i].shift.ratio);
			n++;
		}
	return n ? exp(sum / (double)n) : NAN;
}

static void summary(const struct comparison *c, FILE *f)
{
	fprintf(f, "%zu benchmark%s:", c->rows, n2d_plural(c->rows));
	for (int v = 0; v < VERDICTS; v++)
		if (compare_count(c, v))
			fprintf(f, " %zu %s,", compare_count(c, v), verdict_names[v]);
	fprintf(f, " geometric mean of head / base %.4f\n", mean_ratio(c));
}

static void note(const struct comparison *c, FILE *f)
{
	for (size_t i = 0; i < c->rows; i++)
		if (!alone(c->row + i) && disturbed(c->row + i)) {
			fprintf(f, "disturbed: other work used the processors, a value is of samples of which none was clean. ");
			break;
		}
	fprintf(f, "apart: every value of one side above the faster three fifths of the other. ");
	fprintf(f, c->again ? "faster: apart, and the ratio beyond %.3g %%; slower: the ratio beyond it, and so again in two passes of up to three, apart too, or in most pairs of runs"
			    : "slower, faster: apart, and the ratio beyond %.3g %%", 100 * c->threshold);
}

void compare_text(const struct comparison *c, FILE *f)
{
	char x[4][48];
	fputs("base ", f);
	put(f, TEXT, c->name[BASE]);
	fputs("\nhead ", f);
	put(f, TEXT, c->name[HEAD]);
	fprintf(f, "\n\n%-60s %11s %11s %7s %14s  verdict\n", "benchmark", "base", "head", "ratio", "95 % interval");
	for (size_t i = 0; i < c->rows; i++) {
		const struct compare_row *r = c->row + i;
		if (alone(r))
			continue;
		cells(r, x);
		put(f, TEXT, r->id);
		fprintf(f, "%*s %11s %11s %7s %14s  %s%s\n", strlen(r->id) < 60 ? 60 - (int)strlen(r->id) : 0, "", x[0], x[1], x[2], x[3], verdict_names[r->verdict], mark(r));
	}
	putc('\n', f);
	summary(c, f);
	note(c, f);
	putc('\n', f);
}

/* ---- Markdown */

static void markdown_rows(const struct comparison *c, FILE *f, int notable)
{
	char x[4][48];
	fprintf(f, "| benchmark | base | head | ratio | 95 %% interval | verdict |\n|--|--:|--:|--:|--:|--|\n");
	for (size_t i = 0; i < c->rows; i++) {
		const struct compare_row *r = c->row + i;
		if (alone(r) || notable != (r->verdict != SAME))
			continue;
		cells(r, x);
		const char *strong = r->verdict == SLOWER ? "**" : "";
		fputs("| ", f);
		code(f, CELL, r->id);
		fprintf(f, " | %s | %s | %s%s%s | %s | %s%s%s%s |\n", x[0], x[1], strong, x[2], strong, x[3], strong, verdict_names[r->verdict],
			strong, mark(r));
	}
}

void compare_markdown(const struct comparison *c, FILE *f)
{
	fprintf(f, "### %s\n\n", compare_count(c, SLOWER) ? "Slower than the base" : "No slower than the base");
	summary(c, f);
	putc('\n', f);
	if (compare_count(c, SAME) + compare_count(c, ONLY_BASE) + compare_count(c, ONLY_HEAD) < c->rows)
		markdown_rows(c, f, 1);
	fprintf(f, "\n<details><summary>%zu the same</summary>\n\n", compare_count(c, SAME));
	markdown_rows(c, f, 0);
	fputs("\n</details>\n\nBase ", f);
	code(f, CODE, c->name[BASE]);
	fputs(", head ", f);
	code(f, CODE, c->name[HEAD]);
	fputs("; ", f);
	note(c, f);
	fputs(".\n", f);
}

/* ---- JSON */

static void json_text(FILE *f, const char *s)
{
	putc('"', f);
	put(f, JSON, s);
	putc('"', f);
}

static void json_number(FILE *f, double v) { fprintf(f, isfinite(v) ? "%.9g" : "null", v); }

static void json_values(FILE *f, const struct compare_values *v)
{
	putc('[', f);
	for (size_t i = 0; i < v->n; i++) {
		fputs(i ? ", " : "", f);
		json_number(f, v->x[i]);
	}
	putc(']', f);
}

static void json_row(FILE *f, const struct compare_row *r)
{
	fputs("    {\"id\": ", f);
	json_text(f, r->id);
	fputs(", \"verdict\": ", f);
	json_text(f, verdict_names[r->verdict]);
	if (measured(r)) {
		fputs(", \"ratio\": ", f);
		json_number(f, r->shift.ratio);
	}
	if (has_interval(r)) {
		fputs(", \"interval\": [", f);
		json_number(f, r->shift.low);
		fputs(", ", f);
		json_number(f, r->shift.high);
		putc(']', f);
	}
	if (disturbed(r))
		fputs(", \"disturbed\": true", f);
	fputs(", \"base_seconds\": ", f);
	json_values(f, &r->side[BASE]);
	fputs(", \"head_seconds\": ", f);
	json_values(f, &r->side[HEAD]);
	putc('}', f);
}

void compare_json(const struct comparison *c, FILE *f)
{
	fputs("{\n  \"schema\": \"n2d-compare/1\",\n  \"base\": ", f);
	json_text(f, c->name[BASE]);
	fputs(",\n  \"head\": ", f);
	json_text(f, c->name[HEAD]);
	fprintf(f, ",\n  \"threshold\": %.9g,\n  \"slower\": %zu,\n  \"geometric_mean\": ", c->threshold, compare_count(c, SLOWER));
	json_number(f, mean_ratio(c));
	fputs(",\n  \"benchmarks\": [\n", f);
	for (size_t i = 0; i < c->rows; i++) {
		json_row(f, c->row + i);
		fputs(i + 1 < c->rows ? ",\n" : "\n", f);
	}
	fputs("  ]\n}\n", f);
}
