/* Claims about time, one thread. Both sides of a ratio are sampled in random order, their results checked before (heads) or by
 * claims_model (caches). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/claims.h"
#include "bench/claims_subject.h"
#include "bench/drive.h"
#include "bench/layer_case.h"
#include "decode/decoder.h"

/* Samples the cases. -1 and a message when one failed its check or was interrupted. */
static int sample(struct bench_case **c, size_t n)
{
	struct sample_plan p = SAMPLE_PLAN;
	p.stop = &n2d_stop;
	sample_group(c, n, &p);
	for (size_t i = 0; i < n; i++)
		if (!c[i]->samples)
			return n2d_error("%s: %s", c[i]->id, c[i]->why);
	return 0;
}

/* Each in a group of its own: what a group keeps of a kind, weights and references, is for one number of heads. "Similar" is the paper's
 * word; a third more is taken for it, where h times as much would be the other answer. */
int claims_heads(const struct claims *c)
{
	static const struct claim heads = {"h heads cost what one head of full width costs", "3.2.2"};
	enum { H = 8 };
	static struct layer_group group[2];
	static struct layer_case l[2];
	struct bench_case *b[2];
	struct layer_case *one;
	int bad = 0;
	size_t opened = 0;
	for (; !bad && opened < 2; opened += !bad) {
		struct layer_shape s = {1, 512, {.D = 512, .H = opened ? 1 : H, .dilation = 1}};
		one = &l[opened];
		layer_case_init(one, n2d_layer_find("self-attention"), &s, c->ctx, 1);
		b[opened] = &one->c;
		bad = layer_group_open(&group[opened], &one, 1);
	}
	bad = bad || sample(b, 2);
	if (!bad) {
		double many = sample_median(b[0], -1), single = sample_median(b[1], -1);
		c->say(c->arg, &heads, "floating-point operations, h = 8 over h = 1, n = d = 512", l[0].work.flops / l[1].work.flops,
		       l[0].work.flops == l[1].work.flops);
		c->say(c->arg, &heads, "milliseconds forward and backward, h = 8", 1e3 * many, many > 0);
		c->say(c->arg, &heads, "milliseconds, h = 1", 1e3 * single, single > 0);
		c->say(c->arg, &heads, "time, h = 8 over h = 1", many / single, many / single <= 4.0 / 3 && many / single >= 3.0 / 4);
	}
	for (size_t i = 0; i < opened; i++) {
		sample_free(&l[i].c);
		layer_group_close(&group[i]);
	}
	return bad;
}

/* The last of T words: from the cache, or by the whole decoder. */
struct last_word {
	struct bench_case c;
	struct subject *s;
	struct n2d_decoder *d; /* NULL: the whole decoder */
	size_t T;
};

static void run_last_word(struct bench_case *c, size_t calls, struct sample *s)
{
	static const int32_t slots[SUBJECT_MOST];
	static const int32_t sentence;
	struct last_word *w = c->arg;
	(void)s;
	w->s->T = w->T;
	w->s->tlen = (int32_t)w->T;
	while (calls--)
		if (w->d)
			n2d_decoder_step(w->d, &(struct n2d_step){1, w->T - 1, 1, SUBJECT_MOST, slots}, &w->s->in[w->T - 1], &sentence);
		else
			subject_result(w->s, c->ctx);
}

enum { LENGTHS = 4 };
static const size_t lengths[LENGTHS] = {8, 32, 128, 512};

static int time_words(const struct claims *c, struct subject *s, struct n2d_decoder *d)
{
	static const struct claim cached = {"caches of keys and values save time a word, the more the longer the output", "3.1"};
	struct last_word w[2 * LENGTHS];
	struct bench_case *b[2 * LENGTHS];
	double before = 1;
	memset(w, 0, sizeof w);
	for (size_t i = 0; i < 2 * LENGTHS; i++) {
		w[i] = (struct last_word){.s = s, .d = i % 2 ? NULL : d, .T = lengths[i / 2]};
		w[i].c.ctx = c->ctx;
		w[i].c.run = run_last_word;
		w[i].c.arg = &w[i];
		snprintf(w[i].c.id, sizeof w[i].c.id, "word %zu %s a cache", w[i].T, i % 2 ? "without" : "from");
		b[i] = &w[i].c;
	}
	int bad = sample(b, 2 * LENGTHS);
	for (size_t i = 0; i < LENGTHS; i++) {
		double with = bad ? NAN : sample_median(b[2 * i], -1), without = bad ? NAN : sample_median(b[2 * i + 1], -1);
		char what[96];
		if (!bad) {
			snprintf(what, sizeof what, "microseconds, word %zu", lengths[i]);
			c->say(c->arg, &cached, what, 1e6 * with, with > 0);
			snprintf(what, sizeof what, "time without over with, word %zu", lengths[i]);
			c->say(c->arg, &cached, what, without / with, without / with > before);
		}
		before = without / with;
		sample_free(b[2 * i]);
		sample_free(b[2 * i + 1]);
	}
	return bad;
}

/* The source is one word: without a cache the whole model runs, and its encoder's part is then that of one word. */
int claims_cache(const struct claims *c)
{
	static struct subject s;
	struct n2d_decoder d;
	if (subject_open(&s, c->ctx, "sinusoidal", SUBJECT_MOST))
		return -1;
	s.S = s.T = 1;
	s.slen = s.tlen = 1;
	int bad = !subject_result(&s, c->ctx) || n2d_decoder_init(&d, c->ctx, &s.m, n2d_decoder_bytes(c->ctx, &s.m, 1, 1, 1, SUBJECT_MOST));
	if (!bad) {
		float memory[SUBJECT_MOST]; /* a pass that comes after writes another to the same place */
		memcpy(memory, s.pass.source.out, s.m.c.d_model * sizeof *memory);
		bad = n2d_decoder_start(&d, memory, &s.slen, 1, 1, 1, SUBJECT_MOST) || time_words(c, &s, &d);
		n2d_decoder_free(&d);
	}
	subject_close(&s);
	return bad ? -1 : 0;
}
