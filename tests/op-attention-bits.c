/* Attention: what must not change a bit, and what hidden keys, NaN and infinities must not do. */
#include "tests/attention-case.h"

static void same(const char *isa, const char *what, const float *x, const float *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(x + i, y + i, sizeof *x) != 0)
			fail_msg("%s: %s[%zu] = %.9g, was %.9g", isa, what, i, (double)x[i], (double)y[i]);
}

static void same_array(const char *isa, const char *what, struct array x, struct array y) { same(isa, what, x.p, y.p, x.floats); }

/* 1, 2 and 3 threads: fewer heads than threads, as many, more. */
static void test_threads(void **state)
{
	(void)state;
	for (size_t H = 1; H <= 5; H += 2)
		for (int m = 0; m < 3; m++) {
			struct n2d_attention a = shape(1, H, 217, 230, 9, m);
			struct n2d_ctx one;
			UNIT_EACH_ISA(one, 1)
				for (int threads = 2; threads <= 3; threads++) {
					struct n2d_ctx many;
					struct work x, y;
					assert_int_equal(n2d_ctx_init(&many, one.k->isa, threads), 0);
					work_init(&x, &one, &a, 5), work_init(&y, &many, &a, 5);
					forward(&one, &x), forward(&many, &y);
					backward(&one, &x), backward(&many, &y);
					same_array(one.k->isa, "O by threads", y.o, x.o);
					same_array(one.k->isa, "dQ by threads", y.dq, x.dq);
					same_array(one.k->isa, "dK by threads", y.dk, x.dk);
					same_array(one.k->isa, "dV by threads", y.dv, x.dv);
					work_free(&x), work_free(&y);
					n2d_ctx_free(&many);
				}
		}
}

/* Copies the rows of sentence 0 of x (T rows there) to the only sentence of y. */
static void take_first(const struct n2d_attention *a, float *y, struct n2d_strides sy, const float *x, struct n2d_strides sx, size_t T)
{
	for (size_t h = 0; h < a->H; h++)
		for (size_t t = 0; t < T; t++)
			memcpy(y + h * sy.sh + t * sy.st, x + h * sx.sh + t * sx.st, a->K * sizeof *y);
}

/* Row t of head h of sentence 0. */
static void same_rows(const char *isa, const char *what, const struct n2d_attention *a, const float *x, struct n2d_strides sx,
		      const float *y, struct n2d_strides sy, size_t T)
{
	for (size_t h = 0; h < a->H; h++)
		for (size_t t = 0; t < T; t++)
			same(isa, what, x + h * sx.sh + t * sx.st, y + h * sy.sh + t * sy.st, a->K);
}

/* A sentence of n tokens in a batch of B padded to T, whose padding is NaN, and alone. */
static void padded_alone(const struct n2d_ctx *ctx, size_t B, size_t n, size_t T, int mask)
{
	struct n2d_attention a = shape(B, 2, T, T, 11, mask), b = shape(1, 2, n, n, 11, mask);
	int32_t len[9] = {(int32_t)n};
	struct work x, y;
	for (size_t i = 1; i < B; i++)
		len[i] = (int32_t)(T - i % T);
	a.klen = a.qlen = len;
	work_init(&x, ctx, &a, 6), work_init(&y, ctx, &b, 7);
	for (size_t h = 0; h < a.H; h++)
		for (size_t t = n; t < T; t++)
			for (size_t k = 0; k < a.K; k++) {
				x.q.p[h * a.q.sh + t * a.q.st + k] = x.k.p[h * a.k.sh + t * a.k.st + k] = NAN;
				x.v.p[h * a.v.sh + t * a.v.st + k] = x.d.p[h * a.o.sh + t * a.o.st + k] = NAN;
			}
	take_first(&b, y.q.p, b.q, x.q.p, a.q, n), take_first(&b, y.k.p, b.k, x.k.p, a.k, n);
	take_first(&b, y.v.p, b.v, x.v.p, a.v, n), take_first(&b, y.d.p, b.o, x.d.p, a.o, n);
	forward(ctx, &x), forward(ctx, &y);
	backward(ctx, &x), backward(ctx, &y);
	same_rows(ctx->k->isa, "O padded", &b, x.o.p, a.o, y.o.p, b.o, n);
	same_rows(ctx->k->isa, "dQ padded", &b, x.dq.p, a.q, y.dq.p, b.q, n);
	same_rows(ctx->k->isa, "dK padded", &b, x.dk.p, a.k, y.dk.p, b.k, n);
	same_rows(ctx->k->isa, "dV padded", &b, x.dv.p, a.v, y.dv.p, b.v, n);
	for (size_t t = n; t < T; t++)
		for (size_t k = 0; k < a.K; k++) {
			assert_true(x.o.p[t * a.o.st + k] == 0 && x.dq.p[t * a.q.st + k] == 0);
			assert_true(x.dk.p[t * a.k.st + k] == 0 && x.dv.p[t * a.v.st + k] == 0);
		}
	work_free(&x), work_free(&y);
}

