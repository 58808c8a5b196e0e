/* Every kind of layer through the one interface, against its oracle in tests/layer/. What must not change a bit is in tests/layer-bits.c. */
#include "config.h"

#include "base/size.h"
#include "base/trace.h"
#include "tests/layer/each.h"
#include "tests/layer/run.h"
#include "tests/unit.h"

static void every_kind_has_an_oracle(void **state)
{
	(void)state;
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; *k; k++) {
		int found = 0;
		for (const struct layer_oracle *const *o = layer_oracles; *o; o++)
			found |= strcmp((*o)->kind, (*k)->name) == 0;
		if (!found)
			fail_msg("%s has no oracle", (*k)->name);
	}
	assert_null(n2d_layer_find("no such layer"));
}

/* ---- what a layer should give */

struct expected {
	struct num *y, *dx;
	struct acc *dp;
};

static double *widen(const float *x, size_t n)
{
	double *d = oracle_alloc(n, sizeof *d);
	for (size_t i = 0; i < n; i++)
		d[i] = x[i];
	return d;
}

static struct expected expect(const struct layer_oracle *o, const struct layer_run *r)
{
	const struct n2d_layer_config *c = &r->layer.c;
	size_t n = r->B * r->T * c->D;
	struct expected e = {oracle_alloc(n, sizeof *e.y), oracle_alloc(n, sizeof *e.dx), oracle_alloc(r->nparams, sizeof *e.dp)};
	double *x = widen(r->x.p, n), *dy = widen(r->dy.p, n), *p = widen(r->params.p, r->nparams);
	for (size_t i = 0; i < r->nparams; i++)
		acc_add(e.dp + i, exact(r->dparams0[i]));
	for (size_t b = 0; b < r->B; b++) {
		size_t at = b * r->T * c->D;
		o->sentence(c, layer_run_count(r, b), e.y + at, x + at, p, dy + at, e.dx + at, e.dp);
	}
	free(x), free(dy), free(p);
	return e;
}

static void expect_free(struct expected *e) { free(e->y), free(e->dx), free(e->dp); }

/* In the padding the oracle's arrays hold 0 with error 0: exactly what is wanted. */
static void compare(const struct layer_run *r, const struct expected *e, const struct n2d_ctx *ctx)
{
	const struct n2d_layer_config *c = &r->layer.c;
	char who[160];
	snprintf(who, sizeof who, "%s %s B=%zu T=%zu D=%zu H=%zu d_k=%zu d_v=%zu R=%zu W=%zu dilation=%zu F=%zu causal=%d",
		 r->layer.kind->name, ctx->k->isa, r->B, r->T, c->D, c->H, c->d_k, c->d_v, c->R, c->W, c->dilation, c->F, c->causal);
	for (size_t i = 0; i < r->y.n; i++) {
		UNIT_NEAR(who, "y", i, r->y.p[i], e->y[i].v, e->y[i].e);
		UNIT_NEAR(who, "dx", i, r->dx.p[i], e->dx[i].v, e->dx[i].e);
	}
	for (size_t i = 0; i < r->nparams; i++) {
		struct num want = acc_end(e->dp + i);
		UNIT_NEAR(who, "dparams", i, r->dparams.p[i], want.v, want.e);
	}
}

/* lengths: len[B], or NULL for random ones that include 0, 1 and T. Parameters are multiplied by gain. */
static void agree(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t B, size_t T,
		  const int32_t *len, float gain, size_t seed)
{
	struct layer_run r;
	struct n2d_ctx ctx;
	layer_run_open(&r, k, c, B, T, len, seed);
	for (size_t i = 0; i < r.nparams; i++)
		r.params.p[i] *= gain;
	struct expected e = expect(o, &r);
	UNIT_EACH_ISA(ctx, 1) {
		layer_run_go(&r, &ctx, 1);
		compare(&r, &e, &ctx);
	}
	expect_free(&e);
	layer_run_close(&r);
}

static void small(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	static const size_t lengths[] = {0, 1, 2, 5, 17, 33};
	for (size_t t = 0; t < sizeof lengths / sizeof *lengths; t++)
		agree(k, o, c, (i + t) % 4, lengths[t], NULL, 1, i * 100 + t);
}

static void agrees_with_the_oracle(void **state)
{
	(void)state;
	layer_each((const size_t[]){1, 2, 6, 16, 34, 64, 0}, small);
}

