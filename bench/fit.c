#include "bench/fit.h"

#include <math.h>
#include <string.h>

enum { TERMS = 3 };

static void terms(double t[TERMS], double n, double d)
{
	t[0] = 1;
	t[1] = n * d * d;
	t[2] = n * n * d;
}

double fit_at(const struct fit *f, double n, double d)
{
	double t[TERMS];
	terms(t, n, d);
	return f->c[0] * t[0] + f->c[1] * t[1] + f->c[2] * t[2];
}

/* Solves the m x m system a x = b by elimination with pivots. -1 when it is singular. */
static int solve(double a[TERMS][TERMS], double *b, int m)
{
	for (int k = 0; k < m; k++) {
		int p = k;
		for (int i = k + 1; i < m; i++)
			if (fabs(a[i][k]) > fabs(a[p][k]))
				p = i;
		if (fabs(a[p][k]) < 1e-12)
			return -1;
		for (int j = 0; j < m; j++) {
			double t = a[k][j];
			a[k][j] = a[p][j];
			a[p][j] = t;
		}
		double t = b[k];
		b[k] = b[p];
		b[p] = t;
		for (int i = k + 1; i < m; i++) {
			double f = a[i][k] / a[k][k];
			for (int j = k; j < m; j++)
				a[i][j] -= f * a[k][j];
			b[i] -= f * b[k];
		}
	}
	for (int k = m - 1; k >= 0; k--) {
		for (int j = k + 1; j < m; j++)
			b[k] -= a[k][j] * b[j];
		b[k] /= a[k][k];
	}
	return 0;
}

/* Least squares with the terms in `set` alone. Columns t/T are scaled to unit length, so that the normal equations are
 * as good as the question. Returns the sum of squares, or INFINITY. */
static double fit_set(double c[TERMS], unsigned set, const struct fit_point *p, size_t points)
{
	double norm[TERMS] = {0}, a[TERMS][TERMS] = {{0}}, b[TERMS] = {0}, t[TERMS];
	int use[TERMS], m = 0;
	for (int j = 0; j < TERMS; j++)
		if (set & (1u << j))
			use[m++] = j;
	for (size_t i = 0; i < points; i++) {
		terms(t, p[i].n, p[i].d);
		for (int j = 0; j < TERMS; j++)
			norm[j] += t[j] / p[i].seconds * t[j] / p[i].seconds;
	}
	for (size_t i = 0; i < points; i++) {
		terms(t, p[i].n, p[i].d);
		for (int j = 0; j < m; j++) {
			double x = t[use[j]] / p[i].seconds / sqrt(norm[use[j]]);
			b[j] += x;
			for (int k = 0; k < m; k++)
				a[j][k] += x * t[use[k]] / p[i].seconds / sqrt(norm[use[k]]);
		}
	}
	if (solve(a, b, m))
		return INFINITY;
	memset(c, 0, TERMS * sizeof *c);
	for (int j = 0; j < m; j++) {
		if (b[j] < 0)
			return INFINITY;
		c[use[j]] = b[j] / sqrt(norm[use[j]]);
	}
	double sum = 0;
	for (size_t i = 0; i < points; i++) {
		struct fit f = {.c = {c[0], c[1], c[2]}};
		double e = fit_at(&f, p[i].n, p[i].d) / p[i].seconds - 1;
		sum += e * e;
	}
	return sum;
}

int fit_cost(struct fit *f, const struct fit_point *p, size_t points)
{
	double best = INFINITY;
	memset(f, 0, sizeof *f);
	if (!points)
		return -1;
	for (size_t i = 0; i < points; i++)
		if (!(p[i].seconds > 0))
			return -1;
	/* Three terms: the best of all seven sets whose solution is not negative is the constrained optimum. */
	for (unsigned set = 1; set < 1u << TERMS; set++) {
		double c[TERMS], sum = fit_set(c, set, p, points);
		if (sum < best) {
			best = sum;
			memcpy(f->c, c, sizeof c);
		}
	}
	f->points = points;
	f->rms = sqrt(best / (double)points);
	return isfinite(best) ? 0 : -1;
}

/* -1: a is below b, 1: above, 0: a tie. */
static int side(double a, double b, double tie)
{
	double l = log(a / b);
	return l < -tie ? -1 : l > tie;
}

int fit_first_below(const double *a, const double *b, const double *tie, size_t points)
{
	for (size_t i = 0; i < points; i++)
		if (side(a[i], b[i], tie[i]))
			return side(a[i], b[i], tie[i]);
	return 0;
}

size_t fit_ties(const double *a, const double *b, const double *tie, size_t points, size_t *last)
{
	size_t ties = 0;
	for (size_t i = 0; i < points; i++)
		if (side(a[i], b[i], tie[i]))
			*last = i;
		else
			ties++;
	return ties;
}

double fit_crossing(const double *n, const double *a, const double *b, const double *tie, size_t points, double bracket[2])
{
	double at = 0;
	int last = 0, changes = 0;
	for (size_t i = 0, from = 0; i < points; i++) {
		int s = side(a[i], b[i], tie[i]);
		changes += s && last && s != last;
		if (s > 0 && last < 0) {
			double l = log(a[from] / b[from]), r = log(a[i] / b[i]);
			at = exp(log(n[from]) + (log(n[i]) - log(n[from])) * l / (l - r));
			if (bracket)
				bracket[0] = n[from], bracket[1] = n[i];
		}
		if (s) {
			last = s;
			from = i;
		}
	}
	return changes > 1 ? NAN : last < 0 ? INFINITY : at;
}

double fit_crossing_predicted(const struct fit *a, const struct fit *b, double d)
{
	enum { STEPS = 2400 };
	const double last = log(16777216.0);
	double at = 0, n0 = 1, g0 = fit_at(a, 1, d) - fit_at(b, 1, d);
	for (int i = 1; i <= STEPS; i++) {
		double n1 = exp(last * i / STEPS), g1 = fit_at(a, n1, d) - fit_at(b, n1, d);
		if (g0 < 0 && g1 >= 0)
			at = n0 + (n1 - n0) * g0 / (g0 - g1);
		n0 = n1;
		g0 = g1;
	}
	return g0 < 0 ? INFINITY : at;
}
