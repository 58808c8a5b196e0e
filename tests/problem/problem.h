/* A problem: one row of kernels.def on one shape. The same object is the test (against an oracle
 * in double) and the benchmark (its FLOPs and bytes), so a timing is of something checked.
 *
 * A kind is a row's family of problems; kinds.def lists them all. To write one:
 *
 *	setup  makes the buffers with problem_in/out/inout and fills the inputs from p->rng
 *	call   calls the kernel; may be called many times (the benchmark does)
 *	check  compares with the oracle through problem_near and friends; the bound is derived
 *	       in a comment beside it. Inputs as they were before the call are in problem_orig.
 *
 * Problems share no code with what they check. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "simd/kernels.h"
#include "tests/problem/guard.h"

enum { PROBLEM_DIMS = 6, PROBLEM_BUFS = 16 };

/* Unit roundoff of float, and the bound on n roundings: gamma_n = n u / (1 - n u) (Higham, section 3.1), which holds for n u < 1. */
#define U32 0x1p-24
static inline double gamma_n(double n) { return n * U32 < 1 ? n * U32 / (1 - n * U32) : INFINITY; }
/* A sum over `parts` accumulators, then over what is left of vectors, then over parts and lanes: a term passes at most so many additions,
 * whose gamma bounds the error relative to the sum of absolute values (Higham, section 4.2). */
static inline double additions(const struct n2d_kernels *k, double n, double parts)
{
	return n / (parts * (double)k->lanes) + 2 * parts + 4;
}

struct problem;
struct problem_use;

struct problem_kind {
	const char *kernel;  /* the row of kernels.def */
	const char *dims;    /* names of the sizes, "n" or "M N K": up to PROBLEM_DIMS */
	/* Calls problem_use(u, ...) for each shape to test, given the table under test. */
	void (*shapes)(struct problem_use *u, const struct n2d_kernels *k);
	const size_t (*bench)[PROBLEM_DIMS]; /* shapes to time, ended by {SIZE_MAX} */
	void (*setup)(struct problem *p);
	void (*call)(struct problem *p, const struct n2d_kernels *k);
	void (*check)(struct problem *p);
	double (*flops)(const size_t *dim), (*bytes)(const size_t *dim); /* one call */
	int sparse; /* outputs that are mostly zero are right */
};

struct problem_buf {
	struct guard g;
	float *orig; /* what it held before the call; NULL for outputs */
	int input;   /* must not change */
};

struct problem {
	const struct problem_kind *kind;
	const struct n2d_kernels *k; /* the table under test: setup may look at its sizes */
	size_t dim[PROBLEM_DIMS];
	int place; /* guard placement of every buffer */
	struct n2d_rng rng;
	int nbufs;
	struct problem_buf buf[PROBLEM_BUFS];
	float scalar[4]; /* for results that are returned, and for parameters */
	/* the verdict */
	size_t checked, nonzero, failed;
	char first[256]; /* the first failure */
};

/* ---- for writers of kinds. Buffers are numbered in the order of these calls. */
float *problem_in(struct problem *p, size_t n);    /* N(0,1) */
float *problem_inout(struct problem *p, size_t n); /* N(0,1) */
float *problem_out(struct problem *p, size_t n);   /* NaN: what is not written is seen */
static inline float *problem_p(const struct problem *p, int buf) { return p->buf[buf].g.p; }
static inline const float *problem_orig(const struct problem *p, int buf) { return p->buf[buf].orig; }

/* !(|got - want| <= bound) fails; NaN wants NaN, an infinity wants itself. */
void problem_near(struct problem *p, const char *what, size_t i, double got, double want, double bound);
/* got within ulps units in the last place of want (of the smallest denormal at least). */
void problem_ulp(struct problem *p, const char *what, size_t i, float got, double want, double ulps);
/* Same bits. */
void problem_same(struct problem *p, const char *what, size_t i, float got, float want);
void problem_fail(struct problem *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- enumerating shapes */
struct problem_use {
	void (*fn)(struct problem_use *u, const size_t *dim);
	void *arg;
};
void problem_use(struct problem_use *u, size_t a, size_t b, size_t c, size_t d, size_t e, size_t f);
/* Sizes 0, 1, 2, 3, and around every multiple of lanes up to a few, and larger odd ones: for one size n. */
void problem_sizes(struct problem_use *u, const struct n2d_kernels *k);

/* ---- for drivers */
extern const struct problem_kind *const problem_kinds[]; /* NULL-terminated */
/* Sets up p on the heap's behalf: zero it first. */
void problem_open(struct problem *p, const struct problem_kind *kind, const struct n2d_kernels *k, const size_t *dim, int place,
		  uint64_t seed);
/* call once, check, and look at canaries and inputs. Returns the number of failures. */
size_t problem_run(struct problem *p);
void problem_close(struct problem *p);
/* "n=17" or "M=3,N=4,K=5" */
void problem_name(const struct problem_kind *kind, const size_t *dim, char *text, size_t size);

#endif
