/* Every problem kind on its bench shapes. A kernel is single-threaded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/timed.h"
#include "tests/problem/problem.h"

/* Cold cases walk through so many copies that together they are beyond a core's own caches. */
enum { COLD_BYTES = 16 << 20, COLD_MOST = 512 };

struct copies {
	size_t n, next;
	struct problem p[];
};

/* Buffers start a cache line into their pages: a length of whole pages would end at the guard page, and a masked load of
 * no lanes that touches an inaccessible page costs 200 ns on some processors. */
enum { PLACE = 16 };

/* Reading and writing of the buffers: the stream whose mix is nearest. */
static enum roof_kind stream_of(const struct problem *p)
{
	double in = 0, out = 0, both = 0;
	for (int i = 0; i < p->nbufs; i++) {
		double n = (double)p->buf[i].g.n;
		if (p->buf[i].input)
			in += n;
		else if (p->buf[i].orig)
			both += n;
		else
			out += n;
	}
	double writes = out + both, share = writes / (writes + in + both);
	return share < 1 / 6.0 ? ROOF_READ : 2 * both >= writes ? ROOF_UPDATE : share < 5 / 12.0 ? ROOF_TRIAD : ROOF_COPY;
}

static double footprint(const struct problem *p)
{
	double n = 0;
	for (int i = 0; i < p->nbufs; i++)
		n += 4 * (double)p->buf[i].g.n;
	return n;
}

static void set_work(struct timed *t, const struct copies *m)
{
	const struct problem_kind *kind = t->kind;
	t->work.flops = kind->flops(t->dim);
	t->work.bytes = kind->bytes(t->dim);
	t->work.footprint = footprint(m->p) * (double)m->n;
	t->work.stream = stream_of(m->p);
}

static int open_kernel(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	const struct problem_kind *kind = t->kind;
	size_t n = 1;
	if (strcmp(t->state, "cold") == 0) {
		n = (size_t)(COLD_BYTES / (kind->bytes(t->dim) + 1)) + 1;
		n = n > COLD_MOST ? COLD_MOST : n;
	}
	struct copies *m = calloc(1, sizeof *m + n * sizeof *m->p);
	if (!m)
		return n2d_error("no memory");
	for (; m->n < n; m->n++)
		problem_open(m->p + m->n, kind, c->ctx->k, t->dim, PLACE, m->n + 1);
	size_t failed = problem_run(m->p);
	if (failed)
		n2d_error("failed its check: %s", m->p->first);
	set_work(t, m);
	t->memory = m;
	if (failed)
		c->close(c);
	return failed ? -1 : 0;
}

static void run_kernel(struct bench_case *c, size_t calls, struct sample *s)
{
	struct timed *t = timed_of(c);
	struct copies *m = t->memory;
	const struct problem_kind *kind = t->kind;
	uint64_t fp = n2d_fpenv_flush(); /* as under every operator */
	(void)s;
	for (size_t i = 0; i < calls; i++) {
		kind->call(m->p + m->next, c->ctx->k);
		m->next = m->next + 1 == m->n ? 0 : m->next + 1;
	}
	n2d_fpenv_restore(fp);
}

static void close_kernel(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	struct copies *m = t->memory;
	for (size_t i = 0; i < m->n; i++)
		problem_close(m->p + i);
	free(m);
	t->memory = NULL;
}

static void add(struct timed *t, size_t *n, size_t room, const struct n2d_ctx *ctx, const struct problem_kind *kind,
		const size_t *dim, const char *state)
{
	char shape[72];
	problem_name(kind, dim, shape, sizeof shape);
	struct timed *x = timed_new(t, n, room, ctx, kind->kernel, shape, state);
	if (!x)
		return;
	x->kind = kind;
	memcpy(x->dim, dim, sizeof x->dim);
	x->c.open = open_kernel;
	x->c.run = run_kernel;
	x->c.close = close_kernel;
}

/* Where a call does few operations a byte, it matters where the bytes come from. */
static int cold_matters(const struct problem_kind *kind, const size_t *dim)
{
	double flops = kind->flops(dim), bytes = kind->bytes(dim);
	return bytes > 0 && bytes < 1 << 20 && flops < 8 * bytes;
}

size_t timed_kernels(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx)
{
	for (size_t i = 0; problem_kinds[i]; i++)
		for (const size_t(*dim)[PROBLEM_DIMS] = problem_kinds[i]->bench; dim && **dim != SIZE_MAX; dim++) {
			add(t, &n, room, ctx, problem_kinds[i], *dim, "warm");
			if (cold_matters(problem_kinds[i], *dim))
				add(t, &n, room, ctx, problem_kinds[i], *dim, "cold");
		}
	return n;
}
