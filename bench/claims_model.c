/* Claims about whole models, of random weights: bits are compared, so any weights will do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "bench/claims.h"
#include "bench/claims_subject.h"
#include "decode/decoder.h"

enum { WORDS = SUBJECT_WORDS, LENGTH = 24, ROOM = LENGTH + 8 };

int subject_open(struct subject *s, const struct n2d_ctx *ctx, const char *positions, size_t room)
{
	struct n2d_config c = {.vocab = WORDS};
	struct n2d_pass_need need = {0};
	struct n2d_rng r;
	memset(s, 0, sizeof *s);
	if (n2d_config_preset(&c, "tiny") || n2d_config_set(&c, "layers", "2") || n2d_config_set(&c, "positions", positions) ||
	    n2d_transformer_init(&s->m, ctx, &c))
		return -1;
	n2d_parameters_init(&s->m.p, s->m.w, 1);
	n2d_transformer_pack(ctx, &s->m);
	n2d_pass_need_add(&need, ctx, &s->m, &(struct n2d_shape){1, room, room}, 1, 0);
	if (n2d_pass_init(&s->pass, &s->m, &need, 0)) {
		n2d_transformer_free(&s->m);
		return -1;
	}
	n2d_rng_init(&r, 2, 0);
	for (size_t i = 0; i < room; i++) {
		s->src[i] = (int32_t)(N2D_IDS_SPECIAL + n2d_rng_below(&r, WORDS - N2D_IDS_SPECIAL));
		s->in[i] = i ? (int32_t)(N2D_IDS_SPECIAL + n2d_rng_below(&r, WORDS - N2D_IDS_SPECIAL)) : N2D_ID_BEGIN;
	}
	s->S = s->T = LENGTH;
	s->slen = s->tlen = LENGTH;
	return 0;
}

void subject_close(struct subject *s)
{
	n2d_pass_free(&s->pass);
	n2d_transformer_free(&s->m);
}

const float *subject_result(struct subject *s, const struct n2d_ctx *ctx)
{
	struct n2d_batch b = {1, s->S, s->T, s->src, s->in, s->out, &s->slen, &s->tlen, (size_t)s->slen, (size_t)s->tlen};
	if (n2d_pass_shape(&s->pass, ctx, &s->m, 1, s->S, s->T))
		return NULL;
	n2d_transformer_forward(ctx, &s->m, &s->pass, &b, NULL);
	return s->pass.target.out;
}

static size_t different(const float *a, const float *b, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += memcmp(a + i, b + i, sizeof *a) != 0;
	return count;
}

static void causal_and_padding(const struct claims *c, struct subject *s)
{
	static const struct claim causal = {"outputs at t do not depend on words after t", "3.2.3"};
	static const struct claim padding = {"padding changes nothing", "5.1"};
	static float before[ROOM * 128];
	size_t D = s->m.c.d_model, earlier = 0, own = 0;
	memcpy(before, subject_result(s, c->ctx), LENGTH * D * sizeof *before);
	for (size_t t = 1; t < LENGTH; t++) {
		int32_t word = s->in[t];
		s->in[t] = word == WORDS - 1 ? WORDS - 2 : word + 1;
		const float *after = subject_result(s, c->ctx);
		earlier += different(before, after, t * D);
		own += different(before + t * D, after + t * D, D) > 0;
		s->in[t] = word;
	}
	c->say(c->arg, &causal, "numbers before t that another word at t changes", (double)earlier, earlier == 0);
	c->say(c->arg, &causal, "positions t, of 23, whose output their own word changes", (double)own, own == LENGTH - 1);
	s->S = s->T = ROOM;
	size_t padded = different(before, subject_result(s, c->ctx), LENGTH * D);
	c->say(c->arg, &padding, "numbers that padding of both sides changes", (double)padded, padded == 0);
	s->S = s->T = LENGTH;
}

/* Encodes the source and the source in another order. Returns the largest difference of rows of the same word, over the largest number. */
static double moved(struct subject *s, const struct n2d_ctx *ctx)
{
	static float before[ROOM * 128];
	size_t D = s->m.c.d_model;
	int32_t old[ROOM];
	uint32_t order[LENGTH];
	struct n2d_rng r;
	double worst = 0, largest = 0;
	n2d_rng_init(&r, 3, 0);
	for (uint32_t i = 0; i < LENGTH; i++)
		order[i] = i;
	n2d_rng_shuffle(&r, order, LENGTH);
	subject_result(s, ctx);
	memcpy(before, s->pass.source.out, LENGTH * D * sizeof *before);
	memcpy(old, s->src, sizeof old);
	for (size_t i = 0; i < LENGTH; i++)
		s->src[i] = old[order[i]];
	subject_result(s, ctx);
	memcpy(s->src, old, sizeof old);
	for (size_t i = 0; i < LENGTH * D; i++) {
		double was = before[order[i / D] * D + i % D];
		worst = fmax(worst, fabs(s->pass.source.out[i] - was));
		largest = fmax(largest, fabs(was));
	}
	return worst / largest;
}

