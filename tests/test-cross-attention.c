/* Encoder-decoder attention against its oracle in tests/layer/attention.c. */
#include "config.h"

#include "base/size.h"
#include "layer/cross_attention.h"
#include "tests/layer/oracle.h"
#include "tests/problem/guard.h"
#include "tests/unit.h"

enum { BATCH = 16 };
enum { LEN, MEMORY_LEN, X, MEMORY, PARAMS, DY, INPUTS, Y = INPUTS, DX, DMEMORY, DPARAMS, ARRAYS };

/* One layer on one batch, every array between guard pages. dmemory0, dparams0: what they hold before backward. */
struct run {
	struct n2d_layer layer;
	size_t B, T, S;
	struct guard a[ARRAYS];
	float *dmemory0, *dparams0;
	int tight; /* no padding between the sentences */
};

static float *make(struct guard *g, size_t n)
{
	guard_alloc(g, n, GUARD_END);
	for (size_t i = 0; i < n; i++)
		g->p[i] = NAN;
	return g->p;
}

static float *normals(float *p, size_t n, struct n2d_rng *rng)
{
	n2d_rng_fill_normal(rng, p, n, 0, 1);
	return p;
}

static const int32_t *lengths(const struct run *r, int of) { return (const int32_t *)r->a[of].p; }

/* Rows of sentences, N(0,1); in the padding NaN. len[B] given, or 0, 1, all or any. */
static void fill(struct run *r, int len_at, int at, const int32_t *len, size_t T, struct n2d_rng *rng)
{
	int32_t *to = (int32_t *)make(r->a + len_at, r->B);
	size_t D = r->layer.c.D;
	make(r->a + at, r->B * T * D);
	for (size_t b = 0; b < r->B; b++) {
		int32_t any[] = {0, T > 0, (int32_t)T, (int32_t)n2d_rng_below(rng, (uint32_t)T + 1)};
		to[b] = len ? len[b] : any[n2d_rng_below(rng, 4)];
		normals(r->a[at].p + b * T * D, (size_t)to[b] * D, rng);
	}
}

static void run_open(struct run *r, const struct n2d_layer_config *c, size_t B, size_t T, size_t S, const int32_t *len,
		     const int32_t *memory_len, uint64_t seed)
{
	struct n2d_rng rng;
	size_t n = n2d_cross_attention_params(c);
	memset(r, 0, sizeof *r);
	n2d_rng_init(&rng, seed, 0);
	r->layer.c = *c;
	r->B = B, r->T = T, r->S = S;
	n2d_cross_attention_init(c, make(r->a + PARAMS, n), &rng);
	for (size_t i = 0; i < n; i++) /* the biases are not 0 */
		r->a[PARAMS].p[i] += 0.1f * (float)n2d_rng_normal(&rng);
	r->layer.params = r->a[PARAMS].p;
	fill(r, LEN, X, len, T, &rng);
	fill(r, MEMORY_LEN, MEMORY, memory_len, S, &rng);
	make(r->a + DY, B * T * c->D);
	for (size_t b = 0; b < B; b++)
		normals(r->a[DY].p + b * T * c->D, (size_t)lengths(r, LEN)[b] * c->D, &rng);
	r->dmemory0 = normals(malloc(B * S * c->D * sizeof(float) + 1), B * S * c->D, &rng);
	r->dparams0 = normals(malloc(n * sizeof(float) + 1), n, &rng);
	make(r->a + Y, B * T * c->D);
	make(r->a + DX, B * T * c->D);
	make(r->a + DMEMORY, B * S * c->D);
	make(r->a + DPARAMS, n);
}

static void run_close(struct run *r)
{
	for (int i = 0; i < ARRAYS; i++)
		guard_free(r->a + i);
	free(r->dmemory0), free(r->dparams0);
}

static uint64_t hash(const struct guard *g, size_t n)
{
	uint64_t h = 1;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < g[k].n * sizeof(float); i++)
			h = (h ^ ((const unsigned char *)g[k].p)[i]) * 0x100000001b3u;
	return h;
}

static void refill(struct guard *g)
{
	for (size_t i = 0; i < g->n; i++)
		g->p[i] = NAN;
}

/* Takes the padding out of the rows of sentences of `of`. */
static void tighten(struct run *r, int of, int len_at, size_t T)
{
	struct guard tight;
	size_t D = r->layer.c.D, rows = 0;
	for (size_t b = 0; b < r->B; b++)
		rows += (size_t)lengths(r, len_at)[b];
	float *to = make(&tight, rows * D);
	for (size_t b = 0; b < r->B; b++) {
		size_t n = (size_t)lengths(r, len_at)[b] * D;
		memcpy(to, r->a[of].p + b * T * D, n * sizeof *to);
		to += n;
	}
	guard_free(r->a + of);
	r->a[of] = tight;
}

