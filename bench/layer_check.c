/* Is it right? Asked of every layer on every instruction set before it is timed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "bench/check.h"
#include "bench/layer_peer.h"

/* Relative error in the Euclidean norm. Sums over 4096 positions in another order differ by some 1e-6; a wrong mask, tail
 * or scale by 1e-2 and more. */
#define BOUND 1e-4
/* Gradients through ReLU where sums are in another order than ours: of N inner values a few are so near 0 that their sign is chance, and k of
 * them change a gradient by sqrt(2 k / N) of its norm. */
#define BOUND_KINKS 1e-2
/* Positions checked against scalar: fewer, 1 at least, where these would take it more than a second or so. */
enum { SMALL = 40 };
#define SMALL_FLOPS 2e9

/* 1 NaN pattern that no computation makes: what still holds it was not touched. */
static const uint32_t CANARY = 0x7fc5a5a5;

static void fill(float *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		memcpy(p + i, &CANARY, sizeof CANARY);
}

static double touched(const float *p, size_t n)
{
	while (n && memcmp(p + n - 1, &CANARY, sizeof CANARY) == 0)
		n--;
	return 4.0 * (double)n;
}

/* A call with saved, workspace and outputs full of NaN before; returns the bytes touched in saved and workspace. */
static double call_clean(const struct layer_case *l, const struct n2d_ctx *ctx)
{
	struct layer_group *g = l->group;
	const struct layer_shape *s = &l->shape;
	size_t saved = l->train ? l->kind->saved(&s->c, s->B, s->n) : 0;
	size_t ws = l->kind->workspace(ctx, &s->c, s->B, s->n, l->train);
	fill(g->saved, saved);
	fill(g->ws, ws);
	fill(g->y, s->B * s->n * s->c.D);
	fill(g->dx, s->B * s->n * s->c.D);
	memset(g->dparams, 0, l->params * sizeof(float)); /* added to */
	layer_call(l, ctx);
	return touched(g->saved, saved) + touched(g->ws, ws);
}

static int compare(const struct layer_case *l, const char *with, const float *y, const float *dx, const float *dparams, double back)
{
	const struct layer_group *g = l->group;
	size_t rows = l->shape.B * l->shape.n * l->shape.c.D;
	int bad = check_close("y", g->y, y, rows, BOUND);
	if (l->train)
		bad = bad || check_close("dx", g->dx, dx, rows, back) || check_close("dparams", g->dparams, dparams, l->params, back);
	char why[256];
	snprintf(why, sizeof why, "%s", n2d_error_text());
	return bad ? n2d_error("failed its check against %s: %s", with, why) : 0;
}

/* The context to compare a whole shape with: the widest vector set that is not l's own, else scalar. -1: none. */
static int other_context(const struct layer_case *l, struct n2d_ctx *ctx)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n), *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (isa[i].k && isa[i].supported && isa[i].rank >= 0 && isa[i].k != l->c.ctx->k && (!best || isa[i].rank > best->rank))
			best = isa + i;
	if (!best || (best->rank == 0 && l->work.flops > 2e9))
		return -1;
	return n2d_ctx_init(ctx, best->name, l->c.ctx->threads);
}

/* The results of the same case in ctx, on its first n positions. */
static int reference(struct layer_case *l, struct n2d_ctx *ctx, size_t n, struct layer_reference *r)
{
	struct layer_case other = *l;
	const struct layer_weights *w = layer_weights(l->group, l->kind, &l->shape.c, ctx);
	size_t rows = n2d_floats(l->shape.B, n, l->shape.c.D);
	struct layer_group *g = l->group;
	if (!w || n2d_arena_init(&r->arena, (2 * rows + n2d_floats(1, 1, l->params)) * sizeof(float)))
		return -1;
	other.layer.params = w->params;
	other.layer.packed = w->packed;
	other.shape.n = n;
	r->kind = l->kind;
	r->train = l->train;
	r->y = n2d_arena_floats(&r->arena, rows);
	r->dx = n2d_arena_floats(&r->arena, rows);
	r->dparams = n2d_arena_floats(&r->arena, l->params);
	call_clean(&other, ctx);
	memcpy(r->y, g->y, l->shape.B * n * l->shape.c.D * sizeof(float));
	memcpy(r->dx, g->dx, l->shape.B * n * l->shape.c.D * sizeof(float));
	memcpy(r->dparams, g->dparams, l->params * sizeof(float));
	return 0;
}

