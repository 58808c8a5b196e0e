/* The decoder position by position, with caches and beams that change their order, against the whole decoder at once. */
#include "config.h"

#include <math.h>

#include "base/rng.h"
#include "decode/decoder.h"
#include "decode/whole.h"
#include "tests/unit.h"
#include "tests/small_model.h"

static struct n2d_ctx ctx;

enum { B = 2, S = 9, BEAM = 3, ROWS = B * BEAM, LONG = 300 };

static void model_init(struct n2d_transformer *m, const char *options)
{
	char room[32];
	snprintf(room, sizeof room, "max-length=%d", LONG + 2);
	small_model_init(m, &ctx, room, options, 0);
}

/* Log P of the words after a row of the decoder's output, in double. */
static void log_probabilities(const struct n2d_transformer *m, const float *out, double *logp)
{
	double top = -INFINITY, sum = 0;
	size_t D = m->c.d_model, V = m->c.vocab;
	for (size_t v = 0; v < V; v++) {
		logp[v] = m->output_bias == N2D_NOWHERE ? 0 : m->w[m->output_bias + v];
		for (size_t i = 0; i < D; i++)
			logp[v] += (double)out[i] * (double)m->w[m->output + v * D + i];
		top = logp[v] > top ? logp[v] : top;
	}
	for (size_t v = 0; v < V; v++)
		sum += exp(logp[v] - top);
	for (size_t v = 0; v < V; v++)
		logp[v] -= top + log(sum);
}

/* A search that takes words and parents at random. */
struct walk {
	struct n2d_transformer m;
	struct n2d_pass sources, whole;
	struct n2d_decoder d;
	struct n2d_whole every;
	int32_t src[B * S], src_len[B], sentence[ROWS], said[ROWS][LONG + 1], slots[2][ROWS * (LONG + 2)];
	struct n2d_rng rng;
};

static void begin(struct walk *w, const char *options, size_t room)
{
	const struct n2d_shape one = {1, S, room}, both = {B, S, 0};
	struct n2d_pass_need need = {0}, need_both = {0};
	memset(w, 0, sizeof *w);
	model_init(&w->m, options);
	n2d_rng_init(&w->rng, 11, 1);
	for (int i = 0; i < B * S; i++)
		w->src[i] = (int32_t)(4 + n2d_rng_below(&w->rng, 19));
	w->src_len[0] = S;
	w->src_len[1] = 5;
	n2d_pass_need_add(&need, &ctx, &w->m, &one, 1, 0);
	n2d_pass_need_add(&need_both, &ctx, &w->m, &both, 1, 0);
	assert_int_equal(n2d_pass_init(&w->whole, &w->m, &need, 0), 0);
	assert_int_equal(n2d_pass_init(&w->sources, &w->m, &need_both, 0), 0);
	assert_int_equal(n2d_pass_shape(&w->sources, &ctx, &w->m, B, S, 0), 0);
	n2d_transformer_encode(&ctx, &w->m, &w->sources, &(struct n2d_batch){.B = B, .S = S, .src = w->src, .src_len = w->src_len}, NULL);
	if (n2d_decoder_init(&w->d, &ctx, &w->m, n2d_decoder_bytes(&ctx, &w->m, B, S, ROWS, room)) ||
	    n2d_decoder_start(&w->d, w->sources.source.out, w->src_len, B, S, ROWS, room))
		fail_msg("%s", n2d_error_text());
	struct n2d_pass_need need_every = {0};
	size_t bytes = n2d_whole_bytes(&ctx, &w->m, &need_every, S, ROWS, room);
	assert_int_equal(n2d_whole_init(&w->every, &ctx, &w->m, &need_every, bytes), 0);
	n2d_whole_start(&w->every, w->sources.source.out, w->src_len, S, ROWS, room);
}

static void end(struct walk *w)
{
	n2d_decoder_free(&w->d);
	n2d_whole_free(&w->every);
	n2d_pass_free(&w->whole);
	n2d_pass_free(&w->sources);
	n2d_transformer_free(&w->m);
}

/* The row's words so far through the whole model: the result at the last position. What is compared went through some hundred operations
 * in float in another order; 1e-5 is what a user may count on. */
static void compare(struct walk *w, size_t row, size_t at, const char *what)
{
	int32_t trg_len = (int32_t)at + 1, b = w->sentence[row], out[LONG + 1] = {0};
	struct n2d_batch batch = {1, S, at + 1, w->src + b * S, w->said[row], out, w->src_len + b, &trg_len, (size_t)w->src_len[b], at + 1};
	double want[64], got[64];
	if (n2d_pass_shape(&w->whole, &ctx, &w->m, 1, S, at + 1))
		fail_msg("%s", n2d_error_text());
	n2d_transformer_forward(&ctx, &w->m, &w->whole, &batch, NULL);
	log_probabilities(&w->m, w->whole.target.out + at * w->m.c.d_model, want);
	log_probabilities(&w->m, w->d.side.out + row * w->m.c.d_model, got);
	size_t best_want = 0, best_got = 0;
	for (size_t v = 0; v < w->m.c.vocab; v++) {
		UNIT_NEAR(what, "log P", at, got[v], want[v], 1e-5);
		best_want = want[v] > want[best_want] ? v : best_want;
		best_got = got[v] > got[best_got] ? v : best_got;
	}
	assert_int_equal(best_want, best_got);
}

