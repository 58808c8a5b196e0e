/* n2d-bench claims: what the paper says, as numbers beside a verdict. */
#include "config.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "bench/bench.h"
#include "bench/claims.h"
#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/machine.h"

static const char usage[] =
	"usage: n2d-bench claims [options] [CSV...]\n\n"
	"Computes and times what the paper says of the Transformer and says whether it holds: exit status 1 when one claim does not. The\n"
	"rows of CSV files of the same columns come behind (bench/recipes/claims.sh makes one, by training).\n\n"
	"  --isa NAME       instruction set\n"
	"  --no-times       only what can be computed exactly\n"
	"  --no-compute     only the rows of the files: their report again\n"
	"  --csv FILE       one row a number, see results/SCHEMA.md\n"
	"  --markdown FILE  a report, one row a claim\n"
	"  --help\n";

static struct {
	const char *isa, *csv, *markdown;
	int no_times, no_compute;
} opt;

enum { TEXT = 256, COMMAND = 1024 };

struct row {
	char claim[TEXT], section[16], quantity[TEXT], command[COMMAND];
	double value;
	int holds; /* -1: the number is told beside others, and is no claim */
};

struct rows {
	struct row *row;
	size_t n;
};

static struct row *add(struct rows *r)
{
	r->row = realloc(r->row, (r->n + 1) * sizeof *r->row);
	if (!r->row)
		abort();
	memset(r->row + r->n, 0, sizeof *r->row);
	return r->row + r->n++;
}

#define NUMBER "%.9g" /* of the CSV file */

/* The value is the one that the CSV file has: a report of the file is the report of the run. */
static void say(void *arg, const struct claim *c, const char *quantity, double value, int holds)
{
	struct row *row = add(arg);
	char number[32];
	snprintf(number, sizeof number, NUMBER, value);
	snprintf(row->claim, TEXT, "%s", c->text);
	snprintf(row->section, sizeof row->section, "%s", c->section);
	snprintf(row->quantity, TEXT, "%s", quantity);
	snprintf(row->command, COMMAND, "n2d-bench claims");
	row->value = strtod(number, NULL);
	row->holds = holds;
}

/* ---- rows of files */

enum { C_CLAIM, C_SECTION, C_QUANTITY, C_COMMAND, C_TEXTS, C_VALUE = C_TEXTS, C_HOLDS, C_ALL };
static const char *const columns[C_ALL] = {"claim", "section", "quantity", "command", "value", "holds"};

/* A text that needs no quoting in what we write. */
static int text(const struct csv *c, size_t row, int column, char *to, size_t size)
{
	const char *s = csv_text(c, row, column);
	if (strlen(s) >= size || strpbrk(s, "\"|\n"))
		return n2d_error("%s:%zu: column %s: expected less than %zu characters, none of them \" or |", c->path, c->line[row + 1],
				 c->cell[column], size);
	strcpy(to, s);
	return 0;
}

static int read_row(struct row *to, const struct csv *c, size_t row, const int *column)
{
	const char *holds = csv_text(c, row, column[C_HOLDS]);
	if (text(c, row, column[C_CLAIM], to->claim, TEXT) || text(c, row, column[C_SECTION], to->section, sizeof to->section) ||
	    text(c, row, column[C_QUANTITY], to->quantity, TEXT) || text(c, row, column[C_COMMAND], to->command, COMMAND))
		return -1;
	if (strcmp(holds, "0") != 0 && strcmp(holds, "1") != 0 && holds[0])
		return n2d_error("%s:%zu: column holds is '%s', expected 0, 1 or nothing", c->path, c->line[row + 1], holds);
	to->holds = holds[0] ? holds[0] == '1' : -1;
	to->value = INFINITY; /* a training that diverged */
	return strcmp(csv_text(c, row, column[C_VALUE]), "inf") == 0 ? 0 : csv_number(c, row, column[C_VALUE], &to->value);
}

static int read_file(struct rows *r, const char *path)
{
	struct csv c;
	int column[C_ALL], bad;
	if (csv_read(&c, path))
		return -1;
	const char *schema = csv_schema(&c);
	bad = !schema;
	if (schema && strcmp(schema, "claims/1") != 0)
		bad = n2d_error("%s:2: schema '%s', expected claims/1", path, schema);
	bad = bad || csv_columns(&c, columns, column, C_ALL);
	for (size_t i = 0; !bad && i < c.rows; i++)
		bad = read_row(add(r), &c, i, column);
	csv_free(&c);
	return bad ? -1 : 0;
}

/* ---- reports */

/* The first row of its claim? */
static int begins(const struct rows *r, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(r->row[j].claim, r->row[i].claim) == 0)
			return 0;
	return 1;
}

/* Does each number of row i's claim hold? -1: none of them says. */
static int claim_holds(const struct rows *r, size_t i)
{
	int holds = -1;
	for (size_t j = 0; j < r->n && holds; j++)
		if (r->row[j].holds >= 0 && strcmp(r->row[j].claim, r->row[i].claim) == 0)
			holds = r->row[j].holds;
	return holds;
}