/* What check_small has found right in this process. */
enum { KNOWN = 512 };
static struct {
	const struct n2d_layer_kind *kind;
	const struct n2d_kernels *k;
	struct n2d_layer_config c;
	size_t B, n;
	int train;
} known[KNOWN];
static size_t nknown;

static int is_known(const struct layer_case *small)
{
	for (size_t i = 0; i < nknown; i++)
		if (known[i].kind == small->kind && known[i].k == small->c.ctx->k && known[i].train == small->train &&
		    known[i].B == small->shape.B && known[i].n == small->shape.n &&
		    memcmp(&known[i].c, &small->shape.c, sizeof known[i].c) == 0)
			return 1;
	return 0;
}

static void remember(const struct layer_case *small)
{
	if (nknown == KNOWN)
		return;
	known[nknown].kind = small->kind;
	known[nknown].k = small->c.ctx->k;
	known[nknown].train = small->train;
	known[nknown].B = small->shape.B;
	known[nknown].n = small->shape.n;
	known[nknown++].c = small->shape.c;
}

static double small_flops(const struct layer_case *small)
{
	double flops = 0;
	for (int b = 0; b <= small->train; b++)
		flops += small->kind->flops(&small->shape.c, small->shape.B, small->shape.n, b);
	return flops;
}

/* The first positions against scalar. */
static int check_small(struct layer_case *l)
{
	struct layer_reference r = {0};
	struct n2d_ctx scalar;
	struct layer_case small = *l;
	small.shape.n = l->shape.n < SMALL ? l->shape.n : SMALL;
	while (small.shape.n > 1 && small_flops(&small) > SMALL_FLOPS)
		small.shape.n /= 2;
	if (is_known(&small))
		return 0;
	if (n2d_ctx_init(&scalar, "scalar", l->c.ctx->threads))
		return -1;
	int bad = reference(l, &scalar, small.shape.n, &r);
	if (!bad) {
		call_clean(&small, l->c.ctx);
		bad = compare(&small, "scalar, first positions", r.y, r.dx, r.dparams, BOUND);
	}
	n2d_arena_free(&r.arena);
	n2d_ctx_free(&scalar);
	if (!bad)
		remember(&small);
	return bad;
}

/* *r is NULL when there is nothing to compare with. */
static int whole(struct layer_case *l, const struct layer_reference **found)
{
	struct layer_group *g = l->group;
	struct n2d_ctx ctx;
	for (size_t i = 0; i < g->nreferences; i++)
		if (g->reference[i].kind == l->kind && g->reference[i].train == l->train) {
			*found = g->reference + i;
			return 0;
		}
	*found = NULL;
	if (g->nreferences == LAYER_WEIGHTS || other_context(l, &ctx))
		return 0;
	struct layer_reference *r = g->reference + g->nreferences;
	int bad = reference(l, &ctx, l->shape.n, r);
	n2d_ctx_free(&ctx);
	if (!bad) {
		g->nreferences++;
		*found = r;
	}
	return bad;
}

int layer_check(struct layer_case *l)
{
	const struct layer_reference *r;
	if (strcmp(l->c.ctx->k->isa, "scalar") != 0 && check_small(l))
		return -1;
	if (whole(l, &r))
		return -1;
	l->memory_bytes = call_clean(l, l->c.ctx);
	return r ? compare(l, "another instruction set", r->y, r->dx, r->dparams, BOUND) : 0;
}

/* What the peer leaves unwritten is NaN, or 0 in dparams, and found. */
int layer_check_peer(struct layer_case *l)
{
	struct layer_group *g = l->group;
	struct layer_reference ours = {0};
	struct n2d_ctx ctx = *l->c.ctx;
	size_t rows = l->shape.B * l->shape.n * l->shape.c.D;
	int kinks = strcmp(l->kind->name, "ffn") == 0;
	if (reference(l, &ctx, l->shape.n, &ours))
		return -1;
	fill(g->y, rows);
	fill(g->dx, rows);
	memset(g->dparams, 0, l->params * sizeof(float));
	l->peer->run(l, 1, &(struct sample){0});
	int bad = l->peer->gradients(l) || compare(l, "ours", ours.y, ours.dx, ours.dparams, kinks ? BOUND_KINKS : BOUND);
	n2d_arena_free(&ours.arena);
	return bad ? -1 : 0;
}