static struct n2d_sentences sentences(const struct run *r, int len_at, size_t T, int32_t *at)
{
	for (size_t b = 0; b < r->B && r->tight; b++)
		at[b + 1] = (b ? at[b] : (at[0] = 0)) + lengths(r, len_at)[b];
	return (struct n2d_sentences){.B = r->B, .T = T, .len = lengths(r, len_at), .at = r->tight ? at : NULL};
}

static void run_go(struct run *r, const struct n2d_ctx *ctx, int train)
{
	const struct n2d_layer_config *c = &r->layer.c;
	struct guard packed, saved, ws, *a = r->a;
	int32_t at[2][BATCH + 1];
	const struct n2d_sentences queries = sentences(r, LEN, r->T, at[0]), keys = sentences(r, MEMORY_LEN, r->S, at[1]);
	assert_true(r->B <= BATCH);
	uint64_t before = hash(a, INPUTS);
	n2d_cross_attention_pack(ctx, c, make(&packed, n2d_cross_attention_packed(ctx, c)), a[PARAMS].p);
	r->layer.packed = packed.p;
	make(&saved, train ? n2d_cross_attention_saved(c, r->B, r->T, r->S) : 0);
	make(&ws, n2d_cross_attention_workspace(ctx, c, r->B, r->T, r->S, train));
	refill(a + Y), refill(a + DX);
	n2d_cross_attention_fwd(ctx, &r->layer, a[Y].p, train ? saved.p : NULL, a[X].p, a[MEMORY].p, &queries, &keys, ws.p);
	if (train) {
		uint64_t kept = hash(&saved, 1);
		refill(&ws);
		memcpy(a[DMEMORY].p, r->dmemory0, a[DMEMORY].n * sizeof(float));
		memcpy(a[DPARAMS].p, r->dparams0, a[DPARAMS].n * sizeof(float));
		n2d_cross_attention_bwd(ctx, &r->layer, a[DX].p, a[DMEMORY].p, a[DPARAMS].p, 1, a[DY].p, a[X].p, a[MEMORY].p,
					saved.p, &queries, &keys, ws.p);
		assert_true(hash(&saved, 1) == kept);
	}
	for (int i = 0; i < ARRAYS; i++)
		if (guard_check(a + i))
			fail_msg("%s: wrote outside array %d", ctx->k->isa, i);
	assert_false(guard_check(&packed) || guard_check(&saved) || guard_check(&ws));
	assert_true(hash(a, INPUTS) == before);
	guard_free(&packed), guard_free(&saved), guard_free(&ws);
}

/* ---- against the oracle */

static double *widen(const struct guard *g)
{
	double *d = oracle_alloc(g->n, sizeof *d);
	for (size_t i = 0; i < g->n; i++)
		d[i] = g->p[i];
	return d;
}

struct expected {
	struct num *y, *dx;
	struct acc *dmemory, *dp;
};

static struct acc *sums_from(const float *x, size_t n)
{
	struct acc *s = oracle_alloc(n, sizeof *s);
	for (size_t i = 0; i < n; i++)
		acc_add(s + i, exact(x[i]));
	return s;
}

static struct expected expect(const struct run *r)
{
	size_t D = r->layer.c.D;
	const struct guard *a = r->a;
	struct expected e = {oracle_alloc(a[Y].n, sizeof *e.y), oracle_alloc(a[DX].n, sizeof *e.dx),
			     sums_from(r->dmemory0, a[DMEMORY].n), sums_from(r->dparams0, a[DPARAMS].n)};
	double *x = widen(a + X), *memory = widen(a + MEMORY), *p = widen(a + PARAMS), *dy = widen(a + DY);
	for (size_t b = 0; b < r->B; b++) {
		size_t at = b * r->T * D, from = b * r->S * D;
		oracle_cross_attention(&r->layer.c, (size_t)lengths(r, LEN)[b], (size_t)lengths(r, MEMORY_LEN)[b], e.y + at, x + at,
				       memory + from, p, dy + at, e.dx + at, e.dmemory + from, e.dp);
	}
	free(x), free(memory), free(p), free(dy);
	return e;
}

static void expect_free(struct expected *e) { free(e->y), free(e->dx), free(e->dmemory), free(e->dp); }