static int all_hold(const struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->row[i].holds == 0)
			return 0;
	return 1;
}

static const char *verdict(int holds) { return holds < 0 ? "measured" : holds ? "holds" : "does not hold"; }

static void print(const struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!begins(r, i))
			continue;
		printf("%s%s (%s): %s\n", i ? "\n" : "", r->row[i].claim, r->row[i].section, verdict(claim_holds(r, i)));
		for (size_t j = i; j < r->n; j++)
			if (strcmp(r->row[j].claim, r->row[i].claim) == 0)
				printf("  %-80s %12.6g  %s\n", r->row[j].quantity, r->row[j].value, r->row[j].holds == 0 ? "does not hold" : "");
	}
}

static int write_csv(const struct rows *r, const char *path)
{
	struct csv_out out;
	if (csv_create(&out, path, "claims/1", "claim,section,quantity,value,holds,command"))
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = r->row + i;
		csv_row(&out, "\"%s\",%s,\"%s\"," NUMBER ",%s,\"%s\"", w->claim, w->section, w->quantity, w->value,
			w->holds < 0 ? "" : w->holds ? "1" : "0", w->command);
	}
	return csv_finish(&out);
}

/* The commands of a claim, each once. */
static void write_commands(const struct rows *r, size_t first, struct n2d_out *o)
{
	const char *last = "";
	for (size_t j = first; j < r->n; j++) {
		const struct row *w = r->row + j;
		if (strcmp(w->claim, r->row[first].claim) != 0 || strcmp(w->command, last) == 0)
			continue;
		n2d_out_printf(o, "%s`%s`", *last ? "<br>" : "", w->command);
		last = w->command;
	}
}

static int write_markdown(const struct rows *r, const char *path)
{
	struct n2d_out o;
	if (n2d_out_open(&o, path))
		return -1;
	n2d_out_printf(&o, "# The claims of the paper\n\n| claim | section | numbers | verdict | command |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < r->n; i++) {
		if (!begins(r, i))
			continue;
		n2d_out_printf(&o, "| %s | %s | ", r->row[i].claim, r->row[i].section);
		for (size_t j = i; j < r->n; j++)
			if (strcmp(r->row[j].claim, r->row[i].claim) == 0)
				n2d_out_printf(&o, "%s%s: %.4g%s", j > i ? "<br>" : "", r->row[j].quantity, r->row[j].value,
					       r->row[j].holds == 0 ? " (does not hold)" : "");
		n2d_out_printf(&o, " | %s | ", verdict(claim_holds(r, i)));
		write_commands(r, i, &o);
		n2d_out_printf(&o, " |\n");
	}
	return n2d_out_commit(&o);
}

/* ---- the command */

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"isa", 1, 0, 'i'}, {"csv", 1, 0, 'c'}, {"markdown", 1, 0, 'm'}, {"no-times", 0, &opt.no_times, 1},
		{"no-compute", 0, &opt.no_compute, 1}, {0, 0, 0, 0},
	};
	int bad = 0;
	opterr = 0;
	for (int c; !bad && (c = getopt_long(argc, argv, ":", longs, NULL)) != -1;)
		switch (c) {
		case 0: break;
		case 'i': opt.isa = optarg; break;
		case 'c': bad = n2d_out_try(opt.csv = optarg); break;
		case 'm': bad = n2d_out_try(opt.markdown = optarg); break;
		default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
		}
	if (!bad && opt.no_compute && optind == argc)
		return n2d_error("--no-compute: expected CSV files");
	return bad;
}

static int compute(struct rows *r, const struct n2d_ctx *ctx)
{
	struct claims c = {ctx, say, r};
	if (opt.no_compute)
		return 0;
	claims_attention(&c);
	claims_positions(&c);
	if (claims_model(&c))
		return -1;
	if (opt.no_times)
		return 0;
	drive_catch();
	machine_start(ctx, 1);
	return claims_heads(&c) || claims_cache(&c) ? -1 : 0;
}

int bench_claims(int argc, char **argv)
{
	struct n2d_ctx ctx;
	struct rows here = {0}, files = {0};
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	int bad = parse(argc, argv);
	for (int i = optind; !bad && i < argc; i++) /* before anything is measured */
		bad = read_file(&files, argv[i]);
	if (bad || n2d_ctx_init(&ctx, opt.isa, 1)) {
		free(files.row);
		return bench_usage_error("claims");
	}
	bad = compute(&here, &ctx);
	for (size_t i = 0; i < files.n; i++)
		*add(&here) = files.row[i];
	if (!bad)
		print(&here);
	bad = bad || (opt.csv && (write_csv(&here, opt.csv) || (!opt.no_compute && machine_beside(opt.csv, "claims", NULL, 1)))) ||
	      (opt.markdown && write_markdown(&here, opt.markdown));
	int code = bad ? bench_failed("claims") : all_hold(&here) ? N2D_EXIT_OK : N2D_EXIT_FAILED;
	n2d_ctx_free(&ctx);
	free(here.row);
	free(files.row);
	return code;
}
