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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
