#include "bench/layer_case.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/rng.h"
#include "base/size.h"

/* Calls at least this long are observed while they are timed: two clock readings an operator are nothing to them. Shorter
 * ones are observed in calls of their own. */
#define OBSERVED 0.001

static int is_recurrent(const struct n2d_layer_kind *kind) { return kind->sequential && strcmp(kind->sequential, "O(n)") == 0; }

/* What a layer walks again and again: a recurrent one, its step (weights and a row), the others everything. */
static double footprint(const struct n2d_layer_kind *kind, const struct layer_shape *s, int backward)
{
	double all = kind->bytes(&s->c, s->B, s->n, backward);
	return is_recurrent(kind) ? kind->bytes(&s->c, s->B, s->n + 1, backward) - all : all;
}

static void set_work(struct layer_case *l)
{
	const struct layer_shape *s = &l->shape;
	for (int b = 0; b <= l->train; b++) {
		l->work.flops += l->kind->flops(&s->c, s->B, s->n, b);
		l->work.bytes += l->kind->bytes(&s->c, s->B, s->n, b);
		l->mixing_flops += l->kind->mixing_flops(&s->c, s->B, s->n, b);
	}
	l->work.footprint = footprint(l->kind, s, 0);
	l->work.stream = ROOF_READ;
	l->params = l->kind->params(&s->c);
}

void layer_call(const struct layer_case *l, const struct n2d_ctx *ctx)
{
	struct layer_group *g = l->group;
	const struct n2d_sentences at = {.B = l->shape.B, .T = l->shape.n};
	l->kind->forward(ctx, &l->layer, g->y, l->train ? g->saved : NULL, g->x, &at, g->ws);
	if (l->train)
		l->kind->backward(ctx, &l->layer, g->dx, g->dparams, 0, g->dy, g->x, g->saved, &at, g->ws);
}

static void see(struct n2d_trace *t, const struct n2d_call *call)
{
	struct layer_case *l = t->user;
	l->to->part[call->part] += call->seconds;
}

static void run(struct bench_case *c, size_t calls, struct sample *s)
{
	struct layer_case *l = c->arg;
	l->to = s;
	while (calls--)
		layer_call(l, c->call_seconds >= OBSERVED ? &l->ctx : c->ctx);
}

static void parts(struct bench_case *c, size_t calls, struct sample *s)
{
	struct layer_case *l = c->arg;
	l->to = s;
	while (c->call_seconds < OBSERVED && calls--)
		layer_call(l, &l->ctx);
}

static int open_layer(struct bench_case *c)
{
	struct layer_case *l = c->arg;
	const struct layer_weights *w = layer_weights(l->group, l->kind, &l->shape.c, c->ctx);
	if (!w)
		return -1;
	l->layer = (struct n2d_layer){l->kind, l->shape.c, w->params, w->packed};
	l->ctx = *c->ctx;
	l->ctx.trace = &l->trace;
	l->trace = (struct n2d_trace){.see = see, .user = l};
	return layer_check(l);
}

void layer_case_init(struct layer_case *l, const struct n2d_layer_kind *kind, const struct layer_shape *shape,
		     const struct n2d_ctx *ctx, int train)
{
	memset(l, 0, sizeof *l);
	l->kind = kind;
	l->shape = *shape;
	l->train = train;
	l->c.ctx = ctx;
	l->c.arg = l;
	l->c.open = open_layer;
	l->c.run = run;
	l->c.parts = parts;
	snprintf(l->c.id, sizeof l->c.id, "%s/%s/%s,n=%zu,d=%zu,B=%zu,threads=%d", kind->name, ctx->k->isa,
		 train ? "train" : "forward", shape->n, shape->c.D, shape->B, ctx->threads);
	if (kind->check(&shape->c))
		snprintf(l->c.why, sizeof l->c.why, "%s", n2d_error_text());
	else
		set_work(l);
}

/* Parameters are the same on every instruction set: made once. */
static float *known_params(const struct layer_group *g, const struct n2d_layer_kind *kind)
{
	for (size_t i = 0; i < g->nweights; i++)
		if (g->weights[i].kind == kind)
			return g->weights[i].params;
	return NULL;
}

