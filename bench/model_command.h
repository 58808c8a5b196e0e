/* What the commands that time whole models share (step, decode): a case of sample.h with the multiply-add peak beside it, and how such a
 * command goes from its options to its reports. */
#ifndef BENCH_MODEL_COMMAND_H
#define BENCH_MODEL_COMMAND_H

#include "bench/bench.h"
#include "bench/gbench.h"
#include "bench/options.h"
#include "bench/roof.h"

/* First member of a case; c.arg points to it. */
struct model_case {
	struct bench_case c;
	const char *group; /* cases of a group are sampled together, in random order, with the peaks of their contexts */
	int threads;
	double flops;      /* of a call */
	struct roof_case *peak;
	double peak_flops;
	int peak_disturbed;
	/* One call with another context, for the profile; NULL: the work is another program's. -1 and a message. */
	int (*once)(struct model_case *m, const struct n2d_ctx *ctx);
};

enum { MODEL_CASES = 64 };

struct model_command {
	struct bench_command command;
	const char *schema, *columns;
	/* Fills c with at most MODEL_CASES cases, those of a group in a row; returns how many. -1 and a message. */
	int (*collect)(struct model_case **c, const struct n2d_ctx *ctx, int contexts);
	void (*start)(struct model_case *m); /* of the selected ones, before threads are pinned; or NULL */
	void (*describe)(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user);
	void (*row)(const struct bench_case *c, size_t sample, void *csv);
	void (*print)(struct model_case *const *c, size_t n); /* the table, of cases with and without samples */
	int profile_calls; /* for --profile */
};

/* What all take beside the common options: add MODEL_OPTIONS to the long options; model_profile is set by --profile. */
extern int model_profile;
#define MODEL_OPTIONS COMMON_OPTIONS, {"profile", 0, &model_profile, 1}

/* The whole command; an exit code. Of no --isa, the widest instruction set alone is taken. */
int model_command(const struct model_command *m, int argc, char **argv);

#endif
