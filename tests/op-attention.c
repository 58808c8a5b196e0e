/* Attention against naive loops in double: forward, backward, masks, invariances. */
#include "tests/unit.h"

#include <float.h>

#include "base/arena.h"
#include "base/size.h"
#include "op/attention.h"
#include "simd/attention.h"
#include "tests/oracle-attention.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* ---- memory: heads in fused or padded rows; what lies between is NaN and must stay so */

struct array {
	float *base, *p;
	size_t floats;
};

static struct array array_new(size_t floats)
{
	struct array x = {malloc((floats + 32) * sizeof(float)), NULL, floats + 32};
	assert_non_null(x.base);
	for (size_t i = 0; i < x.floats; i++)
		x.base[i] = NAN;
	x.p = x.base + 16;
	return x;
}

/* Calls with (p, n) for each row of each head. */
#define EACH_ROW(a, s, T) \
	for (size_t b = 0; b < (a)->B; b++) \
		for (size_t h = 0; h < (a)->H; h++) \
			for (size_t t = 0; t < (T); t++) \
				for (size_t at = b * (s).sb + h * (s).sh + t * (s).st, once = 1; once; once = 0)

/* Everything a case needs. */
struct work {
	struct n2d_attention a;
	int32_t klen[8], qlen[8];
	struct array q, k, v, o, dq, dk, dv, d;
	float *lse, *ws, *P; /* P: the materialised version's weights */
	int materialised;
};

static size_t extent(const struct n2d_attention *a, struct n2d_strides s, size_t T)
{
	return a->B && a->H && T ? (a->B - 1) * s.sb + (a->H - 1) * s.sh + (T - 1) * s.st + a->K : 0;
}

static void fill(struct n2d_rng *r, const struct n2d_attention *a, float *p, struct n2d_strides s, size_t T, double scale)
{
	EACH_ROW(a, s, T)
		n2d_rng_fill_normal(r, p + at, a->K, 0, scale);
}

/* Rows of width K + gap, heads one after another. */
static struct n2d_strides headed(size_t H, size_t T, size_t K, size_t gap)
{
	return (struct n2d_strides){H * (T * (K + gap) + 1), T * (K + gap) + 1, K + gap};
}

/* [B,T,3,H,K]: q, k and v of a token in one row. */
static struct n2d_strides fused(size_t H, size_t T, size_t K) { return (struct n2d_strides){T * 3 * H * K, K, 3 * H * K}; }

static void work_init(struct work *w, const struct n2d_ctx *ctx, const struct n2d_attention *a, uint64_t seed)
{
	struct n2d_rng r;
	n2d_rng_init(&r, seed, 7);
	memset(w, 0, sizeof *w); /* streaming, unless the caller says otherwise */
	w->a = *a;
	w->q = array_new(extent(a, a->q, a->Tq)), w->dq = array_new(extent(a, a->q, a->Tq));
	w->k = array_new(extent(a, a->k, a->Tk)), w->dk = array_new(extent(a, a->k, a->Tk));
	w->v = array_new(extent(a, a->v, a->Tk)), w->dv = array_new(extent(a, a->v, a->Tk));
	w->o = array_new(extent(a, a->o, a->Tq)), w->d = array_new(extent(a, a->o, a->Tq));
	fill(&r, a, w->q.p, a->q, a->Tq, 1.5), fill(&r, a, w->k.p, a->k, a->Tk, 1);
	fill(&r, a, w->v.p, a->v, a->Tk, 1), fill(&r, a, w->d.p, a->o, a->Tq, 1);
	w->lse = malloc((a->B * a->H * a->Tq + 1) * sizeof(float));
	size_t f = n2d_attention_fwd_workspace(ctx, a), g = n2d_attention_bwd_workspace(ctx, a);
	size_t h = n2d_attention_mat_bwd_workspace(ctx, a);
	g = g > h ? g : h;
	w->P = malloc((a->B * a->H * a->Tq * a->Tk + 1) * sizeof(float));
	assert_true(f < (size_t)1 << 32 && g < (size_t)1 << 32);
	size_t n = f > g ? f : g;
	w->ws = malloc((n + 1) * sizeof(float));
	assert_true(w->lse && w->ws);
	for (size_t i = 0; i < n + 1; i++)
		w->ws[i] = NAN;
}

