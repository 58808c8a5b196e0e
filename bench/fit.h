/* What a layer costs, fitted: T = c0 + c1 n d^2 + c2 n^2 d, and where two costs cross. */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include <stddef.h>

struct fit_point {
	double n, d, seconds;
};

struct fit {
	size_t points;
	double c[3];
	double rms; /* root mean square of the relative errors */
};

/* Least squares of the relative error sum ((fit - T) / T)^2 with c >= 0: a negative cost means nothing. Terms that the
 * points cannot tell apart (d never changes, say) leave the one that fits best. -1 when no point is positive. */
int fit_cost(struct fit *f, const struct fit_point *p, size_t points);
double fit_at(const struct fit *f, double n, double d);

/* n at which curve a stops being below curve b, both over the same ascending n: by a straight line on log axes between the
 * points before and after. Points where the two are within tie[i] of each other (of the logarithms) say neither. 0: a is never below;
 * INFINITY: a is still below at the last point that says; NAN: the two change places more than once, which two costs of these terms do not: noise.
 * bracket: those two points' n, where there is a crossing; or NULL. */
double fit_crossing(const double *n, const double *a, const double *b, const double *tie, size_t points, double bracket[2]);
/* Which is below at the first point that says: -1 a, 1 b, 0 none does. */
int fit_first_below(const double *a, const double *b, const double *tie, size_t points);

/* How many points say neither; the last that says one is put into *last, if there is any. */
size_t fit_ties(const double *a, const double *b, const double *tie, size_t points, size_t *last);

/* n of the crossing from two fits at width d, searched up to n = 2^24. */
double fit_crossing_predicted(const struct fit *a, const struct fit *b, double d);

#endif