static void compare_sums(const char *who, const char *what, const struct guard *g, const struct acc *want)
{
	for (size_t i = 0; i < g->n; i++) {
		struct num w = acc_end(want + i);
		UNIT_NEAR(who, what, i, g->p[i], w.v, w.e);
	}
}

/* In the padding the oracle's y and dx are 0 with error 0, and dmemory what it was. */
static void compare(const struct run *r, const struct expected *e, const char *isa)
{
	const struct n2d_layer_config *c = &r->layer.c;
	char who[160];
	snprintf(who, sizeof who, "%s B=%zu T=%zu S=%zu D=%zu H=%zu d_k=%zu d_v=%zu", isa, r->B, r->T, r->S, c->D, c->H, c->d_k, c->d_v);
	for (size_t i = 0; i < r->a[Y].n; i++) {
		UNIT_NEAR(who, "y", i, r->a[Y].p[i], e->y[i].v, e->y[i].e);
		UNIT_NEAR(who, "dx", i, r->a[DX].p[i], e->dx[i].v, e->dx[i].e);
	}
	compare_sums(who, "dmemory", r->a + DMEMORY, e->dmemory);
	compare_sums(who, "dparams", r->a + DPARAMS, e->dp);
}

static const struct n2d_layer_config configs[] = {
	{.D = 1, .H = 1},
	{.D = 6, .H = 2},
	{.D = 34, .H = 2},
	{.D = 64, .H = 4},
	{.D = 16, .H = 2, .d_k = 5, .d_v = 5},
	{.D = 9, .H = 3, .d_k = 4, .d_v = 7},
	{.D = 10, .H = 2, .d_k = 18, .d_v = 3},
};

#define EACH(c) (const struct n2d_layer_config *c = configs; c < configs + sizeof configs / sizeof *configs; c++)

static void agrees_with_the_oracle(void **state)
{
	(void)state;
	static const size_t sizes[][3] = {{2, 5, 3}, {3, 1, 17}, {1, 33, 9}, {3, 7, 33}, {2, 4, 0}, {2, 0, 4}, {0, 3, 3}};
	for EACH (c)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct run r;
			struct n2d_ctx ctx;
			run_open(&r, c, sizes[i][0], sizes[i][1], sizes[i][2], NULL, NULL, i);
			struct expected e = expect(&r);
			UNIT_EACH_ISA(ctx, 2) {
				run_go(&r, &ctx, 1);
				compare(&r, &e, ctx.k->isa);
			}
			expect_free(&e);
			run_close(&r);
		}
}

/* ---- bit for bit */

static void same(const char *what, const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(a + i, b + i, sizeof *a) != 0)
			fail_msg("%s: %zu: %.9g and %.9g", what, i, (double)a[i], (double)b[i]);
}

static void keep_outputs(float *to[ARRAYS], const struct run *r)
{
	for (int i = Y; i < ARRAYS; i++)
		to[i] = memcpy(malloc(r->a[i].n * sizeof(float) + 1), r->a[i].p, r->a[i].n * sizeof(float));
}

static void free_outputs(float *of[ARRAYS])
{
	for (int i = Y; i < ARRAYS; i++)
		free(of[i]);
}

static void same_bits_again(void **state)
{
	(void)state;
	for EACH (c) {
		struct run r;
		struct n2d_ctx ctx;
		float *old[ARRAYS];
		run_open(&r, c, 3, 21, 33, (const int32_t[]){21, 0, 13}, (const int32_t[]){29, 4, 33}, 1);
		UNIT_EACH_ISA(ctx, 3) {
			run_go(&r, &ctx, 1);
			keep_outputs(old, &r);
			for (int threads = 1; threads <= 3; threads++) {
				struct n2d_ctx few = ctx;
				few.threads = threads;
				run_go(&r, &few, 1);
				for (int i = Y; i < ARRAYS; i++)
					same("with other threads", r.a[i].p, old[i], r.a[i].n);
				run_go(&r, &few, 0);
				same("y of inference and training", r.a[Y].p, old[Y], r.a[Y].n);
			}
			free_outputs(old);
		}
		run_close(&r);
	}
}

