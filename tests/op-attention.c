/* Attention against naive loops in double, forward and backward. */
#include "tests/attention-case.h"

#include "base/size.h"
#include "tests/oracle-attention.h"

/* The rows of x agree with want[B*H][T][K] within bound, and nothing between them was written. */
static void compare(const char *isa, const char *what, const struct n2d_attention *a, struct array x, struct n2d_strides s,
		    size_t T, const double *want, const double *bound)
{
	char *inside = calloc(x.floats + 1, 1);
	size_t i = 0;
	EACH_ROW(a, s, T)
		for (size_t k = 0; k < a->K; k++, i++) {
			UNIT_NEAR(isa, what, i, x.p[at + k], want[i], bound[i]);
			inside[at + k] = 1;
		}
	for (size_t j = 0; j < x.floats; j++)
		if (!inside[j] && !isnan(x.p[j]))
			fail_msg("%s: %s: wrote between rows at %zu", isa, what, j);
	free(inside);
}

static struct oracle *solve(struct work *w)
{
	struct oracle *o = oracle_new(&w->a);
	o->materialised = w->materialised;
	oracle_forward(o, w->q.p, w->k.p, w->v.p);
	oracle_backward(o, w->d.p, w->q.p, w->k.p, w->v.p);
	return o;
}

/* The operands, and so the oracle, are the same for every instruction set. */
static void check_version(const struct n2d_attention *a, uint64_t seed, int threads, int materialised)
{
	struct oracle *o = NULL;
	struct n2d_ctx ctx;
	char what[160];
	snprintf(what, sizeof what, "%sB%zu H%zu Tq%zu Tk%zu K%zu causal%d R%zu klen%d", materialised ? "materialised " : "", a->B, a->H, a->Tq, a->Tk, a->K,
		 a->causal, a->window, a->klen ? a->klen[0] : -1);
	UNIT_EACH_ISA(ctx, threads) {
		struct work w;
		work_init(&w, &ctx, a, seed);
		if (materialised)
			work_materialise(&w, &ctx);
		o = o ? o : solve(&w);
		forward(&ctx, &w);
		compare(ctx.k->isa, what, a, w.o, a->o, a->Tq, o->O, o->eO);
		for (size_t i = 0; !materialised && i < a->B * a->H * a->Tq; i++)
			UNIT_NEAR(ctx.k->isa, "lse", i, w.lse.p[i], o->lse[i], o->else_[i]);
		backward(&ctx, &w);
		compare(ctx.k->isa, "dQ", a, w.dq, a->q, a->Tq, o->dQ, o->eQ);
		compare(ctx.k->isa, "dK", a, w.dk, a->k, a->Tk, o->dK, o->eK);
		compare(ctx.k->isa, "dV", a, w.dv, a->v, a->Tk, o->dV, o->eV);
		work_free(&w);
	}
	oracle_free(o);
}

/* Four FLOPs a feature of each pair that sees each other: what all per cents of peak stand on. */
static void check_flops(const struct n2d_attention *a)
{
	size_t pairs = 0;
	for (size_t b = 0; b < a->B; b++)
		for (size_t i = 0; i < a->Tq; i++)
			for (size_t j = 0; j < a->Tk; j++)
				pairs += (size_t)oracle_sees(a, b, i, j);
	size_t want = 4 * pairs * a->H * a->K;
	if (n2d_attention_flops(a) != (double)want)
		fail_msg("%zu FLOPs, should be %zu: B%zu Tq%zu Tk%zu causal%d R%zu", (size_t)n2d_attention_flops(a), want, a->B, a->Tq, a->Tk, a->causal, a->window);
}

static void check(const struct n2d_attention *a, uint64_t seed, int threads)
{
	check_flops(a);
	check_version(a, seed, threads, 0);
	check_version(a, seed, threads, 1);
}

static void test_sizes(void **state)
{
	(void)state;
	static const size_t t[][2] = {{0, 5}, {5, 0}, {1, 1}, {1, 257}, {5, 3}, {3, 5}, {12, 32}, {13, 33}, {33, 33}, {24, 191}, {25, 192}, {49, 193}, {97, 385}, {300, 50}, {50, 300}};
	for (size_t i = 0; i < LENGTH(t); i++)
		for (int m = 0; m < MASKS; m++) {
			struct n2d_attention a = shape(2, 2, t[i][0], t[i][1], 5 + i % 5, m);
			int32_t klen[2] = {(int32_t)t[i][1], (int32_t)(t[i][1] / 2)};
			check(&a, i, 1);
			a.klen = klen;
			check(&a, i + 100, 1);
		}
}

static void test_widths(void **state)
{
	(void)state;
	static const size_t k[] = {0, 1, 3, 5, 7, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128};
	for (size_t i = 0; i < LENGTH(k); i++) {
		struct n2d_attention a = shape(2, 3, 37, 41, k[i], (int)i % MASKS), f = shape(2, 3, 203, 203, k[i], (int)(i + 1) % MASKS);
		if (!k[i])
			a.scale = f.scale = 1;
		int32_t klen[2] = {7, 41}, qlen[2] = {37, 11};
		f.q = f.k = f.v = fused(3, f.H, f.Tq, f.K);
		check(&f, i, 2);
		a.klen = klen, a.qlen = qlen;
		check(&a, i, 2);
	}
}

/* Lengths and head sizes beside powers of two. */
static void test_odd(void **state)
{
	(void)state;
	static const size_t n[] = {2, 3, 7, 15, 17, 31, 63, 65, 127, 129}, k[] = {1, 3, 5, 7, 9, 63, 65};
	for (size_t i = 0; i < LENGTH(n); i++)
		for (size_t j = 0; j < LENGTH(k); j++) {
			struct n2d_attention a = shape(1, 1, n[i], n[i], k[j], (int)((i + j) % MASKS));
			check(&a, i + j, 1);
		}
}

