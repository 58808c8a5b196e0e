#include "tests/attention-case.h"

/* At the end of its pages, or at their start. */
static struct array array_new(size_t floats, int at_start)
{
	struct array x = {.floats = floats};
	guard_alloc(&x.g, floats, at_start ? 0 : GUARD_END);
	x.p = x.g.p;
	for (size_t i = 0; i < floats; i++)
		x.p[i] = NAN;
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

void work_init(struct work *w, const struct n2d_ctx *ctx, const struct n2d_attention *a, uint64_t seed)
{
	struct n2d_rng r;
	int start = seed % 4 == 3;
	n2d_rng_init(&r, seed, 7);
	memset(w, 0, sizeof *w);
	w->a = *a;
	w->q = array_new(extent(a, a->q, a->Tq), start), w->dq = array_new(extent(a, a->q, a->Tq), start);
	w->k = array_new(extent(a, a->k, a->Tk), start), w->dk = array_new(extent(a, a->k, a->Tk), start);
	w->v = array_new(extent(a, a->v, a->Tk), start), w->dv = array_new(extent(a, a->v, a->Tk), start);
	w->o = array_new(extent(a, a->o, a->Tq), start), w->d = array_new(extent(a, a->o, a->Tq), start);
	fill(&r, a, w->q.p, a->q, a->Tq, 1.5), fill(&r, a, w->k.p, a->k, a->Tk, 1);
	fill(&r, a, w->v.p, a->v, a->Tk, 1), fill(&r, a, w->d.p, a->o, a->Tq, 1);
	w->lse = array_new(a->B * a->H * a->Tq, start);
	size_t f = n2d_attention_fwd_workspace(ctx, a), g = n2d_attention_bwd_workspace(ctx, a);
	assert_true(f < (size_t)1 << 32 && g < (size_t)1 << 32);
	w->ws = array_new(f > g ? f : g, 0);
}

static void array_free(struct array *x)
{
	if (x->p)
		assert_int_equal(guard_check(&x->g), 0);
	guard_free(&x->g);
}

void work_materialise(struct work *w, const struct n2d_ctx *ctx)
{
	w->materialised = 1;
	w->P = array_new(w->a.B * w->a.H * w->a.Tq * w->a.Tk, 0);
	array_free(&w->ws);
	w->ws = array_new(n2d_attention_mat_bwd_workspace(ctx, &w->a), 0);
}

void work_free(struct work *w)
{
	struct array *x[] = {&w->q, &w->k, &w->v, &w->o, &w->dq, &w->dk, &w->dv, &w->d, &w->lse, &w->ws, &w->P};
	for (size_t i = 0; i < LENGTH(x); i++)
		array_free(x[i]);
}

void forward(const struct n2d_ctx *ctx, struct work *w)
{
	if (w->materialised)
		n2d_attention_mat_fwd(ctx, &w->a, w->o.p, w->P.p, w->q.p, w->k.p, w->v.p, w->ws.p);
	else
		n2d_attention_fwd(ctx, &w->a, w->o.p, w->lse.p, w->q.p, w->k.p, w->v.p, w->ws.p);
}

void backward(const struct n2d_ctx *ctx, struct work *w)
{
	if (w->materialised)
		n2d_attention_mat_bwd(ctx, &w->a, w->dq.p, w->dk.p, w->dv.p, w->d.p, w->P.p, w->q.p, w->k.p, w->v.p, w->ws.p);
	else
		n2d_attention_bwd(ctx, &w->a, w->dq.p, w->dk.p, w->dv.p, w->d.p, w->o.p, w->lse.p, w->q.p, w->k.p, w->v.p, w->ws.p);
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
