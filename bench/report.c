/* n2d-bench report: CSV files as one page. */
#include "config.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/sample.h"

static const char usage[] =
	"usage: n2d-bench report [options] [NAME=][CSV|DIRECTORY]... [-o report.html]\n\n"
	"Writes what the CSV files of roof, layers, paths, kernels, step, claims and make bench-cli say as one page that needs nothing else: no\n"
	"network, no script; the files lie in it to be taken out again. Files of one directory are one machine, or version, called as the\n"
	"directory is, or NAME; files that tell of different processors are refused as one. Several machines are shown side by side. Default: results/local.\n\n"
	"  -o, --out FILE  default: report.html\n"
	"  --isa NAME      of the tables and curves (default: the first in the file, the widest)\n"
	"  --threads N     default: the fewest in the file\n"
	"  --help\n";

static struct {
	const char *out, *isa;
	size_t threads;
} opt = {.out = "report.html"};

/* What there is to say, found out by a first pass that writes nothing. */
static struct {
	const char *id, *title;
} section[16];
static size_t sections;

void report_heading(struct html *h, const char *id, const char *title)
{
	html(h, "<h2 id=\"$\">$</h2>\n", id, title);
	if (sections < sizeof section / sizeof *section) {
		section[sections].id = id;
		section[sections++].title = title;
	}
}

void report_subject(struct html *h, const struct report *r, size_t machine)
{
	if (r->machines > 1)
		html(h, "<h3>$</h3>\n", r->machine[machine].name);
}

void report_bar(struct html *h, double part, const char *text)
{
	html(h, "<span class=\"bar\"><i style=\"width:$%\"></i></span>$",
	     as_text("%.1f", part > 1 ? 100 : part > 0 ? 100 * part : 0), text);
}

/* json_t of those that made a file; NULL: not told, by an old file, or there is no jansson. */
static void *arguments(const struct report_file *f)
{
#ifdef HAVE_JANSSON
	json_t *all = json_object_get(f->facts, "arguments");
	return json_array_size(all) ? all : NULL;
#else
	return f->facts;
#endif
}

/* By which revision, and when. */
static void made(struct html *h, const struct report_file *f)
{
#ifdef HAVE_JANSSON
	const char *revision = json_string_value(json_object_get(f->facts, "revision")), *date = json_string_value(json_object_get(f->facts, "date"));
	if (revision || date)
		html(h, " <small>$$$</small>", revision ? revision : "", revision && date ? ", " : "", date ? date : "");
#else
	(void)h, (void)f;
#endif
}

void report_command(struct html *h, const struct report_file *f)
{
	html(h, "<p class=\"command\"><code>n2d-bench");
	if (!arguments(f)) /* the command is called as the schema is */
		html(h, " $", as_text("%.*s", (int)strcspn(f->schema, "/"), f->schema));
#ifdef HAVE_JANSSON
	size_t i;
	json_t *word;
	json_array_foreach((json_t *)arguments(f), i, word)
		if (json_is_string(word))
			html_word(h, json_string_value(word));
#endif
	html(h, "</code>");
	made(h, f);
	html(h, "</p>\n");
}

void report_commands(struct html *h, const struct report *r, size_t machine, const char *schema)
{
	const struct report_file *f;
	int plain = 0;
	for (size_t at = 0; (f = report_next(r, machine, schema, &at));)
		if (arguments(f) || !plain++)
			report_command(h, f);
}

static int marked;

void report_mark(struct html *h, int disturbed)
{
	marked |= disturbed;
	html(h, disturbed ? "<sup>†</sup>" : "");
}

const char *report_marked(const char *name, int disturbed)
{
	marked |= disturbed;
	return disturbed ? as_text("%s †", name) : name;
}

void report_marks(struct html *h)
{
	if (marked)
		html(h, "<p class=\"notes\">† Disturbed: $. Or it is more than the peak beside it, which then was.</p>\n", SAMPLE_DISTURBED_NOTE);
	marked = 0;
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {{"out", 1, 0, 'o'}, {"isa", 1, 0, 'i'}, {"threads", 1, 0, 't'}, {0, 0, 0, 0}};
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":o:", longs, NULL)) != -1;)
		switch (c) {
		case 'o': opt.out = optarg; break;
		case 'i': opt.isa = optarg; break;
		case 't':
			if (parse_number(&opt.threads, "--threads", optarg, 1, 1024))
				return -1;
			break;
		default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
		}
	return *opt.out ? n2d_out_try(opt.out) : n2d_error("--out: expected a file's name");
}

static void introduce(struct html *h, const struct report *r)
{
	html(h, "<h1>Self-attention costs n<sup>2</sup>·d, recurrence costs n·d<sup>2</sup>: measured</h1>\n<p>The sequence layers "
	     "that “Attention Is All You "
		"Need” (Vaswani et al. 2017) compares in its Table 1, timed on ");
	for (size_t i = 0; i < r->machines; i++) {
		const char *cpu = report_cpu(r->machine + i);
		int more = *cpu && strcmp(cpu, r->machine[i].name) != 0;
		html(h, more ? "$<b>$</b> ($)" : "$<b>$</b>", i ? ", " : "", r->machine[i].name, cpu);
	}
	html(h, " by n2d-bench $.</p>\n<nav>", PACKAGE_VERSION);
	for (size_t i = 0; i < sections; i++)
		html(h, "<a href=\"#$\">$</a>", section[i].id, section[i].title);
	html(h, "</nav>\n");
}

static int write_sections(struct html *h, const struct report *r)
{
	report_glance(h, r);
	report_machines(h, r);
	if (report_limits(h, r))
		return -1;
	report_table1(h, r);
	report_time(h, r);
	report_percent(h, r);
	report_memory(h, r);
	report_paths(h, r);
	report_sets(h, r);
	return report_peers(h, r) || report_step(h, r) || report_cli(h, r) || report_claims(h, r) || report_data(h, r) ? -1 : 0;
}

/* -1 and a message: a file is broken. */
static int rehearse(const struct report *r)
{
	struct html h;
	if (html_open(&h, "/dev/null", ""))
		return -1;
	int bad = write_sections(&h, r);
	html_cancel(&h);
	return bad;
}

static int write_page(const struct report *r)
{
	struct html h;
	if (html_open(&h, opt.out, "n2d: Table 1, measured"))
		return -1;
	introduce(&h, r);
	if (!write_sections(&h, r))
		return html_commit(&h);
	html_cancel(&h);
	return -1;
}

static int read_all(struct report *r, char **argument, int n)
{
	if (!n)
		return report_add(r, "results/local");
	for (int i = 0; i < n; i++)
		if (report_add(r, argument[i]))
			return -1;
	return 0;
}

int bench_report(int argc, char **argv)
{
	static struct report r;
	int code = N2D_EXIT_OK;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0)
			return fputs(usage, stdout), N2D_EXIT_OK;
	if (parse(argc, argv) || read_all(&r, argv + optind, argc - optind) || report_tables(&r, opt.isa, (int)opt.threads) ||
	    rehearse(&r))
		code = bench_usage_error("report");
	else if (write_page(&r))
		code = bench_failed("report");
	else if (strcmp(opt.out, "-") != 0)
		printf("%s\n", opt.out);
	report_free(&r);
	return code;
}
