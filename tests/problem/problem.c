#include "config.h"

#include "tests/problem/problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM(name) extern const struct problem_kind problem_##name;
#include "tests/problem/kinds.def"
#undef PROBLEM

const struct problem_kind *const problem_kinds[] = {
#define PROBLEM(name) &problem_##name,
#include "tests/problem/kinds.def"
#undef PROBLEM
	NULL,
};

static float *buffer(struct problem *p, size_t n)
{
	if (p->nbufs == PROBLEM_BUFS) {
		fprintf(stderr, "%s: more than %d buffers\n", p->kind->kernel, PROBLEM_BUFS);
		exit(99);
	}
	struct problem_buf *b = p->buf + p->nbufs++;
	guard_alloc(&b->g, n, p->place);
	return b->g.p;
}

static void keep(struct problem *p, int buf)
{
	struct problem_buf *b = p->buf + buf;
	if (!b->orig && !(b->orig = malloc(b->g.n * sizeof(float) + 1)))
		exit(99);
	memcpy(b->orig, b->g.p, b->g.n * sizeof(float));
}

float *problem_inout(struct problem *p, size_t n)
{
	float *x = buffer(p, n);
	n2d_rng_fill_normal(&p->rng, x, n, 0, 1);
	keep(p, p->nbufs - 1);
	return x;
}

float *problem_in(struct problem *p, size_t n)
{
	float *x = problem_inout(p, n);
	p->buf[p->nbufs - 1].input = 1;
	return x;
}

float *problem_out(struct problem *p, size_t n)
{
	float *x = buffer(p, n);
	for (size_t i = 0; i < n; i++)
		x[i] = NAN;
	return x;
}

void problem_fail(struct problem *p, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (!p->failed++)
		vsnprintf(p->first, sizeof p->first, format, ap);
	va_end(ap);
}

void problem_near(struct problem *p, const char *what, size_t i, double got, double want, double bound)
{
	p->checked++;
	p->nonzero += want != 0;
	int good = isnan(want) ? isnan(got) : isinf(want) ? got == want : fabs(got - want) <= bound;
	if (!good)
		problem_fail(p, "%s[%zu] = %.9g, should be %.9g, off by %.3g, bound %.3g", what, i, got, want, fabs(got - want),
			     bound);
}

void problem_ulp(struct problem *p, const char *what, size_t i, float got, double want, double ulps)
{
	int e = 0;
	if (want != 0 && isfinite(want))
		frexp(want, &e);
	double ulp = e < -125 ? 0x1p-149 : ldexp(1, e - 24);
	if (isfinite(want) && fabs(want) >= 0x1.ffffffp127) /* rounds to infinity; so may its neighbour */
		want = got == copysign(INFINITY, want) ? got : want;
	problem_near(p, what, i, got, want, ulps * ulp);
}

void problem_same(struct problem *p, const char *what, size_t i, float got, float want)
{
	p->checked++;
	p->nonzero += want != 0;
	if (memcmp(&got, &want, sizeof got) != 0)
		problem_fail(p, "%s[%zu] = %.9g, should be %.9g exactly", what, i, (double)got, (double)want);
}

void problem_use(struct problem_use *u, size_t a, size_t b, size_t c, size_t d, size_t e, size_t f)
{
	size_t dim[PROBLEM_DIMS] = {a, b, c, d, e, f};
	u->fn(u, dim);
}

void problem_sizes(struct problem_use *u, const struct n2d_kernels *k)
{
	size_t v = k->lanes, last = 0;
	for (size_t n = 0; n <= 3; n++)
		problem_use(u, n, 0, 0, 0, 0, 0), last = n;
	for (size_t m = 1; m <= 9; m++)
		for (size_t n = m * v - 1; n <= m * v + 1; n++)
			if (n > last)
				problem_use(u, n, 0, 0, 0, 0, 0), last = n;
	static const size_t large[] = {257, 288, 1000, 1024, 1025, 1026, 4099};
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		if (large[i] > last)
			problem_use(u, large[i], 0, 0, 0, 0, 0);
}

void problem_open(struct problem *p, const struct problem_kind *kind, const struct n2d_kernels *k, const size_t *dim, int place,
		  uint64_t seed)
{
	memset(p, 0, sizeof *p);
	p->k = k;
	p->kind = kind;
	memcpy(p->dim, dim, sizeof p->dim);
	p->place = place;
	n2d_rng_init(&p->rng, seed, 0);
	kind->setup(p);
	for (int i = 0; i < p->nbufs; i++) /* setup may have changed what the helpers filled in */
		if (p->buf[i].orig)
			keep(p, i);
}

size_t problem_run(struct problem *p)
{
	p->checked = p->nonzero = p->failed = 0;
	p->kind->call(p, p->k);
	for (int i = 0; i < p->nbufs; i++) {
		const struct problem_buf *b = p->buf + i;
		if (guard_check(&b->g))
			problem_fail(p, "wrote outside buffer %d", i);
		if (b->input && memcmp(b->orig, b->g.p, b->g.n * sizeof(float)) != 0)
			problem_fail(p, "changed its input, buffer %d", i);
	}
	p->kind->check(p);
	if (!p->kind->sparse && p->checked >= 16 && p->nonzero < p->checked / 4)
		problem_fail(p, "mistrusted: only %zu of %zu expected values are not 0", p->nonzero, p->checked);
	return p->failed;
}

void problem_close(struct problem *p)
{
	for (int i = 0; i < p->nbufs; i++) {
		guard_free(&p->buf[i].g);
		free(p->buf[i].orig);
	}
	memset(p, 0, sizeof *p);
}

void problem_name(const struct problem_kind *kind, const size_t *dim, char *text, size_t size)
{
	size_t used = 0;
	text[0] = 0;
	const char *s = kind->dims;
	for (int i = 0; i < PROBLEM_DIMS && *s; i++) {
		int len = (int)strcspn(s, " ");
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%.*s=%zu", i ? "," : "", len, s, dim[i]);
		s += len + (s[len] == ' ');
	}
}
