/* The math rows over the floats themselves: against libm in double, and, for the rows of vmath.h, the same bits from
 * every instruction set; then a sample again with denormals flushed to zero. Prints each row's largest error.
 *
 *	sweep-math [--long]    all 2^32 floats (emulations: the sample only); else the sample, every 1024th run
 *	                       of 4096 neighbours, those round the edges of exp among them */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simd/kernels.h"

enum { RUN = 4096, RUNS = 1 << 20, STEP = 1024, LANES_MAX = 16 };

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double gelu(double x) { return isinf(x) ? copysign(fmax(x, 0), x) : x * 0.5 * erfc(-x * M_SQRT1_2); }

static struct row {
	const char *name;
	size_t offset; /* of its pointer in struct n2d_kernels */
	double (*oracle)(double);
	double ulps; /* the row's contract */
	int same;    /* bits on all instruction sets */
	double worst;
	float at;
	const char *failed; /* what went wrong first, and where */
	float where;
	const char *isa;
} rows[] = {
#define ROW(name, oracle, ulps, same) {#name, offsetof(struct n2d_kernels, name), oracle, ulps, same, 0, 0, NULL, 0, NULL}
	ROW(exp, exp, 1.1, 1),
	ROW(log, log, 1, 1),
	ROW(tanh, tanh, 2, 1),
	ROW(sigmoid, sigmoid, 2, 1),
	ROW(gelu_fwd, gelu, 7, 1),
#ifdef HAVE_SLEEF
	ROW(exp_sleef, exp, 1, 0),
	ROW(log_sleef, log, 1, 0),
	ROW(tanh_sleef, tanh, 1.001, 0),
	ROW(sigmoid_sleef, sigmoid, 3, 0),
#endif
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct n2d_isa *isa;
static size_t isas;
static int whole; /* --long */

static void call(const struct row *r, const struct n2d_kernels *k, float *y, const float *x)
{
	void (*f)(float *, const float *, size_t);
	memcpy(&f, (const char *)k + r->offset, sizeof f);
	f(y, x, RUN);
}

/* |got - want| in units of the last place of want; NaN wants NaN, a value beyond the floats wants infinity or the
 * largest float. */
static double error_ulps(float got, double want)
{
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	if (isinf(got) && want != got)
		return fabs(want) >= 0x1.ffffffp127 && !signbit(got) == !signbit(want) ? 0 : INFINITY;
	if (isinf(want) || want == 0)
		return got == want && !signbit(got) == !signbit(want) ? 0 : INFINITY;
	int e = ilogb(want);
	return fabs(got - want) / ldexp(1, e < -126 ? -149 : e - 23);
}

static void fail(struct row *r, const char *what, float x, const char *where)
{
	if (r->failed)
		return;
	r->failed = what;
	r->where = x;
	r->isa = where;
}

static float flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* With denormals flushed, x counts as 0 if it is one, and so may the result. */
static void compare(struct row *r, const char *name, const float *x, const float *y, const double *want, int flushed)
{
	for (size_t i = 0; i < RUN; i++) {
		double e = error_ulps(y[i], want[i]);
		if (flushed && y[i] == 0 && fabs(want[i]) <= 0x1p-126)
			e = 0;
		if (!(e <= r->ulps))
			fail(r, "error above the bound", x[i], name);
		if (!flushed && e > r->worst) {
			r->worst = e;
			r->at = x[i];
		}
	}
}

static void agree(struct row *r, const char *name, const float *x, const float *y, const float *first)
{
	if (memcmp(y, first, RUN * sizeof *y) == 0)
		return;
	for (size_t i = 0; i < RUN; i++)
		if (memcmp(y + i, first + i, sizeof *y) != 0 && !(isnan(y[i]) && isnan(first[i])))
			fail(r, "bits differ from the first instruction set's", x[i], name);
}

static void run_row(struct row *r, const float *x, int flushed, int sampled)
{
	float first[RUN], y[RUN];
	double want[RUN];
	const struct n2d_isa *seen = NULL;
	for (size_t i = 0; i < RUN; i++)
		want[i] = r->oracle(flushed ? flush(x[i]) : x[i]);
	for (size_t s = 0; s < isas; s++) {
		if (!isa[s].k || !isa[s].supported || (isa[s].rank < 0 && !sampled))
			continue;
		uint64_t state = flushed ? n2d_fpenv_flush() : 0;
		call(r, isa[s].k, seen ? y : first, x);
		if (flushed)
			n2d_fpenv_restore(state);
		if (!seen || !r->same)
			compare(r, isa[s].name, x, seen ? y : first, want, flushed);
		else
			agree(r, isa[s].name, x, y, first);
		seen = isa + s;
	}
}

/* The sample must hold the places where something happens. */
static int edge(uint32_t run)
{
	static const float at[] = {0, 0x1p-126f, 1, 0.55f, 10, 88.72284f, 90, 103.97208f, 105, 0x1.fffffep127f, INFINITY};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		uint32_t bits;
		memcpy(&bits, at + i, sizeof bits);
		if ((run & (RUNS / 2 - 1)) == bits / RUN)
			return 1;
	}
	return 0;
}

static void merge(struct row *into, const struct row *from)
{
	if (from->worst > into->worst) {
		into->worst = from->worst;
		into->at = from->at;
	}
	if (from->failed)
		fail(into, from->failed, from->where, from->isa);
}

static void sweep(void)
{
#ifdef _OPENMP
#pragma omp parallel
#endif
	{
		struct row mine[ROWS];
		memcpy(mine, rows, sizeof mine);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 64)
#endif
		for (uint32_t run = 0; run < RUNS; run++) {
			int sampled = run % STEP == 0 || edge(run);
			if (!whole && !sampled)
				continue;
			float x[RUN];
			for (uint32_t i = 0; i < RUN; i++) {
				uint32_t bits = run * RUN + i;
				memcpy(x + i, &bits, sizeof bits);
			}
			for (size_t r = 0; r < ROWS; r++) {
				run_row(mine + r, x, 0, sampled);
				if (sampled)
					run_row(mine + r, x, 1, sampled);
			}
		}
#ifdef _OPENMP
#pragma omp critical
#endif
		for (size_t r = 0; r < ROWS; r++)
			merge(rows + r, mine + r);
	}
}

int main(int argc, char **argv)
{
	int bad = 0;
	whole = argc > 1 && strcmp(argv[1], "--long") == 0;
	isa = n2d_isa_all(&isas);
	sweep();
	for (size_t r = 0; r < ROWS; r++) {
		printf("%-14s largest error %.4f ulp at %a, bound %g\n", rows[r].name, rows[r].worst, (double)rows[r].at, rows[r].ulps);
		if (rows[r].failed)
			printf("FAIL %s: %s at %a on %s\n", rows[r].name, rows[r].failed, (double)rows[r].where, rows[r].isa);
		bad |= rows[r].failed != NULL;
	}
	return bad;
}
