/* What must not change a bit of a layer's results: threads, a second run, padding, neighbours in the batch, the future. */
#include "config.h"

#include "tests/layer/each.h"
#include "tests/layer/run.h"
#include "tests/unit.h"

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
static void repeat_batch(const struct n2d_layer_kind *k, const struct n2d_layer_config *c, size_t B, size_t T, const int32_t *len,
			 uint64_t seed)
{
	struct layer_run r;
	struct n2d_ctx ctx;
	layer_run_open(&r, k, c, B, T, len, seed);
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

/* Of 32 sentences a step of 64 units is large enough that the recurrent layers divide it among threads. */
static void repeat(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	repeat_batch(k, c, 3, 33, (const int32_t[]){33, 0, 29}, i);
	repeat_batch(k, c, 32, 5, NULL, i);
}

static void same_bits_again(void **state)
{
	(void)state;
	layer_each((const size_t[]){2, 34, 64, 0}, repeat);
}

/* Gradients written are those added to zeros. */
static void write_batch(const struct n2d_layer_kind *k, const struct n2d_layer_config *c, size_t B, size_t T, uint64_t seed)
{
	struct layer_run r;
	struct n2d_ctx ctx;
	layer_run_open(&r, k, c, B, T, NULL, seed);
	memset(r.dparams0, 0, r.nparams * sizeof(float));
	UNIT_EACH_ISA(ctx, 2) {
		r.add = 1;
		layer_run_go(&r, &ctx, 1);
		float *dparams = keep(&r.dparams);
		r.add = 0;
		layer_run_go(&r, &ctx, 1);
		same(k, "dparams written and added to 0", r.dparams.p, dparams, r.nparams);
		free(dparams);
	}
	layer_run_close(&r);
}

static void write(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	write_batch(k, c, 3, 33, i);
	write_batch(k, c, 2, 1, i);
	write_batch(k, c, 0, 3, i);
}

static void first_gradients_are_written(void **state)
{
	(void)state;
	layer_each((const size_t[]){2, 34, 0}, write);
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
	layer_each((const size_t[]){2, 34, 64, 0}, pad);
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
	layer_each((const size_t[]){2, 34, 64, 0}, trust);
}

/* Without padding between the sentences: the bits of those with it. */
static void tight_batch(const struct n2d_layer_kind *k, const struct n2d_layer_config *c, size_t B, size_t T, const int32_t *len, uint64_t seed)
{
	struct layer_run r, tight;
	struct n2d_ctx ctx;
	size_t D = c->D;
	layer_run_open(&r, k, c, B, T, len, seed);
	layer_run_open(&tight, k, c, B, T, len, seed);
	layer_run_tighten(&tight);
	UNIT_EACH_ISA(ctx, 2) {
		layer_run_go(&r, &ctx, 1);
		layer_run_go(&tight, &ctx, 1);
		for (size_t b = 0, row = 0; b < B; row += layer_run_count(&r, b++)) {
			same(k, "y without padding", tight.y.p + row * D, r.y.p + b * T * D, layer_run_count(&r, b) * D);
			same(k, "dx without padding", tight.dx.p + row * D, r.dx.p + b * T * D, layer_run_count(&r, b) * D);
		}
		same(k, "dparams without padding", tight.dparams.p, r.dparams.p, r.nparams);
		float *trained = keep(&tight.y);
		layer_run_go(&tight, &ctx, 0);
		same(k, "y without padding, inference", tight.y.p, trained, tight.y.n);
		free(trained);
	}
	layer_run_close(&r), layer_run_close(&tight);
}

static void tight(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	if (!k->ragged)
		return;
	tight_batch(k, c, 3, 23, (const int32_t[]){7, 23, 0}, i);
	tight_batch(k, c, 17, 9, NULL, i); /* threads take sentences */
	tight_batch(k, c, 4, 1, (const int32_t[]){1, 0, 1, 1}, i);
}

static void sentences_need_no_padding(void **state)
{
	(void)state;
	layer_each((const size_t[]){2, 34, 64, 0}, tight);
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
	layer_each((const size_t[]){2, 34, 64, 0}, change);
}

/* NaN in one sentence shows there, from its position on, and nowhere else: not in another sentence, not before it where the
 * layer is causal; and NaN in dy of another not in the gradients of the rest. */
static void poison(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i)
{
	(void)o;
	struct layer_run r;
	struct n2d_ctx ctx;
	size_t T = 19, D = c->D, t = 5, row = (T + t) * D;
	/* Materialised attention multiplies the values that the mask hides, by 0 (op/attention.h). */
	int before = c->causal && strcmp(k->name, "self-attention-materialised") != 0;
	layer_run_open(&r, k, c, 3, T, (const int32_t[]){19, 13, 7}, i);
	UNIT_EACH_ISA(ctx, 2) {
		layer_run_go(&r, &ctx, 1);
		float *y = keep(&r.y), *dx = keep(&r.dx), x = r.x.p[row + D - 1], dy = r.dy.p[2 * T * D];
		r.x.p[row + D - 1] = r.dy.p[2 * T * D] = NAN;
		layer_run_go(&r, &ctx, 1);
		same(k, "y before a sentence with NaN", r.y.p, y, before ? row : T * D);
		same(k, "y after a sentence with NaN", r.y.p + 2 * T * D, y + 2 * T * D, T * D);
		same(k, "dx before a sentence with NaN", r.dx.p, dx, T * D);
		for (size_t j = 0; j < D; j++)
			if (!isnan(r.y.p[row + j]))
				fail_msg("%s, %s: y[%zu] hides that its input is NaN", k->name, ctx.k->isa, j);
		r.x.p[row + D - 1] = x;
		layer_run_go(&r, &ctx, 1);
		same(k, "dx before a sentence whose dy has NaN", r.dx.p, dx, 2 * T * D);
		r.dy.p[2 * T * D] = dy;
		free(y), free(dx);
	}
	layer_run_close(&r);
}

static void nan_stays_in_its_sentence(void **state)
{
	(void)state;
	layer_each((const size_t[]){2, 34, 64, 0}, poison);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bits_again),
		cmocka_unit_test(first_gradients_are_written),
		cmocka_unit_test(padding_changes_nothing),
		cmocka_unit_test(finite_padding_needs_no_copies),
		cmocka_unit_test(sentences_need_no_padding),
		cmocka_unit_test(future_changes_nothing),
		cmocka_unit_test(nan_stays_in_its_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
