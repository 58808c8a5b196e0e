#include "tests/attention-case.h"

static struct array array_new(size_t floats)
{
	struct array x = {malloc((floats + 32) * sizeof(float)), NULL, floats + 32};
	assert_non_null(x.base);
	for (size_t i = 0; i < x.floats; i++)
		x.base[i] = NAN;
	x.p = x.base + 16;
	return x;
}

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

struct n2d_strides fused(size_t n, size_t H, size_t T, size_t K) { return (struct n2d_strides){T * n * H * K, K, n * H * K}; }

static void workspace(struct work *w, size_t n)
{
	assert_true(n < (size_t)1 << 32);
	w->ws = malloc((n + 1) * sizeof(float));
	w->ws_floats = n;
	assert_non_null(w->ws);
	for (size_t i = 0; i < n + 1; i++)
		w->ws[i] = NAN;
}

void work_init(struct work *w, const struct n2d_ctx *ctx, const struct n2d_attention *a, uint64_t seed)
{
	struct n2d_rng r;
	n2d_rng_init(&r, seed, 7);
	memset(w, 0, sizeof *w);
	w->a = *a;
	w->q = array_new(extent(a, a->q, a->Tq)), w->dq = array_new(extent(a, a->q, a->Tq));
	w->k = array_new(extent(a, a->k, a->Tk)), w->dk = array_new(extent(a, a->k, a->Tk));
	w->v = array_new(extent(a, a->v, a->Tk)), w->dv = array_new(extent(a, a->v, a->Tk));
	w->o = array_new(extent(a, a->o, a->Tq)), w->d = array_new(extent(a, a->o, a->Tq));
	fill(&r, a, w->q.p, a->q, a->Tq, 1.5), fill(&r, a, w->k.p, a->k, a->Tk, 1);
	fill(&r, a, w->v.p, a->v, a->Tk, 1), fill(&r, a, w->d.p, a->o, a->Tq, 1);
	w->lse = malloc((a->B * a->H * a->Tq + 1) * sizeof(float));
	assert_non_null(w->lse);
	size_t f = n2d_attention_fwd_workspace(ctx, a), g = n2d_attention_bwd_workspace(ctx, a);
	workspace(w, f > g ? f : g);
}

void work_materialise(struct work *w, const struct n2d_ctx *ctx)
{
	w->materialised = 1;
	w->P = malloc((w->a.B * w->a.H * w->a.Tq * w->a.Tk + 1) * sizeof(float));
	assert_non_null(w->P);
	free(w->ws);
	workspace(w, n2d_attention_mat_bwd_workspace(ctx, &w->a));
}

void work_free(struct work *w)
{
	struct array *x[] = {&w->q, &w->k, &w->v, &w->o, &w->dq, &w->dk, &w->dv, &w->d};
	for (size_t i = 0; i < LENGTH(x); i++)
		free(x[i]->base);
	assert_true(isnan(w->ws[w->ws_floats])); /* nothing was written behind it */
	free(w->lse), free(w->ws), free(w->P);
}

void forward(const struct n2d_ctx *ctx, struct work *w)
{
	if (w->materialised)
		n2d_attention_mat_fwd(ctx, &w->a, w->o.p, w->P, w->q.p, w->k.p, w->v.p, w->ws);
	else
		n2d_attention_fwd(ctx, &w->a, w->o.p, w->lse, w->q.p, w->k.p, w->v.p, w->ws);
}

void backward(const struct n2d_ctx *ctx, struct work *w)
{
	if (w->materialised)
		n2d_attention_mat_bwd(ctx, &w->a, w->dq.p, w->dk.p, w->dv.p, w->d.p, w->P, w->q.p, w->k.p, w->v.p, w->ws);
	else
		n2d_attention_bwd(ctx, &w->a, w->dq.p, w->dk.p, w->dv.p, w->d.p, w->o.p, w->lse, w->q.p, w->k.p, w->v.p, w->ws);
}

struct n2d_attention shape(size_t B, size_t H, size_t Tq, size_t Tk, size_t K, int mask)
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
