/* A step whose weights are updated beside the products of its backward pass: the same bits as one that updates them afterwards. */
#include "config.h"

#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "tests/unit.h"
#include "tests/small_model.h"
#include "train/step.h"

/* Rows enough for a product to be cut where something waits beside it, weights for some chunks of Adam's a layer. */
enum { B = 180, WIDTH = 27, STEPS = 2 };

static struct n2d_ctx ctx;

struct sentences {
	struct n2d_batch b;
	int32_t src[B * WIDTH], in[B * WIDTH], out[B * WIDTH], slen[B], tlen[B];
};

static void fill(struct sentences *s, uint64_t seed)
{
	struct n2d_rng r;
	n2d_rng_init(&r, seed, 1);
	memset(s, 0, sizeof *s);
	s->b = (struct n2d_batch){B, WIDTH, WIDTH, s->src, s->in, s->out, s->slen, s->tlen, 0, 0};
	for (size_t i = 0; i < B; i++) {
		s->slen[i] = (int32_t)(WIDTH - n2d_rng_below(&r, 5));
		s->tlen[i] = (int32_t)(WIDTH - n2d_rng_below(&r, 5));
		s->b.src_tokens += (size_t)s->slen[i];
		s->b.trg_tokens += (size_t)s->tlen[i];
		for (size_t k = 0; k < WIDTH; k++) {
			size_t at = i * WIDTH + k;
			s->src[at] = k < (size_t)s->slen[i] ? (int32_t)(4 + n2d_rng_below(&r, 19)) : N2D_ID_PAD;
			s->out[at] = k < (size_t)s->tlen[i] ? (int32_t)(4 + n2d_rng_below(&r, 19)) : -1;
			s->in[at] = k == 0 ? N2D_ID_BEGIN : s->out[at - 1] < 0 ? N2D_ID_PAD : s->out[at - 1];
		}
	}
}

struct trained {
	struct n2d_transformer m;
	struct n2d_optimiser o;
	struct n2d_pass pass;
	double norm[STEPS];
	size_t beside; /* chunks of Adam's that were not left for the end */
};

/* Steps of two batches each; last: it is told which is the second. */
static void train(struct trained *t, const char *options, int last)
{
	static struct sentences s[2];
	struct n2d_step_options so = {{N2D_SCHEDULE_CONSTANT, 1e-3, 1, 0}, 0.9, 0.98, 1e-9, 0, 1};
	struct n2d_pass_need need = {0};
	memset(t, 0, sizeof *t);
	small_model_init(&t->m, &ctx, "d-model=96 d-ff=384 heads=6 dropout=0.1", options, 0.05);
	n2d_pass_need_add(&need, &ctx, &t->m, &(struct n2d_shape){B, WIDTH, WIDTH}, 1, 1);
	assert_int_equal(n2d_optimiser_init(&t->o, &t->m), 0);
	assert_int_equal(n2d_pass_init(&t->pass, &t->m, &need, 1), 0);
	size_t chunks = t->o.chunks;
	assert_true(chunks > 5);
	for (int i = 0; i < STEPS; i++) {
		struct n2d_step_report r = {0};
		for (int k = 0; k < 2; k++) {
			fill(&s[k], (uint64_t)(2 * i + k));
			if (n2d_step_batch(&ctx, &t->m, &t->o, &t->pass, &so, &s[k].b, last && k, &r))
				fail_msg("%s: %s", options, n2d_error_text());
		}
		t->beside += chunks - t->o.chunks;
		if (n2d_step_end(&ctx, &t->m, &t->o, &so, &r))
			fail_msg("%s: %s", options, n2d_error_text());
		assert_int_equal(t->o.chunks, chunks);
		t->norm[i] = r.norm;
	}
}

static void trained_free(struct trained *t)
{
	n2d_pass_free(&t->pass);
	n2d_optimiser_free(&t->o);
	n2d_transformer_free(&t->m);
}

static void compare(const char *options, const struct trained *a, const struct trained *b)
{
	size_t bytes = a->m.p.floats * sizeof(float);
	for (int i = 0; i < STEPS; i++)
		if (a->norm[i] != b->norm[i])
			fail_msg("%s, %d threads: step %d's norm is %.17g and %.17g", options, ctx.threads, i + 1, a->norm[i], b->norm[i]);
	if (memcmp(a->m.w, b->m.w, bytes) || memcmp(a->o.m, b->o.m, bytes) || memcmp(a->o.v, b->o.v, bytes))
		fail_msg("%s, %d threads: weights or moments differ", options, ctx.threads);
	if (a->m.memory.used != b->m.memory.used || memcmp(a->m.memory.base, b->m.memory.base, a->m.memory.used))
		fail_msg("%s, %d threads: packed weights differ", options, ctx.threads);
}

/* All orders that parameters and norms lie in. */
static void an_update_beside_gives_the_same_bits(void **state)
{
	(void)state;
	static const char *const options[] = {
		"", "norm=pre", "norm=pre norm-kind=rms positions=learned tied=none", "final-norm=yes activation=swiglu tied=output",
		"norm-kind=none residual=no", "mixer=conv norm=pre", "mixer=lstm layers=1", "ffn=no", "dec-layers=1 enc-layers=3 positions=rotary norm=pre",
	};
	size_t beside = 0;
	int several = 0;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct trained early, late;
		assert_int_equal(n2d_ctx_init(&ctx, NULL, 2 + i % 2), 0);
		train(&early, options[i], 1);
		train(&late, options[i], 0);
		compare(options[i], &early, &late);
		assert_int_equal(late.beside, 0);
		beside += early.beside;
		several |= ctx.threads > 1; /* not without OpenMP */
		trained_free(&early);
		trained_free(&late);
		n2d_ctx_free(&ctx);
	}
	assert_true(beside > 0 || !several);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(an_update_beside_gives_the_same_bits)};
	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
