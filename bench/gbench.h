/* Google Benchmark behind a C interface.
 *
 * It registers, filters (--benchmark_filter, --benchmark_list_tests) and reports (--benchmark_format, --benchmark_out,
 * ...); its flags pass through. It does not decide when and how long to measure: sample.h does, and hands each sample
 * over as one repetition in manual time. HACKING.md, "Measuring", says why. */
#ifndef BENCH_GBENCH_H
#define BENCH_GBENCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes Google Benchmark's flags out of the arguments. Do not call when --help is among them: it would print its own. */
void gbench_init(int *argc, char **argv);

/* A key and value of the report's head. */
void gbench_context(const char *key, const char *value);

/* A registered function is called once a repetition. It iterates
 *
 *	while (gbench_iterate(s))
 *		gbench_seconds(s, t);
 *
 * and then may set counters and a label, or skip with a reason.
 * repetitions == 0 registers for selection only: under its bare id, for a function that skips at once. */
struct gbench_state;
typedef void gbench_fn(struct gbench_state *s, void *arg);
void gbench_add(const char *id, gbench_fn *fn, void *arg, int repetitions);
int gbench_iterate(struct gbench_state *s);
void gbench_seconds(struct gbench_state *s, double seconds);
void gbench_counter(struct gbench_state *s, const char *name, double value);
void gbench_label(struct gbench_state *s, const char *text);
void gbench_skip(struct gbench_state *s, const char *why);

/* What our reporter sees: one call a repetition. */
struct gbench_row {
	const char *id;
	int repetition;
	double seconds;
	const char *label;
	const char *error; /* NULL, or why it was skipped */
};
typedef void gbench_report(const struct gbench_row *row, void *user);

/* Runs what is registered and passes --benchmark_filter (with all != 0, everything); returns how many benchmarks that were.
 * With google != 0 Google's own console, JSON or CSV report is printed too, as its flags say. */
size_t gbench_run(gbench_report *report, void *user, int all, int google);
void gbench_clear(void);
const char *gbench_version(void);

#ifdef __cplusplus
}
#endif

#endif
