#include "train/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static struct n2d_profile_row *find(struct n2d_profile *p, const char *where, const char *op)
{
	for (size_t i = 0; i < p->rows; i++)
		if (strcmp(p->row[i].op, op) == 0 && strcmp(p->row[i].where, where) == 0)
			return &p->row[i];
	if (p->rows == N2D_PROFILE_ROWS)
		return &p->row[p->rows - 1];
	p->row[p->rows] = (struct n2d_profile_row){.where = where, .op = op};
	return &p->row[p->rows++];
}

static void see(struct n2d_trace *t, const struct n2d_call *call)
{
	struct n2d_profile *p = t->user;
	if (p->started == 0)
		return;
	struct n2d_profile_row *r = find(p, call->where ? call->where : "", call->op);
	r->seconds += call->seconds;
	r->flops += call->flops;
	r->bytes += call->bytes;
	r->calls++;
}

void n2d_profile_init(struct n2d_profile *p)
{
	memset(p, 0, sizeof *p);
	p->trace.see = see;
	p->trace.user = p;
}

void n2d_profile_start(struct n2d_profile *p) { p->started = n2d_now(); }

void n2d_profile_stop(struct n2d_profile *p)
{
	p->seconds += n2d_now() - p->started;
	p->started = 0;
	p->spans++;
}

static int dearest(const void *a, const void *b)
{
	double x = ((const struct n2d_profile_row *)a)->seconds, y = ((const struct n2d_profile_row *)b)->seconds;
	return (x < y) - (x > y);
}

/* Returns 1 when it has a mark. */
static int print_row(FILE *f, const struct n2d_profile_row *r, double all, double peak, double bandwidth)
{
	double limit = r->flops / peak, stream = bandwidth > 0 ? r->bytes / bandwidth : 0;
	if (stream > limit)
		limit = stream;
	int beyond = stream > r->seconds;
	fprintf(f, "%-24s %-18s %9.1f %6.1f %8zu %9.1f %8.1f %7.0f%s\n", r->where, r->op, 1e3 * r->seconds, 100 * r->seconds / all, r->calls,
		1e-9 * r->flops / r->seconds, 1e-9 * r->bytes / r->seconds, 100 * limit / r->seconds, beyond ? " *" : "");
	return beyond;
}

void n2d_profile_print(struct n2d_profile *p, FILE *f, double peak, double bandwidth)
{
	double all = p->seconds, seen = 0;
	int beyond = 0;
	qsort(p->row, p->rows, sizeof *p->row, dearest);
	fprintf(f, "%-24s %-18s %9s %6s %8s %9s %8s %7s\n", "part", "operator", "ms", "%", "calls", "GFLOP/s", "GB/s", "% limit");
	for (size_t i = 0; i < p->rows; i++) {
		beyond |= print_row(f, &p->row[i], all, peak, bandwidth);
		seen += p->row[i].seconds;
	}
	fprintf(f, "%-24s %-18s %9.1f %6.1f\n", "", "(between operators)", 1e3 * (all - seen), 100 * (all - seen) / all);
	if (beyond)
		fprintf(f, "* above the limit: it reads and writes caches, and the limit is the bandwidth of memory\n");
}
