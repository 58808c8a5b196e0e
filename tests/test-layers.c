/* Every kind of layer through the one interface, against its oracle in tests/layer/. */
#include "config.h"

#include "base/size.h"
#include "tests/layer/oracle.h"
#include "tests/layer/run.h"
#include "tests/unit.h"

/* Runs `body` for every kind, its oracle `o`, and every variant and width it accepts as `c`. */
typedef void (*each_fn)(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i);

static void each_config(const size_t *widths, each_fn fn)
{
	size_t i = 0;
	for (const struct layer_oracle *const *o = layer_oracles; *o; o++) {
		const struct n2d_layer_kind *k = n2d_layer_find((*o)->kind);
		if (!k)
			fail_msg("no layer is called '%s'", (*o)->kind);
		for (const struct layer_variant *v = (*o)->variants; v->use; v++) {
			size_t before = i;
			for (const size_t *D = widths; *D; D++) {
				struct n2d_layer_config c = v->c;
				c.D = *D;
				if (k->check(&c) == 0)
					fn(k, *o, &c, i++);
			}
			if (i == before)
				fail_msg("%s: variant %td fits no width: %s", k->name, v - (*o)->variants, n2d_error_text());
		}
	}
}

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

static void agree(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	static const size_t lengths[] = {0, 1, 2, 5, 17, 33};
	for (size_t t = 0; t < sizeof lengths / sizeof *lengths; t++) {
		struct layer_run r;
		struct n2d_ctx ctx;
		layer_run_open(&r, k, c, (i + t) % 4, lengths[t], NULL, i * 100 + t);
		struct expected e = expect(o, &r);
		UNIT_EACH_ISA(ctx, 1) {
			layer_run_go(&r, &ctx, 1);
			compare(&r, &e, &ctx);
		}
		expect_free(&e);
		layer_run_close(&r);
	}
}

static void agrees_with_the_oracle(void **state)
{
	(void)state;
	each_config((const size_t[]){1, 2, 6, 16, 34, 64, 0}, agree);
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
	each_config((const size_t[]){1, 2, 6, 0}, check_gradient);
}

/* ---- bit for bit */

static void same(const struct n2d_layer_kind *k, const char *what, const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(a + i, b + i, sizeof *a) != 0)
			fail_msg("%s: %s: %zu: %.9g and %.9g", k->name, what, i, (double)a[i], (double)b[i]);
}

static float *keep(const struct guard *g)
{
	float *p = malloc(g->n * sizeof(float) + 1);
	return memcpy(p, g->p, g->n * sizeof(float));
}

/* Threads, a second run, and inference without saving. */
static void repeat(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	struct layer_run r;
	struct n2d_ctx ctx;
	layer_run_open(&r, k, c, 3, 33, (const int32_t[]){33, 0, 29}, i);
	UNIT_EACH_ISA(ctx, 3) {
		layer_run_go(&r, &ctx, 1);
		float *y = keep(&r.y), *dx = keep(&r.dx), *dparams = keep(&r.dparams);
		for (int threads = 1; threads <= 3; threads++) {
			struct n2d_ctx few = ctx;
			few.threads = threads;
			layer_run_go(&r, &few, 1);
			same(k, "y with other threads", r.y.p, y, r.y.n);
			same(k, "dx with other threads", r.dx.p, dx, r.dx.n);
			same(k, "dparams with other threads", r.dparams.p, dparams, r.nparams);
			layer_run_go(&r, &few, 0);
			same(k, "y of inference and training", r.y.p, y, r.y.n);
		}
		free(y), free(dx), free(dparams);
	}
	layer_run_close(&r);
}

static void same_bits_again(void **state)
{
	(void)state;
	each_config((const size_t[]){2, 34, 64, 0}, repeat);
}

/* Sentence b of r alone, padded by `more` positions. */
static void alone(const struct layer_run *r, size_t b, size_t more, const struct n2d_ctx *ctx)
{
	struct layer_run s;
	const struct n2d_layer_config *c = &r->layer.c;
	size_t n = layer_run_count(r, b), at = b * r->T * c->D;
	layer_run_open(&s, r->layer.kind, c, 1, n + more, (const int32_t[]){(int32_t)n}, 1);
	memcpy(s.params.p, r->params.p, r->nparams * sizeof(float));
	memcpy(s.x.p, r->x.p + at, n * c->D * sizeof(float));
	memcpy(s.dy.p, r->dy.p + at, n * c->D * sizeof(float));
	layer_run_go(&s, ctx, 1);
	same(r->layer.kind, "y alone and in a batch", s.y.p, r->y.p + at, n * c->D);
	same(r->layer.kind, "dx alone and in a batch", s.dx.p, r->dx.p + at, n * c->D);
	for (size_t i = n * c->D; i < s.y.n; i++)
		assert_true(s.y.p[i] == 0 && s.dx.p[i] == 0);
	layer_run_close(&s);
}

