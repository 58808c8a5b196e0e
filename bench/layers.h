/* The sweep over layers: what is asked for, what fits the time, what came out. */
#ifndef BENCH_LAYERS_H
#define BENCH_LAYERS_H

#include "bench/csv.h"
#include "bench/drive.h"
#include "bench/layer_case.h"
#include "bench/options.h"

struct layers_options {
	char **argv, **ids;
	int nids;
	const char *isa, *csv, *layer, *pass;
	struct size_list n, d, threads;
	/* n is swept at base_d and d at base_n; both empty: every pair */
	struct size_list base_n, base_d;
	int user_n, user_d, all_isas, list, no_limits, peers;
	const char *which_peers; /* NULL: all there are */
	size_t samples, batch;
	double budget; /* seconds; 0: no limit */
	struct n2d_layer_config c;
};

/* Everything from the options to the CSV file. Returns an exit code. */
int layers_run(const struct layers_options *o, const struct n2d_ctx *ctx, int contexts);

/* ---- layer_plan.c: what fits the budget */

/* Asked for, and neither measured nor left out. */
int plan_open(const struct layer_case *l);
/* Sets l->predicted of every case from its FLOPs and bytes. */
void plan_init(struct layer_case *l, size_t n, const struct n2d_ctx *ctx, int contexts, const struct roof_levels *levels);
/* Seconds that the open cases will take. */
double plan_left(const struct layer_case *l, size_t n, size_t samples);
/* Leaves out cases (sets cut and why) until the rest takes at most `seconds`: from the last instruction set first, the
 * dearest first. Cases left out before are considered again. */
void plan_cut(struct layer_case *l, size_t n, size_t samples, double seconds, double budget);
/* After a case was measured: scales the predictions of the same kind, set, threads and pass. */
void plan_learn(struct layer_case *l, size_t n, const struct layer_case *measured);

/* ---- layer_report.c */

#define LAYER_COLUMNS \
	"id,layer,isa,threads,pass,batch,n,d,heads,window,width,dilation,inner,causal,sample,calls,seconds,mixing_seconds," \
	"projection_seconds,clean,flops,mixing_flops,bytes,footprint,level,peak_flops_per_s,bytes_per_s,limit_seconds," \
	"params,memory_bytes,program,program_version,program_isa"
void layer_row(const struct bench_case *c, size_t sample, void *user);
void layer_describe(struct gbench_state *s, const struct bench_case *c, size_t sample, void *user);
void layer_print(struct layer_case *l, size_t n);
/* n2d / best peer. */
void layer_print_versus(const struct layer_case *l, size_t n);

#endif
