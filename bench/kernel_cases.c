/* Every problem kind on its bench shapes. A kernel is single-threaded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "bench/timed.h"
#include "tests/problem/problem.h"

/* Cold cases walk through so many copies that together they are beyond a core's own caches. */
enum { COLD_BYTES = 16 << 20, COLD_MOST = 512 };

/* They lie in one touched arena: pages of their own, each between two that are protected, cost what no program pays. */
struct copies {
	struct n2d_arena memory;
	size_t n, next;
	struct problem p[];
};

enum { PLACE = 16 }; /* of the check */

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

static size_t copies_of(const struct timed *t)
{
	const struct problem_kind *kind = t->kind;
	size_t n = (size_t)(COLD_BYTES / (kind->bytes(t->dim) + 1)) + 1;
	return strcmp(t->state, "cold") != 0 ? 1 : n > COLD_MOST ? COLD_MOST : n;
}

/* Checked between guard pages; returns the bytes of a copy, 0 and a message when it failed. */
static size_t checked(const struct timed *t, const struct n2d_kernels *k)
{
	struct problem p;
	size_t bytes = 64;
	problem_open(&p, t->kind, k, t->dim, PLACE, 1);
	for (int i = 0; i < p.nbufs; i++)
		bytes += guard_cut_bytes(p.buf[i].g.n);
	if (problem_run(&p)) {
		n2d_error("failed its check: %s", p.first);
		bytes = 0;
	}
	problem_close(&p);
	return bytes;
}

static int open_kernel(struct bench_case *c)
{
	struct timed *t = timed_of(c);
	size_t n = copies_of(t), bytes = checked(t, c->ctx->k);
	struct copies *m = bytes ? calloc(1, sizeof *m + n * sizeof *m->p) : NULL;
	if (!m)
		return bytes ? n2d_error("no memory") : -1;
	if (n2d_arena_init(&m->memory, n * bytes)) {
		free(m);
		return -1;
	}
	n2d_arena_touch(&m->memory);
	guard_cut_from(n2d_arena_get(&m->memory, n * bytes), n * bytes);
	for (; m->n < n; m->n++)
		problem_open(m->p + m->n, t->kind, c->ctx->k, t->dim, PLACE, m->n + 1);
	guard_cut_from(NULL, 0);
	set_work(t, m);
	t->memory = m;
	return 0;
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
	n2d_arena_free(&m->memory);
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