static void test_padding(void **state)
{
	(void)state;
	static const size_t n[][2] = {{1, 2}, {1, 51}, {7, 8}, {14, 16}, {32, 33}, {191, 193}, {192, 250}, {200, 400}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t i = 0; i < LENGTH(n); i++)
			for (int m = 0; m < MASKS; m++)
				padded_alone(&ctx, 2, n[i][0], n[i][1], m);
	UNIT_EACH_ISA(ctx, 2) /* two threads take whole sentences of nine, and share one alone */
		for (int m = 0; m < MASKS; m++)
			padded_alone(&ctx, 9, 14, 16, m), padded_alone(&ctx, 9, 33, 50, m);
}

/* The last query alone, against the keys in place, as it is with all others. */
static void test_last_query(void **state)
{
	(void)state;
	static const size_t n[] = {1, 2, 14, 16, 17, 100, 192, 193, 400};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t i = 0; i < LENGTH(n); i++)
			for (int m = 0; m < MASKS; m++) {
				struct n2d_attention a = shape(1, 3, n[i], n[i], i % 2 ? 32 : 19, m), b = shape(1, 3, 1, n[i], a.K, m);
				struct work x, y;
				b.k = a.k, b.v = a.v;
				work_init(&x, &ctx, &a, 12), work_init(&y, &ctx, &b, 12);
				take_first(&a, y.k.p, b.k, x.k.p, a.k, n[i]), take_first(&a, y.v.p, b.v, x.v.p, a.v, n[i]);
				take_first(&b, y.q.p, b.q, x.q.p + (n[i] - 1) * a.q.st, a.q, 1);
				forward(&ctx, &x), forward(&ctx, &y);
				same_rows(ctx.k->isa, "O of the last query", &b, y.o.p, b.o, x.o.p + (n[i] - 1) * a.o.st, a.o, 1);
				for (size_t h = 0; h < a.H; h++)
					same(ctx.k->isa, "its lse", y.lse.p + h, x.lse.p + h * n[i] + n[i] - 1, 1);
				work_free(&x), work_free(&y);
			}
}

/* So many heads that they are packed in several groups, and a few of them alone. */
static void test_groups(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	assert_int_equal(n2d_ctx_init(&ctx, NULL, 2), 0);
	struct n2d_attention a = shape(1, 256, 600, 600, 1, 3), b = shape(1, 1, 600, 600, 1, 3);
	struct work x, y;
	work_init(&x, &ctx, &a, 13), work_init(&y, &ctx, &b, 13);
	forward(&ctx, &x), backward(&ctx, &x);
	for (size_t h = 0; h < a.H; h += 85) {
		take_first(&b, y.q.p, b.q, x.q.p + h * a.q.sh, a.q, 600), take_first(&b, y.k.p, b.k, x.k.p + h * a.k.sh, a.k, 600);
		take_first(&b, y.v.p, b.v, x.v.p + h * a.v.sh, a.v, 600), take_first(&b, y.d.p, b.o, x.d.p + h * a.o.sh, a.o, 600);
		forward(&ctx, &y), backward(&ctx, &y);
		same_rows(ctx.k->isa, "O in groups", &b, x.o.p + h * a.o.sh, a.o, y.o.p, b.o, 600);
		same_rows(ctx.k->isa, "dQ in groups", &b, x.dq.p + h * a.q.sh, a.q, y.dq.p, b.q, 600);
		same_rows(ctx.k->isa, "dK in groups", &b, x.dk.p + h * a.k.sh, a.k, y.dk.p, b.k, 600);
		same_rows(ctx.k->isa, "dV in groups", &b, x.dv.p + h * a.v.sh, a.v, y.dv.p, b.v, 600);
	}
	work_free(&x), work_free(&y);
	n2d_ctx_free(&ctx);
}

/* Token t of a causal sequence becomes NaN: outputs before t, and gradients that do not come
 * from t on, keep their bits. dO is 0 from t on. */
static void test_causal(void **state)
{
	(void)state;
	static const size_t at[] = {1, 5, 31, 100, 191, 192, 210};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t i = 0; i < LENGTH(at); i++) {
			struct n2d_attention a = shape(1, 1, 211, 211, 17, i % 2 ? 1 : 3), b = a;
			size_t t = at[i];
			struct work x, y;
			work_init(&x, &ctx, &a, 8), work_init(&y, &ctx, &b, 8);
			for (size_t k = 0; k < a.K; k++)
				y.q.p[t * a.q.st + k] = y.k.p[t * a.k.st + k] = y.v.p[t * a.v.st + k] = NAN;
			forward(&ctx, &x), forward(&ctx, &y);
			same_rows(ctx.k->isa, "O before t", &a, y.o.p, a.o, x.o.p, a.o, t);
			for (size_t k = 0; k < a.K; k++)
				assert_true(isnan(y.o.p[t * a.o.st + k]));
			backward(&ctx, &x), backward(&ctx, &y);
			same_rows(ctx.k->isa, "dQ before t", &a, y.dq.p, a.q, x.dq.p, a.q, t);
			work_free(&x), work_free(&y);
		}
}