/* Several tiles of keys, blocks of rows and steps, and a rest of each. With weights of a quarter of the size a recurrent layer forgets: the bound
 * on its error stays sharp over a thousand steps. */
static void lengthy(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	agree(k, o, c, 2, 300, (const int32_t[]){300, 257}, 0.25f, i);
	agree(k, o, c, 1, 1025, (const int32_t[]){1025}, 0.25f, i);
}

static void agrees_over_long_sentences(void **state)
{
	(void)state;
	layer_each((const size_t[]){2, 6, 0}, lengthy);
}

/* Many rows a step: the recurrent layers share a step's work between threads, in panels of units. */
static void wide(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	agree(k, o, c, 64, 3, NULL, 1, i);
}

static void agrees_in_large_batches(void **state)
{
	(void)state;
	layer_each((const size_t[]){3, 5, 17, 33, 34, 65, 0}, wide);
}

/* ---- the oracle itself */

/* The scalar function whose gradient backward gives, and a bound on its error in double: the oracle's float bound
 * times 2^-29, the ratio of the unit roundoffs, and the sum's own roundings. */
static struct num objective(const struct layer_oracle *o, const struct n2d_layer_config *c, size_t n, const double *x,
			    const double *p, const double *dy)
{
	struct num *y = oracle_alloc(n * c->D, sizeof *y), f = {0, 0};
	o->sentence(c, n, y, x, p, NULL, NULL, NULL);
	for (size_t i = 0; i < n * c->D; i++) {
		f.v += y[i].v * dy[i];
		f.e += fabs(dy[i]) * (y[i].e * 0x1p-29 + (double)(n * c->D + 1) * 0x1p-53 * fabs(y[i].v));
	}
	free(y);
	return f;
}

/* Central differences with h and h/2 and their extrapolation, which is off by far less than the two differ. */
static void check_slope(const struct layer_oracle *o, const struct n2d_layer_config *c, size_t n, double *x, double *p,
			const double *dy, double *at, double want, size_t i)
{
	const double h = 0x1p-18; /* small: no kink of a ReLU should lie between */
	double slope[2], noise = 0, old = *at;
	for (int s = 0; s < 2; s++) {
		double step = s ? h / 2 : h;
		*at = old + step;
		struct num up = objective(o, c, n, x, p, dy);
		*at = old - step;
		struct num down = objective(o, c, n, x, p, dy);
		slope[s] = (up.v - down.v) / (2 * step);
		noise += (up.e + down.e) / step;
	}
	*at = old;
	UNIT_NEAR(o->kind, "slope", i, want, (4 * slope[1] - slope[0]) / 3, fabs(slope[1] - slope[0]) + 2 * noise);
}

static void check_gradient(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	struct layer_run r;
	size_t n = 5;
	layer_run_open(&r, k, c, 1, n, (const int32_t[]){(int32_t)n}, i);
	memset(r.dparams0, 0, r.nparams * sizeof(float));
	struct expected e = expect(o, &r);
	double *x = widen(r.x.p, n * c->D), *dy = widen(r.dy.p, n * c->D), *p = widen(r.params.p, r.nparams);
	for (size_t j = 0; j < n * c->D; j++)
		check_slope(o, c, n, x, p, dy, x + j, e.dx[j].v, j);
	for (size_t j = 0; j < r.nparams; j++)
		check_slope(o, c, n, x, p, dy, p + j, e.dp[j].v, j);
	free(x), free(dy), free(p);
	expect_free(&e);
	layer_run_close(&r);
}

static void oracle_backward_is_the_slope(void **state)
{
	(void)state;
	layer_each((const size_t[]){1, 2, 6, 0}, check_gradient);
}

/* ---- what the observer sees is what the layer says of itself */

struct seen {
	double flops[3]; /* by part */
	size_t calls;
};

/* Layers count those of matrices: not a bias's gradient, which is one with a row of ones, nor what is done to single numbers. */
static int is_product(const struct n2d_call *call)
{
	static const char *const pointwise[] = {"rotary", "rotary-bwd", "relu-bwd", "gelu", "gelu-bwd", "swiglu", "swiglu-bwd"};
	for (size_t i = 0; i < sizeof pointwise / sizeof *pointwise; i++)
		if (strcmp(call->op, pointwise[i]) == 0)
			return 0;
	return strcmp(call->op, "gemm") != 0 || call->dim[0].value != 1;
}