/* One and a half tiles of keys, powers of two and their neighbours, twice as many queries as keys. */
static void test_large(void **state)
{
	(void)state;
	static const struct {
		size_t Tq, Tk, K;
		int mask;
	} t[] = {{250, 250, 33, 0}, {288, 288, 9, 1}, {1024, 1024, 7, 1}, {1025, 1025, 20, 0}, {1025, 1025, 64, 1}, {1025, 1025, 20, 2}, {1026, 1026, 5, 3}, {2048, 1024, 3, 1}};
	for (size_t i = 0; i < LENGTH(t); i++) {
		struct n2d_attention a = shape(1, 1, t[i].Tq, t[i].Tk, t[i].K, t[i].mask);
		check(&a, 3 + i, 2);
	}
}

/* Sentences as training has them: lengths that differ a little, self-attention in one projection, cross-attention
 * to another sentence's keys and values. */
static void test_sentences(void **state)
{
	(void)state;
	static const size_t k[] = {8, 32, 40};
	const int32_t len[] = {16, 13, 14, 15, 1, 16, 0, 12, 15}, other[] = {11, 20, 1, 7, 16, 17, 5, 0, 20};
	for (size_t i = 0; i < LENGTH(k); i++)
		for (int m = 0; m < 3; m++) {
			struct n2d_attention a = shape(9, 2, 16, 16, k[i], m), c = shape(9, 2, 16, 20, k[i], m);
			a.q = a.k = a.v = fused(3, a.H, 16, k[i]);
			a.klen = a.qlen = len;
			check(&a, i, 2);
			c.k = c.v = fused(2, c.H, 20, k[i]);
			c.qlen = len, c.klen = other;
			check(&c, i, 2);
		}
}

/* One query a sentence, caches of any length. */
static void test_one_query(void **state)
{
	(void)state;
	static const size_t n[] = {1, 2, 15, 16, 17, 191, 192, 193, 400};
	for (int threads = 1; threads <= 3; threads += 2)
		for (size_t i = 0; i < LENGTH(n); i++)
			for (int m = 0; m < MASKS; m++) {
				struct n2d_attention a = shape(2 + i % 2, 3, 1, n[i], 5 + 9 * (i % 4), m);
				int32_t klen[3] = {(int32_t)n[i], (int32_t)(n[i] / 2), 1};
				a.k = a.v = fused(1, a.H, n[i], a.K);
				check(&a, i, threads);
				a.klen = klen;
				check(&a, i, threads);
			}
}

/* Streaming needs memory in proportion to n: at n = 8192 no more than 64 MiB on top of operands. */
static void test_memory(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	for (int threads = 1; threads <= 4; threads++)
		UNIT_EACH_ISA(ctx, threads) {
			struct n2d_attention a = shape(1, 8, 8192, 8192, 64, 0);
			assert_true(n2d_attention_fwd_workspace(&ctx, &a) * sizeof(float) <= (size_t)64 << 20);
			assert_true(n2d_attention_bwd_workspace(&ctx, &a) * sizeof(float) <= (size_t)64 << 20);
		}
}

/* ---- the oracle itself: its gradients against central differences of its forward */

static double loss(struct oracle *o, struct work *w)
{
	double sum = 0;
	size_t i = 0;
	memset(o->O, 0, o->a.B * o->a.H * o->a.Tq * o->a.K * sizeof *o->O);
	oracle_forward(o, w->q.p, w->k.p, w->v.p);
	EACH_ROW(&w->a, w->a.o, w->a.Tq)
		for (size_t k = 0; k < w->a.K; k++)
			sum += w->d.p[at + k] * o->O[i++];
	return sum;
}

/* Steps of h = 2^-7: truncation h^2/6 times third derivatives of order 1, rounding 1e-16 / h. */
static void differences(struct work *w, float *p, struct n2d_strides s, size_t T, const double *grad)
{
	struct oracle *o = oracle_new(&w->a);
	size_t i = 0;
	EACH_ROW(&w->a, s, T)
		for (size_t k = 0; k < w->a.K; k++, i++) {
			float x = p[at + k], up = x + 0x1p-7f, down = x - 0x1p-7f;
			p[at + k] = up;
			double a = loss(o, w);
			p[at + k] = down;
			double d = (a - loss(o, w)) / ((double)up - (double)down);
			p[at + k] = x;
			UNIT_NEAR("oracle", "difference", i, grad[i], d, 2e-4);
		}
	oracle_free(o);
}

static void test_oracle(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	assert_int_equal(n2d_ctx_init(&ctx, "scalar", 1), 0);
	for (int m = 0; m < 4; m++) {
		struct n2d_attention a = shape(1, 2, 6, 8, 3, m);
		int32_t klen = 7;
		struct work w;
		a.klen = &klen;
		work_init(&w, &ctx, &a, 11);
		struct oracle *o = oracle_new(&a);
		oracle_forward(o, w.q.p, w.k.p, w.v.p);
		oracle_backward(o, w.d.p, w.q.p, w.k.p, w.v.p);
		differences(&w, w.q.p, a.q, a.Tq, o->dQ);
		differences(&w, w.k.p, a.k, a.Tk, o->dK);
		differences(&w, w.v.p, a.v, a.Tk, o->dV);
		oracle_free(o);
		work_free(&w);
	}
	n2d_ctx_free(&ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_one_query),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_oracle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
