/* Decoding a position at a time, with hypotheses that descend from each other, against the oracles and against forward. */
#include "config.h"

#include "tests/layer/oracle.h"
#include "tests/problem/guard.h"
#include "tests/unit.h"

enum { WIDTH = 4, ROOM = 12 };

/* A search: what each row has been fed, [WIDTH,ROOM,D], and where its positions lie. */
struct search {
	const struct layer_oracle *oracle;
	struct n2d_layer layer;
	struct guard params, packed, cache, ws, x, y;
	float *fed;
	int32_t slots[WIDTH * ROOM];
	struct n2d_rng rng;
};

static float *make(struct guard *g, size_t n)
{
	guard_alloc(g, n, GUARD_END);
	for (size_t i = 0; i < n; i++)
		g->p[i] = NAN;
	return g->p;
}

static void search_open(struct search *s, const struct n2d_ctx *ctx, const struct layer_oracle *o, const struct n2d_layer_config *c)
{
	const struct n2d_layer_kind *k = n2d_layer_find(o->kind);
	size_t n = k->params(c);
	memset(s, 0, sizeof *s);
	n2d_rng_init(&s->rng, 7, n);
	s->oracle = o;
	k->init(c, make(&s->params, n), &s->rng);
	for (size_t i = 0; i < n; i++)
		s->params.p[i] += 0.1f * (float)n2d_rng_normal(&s->rng);
	s->layer = (struct n2d_layer){k, *c, s->params.p, make(&s->packed, k->packed(ctx, c))};
	k->pack(ctx, c, s->packed.p, s->params.p);
	make(&s->cache, k->cache(c, WIDTH, ROOM));
	make(&s->ws, k->step_workspace(ctx, c, WIDTH, ROOM));
	make(&s->x, WIDTH * c->D);
	make(&s->y, WIDTH * c->D);
	s->fed = malloc(WIDTH * ROOM * c->D * sizeof(float));
}

static void search_close(struct search *s)
{
	struct guard *all[] = {&s->params, &s->packed, &s->cache, &s->ws, &s->x, &s->y};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_equal(guard_check(all[i]), 0);
		guard_free(all[i]);
	}
	free(s->fed);
}

/* rows hypotheses, each of a random one of those before. */
static void descend(struct search *s, size_t at, size_t before, size_t rows)
{
	size_t D = s->layer.c.D;
	int32_t old[WIDTH * ROOM];
	float *was = malloc(WIDTH * ROOM * D * sizeof *was);
	memcpy(old, s->slots, sizeof old);
	memcpy(was, s->fed, WIDTH * ROOM * D * sizeof *was);
	for (size_t r = 0; r < rows; r++) {
		size_t p = at ? n2d_rng_below(&s->rng, (uint32_t)before) : 0;
		memcpy(s->slots + r * ROOM, old + p * ROOM, sizeof old / WIDTH);
		memcpy(s->fed + r * ROOM * D, was + p * ROOM * D, ROOM * D * sizeof *was);
		s->slots[r * ROOM + at] = (int32_t)r;
		n2d_rng_fill_normal(&s->rng, s->x.p + r * D, D, 0, 1);
		memcpy(s->fed + (r * ROOM + at) * D, s->x.p + r * D, D * sizeof *was);
	}
	free(was);
}

static void check_oracle(const struct search *s, const char *isa, size_t at, size_t rows)
{
	size_t D = s->layer.c.D, n = at + 1;
	double *x = oracle_alloc(n * D, sizeof *x), *p = oracle_alloc(s->params.n, sizeof *p);
	struct num *y = oracle_alloc(n * D, sizeof *y);
	for (size_t i = 0; i < s->params.n; i++)
		p[i] = s->params.p[i];
	for (size_t r = 0; r < rows; r++) {
		for (size_t i = 0; i < n * D; i++)
			x[i] = s->fed[r * ROOM * D + i];
		s->oracle->sentence(&s->layer.c, n, y, x, p, NULL, NULL, NULL);
		for (size_t i = 0; i < D; i++)
			UNIT_NEAR(isa, s->oracle->kind, at * 1000 + i, s->y.p[r * D + i], y[at * D + i].v, y[at * D + i].e);
	}
	free(x), free(p), free(y);
}

