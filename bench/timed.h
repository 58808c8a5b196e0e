/* Kernels and operators as cases with their work and limit: what `n2d-bench kernels` measures. */
#ifndef BENCH_TIMED_H
#define BENCH_TIMED_H

#include "bench/csv.h"
#include "bench/gbench.h"
#include "bench/limits.h"

struct timed {
	struct bench_case c;
	const char *op;
	char shape[72], group[128]; /* group: cases of one are interleaved */
	const char *state;          /* "warm", or "cold": walks through copies beyond the caches */
	struct work work;           /* complete after c.open */
	struct limit limit;         /* after sampling */
	const void *kind;           /* a kernel's problem, or an operator's description */
	size_t dim[6];
	void *memory;               /* while open */
	const struct blas *peer;    /* a library that does the work, or NULL */
	struct served *served;      /* a program that does it, or NULL */
	const char *program, *program_version, *program_isa; /* who does: n2d or the peer; its version; what it chose, in its words */
};

enum { TIMED_GROUP = 64 };

/* Append the cases of all kernels, of the operators, for ctx to t[n]; return the new n. */
size_t timed_kernels(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);
size_t timed_operators(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);

/* A new case with its id; the rest is the caller's. NULL when there is no room. */
struct timed *timed_new(struct timed *t, size_t *n, size_t room, const struct n2d_ctx *ctx, const char *op,
			const char *shape, const char *state);
/* Makes it a peer's case. */
void timed_peer(struct timed *t, const struct blas *peer);
void timed_served(struct timed *t, struct served *peer);
static inline struct timed *timed_of(const struct bench_case *c) { return c->arg; }

/* Opens, samples with the limits it needs (none when levels->n is 0), and closes a group. -1 when a check failed. */
int timed_group(struct bench_case **c, size_t n, const struct sample_plan *p, const struct roof_levels *levels);

/* Reporting: a line a case; counters and label of Google Benchmark; a row of CSV (user: struct csv_out). */
void timed_print(struct bench_case **c, size_t n, const struct roof_levels *levels);
void timed_describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user);
void timed_row(const struct bench_case *c, size_t sample, void *user);
#define TIMED_COLUMNS \
	"id,op,isa,threads,shape,state,sample,calls,seconds,clean,flops,bytes,footprint,stream,level,peak_flops_per_s," \
	"bytes_per_s,limit_seconds,program,program_version,program_isa"

#endif
