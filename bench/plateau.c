/* Memory levels from a curve of bandwidth over footprint. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bench/roof.h"

/* Footprints are a factor of sqrt(2) apart: a plateau spans a factor of 3 at least, the slope between two does not. */
enum { MOST = 64, SHORTEST = 4 };

/* A level's plateau must beat noise, and a slope between two levels must not count as one: each further level has to
 * lower the sum of squares of log bandwidth by this much: a step of 1.6 between two plateaus of four points. */
#define PENALTY 0.45

static double spread(const double *y, size_t from, size_t to)
{
	double mean = 0, sum = 0;
	for (size_t i = from; i < to; i++)
		mean += y[i] / (double)(to - from);
	for (size_t i = from; i < to; i++)
		sum += (y[i] - mean) * (y[i] - mean);
	return sum;
}

/* The division of y[n] into at most ROOF_LEVELS constant runs with the least cost; start[k] is where run k begins.
 * Returns the number of runs. best[k][i]: least cost of y[0, i) in k + 1 runs; from[k][i]: where its last run begins. */
static size_t divide(const double *y, size_t n, size_t *start)
{
	static double best[ROOF_LEVELS][MOST + 1];
	static size_t from[ROOF_LEVELS][MOST + 1];
	for (size_t k = 0; k < ROOF_LEVELS; k++)
		for (size_t i = 0; i <= n; i++) {
			best[k][i] = k || i < SHORTEST ? INFINITY : spread(y, 0, i);
			from[k][i] = 0;
			for (size_t j = SHORTEST; k && j + SHORTEST <= i; j++) {
				double cost = best[k - 1][j] + spread(y, j, i);
				if (cost < best[k][i]) {
					best[k][i] = cost;
					from[k][i] = j;
				}
			}
		}
	size_t runs = 0;
	for (size_t k = 1; k < ROOF_LEVELS; k++)
		if (best[k][n] + PENALTY * (double)k < best[runs][n] + PENALTY * (double)runs)
			runs = k;
	for (size_t k = runs + 1, i = n; k-- > 0; i = from[k][i])
		start[k] = from[k][i];
	return runs + 1;
}

void roof_plateaus(struct roof_levels *l, const size_t *bytes, const double *rate, size_t n)
{
	double y[MOST];
	size_t start[ROOF_LEVELS + 1];
	memset(l, 0, sizeof *l);
	n = n < MOST ? n : MOST;
	for (size_t i = 0; i < n; i++)
		y[i] = log(rate[i]);
	l->n = divide(y, n, start);
	start[l->n] = n;
	for (size_t k = 0; k < l->n; k++) {
		size_t a = start[k], b = start[k + 1], last = k + 1 == l->n;
		if (last)
			snprintf(l->level[k].name, sizeof l->level[k].name, "memory");
		else
			snprintf(l->level[k].name, sizeof l->level[k].name, "L%u", (unsigned)k + 1);
		l->level[k].capacity = last ? SIZE_MAX : (size_t)sqrt((double)bytes[b - 1] * (double)bytes[b]);
		size_t best = a + (b - a) / 2; /* the best point that is not at an edge: a limit is not an average */
		for (size_t i = a + 1; i + 1 < b; i++)
			if (y[i] > y[best])
				best = i;
		l->level[k].probe = bytes[best];
		l->level[k].bytes_per_s = rate[best];
	}
}

size_t roof_level_of(const struct roof_levels *l, double bytes_per_thread)
{
	size_t i = 0;
	while (i + 1 < l->n && bytes_per_thread > (double)l->level[i].capacity)
		i++;
	return i;
}

const char *roof_level_name(const struct roof_levels *l, double bytes_per_thread)
{
	return l->n ? l->level[roof_level_of(l, bytes_per_thread)].name : "";
}