static void see(struct n2d_trace *t, const struct n2d_call *call)
{
	struct seen *s = t->user;
	s->calls++;
	if (is_product(call))
		s->flops[call->part] += call->flops;
}

/* Forward alone, or forward and backward, of sentences of full length. */
static struct seen observe(struct layer_run *r, const struct n2d_ctx *ctx, int train, int steps)
{
	struct seen s = {.calls = 0};
	struct n2d_trace trace = {.see = see, .user = &s, .steps = steps};
	struct n2d_ctx watched = *ctx;
	watched.trace = &trace;
	layer_run_go(r, &watched, train);
	return s;
}

static void observed(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	enum { B = 1, SHORT = 5, LONG = 37 }; /* of one sentence: the gradient of U goes over the rows between sentences too, whose terms are 0 */
	struct layer_run r, shorter;
	struct n2d_ctx ctx;
	if (c->d_k != c->d_v || c->F == 1) /* heads computed wider than they are (layer/heads.h): the layer does not count the zeros; matrices of one row */
		return;
	assert_int_equal(n2d_ctx_init(&ctx, NULL, 2), 0);
	layer_run_open(&r, k, c, B, LONG, (const int32_t[]){LONG}, i);
	layer_run_open(&shorter, k, c, B, SHORT, (const int32_t[]){SHORT}, i);
	for (int train = 0; train < 2; train++) {
		struct seen once = observe(&r, &ctx, train, 0), steps = observe(&r, &ctx, train, 1);
		double all = k->flops(c, B, LONG, 0) + (train ? k->flops(c, B, LONG, 1) : 0);
		double mixing = k->mixing_flops(c, B, LONG, 0) + (train ? k->mixing_flops(c, B, LONG, 1) : 0);
		for (const struct seen *s = &once;; s = &steps) {
			double sum = s->flops[N2D_PART_OTHER] + s->flops[N2D_PART_PROJECTION] + s->flops[N2D_PART_MIXING];
			if (sum != all || s->flops[N2D_PART_MIXING] != mixing)
				fail_msg("%s train=%d steps=%d: %g FLOPs, %g of them mixing, were observed; %g and %g are said", k->name, train, s == &steps, sum,
					 s->flops[N2D_PART_MIXING], all, mixing);
			if (s == &steps)
				break;
		}
		int recurrent = k->sequential && strcmp(k->sequential, "O(n)") == 0;
		assert_int_equal(once.calls, observe(&shorter, &ctx, train, 0).calls);
		assert_int_equal(steps.calls, once.calls + (recurrent ? (size_t)(train + 1) * (LONG - 1) : 0));
	}
	layer_run_close(&r);
	layer_run_close(&shorter);
	n2d_ctx_free(&ctx);
}

static void the_observer_counts_what_layers_say(void **state)
{
	(void)state;
	layer_each((const size_t[]){64, 0}, observed);
}

/* ---- sizes */

static void too_large(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o, (void)i;
	struct n2d_ctx ctx;
	struct n2d_layer_config huge = *c;
	assert_int_equal(n2d_ctx_init(&ctx, "scalar", 1), 0);
	size_t saved = k->saved(c, (size_t)1 << 31, (size_t)1 << 32); /* convolution keeps nothing */
	assert_true(saved == 0 || n2d_mul(saved, 4) == N2D_TOO_LARGE);
	assert_int_equal(n2d_mul(k->workspace(&ctx, c, (size_t)1 << 31, (size_t)1 << 32, 1), 4), N2D_TOO_LARGE);
	huge.D = (size_t)1 << 62;
	assert_int_equal(k->check(&huge), -1);
	assert_non_null(strstr(n2d_error_text(), k->name));
	huge.D = 0;
	assert_int_equal(k->check(&huge), -1);
	n2d_ctx_free(&ctx);
}

static void sizes_are_refused_not_wrapped(void **state)
{
	(void)state;
	layer_each((const size_t[]){64, 0}, too_large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_an_oracle),
		cmocka_unit_test(oracle_backward_is_the_slope),
		cmocka_unit_test(agrees_with_the_oracle),
		cmocka_unit_test(agrees_over_long_sentences),
		cmocka_unit_test(agrees_in_large_batches),
		cmocka_unit_test(the_observer_counts_what_layers_say),
		cmocka_unit_test(sizes_are_refused_not_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