static void work_free(struct work *w)
{
	struct array *x[] = {&w->q, &w->k, &w->v, &w->o, &w->dq, &w->dk, &w->dv, &w->d};
	for (size_t i = 0; i < LENGTH(x); i++)
		free(x[i]->base);
	free(w->lse), free(w->ws), free(w->P);
}

static void forward(const struct n2d_ctx *ctx, struct work *w)
{
	if (w->materialised)
		n2d_attention_mat_fwd(ctx, &w->a, w->o.p, w->P, w->q.p, w->k.p, w->v.p, w->ws);
	else
		n2d_attention_fwd(ctx, &w->a, w->o.p, w->lse, w->q.p, w->k.p, w->v.p, w->ws);
}

static void backward(const struct n2d_ctx *ctx, struct work *w)
{
	if (w->materialised)
		n2d_attention_mat_bwd(ctx, &w->a, w->dq.p, w->dk.p, w->dv.p, w->d.p, w->P, w->q.p, w->k.p, w->v.p, w->ws);
	else
		n2d_attention_bwd(ctx, &w->a, w->dq.p, w->dk.p, w->dv.p, w->d.p, w->o.p, w->lse, w->q.p, w->k.p, w->v.p, w->ws);
}

/* The rows of x agree with want[B*H][T][K] within bound, and nothing between them was written. */
static void compare(const char *isa, const char *what, const struct n2d_attention *a, struct array x, struct n2d_strides s,
		    size_t T, const double *want, const double *bound)
{
	char *inside = calloc(x.floats, 1);
	size_t i = 0;
	EACH_ROW(a, s, T)
		for (size_t k = 0; k < a->K; k++, i++) {
			UNIT_NEAR(isa, what, i, x.p[at + k], want[i], bound[i]);
			inside[at + k + 16] = 1;
		}
	for (size_t j = 0; j < x.floats; j++)
		if (!inside[j] && !isnan(x.base[j]))
			fail_msg("%s: %s: wrote between rows at %zu", isa, what, j);
	free(inside);
}

/* ---- against the oracle */

static void check_version(const struct n2d_ctx *ctx, const struct n2d_attention *a, uint64_t seed, int materialised)
{
	struct work w;
	char what[160];
	work_init(&w, ctx, a, seed);
	struct oracle *o = oracle_new(a);
	w.materialised = o->materialised = materialised;
	snprintf(what, sizeof what, "%sB%zu H%zu Tq%zu Tk%zu K%zu causal%d R%zu klen%d", materialised ? "materialised " : "", a->B, a->H, a->Tq, a->Tk, a->K,
		 a->causal, a->window, a->klen ? a->klen[0] : -1);
	forward(ctx, &w);
	oracle_forward(o, w.q.p, w.k.p, w.v.p);
	compare(ctx->k->isa, what, a, w.o, a->o, a->Tq, o->O, o->eO);
	for (size_t i = 0; !materialised && i < a->B * a->H * a->Tq; i++)
		UNIT_NEAR(ctx->k->isa, "lse", i, w.lse[i], o->lse[i], o->else_[i]);
	backward(ctx, &w);
	oracle_backward(o, w.d.p, w.q.p, w.k.p, w.v.p);
	compare(ctx->k->isa, "dQ", a, w.dq, a->q, a->Tq, o->dQ, o->eQ);
	compare(ctx->k->isa, "dK", a, w.dk, a->k, a->Tk, o->dK, o->eK);
	compare(ctx->k->isa, "dV", a, w.dv, a->v, a->Tk, o->dV, o->eV);
	oracle_free(o);
	work_free(&w);
}

static void check(const struct n2d_ctx *ctx, const struct n2d_attention *a, uint64_t seed)
{
	check_version(ctx, a, seed, 0);
	check_version(ctx, a, seed, 1);
}