/* Sentence b of r by itself, both sides padded by `more` positions. */
static void alone(const struct run *r, size_t b, size_t more, const struct n2d_ctx *ctx)
{
	struct run s;
	size_t D = r->layer.c.D, at = b * r->T * D, from = b * r->S * D;
	int32_t n = lengths(r, LEN)[b], m = lengths(r, MEMORY_LEN)[b];
	size_t nD = (size_t)n * D, mD = (size_t)m * D;
	run_open(&s, &r->layer.c, 1, (size_t)n + more, (size_t)m + more, &n, &m, 1);
	memcpy(s.a[PARAMS].p, r->a[PARAMS].p, r->a[PARAMS].n * sizeof(float));
	memcpy(s.a[X].p, r->a[X].p + at, nD * sizeof(float));
	memcpy(s.a[DY].p, r->a[DY].p + at, nD * sizeof(float));
	memcpy(s.a[MEMORY].p, r->a[MEMORY].p + from, mD * sizeof(float));
	memcpy(s.dmemory0, r->dmemory0 + from, mD * sizeof(float));
	run_go(&s, ctx, 1);
	same("y alone and in a batch", s.a[Y].p, r->a[Y].p + at, nD);
	same("dx alone and in a batch", s.a[DX].p, r->a[DX].p + at, nD);
	same("dmemory alone and in a batch", s.a[DMEMORY].p, r->a[DMEMORY].p + from, mD);
	for (size_t i = nD; i < s.a[Y].n; i++)
		assert_true(s.a[Y].p[i] == 0 && s.a[DX].p[i] == 0);
	run_close(&s);
}

static void padding_changes_nothing(void **state)
{
	(void)state;
	for EACH (c) {
		struct run r;
		struct n2d_ctx ctx;
		run_open(&r, c, 3, 11, 23, (const int32_t[]){7, 11, 1}, (const int32_t[]){23, 1, 9}, 2);
		UNIT_EACH_ISA(ctx, 2) {
			run_go(&r, &ctx, 1);
			for (size_t b = 0; b < r.B; b++) {
				alone(&r, b, 0, &ctx);
				alone(&r, b, 50, &ctx);
			}
		}
		run_close(&r);
	}
}

/* The padding of x and memory finite, that of dy 0: the same without the copies. */
static void finite_padding_needs_no_copies(void **state)
{
	(void)state;
	for EACH (c) {
		struct run r;
		struct n2d_ctx ctx;
		float *old[ARRAYS];
		run_open(&r, c, 3, 11, 23, (const int32_t[]){7, 11, 0}, (const int32_t[]){23, 0, 9}, 3);
		for (int k = X; k <= DY; k++)
			for (size_t i = 0; i < r.a[k].n; i++)
				if (isnan(r.a[k].p[i]))
					r.a[k].p[i] = k == DY ? 0 : 3;
		UNIT_EACH_ISA(ctx, 2) {
			r.layer.c.finite = 0;
			run_go(&r, &ctx, 1);
			keep_outputs(old, &r);
			r.layer.c.finite = 1;
			run_go(&r, &ctx, 1);
			for (size_t b = 0; b < r.B; b++) {
				size_t at = b * r.T * c->D, n = (size_t)lengths(&r, LEN)[b] * c->D;
				same("y of finite padding", r.a[Y].p + at, old[Y] + at, n);
				for (size_t i = n; i < r.T * c->D; i++)
					assert_true(isfinite(r.a[Y].p[at + i]));
			}
			for (int i = DX; i < ARRAYS; i++)
				for (size_t k = 0; k < r.a[i].n; k++)
					assert_true(r.a[i].p[k] == old[i][k]);
			free_outputs(old);
		}
		run_close(&r);
	}
}

/* Neither side with padding between its sentences: the bits of those with it. */
static void sentences_need_no_padding(void **state)
{
	(void)state;
	static const int of[][2] = {{X, LEN}, {DY, LEN}, {Y, LEN}, {DX, LEN}, {MEMORY, MEMORY_LEN}, {DMEMORY, MEMORY_LEN}};
	for EACH (c)
		for (size_t size = 0; size < 2; size++) {
			struct run r, tight;
			struct n2d_ctx ctx;
			size_t B = size ? 13 : 3, T = size ? 5 : 11, S = size ? 1 : 23, D = c->D;
			run_open(&r, c, B, T, S, NULL, NULL, 4);
			run_open(&tight, c, B, T, S, NULL, NULL, 4);
			for (size_t b = 0, row = 0; b < B; row += (size_t)lengths(&r, MEMORY_LEN)[b++])
				memmove(tight.dmemory0 + row * D, tight.dmemory0 + b * S * D, (size_t)lengths(&r, MEMORY_LEN)[b] * D * sizeof(float));
			for (size_t k = 0; k < sizeof of / sizeof *of; k++)
				tighten(&tight, of[k][0], of[k][1], of[k][1] == LEN ? T : S);
			tight.tight = 1;
			UNIT_EACH_ISA(ctx, 2) {
				run_go(&r, &ctx, 1);
				run_go(&tight, &ctx, 1);
				size_t row = 0, from = 0;
				for (size_t b = 0; b < B; b++) {
					size_t n = (size_t)lengths(&r, LEN)[b], m = (size_t)lengths(&r, MEMORY_LEN)[b];
					same("y without padding", tight.a[Y].p + row * D, r.a[Y].p + b * T * D, n * D);
					same("dx without padding", tight.a[DX].p + row * D, r.a[DX].p + b * T * D, n * D);
					same("dmemory without padding", tight.a[DMEMORY].p + from * D, r.a[DMEMORY].p + b * S * D, m * D);
					row += n, from += m;
				}
				same("dparams without padding", tight.a[DPARAMS].p, r.a[DPARAMS].p, r.a[DPARAMS].n);
			}
			run_close(&r), run_close(&tight);
		}
}

