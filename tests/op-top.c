/* The most probable entries of rows of logits, which are products. */
#include "config.h"

#include <math.h>

#include "op/gemm.h"
#include "op/top.h"
#include "tests/problem/guard.h"
#include "tests/unit.h"

static struct n2d_ctx ctx;

struct rows {
	struct n2d_top t;
	struct guard x, w, packed, bias, logp, id, of, ws;
};

static float *make(struct guard *g, size_t n)
{
	guard_alloc(g, n, GUARD_END);
	for (size_t i = 0; i < n; i++)
		g->p[i] = NAN;
	return g->p;
}

static void rows_open(struct rows *r, size_t rows, size_t D, size_t V, size_t c)
{
	struct n2d_rng rng;
	r->t = (struct n2d_top){.rows = rows, .D = D, .V = V, .c = c, .of = (int32_t)(V / 2)};
	n2d_rng_init(&rng, 5, rows * V + c);
	n2d_rng_fill_normal(&rng, make(&r->x, rows * D), rows * D, 0, 1);
	n2d_rng_fill_normal(&rng, make(&r->w, V * D), V * D, 0, 1);
	n2d_rng_fill_normal(&rng, make(&r->bias, V), V, 0, 1);
	make(&r->packed, n2d_packed_floats(&ctx, D, V));
	make(&r->ws, n2d_top_workspace(&ctx, &r->t));
	make(&r->logp, rows * c), make(&r->id, rows * c), make(&r->of, rows);
}

static void rows_close(struct rows *r)
{
	struct guard *all[] = {&r->x, &r->w, &r->packed, &r->bias, &r->logp, &r->id, &r->of, &r->ws};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_equal(guard_check(all[i]), 0);
		guard_free(all[i]);
	}
}

static int32_t *run(struct rows *r)
{
	n2d_pack(&ctx, r->packed.p, 1, r->t.D, r->t.V, r->w.p, r->t.D);
	r->t.packed = r->packed.p;
	r->t.bias = r->bias.p;
	n2d_top(&ctx, &r->t, r->logp.p, (int32_t *)r->id.p, r->of.p, r->x.p, r->ws.p);
	return (int32_t *)r->id.p;
}

/* Exact logits of a row and log sum exp of them. An element is off by at most e = (D + 2) u times the sum of |x w| + |bias|; so is the log of
 * a sum of exponentials, and that by its own rounding: (V + 8) u for the sum at most, and a result by u |logp|. */
static double logits(const struct rows *r, size_t row, double *z, double *e)
{
	double top = -INFINITY, sum = 0;
	*e = 0;
	for (size_t v = 0; v < r->t.V; v++) {
		double abs = fabs((double)r->bias.p[v]);
		z[v] = r->bias.p[v];
		for (size_t i = 0; i < r->t.D; i++) {
			double p = (double)r->x.p[row * r->t.D + i] * r->w.p[v * r->t.D + i];
			z[v] += p;
			abs += fabs(p);
		}
		*e = fmax(*e, (double)(r->t.D + 2) * 0x1p-24 * abs);
		top = fmax(top, z[v]);
	}
	for (size_t v = 0; v < r->t.V; v++)
		sum += exp(z[v] - top);
	return top + log(sum);
}

static void compare(const struct rows *r, size_t row)
{
	size_t V = r->t.V, c = r->t.c;
	const float *logp = r->logp.p + row * c;
	const int32_t *id = (const int32_t *)r->id.p + row * c;
	double *z = calloc(V, sizeof *z), e, sum = logits(r, row, z, &e);
	char *taken = calloc(V, 1);
	for (size_t i = 0; i < c; i++) {
		double want = z[id[i]] - sum, bound = 2 * e + (double)(V + 8) * 0x1p-24 + 2 * fabs(want) * 0x1p-24;
		assert_true(id[i] >= 0 && (size_t)id[i] < V && !taken[id[i]]);
		taken[id[i]] = 1;
		UNIT_NEAR(ctx.k->isa, "logp", row * 1000 + i, logp[i], want, bound);
		assert_true(i == 0 || logp[i] <= logp[i - 1]);
	}
	for (size_t v = 0; v < V; v++) /* nothing larger was left */
		assert_true(taken[v] || z[v] <= z[id[c - 1]] + 2 * e);
	double want = z[r->t.of] - sum;
	UNIT_NEAR(ctx.k->isa, "of", row, r->of.p[row], want, 2 * e + (double)(V + 8) * 0x1p-24 + 2 * fabs(want) * 0x1p-24);
	free(z);
	free(taken);
}

