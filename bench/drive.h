/* What all timing commands share: selecting by id, reporting through Google Benchmark, interrupts, progress. */
#ifndef BENCH_DRIVE_H
#define BENCH_DRIVE_H

#include "base/stop.h"
#include "bench/gbench.h"
#include "bench/sample.h"

/* From here on n2d_stop means: finish the sample, write what there is; main then exits with 128 + it. */
void drive_catch(void);

/* Takes Google Benchmark's flags out of argv. */
void drive_init(int *argc, char **argv);

/* Moves the cases that --benchmark_filter (or ids[nids], when nids > 0) selects to the front, in order; returns how many.
 * With --benchmark_list_tests it has printed their names and returns 0. -1 and a message when an id is unknown, or
 * nothing matches. */
long drive_select(struct bench_case **c, size_t n, char **ids, int nids);
int drive_listed(void);

/* One repetition a sample: describe sets counters and label, row writes the CSV line. Cases without samples are reported
 * as skipped, with the reason. */
struct drive_report {
	void (*describe)(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user);
	void (*row)(const struct bench_case *c, size_t sample, void *user);
	void *user;
};
void drive_report(struct bench_case **c, size_t n, const struct drive_report *r);

/* seconds_left < 0: unknown. A line on standard error, rewritten in place on a terminal, else printed at most every 20 seconds. */
void drive_progress(double done, double seconds_left, const char *what);
void drive_progress_end(void);

#endif
