/* Each kernel once on each of its small shapes, for tests/instructions.sh to count instructions of:
 *
 *	valgrind --tool=callgrind --dump-before=count_next --toggle-collect=count_call count-kernels ISA
 *
 * writes a profile a case, whose total is the call's, and this program prints the cases in the same order. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/problem/problem.h"

#ifdef __clang__
#define COMPILER "clang"
#define WHOLE __attribute__((noinline))
#else
#define COMPILER "gcc"
#define WHOLE __attribute__((noinline, noclone)) /* so that it is called by its name */
#endif

/* Calls a hundred times as dear tell no more. */
enum { MOST_BYTES = 1 << 20 };
#define MOST_FLOPS 2e7

WHOLE void count_next(const char *what);
WHOLE void count_call(struct problem *p);

void count_next(const char *what)
{
	puts(what);
	fflush(stdout);
}

void count_call(struct problem *p) { p->kind->call(p, p->k); }

static void count(const struct problem_kind *kind, const struct n2d_isa *isa, const size_t *dim)
{
	static struct problem p;
	char shape[72], id[160];
	problem_name(kind, dim, shape, sizeof shape);
	snprintf(id, sizeof id, "%s/%s/%s", kind->kernel, isa->name, shape);
	p = (struct problem){0};
	problem_open(&p, kind, isa->k, dim, 16, 1);
	count_next(id);
	count_call(&p);
	problem_close(&p);
}

/* Kinds that are timed within another have no shapes of their own: the dearest of those that are tested. */
struct dearest {
	const struct problem_kind *kind;
	size_t dim[PROBLEM_DIMS];
	double cost;
};

static void consider(struct problem_use *u, const size_t *dim)
{
	struct dearest *d = u->arg;
	double cost = d->kind->flops(dim) + d->kind->bytes(dim);
	if (cost > d->cost) {
		memcpy(d->dim, dim, sizeof d->dim);
		d->cost = cost;
	}
}

static void count_kind(const struct problem_kind *kind, const struct n2d_isa *isa)
{
	struct dearest d = {.kind = kind};
	struct problem_use u = {consider, &d};
	if (kind->bench && **kind->bench != SIZE_MAX) {
		for (const size_t(*dim)[PROBLEM_DIMS] = kind->bench; **dim != SIZE_MAX; dim++)
			if (kind->bytes(*dim) <= MOST_BYTES && kind->flops(*dim) <= MOST_FLOPS)
				count(kind, isa, *dim);
		return;
	}
	kind->shapes(&u, isa->k);
	if (d.cost > 0)
		count(kind, isa, d.dim);
}

int main(int argc, char **argv)
{
	const struct n2d_isa *isa = argc == 2 ? n2d_isa_find(argv[1]) : NULL;
	printf("# %s %d.%d.%d %s\n", COMPILER,
#ifdef __clang__
	       __clang_major__, __clang_minor__, __clang_patchlevel__,
#else
	       __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__,
#endif
	       N2D_BUILD_CFLAGS);
	if (!isa || !isa->k || !isa->supported)
		return 2;
	for (size_t i = 0; problem_kinds[i]; i++)
		count_kind(problem_kinds[i], isa);
	count_next("");
	return 0;
}
