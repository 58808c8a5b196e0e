#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double middle(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static double *sorted_copy(const double *x, size_t n)
{
	double *s = malloc(n * sizeof *s);
	if (!s)
		abort();
	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, ascending);
	return s;
}

double stat_median(const double *x, size_t n)
{
	double *s = sorted_copy(x, n), m = middle(s, n);
	free(s);
	return m;
}

struct stat_summary stat_summarise(const double *x, size_t n)
{
	struct stat_summary r = {.n = n};
	if (!n)
		return r;
	double *s = sorted_copy(x, n);
	r.median = middle(s, n);
	r.min = s[0];
	r.max = s[n - 1];
	for (size_t i = 0; i < n; i++)
		s[i] = fabs(s[i] - r.median);
	r.mad = stat_median(s, n);
	free(s);
	return r;
}

/* Exact for 1 .. 10 degrees of freedom; above, Cornish and Fisher's expansion about the normal point. */
double stat_t95(size_t freedom)
{
	static const double table[] = {INFINITY, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
	if (freedom < sizeof table / sizeof *table)
		return table[freedom];
	const double z = 1.959964, v = (double)freedom;
	double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

int stat_line(struct stat_line *l, const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0, rest = 0;
	memset(l, 0, sizeof *l);
	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		sxx += (x[i] - mx) * (x[i] - mx);
		sxy += (x[i] - mx) * (y[i] - my);
	}
	if (n < 2 || !(sxx > 0))
		return -1;
	l->n = n;
	l->b = sxy / sxx;
	l->a = my - l->b * mx;
	for (size_t i = 0; i < n; i++) {
		double e = y[i] - l->a - l->b * x[i];
		rest += e * e;
	}
	l->half = n == 2 ? INFINITY : stat_t95(n - 2) * sqrt(rest / (double)(n - 2) / sxx);
	return 0;
}

int stat_power(struct stat_line *l, const double *x, const double *y, size_t n)
{
	double *lx = malloc((2 * n + 1) * sizeof *lx), *ly = lx + n;
	int r = lx ? 0 : -1;
	for (size_t i = 0; !r && i < n; i++) {
		if (!(x[i] > 0) || !(y[i] > 0))
			r = -1;
		else
			lx[i] = log(x[i]), ly[i] = log(y[i]);
	}
	if (!r)
		r = stat_line(l, lx, ly, n);
	free(lx);
	return r;
}