/* Of all rows, without caches: the same bits. */
static void compare_whole(struct walk *w, const struct n2d_step *s, const int32_t *word, const char *what)
{
	if (n2d_whole_step(&w->every, s, word, w->sentence))
		fail_msg("%s", n2d_error_text());
	size_t D = w->m.c.d_model;
	for (size_t i = 0; i < ROWS * D; i++)
		if (memcmp(w->every.out + i, w->d.side.out + i, sizeof *w->every.out) != 0)
			fail_msg("%s %s: position %zu, row %zu: %.9g with caches, %.9g without", ctx.k->isa, what, s->at, i / D,
				 (double)w->d.side.out[i], (double)w->every.out[i]);
}

/* steps positions; every sentence's rows descend from random rows of it, after the first step. */
static void walk(const char *options, size_t steps)
{
	static struct walk w;
	begin(&w, options, steps + 1);
	size_t room = steps + 1;
	int now = 0;
	for (int r = 0; r < ROWS; r++) {
		w.sentence[r] = r / BEAM;
		w.said[r][0] = N2D_ID_BEGIN;
		w.slots[now][(size_t)r * room] = r;
	}
	for (size_t at = 0; at < steps; at++) {
		int32_t word[ROWS];
		static int32_t said[ROWS][LONG + 1];
		for (int r = 0; r < ROWS; r++)
			word[r] = w.said[r][at];
		struct n2d_step step = {ROWS, at, ROWS, room, w.slots[now]};
		n2d_decoder_step(&w.d, &step, word, w.sentence);
		if (steps < LONG)
			compare_whole(&w, &step, word, options);
		for (size_t r = 0; r < ROWS; r++)
			if (at < 12 || (at + r) % 37 == 0 || at + 1 == steps)
				compare(&w, r, at, options);
		for (int r = 0; r < ROWS; r++) {
			size_t parent = (size_t)(r / BEAM * BEAM) + n2d_rng_below(&w.rng, BEAM);
			memcpy(w.slots[1 - now] + (size_t)r * room, w.slots[now] + parent * room, (at + 1) * sizeof(int32_t));
			w.slots[1 - now][(size_t)r * room + at + 1] = r;
			memcpy(said[r], w.said[parent], (at + 1) * sizeof(int32_t));
			said[r][at + 1] = (int32_t)(4 + n2d_rng_below(&w.rng, 19));
		}
		memcpy(w.said, said, sizeof said);
		now = 1 - now;
	}
	end(&w);
}

static void caches_give_what_the_whole_gives(void **state)
{
	(void)state;
	static const char *const models[] = {
		"", "norm=pre", "norm-kind=rms final-norm=yes", "positions=learned", "positions=none", "positions=rotary d-k=4 d-v=4", "activation=swiglu",
		"mixer=lstm", "mixer=conv", "mixer=conv conv-width=5", "window=3", "tied=none output-bias=yes", "d-k=3 d-v=5", "enc-layers=0",
		"residual=no", "residual=no norm-kind=none", "norm=pre ffn=no",
	};
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		walk(models[i], 20);
}

static void three_hundred_steps(void **state)
{
	(void)state;
	walk("", LONG);
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	struct n2d_transformer m;
	struct n2d_decoder d;
	float memory[12] = {0};
	int32_t len = 1;
	model_init(&m, "positions=learned");
	assert_int_equal(n2d_decoder_init(&d, &ctx, &m, n2d_decoder_bytes(&ctx, &m, 1, 1, 1, 10)), 0);
	assert_int_equal(n2d_decoder_start(&d, memory, &len, 1, 1, 1, 10), 0);
	assert_int_equal(n2d_decoder_start(&d, memory, &len, 1, 1, 1, LONG + 3), -1);
	assert_non_null(strstr(n2d_error_text(), "max-length"));
	assert_int_equal(n2d_decoder_start(&d, memory, &len, 1, 1, 100000, 10), -1);
	n2d_decoder_free(&d);
	n2d_transformer_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches_give_what_the_whole_gives), cmocka_unit_test(three_hundred_steps),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	int failed = 0;
	UNIT_EACH_ISA(ctx, 2) {
		printf("%s\n", ctx.k->isa);
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed != 0;
}
