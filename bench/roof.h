/* The machine's limits, measured: peak multiply-add and bandwidth by memory level. */
#ifndef BENCH_ROOF_H
#define BENCH_ROOF_H

#include "bench/sample.h"

/* The rows of family `roof` in kernels.def. */
enum roof_kind { ROOF_FMA, ROOF_READ, ROOF_COPY, ROOF_TRIAD, ROOF_UPDATE, ROOF_KINDS };
extern const char *const roof_names[ROOF_KINDS];

struct roof_case {
	struct bench_case c;
	enum roof_kind kind;
	size_t bytes;  /* footprint of all threads together; 0 for ROOF_FMA */
	const char *level; /* its name, where that is known */
	size_t calls;
	double flops, traffic; /* a call, all threads */
};

/* The footprint is divided among ctx's threads, and a thread's part among the arrays of its kernel. */
void roof_case_init(struct roof_case *r, const struct n2d_ctx *ctx, enum roof_kind kind, size_t bytes);
/* FLOP/s (ROOF_FMA) or bytes/s: from the median sample; NAN when there is none. */
double roof_rate(const struct roof_case *r);

/* Memory levels as one thread's read bandwidth shows them: plateaus over the footprint. Reported cache sizes are not
 * looked at; in virtual machines they are often wrong. So a narrow instruction set, which reads two caches as fast, finds one level where a wider one finds two. */
enum { ROOF_LEVELS = 5 };
struct roof_levels {
	size_t n;
	const char *isa; /* that read */
	struct {
		char name[8];       /* "L1", "L2", ..., the last one "memory" */
		size_t capacity;    /* bytes a thread that still belong to it; SIZE_MAX for the last */
		size_t probe;       /* the footprint within it that read fastest, to measure it with */
		double bytes_per_s; /* read */
	} level[ROOF_LEVELS];
};

/* The largest footprint of the sweep: 256 MiB, or an eighth of the memory when that is less. */
size_t roof_largest(void);
/* Sweeps quickly (half a second) with ctx's kernels, one thread. -1 and a message. */
int roof_find_levels(struct roof_levels *l, const struct n2d_ctx *ctx);
/* Plateaus of a measured curve, footprints ascending. */
void roof_plateaus(struct roof_levels *l, const size_t *bytes, const double *rate, size_t n);
size_t roof_level_of(const struct roof_levels *l, double bytes_per_thread);
/* "" when no levels were looked for. */
const char *roof_level_name(const struct roof_levels *l, double bytes_per_thread);

#endif