/* Decoding: every position a row by itself, in another order than the sentences'. */
static void steps_give_what_forward_gives(void **state)
{
	(void)state;
	enum { B = 3, T = 4, S = 9, ROWS = B * T };
	for EACH (c) {
		struct run r;
		struct n2d_ctx ctx;
		size_t D = c->D;
		int32_t sentence[ROWS];
		float *x = malloc(2 * ROWS * D * sizeof *x), *y = x + ROWS * D;
		run_open(&r, c, B, T, S, (const int32_t[]){T, T, T}, (const int32_t[]){9, 0, 4}, 4);
		for (size_t i = 0; i < ROWS; i++) {
			sentence[i] = (int32_t)(i % B);
			memcpy(x + i * D, r.a[X].p + (i % B * T + i / B) * D, D * sizeof *x);
		}
		struct expected e = expect(&r);
		UNIT_EACH_ISA(ctx, 2) {
			struct guard packed, kv, ws;
			n2d_cross_attention_pack(&ctx, c, make(&packed, n2d_cross_attention_packed(&ctx, c)), r.a[PARAMS].p);
			r.layer.packed = packed.p;
			make(&kv, n2d_cross_attention_kv(c, B, S));
			make(&ws, n2d_cross_attention_step_workspace(&ctx, c, ROWS, B, S));
			n2d_cross_attention_project(&ctx, &r.layer, kv.p, r.a[MEMORY].p, lengths(&r, MEMORY_LEN), B, S, ws.p);
			refill(&ws);
			n2d_cross_attention_step(&ctx, &r.layer, y, x, kv.p, sentence, lengths(&r, MEMORY_LEN), ROWS, S, ws.p);
			for (size_t i = 0; i < ROWS * D; i++) {
				struct num want = e.y[(i / D % B * T + i / D / B) * D + i % D];
				UNIT_NEAR(ctx.k->isa, "y of a step", i, y[i], want.v, want.e);
			}
			assert_false(guard_check(&packed) || guard_check(&kv) || guard_check(&ws));
			guard_free(&packed), guard_free(&kv), guard_free(&ws);
		}
		expect_free(&e);
		free(x);
		run_close(&r);
	}
}

static void sizes_are_refused_not_wrapped(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	const struct n2d_layer_config c = {.D = 64, .H = 2};
	size_t B = (size_t)1 << 31, T = (size_t)1 << 32;
	assert_int_equal(n2d_ctx_init(&ctx, "scalar", 1), 0);
	assert_int_equal(n2d_mul(n2d_cross_attention_saved(&c, B, T, 1), 4), N2D_TOO_LARGE);
	assert_int_equal(n2d_mul(n2d_cross_attention_workspace(&ctx, &c, B, 1, T, 1), 4), N2D_TOO_LARGE);
	n2d_ctx_free(&ctx);
	const struct n2d_layer_config bad[] = {
		{.D = (size_t)1 << 62, .H = 2}, {.D = 0, .H = 2}, {.D = 7, .H = 2}, {.D = 7, .H = 2, .d_k = 3},
		{.D = 7, .H = (size_t)1 << 62, .d_k = 8, .d_v = 8}, {.D = 7, .H = 2, .d_k = (size_t)1 << 62, .d_v = 1},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(n2d_cross_attention_check(bad + i), -1);
		assert_non_null(strstr(n2d_error_text(), "cross-attention"));
	}
	assert_int_equal(n2d_cross_attention_check(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_oracle),
		cmocka_unit_test(same_bits_again),
		cmocka_unit_test(padding_changes_nothing),
		cmocka_unit_test(finite_padding_needs_no_copies),
		cmocka_unit_test(sentences_need_no_padding),
		cmocka_unit_test(steps_give_what_forward_gives),
		cmocka_unit_test(sizes_are_refused_not_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
