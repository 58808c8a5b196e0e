/* Base against head, benchmark by benchmark: from two CSV files, or from two builds that are run in turn. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <regex.h>
#include <stdio.h>

#include "base/ctx.h"
#include "bench/stats.h"

enum { BASE, HEAD, SIDES };
enum verdict { SAME, FASTER, SLOWER, CLEARED, ONLY_BASE, ONLY_HEAD, FAILED, NOT_MEASURED, VERDICTS };
extern const char *const verdict_names[VERDICTS];

/* A benchmark: seconds a call on either side, a value a sample (files) or a run (builds): the run's fastest clean sample, because what
 * disturbs only adds. */
struct compare_row {
	char *id;
	struct compare_values {
		double *x;
		size_t n;
		int disturbed; /* a value is of samples of which none was clean */
	} side[SIDES];
	struct stat_shift shift; /* where both sides have values */
	enum verdict verdict;
	int listed;  /* bit s: side s has it (builds) */
	int suspect; /* slower in the runs before: taken again, and its values are of pairs */
	int says;    /* of a suspect: slower, by the values of this pass */
	int said;    /* how many passes before, of those that took it again, said so: 0 or 1 */
};

struct comparison {
	struct compare_row *row;
	size_t rows;
	double threshold; /* 0.05: 5 % */
	int again;        /* what looks slower is taken again: the ratio alone makes a suspect */
	const char *name[SIDES];
};

enum { COMPARE_MOST = 1000 }; /* values of a side */
#define COMPARE_CHANCE 1e-3   /* that of equal builds a pass of suspects says so; two of three must */

/* Adds a CSV file with columns id, seconds and perhaps clean and program (what is not n2d's own is left out): all clean samples
 * of a benchmark (all of them when none is clean), or with fastest != 0 the fastest alone. -1 and a message. */
int compare_read(struct comparison *c, int side, const char *file, int fastest);
/* The row of this id, made when it is not there. */
struct compare_row *compare_row(struct comparison *c, const char *id);
void compare_add(struct compare_values *v, double x);
/* Slower or faster: apart as stats.h has it, and by more than the threshold. A pass says of a suspect that it is slower when it is apart, or most of its pairs have head above base
 * (sign test, COMPARE_CHANCE), and by more than the threshold; when two passes do, it is, else cleared. Failed: both builds have it, and only base could run it. */
void compare_judge(struct comparison *c);
/* Before pass 0, 1, 2 over the suspects, after compare_judge: is this row taken again? What looks slower; all of those; and those of which the two
 * passes disagree. Its values begin anew. */
int compare_again(struct compare_row *r, int pass);
size_t compare_count(const struct comparison *c, enum verdict v);
void compare_row_free(struct compare_row *r);
void compare_free(struct comparison *c);

struct compare_plan {
	const char *filter, *exclude; /* extended regular expressions; NULL: none */
	const char *command;          /* builds: names of compare_commands, "kernels,layers" */
	const char *isa;
	size_t rounds, threads, samples;
};

/* ---- compare_filter.c */

struct compare_patterns {
	regex_t filter, exclude;
	int has_filter, has_exclude;
};

/* -1 and a message that names the option. */
int compare_patterns_open(struct compare_patterns *r, const struct compare_plan *p);
void compare_patterns_free(struct compare_patterns *r);
int compare_wanted(const struct compare_patterns *r, const char *id);
/* Leaves the benchmarks of two files that the patterns let pass. -1 and a message when both have none of them: nothing was compared. */
int compare_select(struct comparison *c, const struct compare_plan *p);

/* ---- compare_run.c: two builds */

int compare_is_command(const char *name);
/* Runs DIR/n2d-bench of both, in turn, in new processes each time: rounds of (base, head) in random order, a value a run; then
 * two passes, of three times as many rounds and 24 at least, of what looks slower alone, whose values count instead, and a third where they disagree. -1 and a message when one cannot be run. */
int compare_run(struct comparison *c, const char *const dir[SIDES], const struct compare_plan *p);

/* ---- compare_print.c */

void compare_text(const struct comparison *c, FILE *f);
void compare_markdown(const struct comparison *c, FILE *f);
void compare_json(const struct comparison *c, FILE *f);

#endif
