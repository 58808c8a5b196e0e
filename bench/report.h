/* The report: what CSV files say, as one page. Files of one directory belong to one machine, or version; those are shown side by side. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/csv.h"
#include "bench/html.h"
#include "bench/table.h"

enum { REPORT_MACHINES = 8, REPORT_FILES = 128, REPORT_PATH = 4096 };

struct report_file {
	char path[REPORT_PATH];
	const char *schema;
	size_t machine;
	void *facts; /* json_t of the NAME.json beside it; NULL: there is none, or no jansson */
	char facts_path[REPORT_PATH];
	struct csv csv;
};

struct report_machine {
	char name[REPORT_PATH];
	struct results results;
	struct table forward, train; /* of the widest instruction set, or the one asked for; no rows: not measured */
	const struct report_file *told; /* whose facts speak for the machine: the first of the layers, from which the tables are, else the first with some; NULL */
};

struct report {
	struct report_machine machine[REPORT_MACHINES];
	struct report_file file[REPORT_FILES];
	size_t machines, files;
};

/* Adds a CSV file, or the files of a directory whose schema is known; NAME=PATH names the machine, else it is the directory's name.
 * -1 and a message with file, line and what was expected. */
int report_add(struct report *r, const char *argument);
/* After the last file: the tables. isa NULL, threads 0: the widest, the fewest. -1 and a message. */
int report_tables(struct report *r, const char *isa, int threads);
void report_free(struct report *r);

/* A machine's next file of this schema from *at on, which is moved behind it; NULL when there is none. */
const struct report_file *report_next(const struct report *r, size_t machine, const char *schema, size_t *at);

/* A file's rows by id, in the order of the file: the median of the clean samples, of all when there is no clean one. */
struct timing {
	const char *id;
	size_t row; /* the first of this id */
	double seconds;
	int disturbed; /* fewer clean samples than were wanted */
};
/* -1 and a message. The caller frees *list. */
int timings_read(struct timing **list, size_t *n, const struct csv *c);

/* ---- sections; nothing is written where nothing was measured. -1 and a message when a file is broken. */

void report_glance(struct html *h, const struct report *r);
int report_limits(struct html *h, const struct report *r);
void report_table1(struct html *h, const struct report *r);
void report_time(struct html *h, const struct report *r);
void report_percent(struct html *h, const struct report *r);
void report_memory(struct html *h, const struct report *r);
void report_paths(struct html *h, const struct report *r);
void report_sets(struct html *h, const struct report *r);
void report_machines(struct html *h, const struct report *r);
int report_peers(struct html *h, const struct report *r);
int report_step(struct html *h, const struct report *r);
int report_cli(struct html *h, const struct report *r);
int report_claims(struct html *h, const struct report *r);
int report_data(struct html *h, const struct report *r);

/* The processor's name; "" where it is not known. */
const char *report_cpu(const struct report_machine *m);
/* Under what was measured: the commands that made a machine's files of this schema, with the arguments where a JSON file tells them. */
void report_commands(struct html *h, const struct report *r, size_t machine, const char *schema);
/* The same of one file. */
void report_command(struct html *h, const struct report_file *f);
/* The heading of a section, and of a machine's part of it where there are several. */
void report_heading(struct html *h, const char *id, const char *title);
void report_subject(struct html *h, const struct report *r, size_t machine);
/* "forward and backward", or "forward". */
const char *report_pass(const struct table *t);
/* A bar as long as part (0 to 1) of its cell, and a text. */
void report_bar(struct html *h, double part, const char *text);

/* The sign of what was disturbed, and the note that explains it, where a sign was written since the last one. */
void report_mark(struct html *h, int disturbed);
/* The same sign behind a name in a figure. */
const char *report_marked(const char *name, int disturbed);
void report_marks(struct html *h);

#endif