/* ---- NaN, infinities, scores beyond the range of exp */

/* A NaN in row 3 of Q is in row 3 of O, and only there; one in dO in row 3 of dQ, and only there. */
static void test_nan_row(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (int m = 0; m < MASKS; m++) {
			struct n2d_attention a = shape(1, 1, 29, 203, 9, m);
			struct work x, y;
			work_init(&x, &ctx, &a, 9), work_init(&y, &ctx, &a, 9);
			y.q.p[3 * a.q.st + 2] = NAN;
			forward(&ctx, &x), forward(&ctx, &y);
			same_rows(ctx.k->isa, "O", &a, y.o.p, a.o, x.o.p, a.o, 3);
			same_rows(ctx.k->isa, "O", &a, y.o.p + 4 * a.o.st, a.o, x.o.p + 4 * a.o.st, a.o, 25);
			for (size_t k = 0; k < a.K; k++)
				assert_true(isnan(y.o.p[3 * a.o.st + k]));
			y.d.p[3 * a.o.st + 2] = NAN;
			backward(&ctx, &x), backward(&ctx, &y);
			same_rows(ctx.k->isa, "dQ", &a, y.dq.p, a.q, x.dq.p, a.q, 3);
			same_rows(ctx.k->isa, "dQ", &a, y.dq.p + 4 * a.q.st, a.q, x.dq.p + 4 * a.q.st, a.q, 25);
			for (size_t k = 0; k < a.K; k++)
				assert_true(isnan(y.dq.p[3 * a.q.st + k]));
			work_free(&x), work_free(&y);
		}
}

/* One column, scale 1: the scores are k. Row 0 of the result for up to 300 keys. */
static float one_row(const struct n2d_ctx *ctx, const float *k, const float *v, size_t n, float *lse)
{
	struct n2d_attention a = {.B = 1, .H = 1, .Tq = 1, .Tk = n, .K = 1, .scale = 1};
	float o = -7, q = 1, *ws = malloc((n2d_attention_fwd_workspace(ctx, &a) + 1) * sizeof(float));
	a.q = a.k = a.v = a.o = (struct n2d_strides){n, n, 1};
	n2d_attention_fwd(ctx, &a, &o, lse, &q, k, v, ws);
	free(ws);
	return o;
}

static void test_extreme(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t n = 1; n <= 300; n += n < 40 ? 1 : 37) {
			float k[300], v[300], lse;
			/* Very negative scores, all equal: the mean; nothing behind the last key may weigh. */
			for (size_t j = 0; j < n; j++)
				k[j] = -1e30f, v[j] = 7;
			assert_true(fabsf(one_row(&ctx, k, v, n, &lse) - 7) < 1e-5f && lse == -1e30f);
			/* -inf is weight 0 wherever it stands, whole tiles of it before the first finite score too. */
			for (size_t j = 0; j + 1 < n; j++)
				k[j] = -INFINITY;
			v[n - 1] = 5;
			assert_true(one_row(&ctx, k, v, n, &lse) == 5 && lse == -1e30f);
			k[n - 1] = 3e38f, k[0] = n > 1 ? -3e38f : k[0]; /* a range that overflows */
			assert_true(one_row(&ctx, k, v, n, &lse) == 5 && lse == 3e38f);
			/* As the formula in double: 0/0, inf - inf, NaN. */
			for (size_t j = 0; j < n; j++)
				k[j] = -INFINITY;
			assert_true(isnan(one_row(&ctx, k, v, n, &lse)));
			k[n / 2] = INFINITY;
			assert_true(isnan(one_row(&ctx, k, v, n, &lse)));
			k[n / 2] = NAN;
			assert_true(isnan(one_row(&ctx, k, v, n, &lse)));
		}
}

/* No visible key: exact zeros and -inf, no gradient, nothing NaN; never the mean of V. */
static void test_unseen(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (int m = 0; m < 4; m++) {
			struct n2d_attention a = shape(2, 1, 40, 30, 7, m);
			int32_t klen[2] = {0, 4}, qlen[2] = {40, 0};
			struct work x;
			a.klen = klen, a.qlen = qlen;
			work_init(&x, &ctx, &a, 10);
			forward(&ctx, &x), backward(&ctx, &x);
			for (size_t i = 0; i < 80; i++)
				assert_true(x.lse.p[i] == -INFINITY);
			EACH_ROW(&a, a.o, a.Tq)
				for (size_t k = 0; k < a.K; k++)
					assert_true(x.o.p[at + k] == 0 && x.dq.p[b * a.q.sb + t * a.q.st + k] == 0);
			EACH_ROW(&a, a.k, a.Tk)
				for (size_t k = 0; k < a.K; k++)
					assert_true(x.dk.p[at + k] == 0 && x.dv.p[b * a.v.sb + t * a.v.st + k] == 0);
			work_free(&x);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_last_query),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_causal),
		cmocka_unit_test(test_nan_row),
		cmocka_unit_test(test_extreme),
		cmocka_unit_test(test_unseen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