static void sizes(void **state)
{
	static const size_t shape[][4] = {{1, 3, 1, 1}, {1, 5, 9, 9}, {3, 8, 1023, 4}, {1, 16, 5000, 8}, {2, 1, 1025, 1025}, {57, 7, 2500, 3}, {130, 4, 1100, 5}};
	(void)state;
	for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
		struct rows r;
		rows_open(&r, shape[i][0], shape[i][1], shape[i][2], shape[i][3]);
		run(&r);
		for (size_t row = 0; row < r.t.rows; row++)
			compare(&r, row);
		rows_close(&r);
	}
}

/* A row alone, and with another number of threads, and in the workspace of more rows. */
static void bits_are_a_rows_own(void **state)
{
	struct rows r;
	struct n2d_ctx two = ctx;
	int32_t id[8], *all;
	float logp[8], of;
	(void)state;
	rows_open(&r, 150, 24, 3000, 8);
	all = run(&r);
	for (int threads = 1; threads <= 2; threads++)
		for (size_t row = 0; row < 150; row += 37) {
			struct n2d_top one = r.t;
			one.rows = 1;
			two.threads = threads;
			n2d_top(&two, &one, logp, id, &of, r.x.p + row * r.t.D, r.ws.p);
			assert_memory_equal(logp, r.logp.p + row * 8, sizeof logp);
			assert_memory_equal(id, all + row * 8, sizeof id);
			assert_memory_equal(&of, r.of.p + row, sizeof of);
		}
	rows_close(&r);
}

/* x = 1 and D = 1: the logits are w. Equal ones, and what is no number or infinite. */
static void ties_and_infinities(void **state)
{
	struct rows r;
	(void)state;
	rows_open(&r, 1, 1, 3000, 4);
	r.x.p[0] = 1;
	for (size_t v = 0; v < 3000; v++)
		r.w.p[v] = r.bias.p[v] = 0;
	r.w.p[2999] = r.w.p[1500] = r.w.p[1499] = r.w.p[7] = r.w.p[2000] = 3;
	const int32_t *id = run(&r);
	assert_true(id[0] == 7 && id[1] == 1499 && id[2] == 1500 && id[3] == 2000);
	for (size_t v = 0; v < 2048; v++)
		r.w.p[v] = -INFINITY; /* a block without any */
	id = run(&r);
	assert_true(id[0] == 2999 && id[1] == 2048 && id[2] == 2049);
	UNIT_NEAR(ctx.k->isa, "logp", 0, r.logp.p[0], 3 - log(exp(3) + 951), 3008 * 0x1p-24);
	r.w.p[1234] = NAN;
	id = run(&r);
	assert_true(id[0] == -1 && id[3] == -1);
	r.w.p[1234] = INFINITY;
	id = run(&r);
	assert_true(id[0] == -1);
	for (size_t v = 0; v < 3000; v++)
		r.w.p[v] = -INFINITY;
	id = run(&r);
	assert_true(id[0] == -1);
	rows_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes), cmocka_unit_test(bits_are_a_rows_own), cmocka_unit_test(ties_and_infinities),
	};
	int failed = 0;
	UNIT_EACH_ISA(ctx, 2) {
		printf("%s\n", ctx.k->isa);
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed != 0;
}
