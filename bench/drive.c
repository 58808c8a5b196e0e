#include "config.h"

#include "bench/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

static int google, list;

void drive_catch(void) { n2d_stop_catch("\nn2d-bench: ending; what was measured is kept. A second time ends at once\n"); }

void drive_init(int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		google |= strncmp(argv[i], "--benchmark_format", 18) == 0 || strncmp(argv[i], "--benchmark_out=", 16) == 0;
		list |= strncmp(argv[i], "--benchmark_list_tests", 22) == 0 && !strstr(argv[i], "=false");
	}
	gbench_init(argc, argv);
}

int drive_listed(void) { return list; }

struct selection {
	struct bench_case **c;
	size_t n;
};

/* Marks the case: `calls` is not used before sampling. */
static void mark(struct gbench_state *s, void *arg)
{
	struct bench_case *c = arg;
	c->calls = 1;
	gbench_skip(s, "selected");
}

static size_t keep_marked(struct bench_case **c, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (!c[i]->calls)
			continue;
		struct bench_case *x = c[i];
		memmove(c + kept + 1, c + kept, (i - kept) * sizeof *c);
		c[kept++] = x;
		x->calls = 0;
	}
	return kept;
}

static int mark_ids(struct bench_case **c, size_t n, char **ids, int nids)
{
	for (int j = 0; j < nids; j++) {
		size_t i = 0;
		while (i < n && strcmp(c[i]->id, ids[j]) != 0)
			i++;
		if (i == n)
			return n2d_error("no benchmark '%s'; --benchmark_list_tests lists them", ids[j]);
		c[i]->calls = 1;
	}
	return 0;
}

long drive_select(struct bench_case **c, size_t n, char **ids, int nids)
{
	if (nids > 0) {
		if (mark_ids(c, n, ids, nids))
			return -1;
	} else {
		for (size_t i = 0; i < n; i++)
			gbench_add(c[i]->id, mark, c[i], 0);
		size_t matched = gbench_run(NULL, NULL, 0, 0);
		gbench_clear();
		if (list && matched)
			return 0;
	}
	size_t kept = keep_marked(c, n);
	return kept ? (long)kept : n2d_error("no benchmark matches; --benchmark_list_tests lists them");
}

/* Plays the samples back, one a repetition. */
struct replay {
	struct bench_case *c;
	size_t next, reported;
	const struct drive_report *report;
};

static void play(struct gbench_state *s, void *arg)
{
	struct replay *r = arg;
	if (!r->c->samples) {
		gbench_skip(s, r->c->why[0] ? r->c->why : "not measured");
		return;
	}
	const struct sample *sample = r->c->sample + r->next;
	while (gbench_iterate(s))
		gbench_seconds(s, sample->seconds);
	if (r->report->describe)
		r->report->describe(s, r->c, r->next, r->report->user);
	if (!sample->clean)
		gbench_label(s, "others used the processors");
	r->next++;
}

/* Reports come in the order of registration as a rule, a benchmark's repetitions together. */
struct cursor {
	struct replay *r;
	size_t n, at;
};

static void write_row(struct replay *r)
{
	if (r->report->row)
		r->report->row(r->c, r->reported, r->report->user);
	r->reported++;
}

static void on_row(const struct gbench_row *row, void *user)
{
	struct cursor *k = user;
	for (size_t i = 0; i < k->n && strcmp(k->r[k->at].c->id, row->id) != 0; i++)
		k->at = (k->at + 1) % k->n;
	if (!row->error)
		write_row(k->r + k->at);
}

void drive_report(struct bench_case **c, size_t n, const struct drive_report *report)
{
	struct replay *r = calloc(n + 1, sizeof *r);
	struct cursor k = {r, n, 0};
	if (!r)
		abort();
	for (size_t i = 0; i < n; i++) {
		r[i].c = c[i];
		r[i].report = report;
		gbench_add(c[i]->id, play, r + i, c[i]->samples ? (int)c[i]->samples : 1);
	}
	gbench_run(on_row, &k, 1, google);
	gbench_clear();
	for (size_t i = 0; i < n; i++) /* what --benchmark_report_aggregates_only keeps from reporters */
		while (r[i].reported < r[i].c->samples)
			write_row(r + i);
	free(r);
}

static double last;
static int shown;

void drive_progress(double done, double left, const char *what)
{
	int terminal = isatty(STDERR_FILENO);
	double now = n2d_now();
	if (now - last < (terminal ? 0.2 : 20))
		return;
	last = now;
	shown = terminal;
	char time[32] = "";
	if (left >= 0)
		snprintf(time, sizeof time, ", %.0f s left", left);
	fprintf(stderr, terminal ? "\r\033[K%3.0f %%%s  %s" : "%3.0f %%%s  %s\n", 100 * done, time, what);
	fflush(stderr);
}

void drive_progress_end(void)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
	shown = 0;
}