/* The bits of forward. */
static void check_forward(const struct search *s, const struct n2d_ctx *ctx, size_t at, size_t rows)
{
	const struct n2d_layer *l = &s->layer;
	size_t D = l->c.D, n = at + 1;
	float *y = malloc(WIDTH * ROOM * D * sizeof *y), *ws = NULL, *x = malloc(WIDTH * ROOM * D * sizeof *x);
	assert_int_equal(posix_memalign((void **)&ws, 64, l->kind->workspace(ctx, &l->c, rows, n, 0) * sizeof *ws + 64), 0);
	for (size_t r = 0; r < rows; r++)
		memcpy(x + r * n * D, s->fed + r * ROOM * D, n * D * sizeof *x);
	l->kind->forward(ctx, l, y, NULL, x, &(struct n2d_sentences){.B = rows, .T = n}, ws);
	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < D; i++)
			if (memcmp(y + (r * n + at) * D + i, s->y.p + r * D + i, sizeof *y) != 0)
				fail_msg("%s %s: row %zu at %zu: %.9g, forward %.9g", ctx->k->isa, l->kind->name, r, at,
					 (double)s->y.p[r * D + i], (double)y[(r * n + at) * D + i]);
	free(x), free(y), free(ws);
}

/* Other threads must give the same bits; the caches of slots that no row has are never read, they are NaN. */
static void search(const struct n2d_ctx *ctx, const struct layer_oracle *o, const struct n2d_layer_config *c)
{
	static const size_t rows[ROOM] = {1, 4, 4, 3, 4, 2, 2, 4, 4, 4, 1, 3};
	struct search s;
	struct n2d_ctx alone = *ctx;
	float *first = malloc(WIDTH * c->D * sizeof *first);
	alone.threads = 1;
	search_open(&s, ctx, o, c);
	for (size_t at = 0; at < ROOM; at++) {
		struct n2d_step step = {rows[at], at, WIDTH, ROOM, s.slots};
		descend(&s, at, at ? rows[at - 1] : 0, rows[at]);
		s.layer.kind->step(ctx, &s.layer, s.y.p, s.cache.p, s.x.p, &step, s.ws.p);
		memcpy(first, s.y.p, rows[at] * c->D * sizeof *first);
		s.layer.kind->step(&alone, &s.layer, s.y.p, s.cache.p, s.x.p, &step, s.ws.p); /* again: the cache is written the same */
		assert_memory_equal(first, s.y.p, rows[at] * c->D * sizeof *first);
		check_oracle(&s, ctx->k->isa, at, rows[at]);
		check_forward(&s, ctx, at, rows[at]);
	}
	search_close(&s);
	free(first);
}

static void steps_give_what_forward_gives(void **state)
{
	(void)state;
	static const char *const kinds[] = {"self-attention", "restricted-attention", "rnn", "lstm", "gru", "convolution", "ffn"};
	size_t searched = 0;
	for (const struct layer_oracle *const *o = layer_oracles; *o; o++) {
		const struct n2d_layer_kind *k = n2d_layer_find((*o)->kind);
		size_t here = 0;
		for (const struct layer_variant *v = (*o)->variants; k->step && v->use; v++)
			for (size_t D = 2; D <= 34; D += 16) {
				struct n2d_layer_config c = v->c;
				struct n2d_ctx ctx;
				c.D = D;
				c.causal = 1;
				if (k->check(&c) == 0)
					UNIT_EACH_ISA(ctx, 2) { search(&ctx, *o, &c), here++; }
			}
		searched += here > 0;
	}
	assert_int_equal(searched, sizeof kinds / sizeof *kinds);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		assert_non_null(n2d_layer_find(kinds[i])->step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(steps_give_what_forward_gives)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