/* The most probable word after a row of the decoder's result. */
static int32_t choose(const struct subject *s, const struct n2d_ctx *ctx, const float *out)
{
	size_t D = s->m.c.d_model, best = 0;
	float top = -INFINITY;
	for (size_t v = N2D_ID_END; v < WORDS; v++) {
		float z = ctx->k->dot(out, s->m.w + s->m.output + v * D, D);
		best = z > top ? v : best;
		top = z > top ? z : top;
	}
	return (int32_t)best;
}

/* The choice after each beginning of the target, from the cache and by the whole decoder. The words are random: random weights would repeat
 * one word for ever. */
static int cache(const struct claims *c, struct subject *s)
{
	static const struct claim cached = {"caches of keys and values change no word of the output", "3.1"};
	struct n2d_decoder d;
	int32_t slots[ROOM] = {0}, sentence = 0;
	size_t D = s->m.c.d_model, differ = 0;
	if (!subject_result(s, c->ctx) || n2d_decoder_init(&d, c->ctx, &s->m, n2d_decoder_bytes(c->ctx, &s->m, 1, LENGTH, 1, ROOM)))
		return -1;
	if (n2d_decoder_start(&d, s->pass.source.out, &s->slen, 1, LENGTH, 1, ROOM)) {
		n2d_decoder_free(&d);
		return -1;
	}
	for (size_t t = 0; t + 1 < ROOM; t++) {
		n2d_decoder_step(&d, &(struct n2d_step){1, t, 1, ROOM, slots}, &s->in[t], &sentence);
		int32_t word = choose(s, c->ctx, d.side.out);
		s->T = t + 1;
		s->tlen = (int32_t)s->T;
		differ += word != choose(s, c->ctx, subject_result(s, c->ctx) + t * D);
	}
	n2d_decoder_free(&d);
	c->say(c->arg, &cached, "choices, of 31, that differ from those without", (double)differ, differ == 0);
	return 0;
}

int claims_model(const struct claims *c)
{
	static const struct claim order = {"without positions the encoder does not see the order of words, with them it does", "3.5"};
	static const char *const positions[] = {"sinusoidal", "none"};
	struct subject s;
	for (int none = 0; none < 2; none++) {
		if (subject_open(&s, c->ctx, positions[none], ROOM))
			return -1;
		double move = moved(&s, c->ctx); /* in another order sums are rounded otherwise: 1e-5, as everywhere (tests/golden/torch) */
		c->say(c->arg, &order, none ? "the same without positions" : "largest change of a moved word's row, over the largest number, with sinusoids",
		       move, none ? move <= 1e-5 : move >= 0.1);
		int bad = 0;
		if (!none) {
			causal_and_padding(c, &s);
			bad = cache(c, &s);
		}
		subject_close(&s);
		if (bad)
			return -1;
	}
	return 0;
}
