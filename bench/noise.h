/* Who else used our processors? CPU time of all processes on the processors we are pinned to (/proc/stat) against our
 * own, between two moments. */
#ifndef BENCH_NOISE_H
#define BENCH_NOISE_H

struct noise {
	double wall, own, busy; /* seconds */
};

/* The processors to look at: cpus[n]. */
void noise_watch(const int *cpus, int n);
void noise_now(struct noise *s);

/* CPU seconds that others had from a to b; never negative. 0 where /proc/stat does not exist. */
double noise_others(const struct noise *a, const struct noise *b);

/* /proc/stat counts in ticks of 10 ms on each processor, so shorter spans than this cannot be judged. */
#define NOISE_SPAN 0.2

/* Others had more than 3 % of the time, beyond three ticks of uncertainty. */
int noise_dirty(const struct noise *a, const struct noise *b);

/* Sums the busy seconds of the watched processors in the text of /proc/stat. For the test. */
double noise_parse(const char *text, double ticks);

#endif
