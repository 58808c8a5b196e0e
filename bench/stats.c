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

/* How U counts: the largest value is one of the n with probability n / (n + m), and then lies above all m. */
static void mann_whitney_table(double *p, size_t n, size_t m)
{
	size_t w = n * m + 1; /* p[(i * (m + 1) + j) * w + u]: P(U = u) for samples of i and j */
	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			double *q = p + (i * (m + 1) + j) * w, share = i + j ? (double)i / (double)(i + j) : 0;
			for (size_t u = 0; u <= i * j; u++) {
				q[u] = i + j == 0;
				if (i && u >= j && u - j <= (i - 1) * j)
					q[u] += share * p[((i - 1) * (m + 1) + j) * w + u - j];
				if (j && u <= i * (j - 1))
					q[u] += (1 - share) * p[(i * (m + 1) + j - 1) * w + u];
			}
		}
}

double stat_sign(size_t n, size_t k)
{
	double sum = 0, ln_all = lgamma((double)n + 1) - (double)n * log(2);
	for (; k <= n; k++)
		sum += exp(ln_all - lgamma((double)k + 1) - lgamma((double)(n - k) + 1));
	return sum < 1 ? sum : 1;
}

double stat_mann_whitney(size_t n, size_t m, size_t u)
{
	double sum = 0, nm = (double)n * (double)m;
	if (u >= n * m)
		return 1;
	if (n > STAT_EXACT || m > STAT_EXACT)
		return 0.5 * erfc(-((double)u + 0.5 - nm / 2) / sqrt(nm * (double)(n + m + 1) / 6));
	double *p = malloc((n + 1) * (m + 1) * (n * m + 1) * sizeof *p);
	if (!p)
		abort();
	mann_whitney_table(p, n, m);
	for (size_t i = 0; i <= u; i++)
		sum += p[(n * (m + 1) + m) * (n * m + 1) + i];
	free(p);
	return sum;
}

/* The number of ratios to leave out at either end: the largest k with P(U <= k - 1) <= 2.5 %. */
static size_t outside(size_t n, size_t m)
{
	size_t low = 0, high = n * m / 2;
	while (low < high) {
		size_t k = (low + high + 1) / 2;
		if (stat_mann_whitney(n, m, k - 1) <= 0.025)
			low = k;
		else
			high = k - 1;
	}
	return low;
}

static int all_positive(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(x[i] > 0 && x[i] < INFINITY))
			return 0;
	return n > 0;
}

int stat_shift(struct stat_shift *s, const double *a, size_t n, const double *b, size_t m)
{
	if (!all_positive(a, n) || !all_positive(b, m))
		return -1;
	double *r = malloc(n * m * sizeof *r), *x = sorted_copy(a, n), *y = sorted_copy(b, m);
	if (!r)
		abort();
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			r[i * m + j] = log(y[j] / x[i]);
	qsort(r, n * m, sizeof *r, ascending);
	size_t k = outside(n, m);
	s->ratio = exp(middle(r, n * m));
	s->low = k ? exp(r[k - 1]) : 0;
	s->high = k ? exp(r[n * m - k]) : INFINITY;
	s->apart = y[0] > x[(3 * n + 4) / 5 - 1] ? 1 : x[0] > y[(3 * m + 4) / 5 - 1] ? -1 : 0;
	free(r);
	free(x);
	free(y);
	return 0;
}
