#include "tests/layer/run.h"

#include "tests/unit.h"

static float *make(struct guard *g, size_t n)
{
	guard_alloc(g, n, GUARD_END);
	for (size_t i = 0; i < n; i++)
		g->p[i] = NAN;
	return g->p;
}

static void make_len(struct layer_run *r, const int32_t *len, struct n2d_rng *rng)
{
	int32_t *to = (int32_t *)make(&r->len, r->B);
	for (size_t b = 0; b < r->B; b++)
		switch (n2d_rng_below(rng, 5)) {
		case 0: to[b] = 0; break;
		case 1: to[b] = r->T > 1; break;
		case 2: to[b] = (int32_t)n2d_rng_below(rng, (uint32_t)r->T + 1); break;
		default: to[b] = (int32_t)r->T;
		}
	if (len)
		memcpy(to, len, r->B * sizeof *len);
}

static void fill_rows(const struct layer_run *r, float *x, struct n2d_rng *rng)
{
	size_t D = r->layer.c.D;
	for (size_t b = 0; b < r->B; b++)
		n2d_rng_fill_normal(rng, x + b * r->T * D, layer_run_count(r, b) * D, 0, 1);
}

void layer_run_open(struct layer_run *r, const struct n2d_layer_kind *kind, const struct n2d_layer_config *c, size_t B,
		    size_t T, const int32_t *len, uint64_t seed)
{
	struct n2d_rng rng;
	memset(r, 0, sizeof *r);
	n2d_rng_init(&rng, seed, 0);
	r->layer.kind = kind;
	r->layer.c = *c;
	r->B = B;
	r->T = T;
	r->nparams = kind->params(c);
	kind->init(c, make(&r->params, r->nparams), &rng);
	for (size_t i = 0; i < r->nparams; i++) { /* a layer must not rely on biases of 0 */
		assert_true(isfinite(r->params.p[i]));
		r->params.p[i] += 0.1f * (float)n2d_rng_normal(&rng);
	}
	r->layer.params = r->params.p;
	make_len(r, len, &rng);
	fill_rows(r, make(&r->x, B * T * c->D), &rng);
	fill_rows(r, make(&r->dy, B * T * c->D), &rng);
	r->add = 1;
	r->dparams0 = malloc(r->nparams * sizeof(float) + 1);
	n2d_rng_fill_normal(&rng, r->dparams0, r->nparams, 0, 1);
	make(&r->y, B * T * c->D);
	make(&r->dx, B * T * c->D);
	make(&r->dparams, r->nparams);
}

static void tighten(const struct layer_run *r, struct guard *g, size_t rows)
{
	size_t D = r->layer.c.D;
	struct guard tight;
	float *to = make(&tight, rows * D);
	for (size_t b = 0; b < r->B; to += layer_run_count(r, b) * D, b++)
		memcpy(to, g->p + b * r->T * D, layer_run_count(r, b) * D * sizeof *to);
	guard_free(g);
	*g = tight;
}

void layer_run_tighten(struct layer_run *r)
{
	size_t row = 0;
	int32_t *at = (int32_t *)make(&r->at, r->B + 1);
	for (size_t b = 0; b <= r->B; row += b < r->B ? layer_run_count(r, b) : 0, b++)
		at[b] = (int32_t)row;
	int32_t *position = (int32_t *)make(&r->position, row);
	for (size_t b = 0; b < r->B; b++)
		for (int32_t t = 0; t < at[b + 1] - at[b]; t++)
			position[at[b] + t] = t;
	tighten(r, &r->x, row), tighten(r, &r->y, row), tighten(r, &r->dx, row), tighten(r, &r->dy, row);
}

void layer_run_close(struct layer_run *r)
{
	struct guard *all[] = {&r->at, &r->position, &r->len, &r->x, &r->params, &r->dy, &r->y, &r->dx, &r->dparams};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		guard_free(all[i]);
	free(r->dparams0);
	memset(r, 0, sizeof *r);
}

static void refill(struct guard *g)
{
	for (size_t i = 0; i < g->n; i++)
		g->p[i] = NAN;
}

static uint64_t hash(const struct guard *g, uint64_t h)
{
	const unsigned char *p = (const unsigned char *)g->p;
	for (size_t i = 0; i < g->n * sizeof(float); i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static uint64_t inputs(const struct layer_run *r) { return hash(&r->at, hash(&r->len, hash(&r->x, hash(&r->params, hash(&r->dy, 1))))); }

void layer_run_go(struct layer_run *r, const struct n2d_ctx *ctx, int train)
{
	const struct n2d_layer_kind *k = r->layer.kind;
	const struct n2d_layer_config *c = &r->layer.c;
	const struct n2d_sentences s = {.B = r->B, .T = r->T, .len = layer_run_len(r), .at = (const int32_t *)r->at.p, .position = (const int32_t *)r->position.p};
	struct guard packed, saved, ws;
	uint64_t before = inputs(r);
	k->pack(ctx, c, make(&packed, k->packed(ctx, c)), r->params.p);
	r->layer.packed = packed.p;
	make(&saved, train ? k->saved(c, r->B, r->T) : 0);
	make(&ws, k->workspace(ctx, c, r->B, r->T, train));
	refill(&r->y);
	k->forward(ctx, &r->layer, r->y.p, train ? saved.p : NULL, r->x.p, &s, ws.p);
	if (train) {
		uint64_t kept = hash(&saved, 1);
		refill(&ws);
		refill(&r->dx);
		refill(&r->dparams);
		if (r->add)
			memcpy(r->dparams.p, r->dparams0, r->nparams * sizeof(float));
		k->backward(ctx, &r->layer, r->dx.p, r->dparams.p, r->add, r->dy.p, r->x.p, saved.p, &s, ws.p);
		if (hash(&saved, 1) != kept)
			fail_msg("%s, %s: backward changed what forward saved", k->name, ctx->k->isa);
	}
	const struct guard *all[] = {&r->len, &r->x, &r->params, &r->dy, &r->y, &r->dx, &r->dparams, &packed, &saved, &ws};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (guard_check(all[i]))
			fail_msg("%s, %s: wrote outside array %zu", k->name, ctx->k->isa, i);
	if (inputs(r) != before)
		fail_msg("%s, %s: changed its input", k->name, ctx->k->isa);
	guard_free(&packed);
	guard_free(&saved);
	guard_free(&ws);
	r->layer.packed = NULL;
}