static struct n2d_attention shape(size_t B, size_t H, size_t Tq, size_t Tk, size_t K, int mask)
{
	struct n2d_attention a = {.B = B, .H = H, .Tq = Tq, .Tk = Tk, .K = K, .scale = (float)(1 / sqrt((double)K))};
	a.q = a.o = headed(H, Tq, K, 1), a.k = headed(H, Tk, K, 3), a.v = headed(H, Tk, K, 0);
	static const struct {
		int causal;
		size_t window;
	} masks[] = {{0, 0}, {1, 0}, {0, 3}, {1, 5}, {0, 40}, {1, 250}};
	a.causal = masks[mask].causal, a.window = masks[mask].window;
	return a;
}
enum { MASKS = 6 };

static void test_sizes(void **state)
{
	(void)state;
	static const size_t t[][2] = {{0, 5}, {5, 0}, {1, 1}, {1, 257}, {5, 3}, {3, 5}, {12, 32}, {13, 33}, {24, 191}, {25, 192}, {49, 193}, {97, 385}, {300, 50}, {50, 300}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t i = 0; i < LENGTH(t); i++)
			for (int m = 0; m < MASKS; m++) {
				struct n2d_attention a = shape(2, 2, t[i][0], t[i][1], 5 + i % 5, m);
				int32_t klen[2] = {(int32_t)t[i][1], (int32_t)(t[i][1] / 2)};
				check(&ctx, &a, i);
				a.klen = klen;
				check(&ctx, &a, i + 100);
			}
}

static void test_widths(void **state)
{
	(void)state;
	static const size_t k[] = {0, 1, 3, 5, 7, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2)
		for (size_t i = 0; i < LENGTH(k); i++) {
			struct n2d_attention a = shape(2, 3, 37, 41, k[i], (int)i % MASKS), f = shape(2, 3, 203, 203, k[i], (int)(i + 1) % MASKS);
			if (!k[i])
				a.scale = f.scale = 1;
			int32_t klen[2] = {7, 41}, qlen[2] = {37, 11};
			f.q = f.k = f.v = fused(f.H, f.Tq, f.K);
			check(&ctx, &f, i);
			a.klen = klen, a.qlen = qlen;
			check(&ctx, &a, i);
		}
}

static void test_large(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2)
		for (int m = 0; m < 3; m++) {
			struct n2d_attention a = shape(1, 1, 1025, 1025, m == 1 ? 64 : 20, m);
			check(&ctx, &a, 3);
		}
}

/* ---- what must not change a bit */

static void same(const char *isa, const char *what, const float *x, const float *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(x + i, y + i, sizeof *x) != 0)
			fail_msg("%s: %s[%zu] = %.9g, was %.9g", isa, what, i, (double)x[i], (double)y[i]);
}

static void same_array(const char *isa, const char *what, struct array x, struct array y) { same(isa, what, x.base, y.base, x.floats); }

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

/* A sentence of n tokens in a batch of two padded to T, whose padding is NaN, and alone. */
static void padded_alone(const struct n2d_ctx *ctx, size_t n, size_t T, int mask)
{
	struct n2d_attention a = shape(2, 2, T, T, 11, mask), b = shape(1, 2, n, n, 11, mask);
	int32_t len[2] = {(int32_t)n, (int32_t)T};
	struct work x, y;
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
	static const size_t n[][2] = {{1, 2}, {1, 51}, {7, 8}, {32, 33}, {191, 193}, {192, 250}, {200, 400}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t i = 0; i < LENGTH(n); i++)
			for (int m = 0; m < MASKS; m++)
				padded_alone(&ctx, n[i][0], n[i][1], m);
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
				assert_true(x.lse[i] == -INFINITY);
			EACH_ROW(&a, a.o, a.Tq)
				for (size_t k = 0; k < a.K; k++)
					assert_true(x.o.p[at + k] == 0 && x.dq.p[b * a.q.sb + t * a.q.st + k] == 0);
			EACH_ROW(&a, a.k, a.Tk)
				for (size_t k = 0; k < a.K; k++)
					assert_true(x.dk.p[at + k] == 0 && x.dv.p[b * a.v.sb + t * a.v.st + k] == 0);
			work_free(&x);
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
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_causal),
		cmocka_unit_test(test_nan_row),
		cmocka_unit_test(test_extreme),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_oracle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