static void pad(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	struct layer_run r;
	struct n2d_ctx ctx;
	layer_run_open(&r, k, c, 3, 23, (const int32_t[]){7, 23, 1}, i);
	UNIT_EACH_ISA(ctx, 2) {
		layer_run_go(&r, &ctx, 1);
		for (size_t b = 0; b < r.B; b++) {
			alone(&r, b, 0, &ctx);
			alone(&r, b, 1, &ctx);
			alone(&r, b, 50, &ctx);
		}
	}
	layer_run_close(&r);
}

static void padding_changes_nothing(void **state)
{
	(void)state;
	each_config((const size_t[]){2, 34, 64, 0}, pad);
}

/* The padding of x finite, that of dy 0: the same without the copies. */
static void trust(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	struct layer_run r;
	struct n2d_ctx ctx;
	layer_run_open(&r, k, c, 3, 23, (const int32_t[]){7, 23, 0}, i);
	for (size_t j = 0; j < r.x.n; j++)
		if (isnan(r.x.p[j]))
			r.x.p[j] = 3, r.dy.p[j] = 0;
	UNIT_EACH_ISA(ctx, 2) {
		r.layer.c.finite = 0;
		layer_run_go(&r, &ctx, 1);
		float *y = keep(&r.y), *dx = keep(&r.dx), *dparams = keep(&r.dparams);
		r.layer.c.finite = 1;
		layer_run_go(&r, &ctx, 1);
		for (size_t b = 0; b < r.B; b++) {
			size_t at = b * r.T * c->D, n = layer_run_count(&r, b) * c->D;
			same(k, "y of finite padding", r.y.p + at, y + at, n);
			for (size_t j = n; j < r.T * c->D; j++)
				assert_true(isfinite(r.y.p[at + j]));
		}
		for (size_t j = 0; j < r.dx.n; j++)
			assert_true(r.dx.p[j] == dx[j]); /* 0 of either sign in the padding */
		same(k, "dparams of finite padding", r.dparams.p, dparams, r.nparams);
		float *trained = keep(&r.y);
		layer_run_go(&r, &ctx, 0);
		same(k, "y of finite padding, inference", r.y.p, trained, r.y.n);
		free(y), free(dx), free(dparams), free(trained);
	}
	layer_run_close(&r);
}

static void finite_padding_needs_no_copies(void **state)
{
	(void)state;
	each_config((const size_t[]){2, 34, 64, 0}, trust);
}

/* Causal layers: a change of position t leaves the outputs before t, and the same backwards. */
static void change(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	struct layer_run r;
	struct n2d_ctx ctx;
	if (!c->causal)
		return;
	size_t T = 33, t = 17;
	layer_run_open(&r, k, c, 1, T, (const int32_t[]){(int32_t)T}, i);
	UNIT_EACH_ISA(ctx, 1) {
		layer_run_go(&r, &ctx, 0);
		float *y = keep(&r.y);
		for (size_t d = 0; d < c->D; d++)
			r.x.p[t * c->D + d] += 1;
		layer_run_go(&r, &ctx, 0);
		same(k, "y before a changed position", r.y.p, y, t * c->D);
		assert_memory_not_equal(r.y.p + t * c->D, y + t * c->D, c->D * sizeof(float));
		free(y);
	}
	layer_run_close(&r);
}

static void future_changes_nothing(void **state)
{
	(void)state;
	each_config((const size_t[]){2, 34, 64, 0}, change);
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
	each_config((const size_t[]){64, 0}, too_large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_an_oracle),
		cmocka_unit_test(oracle_backward_is_the_slope),
		cmocka_unit_test(agrees_with_the_oracle),
		cmocka_unit_test(same_bits_again),
		cmocka_unit_test(padding_changes_nothing),
		cmocka_unit_test(finite_padding_needs_no_copies),
		cmocka_unit_test(future_changes_nothing),
		cmocka_unit_test(sizes_are_refused_not_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
