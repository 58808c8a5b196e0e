/* Statistics of timings: robust summaries, straight lines with confidence intervals. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

struct stat_summary {
	size_t n;
	double median, min, max;
	double mad; /* median of |x - median|, not scaled */
};

/* n == 0 gives zeros in median, min, max, mad. x is left as it is. */
struct stat_summary stat_summarise(const double *x, size_t n);

/* Of `all` samples so many were clean: fewer than wanted, as at most as many are taken again as were wanted. */
static inline int stat_disturbed(size_t clean, size_t all) { return 2 * clean < all; }

/* The middle value, or the mean of the two middle ones. n > 0. */
double stat_median(const double *x, size_t n);

/* y = a + b x by least squares; b's 95 % confidence interval is b +- half (Student's t, n - 2 degrees of
 * freedom; INFINITY when n == 2). -1 when n < 2 or all x are equal. */
struct stat_line {
	size_t n;
	double a, b, half;
};
int stat_line(struct stat_line *l, const double *x, const double *y, size_t n);

/* The same on log x, log y: b is the exponent of y ~ x^b. All values must be positive, or -1. */
int stat_power(struct stat_line *l, const double *x, const double *y, size_t n);

/* Two-sided 95 % point of Student's t. */
double stat_t95(size_t freedom);

/* Is b slower than a, and by how much? By ranks alone, so that no distribution is assumed:
 *
 *	ratio      median of all b[j] / a[i] (Hodges and Lehmann's estimate of the shift, of logarithms)
 *	low, high  its 95 % confidence interval, from the exact distribution of Mann and Whitney's U (its normal approximation
 *	           beyond STAT_EXACT values); 0 and INFINITY when there are too few values for one
 *	apart      1: every b is above the faster three fifths of a; -1: every a above those of b; else 0. What disturbs a timing only
 *	           adds to it, so two in five may be disturbed and the rest is still compared.
 *
 * All values must be positive, and there must be one of each, or -1. */
enum { STAT_EXACT = 20 };
struct stat_shift {
	double ratio, low, high;
	int apart;
};
int stat_shift(struct stat_shift *s, const double *a, size_t n, const double *b, size_t m);

/* P(at least k heads of n fair coins): the sign test. */
double stat_sign(size_t n, size_t k);

/* P(U <= u) of Mann and Whitney's U for samples of n and m from one distribution without ties. */
double stat_mann_whitney(size_t n, size_t m, size_t u);

#endif
