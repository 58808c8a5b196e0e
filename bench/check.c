#include "bench/check.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "tests/problem/problem.h"

int check_kernel(const struct n2d_kernels *k, const char *name, size_t n)
{
	size_t dim[PROBLEM_DIMS] = {n};
	for (size_t i = 0; problem_kinds[i]; i++) {
		if (strcmp(problem_kinds[i]->kernel, name) != 0)
			continue;
		struct problem p;
		problem_open(&p, problem_kinds[i], k, dim, 0, 1);
		size_t failed = problem_run(&p);
		int r = failed ? n2d_error("%s/%s failed its check: %s", name, k->isa, p.first) : 0;
		problem_close(&p);
		return r;
	}
	return n2d_error("%s has no problem", name);
}

int check_close(const char *what, const float *got, const float *want, size_t n, double bound)
{
	double err = 0, norm = 0;
	for (size_t i = 0; i < n; i++) {
		double e = (double)got[i] - (double)want[i];
		err += e * e;
		norm += (double)want[i] * (double)want[i];
	}
	if (norm > 0 && sqrt(err) <= bound * sqrt(norm))
		return 0;
	if (norm == 0)
		return n2d_error("%s is expected to be 0 everywhere at this size, which shows nothing", what);
	return n2d_error("%s is off by %.3g of its norm %.3g, allowed is %.3g", what, sqrt(err / norm), sqrt(norm), bound);
}
