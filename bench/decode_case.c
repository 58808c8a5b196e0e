#include "bench/decode_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/trace.h"
#include "text/lines.h"

/* ---- what is translated */

static int read_lines(struct decode_subject *s, struct n2d_lines *l, size_t sentences)
{
	int more = 0;
	while (s->corpus.pairs < sentences && (more = n2d_lines_next(l)) > 0) {
		const char *const text[N2D_SIDES] = {l->text, NULL};
		const size_t bytes[N2D_SIDES] = {l->length, 0};
		if (n2d_lines_utf8(l) || n2d_corpus_add(&s->corpus, text, bytes))
			return -1;
	}
	return more < 0 ? -1 : s->corpus.pairs ? 0 : n2d_error("%s: no line", l->name);
}

int decode_subject_read(struct decode_subject *s, const struct n2d_ctx *ctx, const char *model, const char *source, size_t sentences)
{
	struct n2d_lines l;
	*s = (struct decode_subject){.k = ctx->k, .name = "file"};
	if (n2d_bundle_open(&s->bundle, ctx, model, NULL, 0))
		return -1;
	struct n2d_coder coder = n2d_bundle_coder(&s->bundle, N2D_SOURCE);
	if (n2d_corpus_init(&s->corpus, &coder, NULL, 0) || n2d_lines_open(&l, source))
		return -1;
	int bad = read_lines(s, &l, sentences);
	n2d_lines_close(&l);
	return bad;
}

static int random_line(struct decode_subject *s, struct n2d_rng *r, size_t words)
{
	char line[16 * 16];
	size_t n = 0;
	for (size_t i = 0; i < words; i++)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s%u", i ? " " : "",
				      n2d_rng_below(r, (uint32_t)s->bundle.vocab.size - N2D_IDS_SPECIAL));
	const char *const text[N2D_SIDES] = {line, NULL};
	return n2d_corpus_add(&s->corpus, text, (const size_t[N2D_SIDES]){n, 0});
}

int decode_subject_make(struct decode_subject *s, const struct n2d_ctx *ctx, const char *preset, size_t sentences)
{
	struct n2d_config config = {.vocab = 10000};
	struct n2d_rng r;
	int bad = 0;
	*s = (struct decode_subject){.k = ctx->k, .name = preset};
	if (n2d_config_preset(&config, preset) || n2d_transformer_init(&s->bundle.model, ctx, &config) ||
	    n2d_vocab_of_ids(&s->bundle.vocab, config.vocab))
		return -1;
	n2d_parameters_init(&s->bundle.model.p, s->bundle.model.w, 1);
	n2d_transformer_pack(ctx, &s->bundle.model);
	struct n2d_coder coder = n2d_bundle_coder(&s->bundle, N2D_SOURCE);
	bad = n2d_corpus_init(&s->corpus, &coder, NULL, 0);
	n2d_rng_init(&r, 1, 3);
	for (size_t i = 0; i < sentences && !bad; i++)
		bad = random_line(s, &r, 12 + i % 4);
	return bad;
}

/* ---- a call */

struct counter {
	struct n2d_trace trace;
	double flops, bytes;
};

static void count(struct n2d_trace *t, const struct n2d_call *call)
{
	struct counter *c = t->user;
	c->flops += call->flops;
	c->bytes += call->bytes;
}

static int translate(struct decode_case *d, struct n2d_trace *trace)
{
	size_t n = d->subject->corpus.pairs;
	d->ctx.trace = trace;
	if (n2d_translator_run(&d->translator, d->translations))
		return -1;
	d->words = 0;
	for (size_t i = 0; i < n; i++)
		d->words += (double)d->translations[i].best[0].length;
	n2d_translations_free(d->translations, n);
	return 0;
}

static int once(struct model_case *m, const struct n2d_ctx *ctx) { return translate((struct decode_case *)m, ctx->trace); }

/* The first call, which warms up, counts the work. */
static void run(struct bench_case *c, size_t calls, struct sample *sample)
{
	struct decode_case *d = c->arg;
	(void)sample;
	for (; calls; calls--) {
		struct counter counter = {.trace = {.see = count, .user = &counter}};
		int first = d->m.flops == 0;
		if (translate(d, first ? &counter.trace : NULL))
			snprintf(c->why, sizeof c->why, "%s", n2d_error_text());
		if (first) {
			d->m.flops = counter.flops;
			d->bytes = counter.bytes;
		}
	}
}

/* ---- the check: the same translations with caches and without, to the bit */

static int same(const struct decode_case *d, const struct n2d_translation *got, const struct n2d_translation *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct n2d_hypothesis *a = &got[i].best[0], *b = &want[i].best[0];
		if (a->logp != b->logp || a->length != b->length || (a->length && memcmp(a->word, b->word, a->length * sizeof *a->word) != 0))
			return n2d_error("%s: caches change the translation of sentence %zu", d->m.c.id, i + 1);
	}
	return 0;
}

static int check(struct decode_case *d)
{
	enum { MOST = 16 };
	struct n2d_translation got[MOST], want[MOST];
	struct n2d_corpus some = d->subject->corpus;
	struct n2d_translate_options o = d->translator.o;
	some.pairs = some.pairs < MOST ? some.pairs : MOST;
	o.whole = 1;
	if (n2d_translate(want, &d->ctx, &d->subject->bundle.model, &some, &o))
		return -1;
	o.whole = 0;
	int bad = n2d_translate(got, &d->ctx, &d->subject->bundle.model, &some, &o);
	if (!bad) {
		bad = same(d, got, want, some.pairs);
		n2d_translations_free(got, some.pairs);
	}
	n2d_translations_free(want, some.pairs);
	return bad;
}

/* Nothing closes it: it stays for the profile. */
static int open_case(struct bench_case *c)
{
	struct decode_case *d = c->arg;
	struct n2d_translate_options o = d->translator.o;
	d->translations = calloc(d->subject->corpus.pairs, sizeof *d->translations);
	if (!d->translations)
		return n2d_error("%s: no memory for %zu translations", c->id, d->subject->corpus.pairs);
	return check(d) || n2d_translator_init(&d->translator, &d->ctx, &d->subject->bundle.model, &d->subject->corpus, &o);
}

void decode_case_init(struct decode_case *d, const struct n2d_ctx *ctx, struct decode_subject *s, const struct n2d_translate_options *o)
{
	*d = (struct decode_case){.m = {.c = {.ctx = ctx, .arg = d, .open = open_case, .run = run}, .group = s->name, .threads = ctx->threads, .once = once},
				  .subject = s, .ctx = *ctx, .translator.o = *o};
	snprintf(d->m.c.id, sizeof d->m.c.id, "decode/%s/model=%s,beam=%zu,cache=%s,threads=%d", ctx->k->isa, s->name, o->beam.beam,
		 o->whole ? "no" : "yes", ctx->threads);
}