const struct layer_weights *layer_weights(struct layer_group *g, const struct n2d_layer_kind *kind,
					  const struct n2d_layer_config *c, const struct n2d_ctx *ctx)
{
	for (size_t i = 0; i < g->nweights; i++)
		if (g->weights[i].kind == kind && g->weights[i].k == ctx->k)
			return g->weights + i;
	if (g->nweights == LAYER_WEIGHTS)
		return n2d_error("too many layers at once"), NULL;
	struct layer_weights *w = g->weights + g->nweights;
	float *known = known_params(g, kind);
	size_t p = known ? 0 : n2d_floats(1, 1, kind->params(c)), q = n2d_floats(1, 1, kind->packed(ctx, c));
	if (n2d_arena_init(&w->arena, n2d_mul(n2d_add(p, q), sizeof(float))))
		return NULL;
	n2d_arena_touch(&w->arena);
	w->kind = kind;
	w->k = ctx->k;
	w->params = known ? known : n2d_arena_floats(&w->arena, p);
	w->packed = n2d_arena_floats(&w->arena, q);
	if (!known) {
		struct n2d_rng rng;
		n2d_rng_init(&rng, 1, 1);
		kind->init(c, w->params, &rng);
	}
	kind->pack(ctx, c, w->packed, w->params);
	g->nweights++;
	return w;
}

/* The most any usable instruction set needs: the check runs others too. */
static size_t workspace(const struct layer_case *l)
{
	size_t n, most = 0;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	for (size_t i = 0; i < n; i++) {
		struct n2d_ctx ctx = *l->c.ctx;
		if (!isa[i].k || !isa[i].supported)
			continue;
		ctx.k = isa[i].k;
		size_t ws = l->kind->workspace(&ctx, &l->shape.c, l->shape.B, l->shape.n, l->train);
		most = ws > most ? ws : most;
	}
	return most;
}

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

int layer_group_open(struct layer_group *g, struct layer_case **l, size_t n)
{
	size_t rows = 0, saved = 0, ws = 0, params = 0, weights = 0;
	struct n2d_rng rng;
	memset(g, 0, sizeof *g);
	for (size_t i = 0; i < n; i++) {
		const struct layer_shape *s = &l[i]->shape;
		l[i]->group = g;
		if (l[i]->c.why[0])
			continue;
		rows = most(rows, n2d_floats(s->B, s->n, s->c.D));
		saved = most(saved, l[i]->train ? l[i]->kind->saved(&s->c, s->B, s->n) : 0);
		ws = most(ws, workspace(l[i]));
		params = most(params, n2d_floats(1, 1, l[i]->kind->params(&s->c)));
		weights = most(weights, n2d_add(l[i]->kind->params(&s->c), l[i]->kind->packed(l[i]->c.ctx, &s->c)));
	}
	saved = n2d_floats(1, 1, saved);
	ws = n2d_floats(1, 1, ws);
	size_t scratch = n2d_add(n2d_add(n2d_mul(2, rows), params), n2d_add(saved, ws));
	/* What is certain not to fit is told before a part of it is touched. */
	size_t all = n2d_mul(n2d_add(n2d_add(n2d_mul(2, rows), scratch), weights), sizeof(float)), available = n2d_memory_available();
	if (all > available)
		return n2d_error("no memory for %zu bytes: %zu are available", all, available);
	if (n2d_arena_init(&g->io, n2d_mul(n2d_mul(2, rows), sizeof(float))))
		return -1;
	n2d_arena_touch(&g->io); /* before the next one: memory is available until it is touched */
	if (n2d_arena_init(&g->scratch, n2d_mul(scratch, sizeof(float)))) {
		n2d_arena_free(&g->io);
		return -1;
	}
	n2d_arena_touch(&g->scratch);
	g->x = n2d_arena_floats(&g->io, rows);
	g->dy = n2d_arena_floats(&g->io, rows);
	g->y = n2d_arena_floats(&g->scratch, rows);
	g->dx = n2d_arena_floats(&g->scratch, rows);
	g->dparams = n2d_arena_floats(&g->scratch, params);
	g->saved = n2d_arena_floats(&g->scratch, saved);
	g->ws = n2d_arena_floats(&g->scratch, ws);
	n2d_rng_init(&rng, 1, 2);
	n2d_rng_fill_normal(&rng, g->x, rows, 0, 1);
	n2d_rng_fill_normal(&rng, g->dy, rows, 0, 1);
	return 0;
}

void layer_group_close(struct layer_group *g)
{
	for (size_t i = 0; i < g->nweights; i++)
		n2d_arena_free(&g->weights[i].arena);
	for (size_t i = 0; i < g->nreferences; i++)
		n2d_arena_free(&g->reference[i].arena);
	n2d_arena_free(&g->io);
	n2d_arena_free(&g->scratch);
}
