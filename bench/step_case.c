#include "bench/step_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "bench/check.h"

enum { VOCAB = 10000, ROWS = 282 * 16, PAIRS = 282 };

struct step_batch {
	struct n2d_batch b;
	int32_t src[ROWS], in[ROWS], out[ROWS], slen[PAIRS], tlen[PAIRS];
};

/* ---- the batch */

/* Lengths of pair i: tiny, each of 13 to 16 with each; base, 32. The same as bench/peers/torch_step.py. */
static void lengths(const char *preset, size_t i, int32_t *s, int32_t *t)
{
	int tiny = strcmp(preset, "tiny") == 0;
	*s = tiny ? 13 + (int32_t)(i % 4) : 32;
	*t = tiny ? 13 + (int32_t)(i / 4 % 4) : 32;
}

static size_t width(const char *preset) { return strcmp(preset, "tiny") == 0 ? 16 : 32; }

static struct step_batch *make_batch(const char *preset, size_t pairs)
{
	struct step_batch *s = calloc(1, sizeof *s);
	struct n2d_rng r;
	size_t W = width(preset);
	if (!s)
		return NULL;
	s->b = (struct n2d_batch){pairs, W, W, s->src, s->in, s->out, s->slen, s->tlen, 0, 0};
	n2d_rng_init(&r, 1, 3);
	for (size_t b = 0; b < pairs; b++) {
		lengths(preset, b, &s->slen[b], &s->tlen[b]);
		s->b.src_tokens += (size_t)s->slen[b];
		s->b.trg_tokens += (size_t)s->tlen[b];
		for (size_t i = 0; i < W; i++) {
			int32_t *src = s->src + b * W + i, *in = s->in + b * W + i, *out = s->out + b * W + i;
			*src = i < (size_t)s->slen[b] ? N2D_IDS_SPECIAL + (int32_t)n2d_rng_below(&r, VOCAB - N2D_IDS_SPECIAL) : N2D_ID_PAD;
			*out = i < (size_t)s->tlen[b] ? N2D_IDS_SPECIAL + (int32_t)n2d_rng_below(&r, VOCAB - N2D_IDS_SPECIAL) : -1;
			*in = i == 0 ? N2D_ID_BEGIN : *out < 0 ? N2D_ID_PAD : out[-1];
		}
	}
	return s;
}

static size_t pairs_of(const char *preset) { return strcmp(preset, "tiny") == 0 ? PAIRS : 16; }

/* ---- ours */

static struct n2d_step_options options(void)
{
	return (struct n2d_step_options){{N2D_SCHEDULE_CONSTANT, 1e-4, 1, 0}, 0.9, 0.98, 1e-9, 0, 1};
}

static int one_step(struct model_case *m, const struct n2d_ctx *ctx)
{
	struct step_case *s = (struct step_case *)m;
	struct n2d_step_options o = options();
	struct n2d_step_report r = {0};
	if (n2d_step_batch(ctx, &s->model, &s->optimiser, &s->pass, &o, &s->batch->b, &r))
		return -1;
	return n2d_step_end(ctx, &s->model, &s->optimiser, &o, &r);
}

static void run(struct bench_case *c, size_t calls, struct sample *sample)
{
	(void)sample;
	while (calls--)
		if (one_step(c->arg, c->ctx))
			snprintf(c->why, sizeof c->why, "%s", n2d_error_text());
}

/* Gradients of two pairs with dropout, from the first weights, on one instruction set. */
static int gradients(struct step_case *s, const struct n2d_ctx *ctx, float *grads)
{
	struct n2d_transformer m;
	struct n2d_pass p;
	struct n2d_pass_need need = {0};
	struct n2d_loss_sum sum = {0};
	struct n2d_dropout_key key = {1, 0, (float)s->model.c.dropout};
	size_t W = width(s->m.group);
	struct step_batch *two = make_batch(s->m.group, 2);
	if (!two || n2d_transformer_init(&m, ctx, &s->model.c)) {
		free(two);
		return n2d_error("%s: no memory for the check", s->m.c.id);
	}
	n2d_pass_need_add(&need, ctx, &m, &(struct n2d_shape){2, W, W}, 1, 1);
	int bad = n2d_pass_init(&p, &m, &need, 1);
	if (!bad) {
		memcpy(m.w, s->model.w, m.p.floats * sizeof *m.w);
		n2d_transformer_pack(ctx, &m);
		bad = n2d_pass_shape(&p, ctx, &m, 2, W, W);
		n2d_transformer_forward(ctx, &m, &p, &two->b, &key);
		n2d_transformer_loss(ctx, &m, &p, &two->b, &sum, 0.1, 1, grads, 0);
		n2d_transformer_backward(ctx, &m, &p, &two->b, &key, grads, 0);
		n2d_pass_free(&p);
	}
	n2d_transformer_free(&m);
	free(two);
	return bad;
}

/* Held against scalar: the two differ by rounding alone, through some 50 operators in a row. */
static int check(struct step_case *s)
{
	struct n2d_ctx scalar;
	size_t n = s->model.p.floats;
	float *want = calloc(n, sizeof *want), *got = calloc(n, sizeof *got);
	int bad = -1;
	if (!want || !got)
		n2d_error("%s: no memory for the check", s->m.c.id);
	else if (!n2d_ctx_init(&scalar, "scalar", s->m.c.ctx->threads)) {
		bad = gradients(s, &scalar, want) || gradients(s, s->m.c.ctx, got) || check_close(s->m.c.id, got, want, n, 1e-4);
		n2d_ctx_free(&scalar);
	}
	free(want);
	free(got);
	return bad ? -1 : 0;
}

/* Nothing closes it: it stays for the profile. */
static int open_step(struct bench_case *c)
{
	struct step_case *s = c->arg;
	struct n2d_config config = {.vocab = VOCAB};
	struct n2d_pass_need need = {0};
	size_t W = width(s->m.group), B = pairs_of(s->m.group);
	if (n2d_config_preset(&config, s->m.group) || n2d_transformer_init(&s->model, c->ctx, &config))
		return -1;
	n2d_parameters_init(&s->model.p, s->model.w, 1);
	n2d_pass_need_add(&need, c->ctx, &s->model, &(struct n2d_shape){B, W, W}, 1, 1);
	s->batch = make_batch(s->m.group, B);
	if (!s->batch || n2d_optimiser_init(&s->optimiser, &s->model) || n2d_pass_init(&s->pass, &s->model, &need, 1))
		return s->batch ? -1 : n2d_error("%s: no memory for the batch", c->id);
	n2d_arena_touch(&s->optimiser.memory);
	n2d_arena_touch(&s->pass.memory);
	n2d_transformer_pack(c->ctx, &s->model);
	return check(s);
}

static void work(struct step_case *s)
{
	struct n2d_config config = {.vocab = VOCAB};
	struct n2d_transformer m;
	size_t W = width(s->m.group), B = pairs_of(s->m.group);
	for (size_t i = 0; i < B; i++) {
		int32_t a, b;
		lengths(s->m.group, i, &a, &b);
		s->tokens += a + b;
	}
	if (n2d_config_preset(&config, s->m.group) || n2d_transformer_init(&m, s->m.c.ctx, &config))
		return;
	s->m.flops = n2d_transformer_flops(&m, B, W, W, 1) * s->tokens / (double)(2 * B * W); /* padding is no work */
	n2d_transformer_free(&m);
}

void step_case_init(struct step_case *s, const struct n2d_ctx *ctx, const char *preset)
{
	*s = (struct step_case){.m = {.c = {.ctx = ctx, .arg = s, .open = open_step, .run = run}, .group = preset,
				      .threads = ctx->threads, .once = one_step}, .program = "n2d"};
	snprintf(s->m.c.id, sizeof s->m.c.id, "step/%s/preset=%s,threads=%d", ctx->k->isa, preset, ctx->threads);
	work(s);
}

/* ---- a peer's */

static void run_peer(struct bench_case *c, size_t calls, struct sample *sample)
{
	struct step_case *s = c->arg;
	char reply[256];
	(void)sample;
	while (calls--)
		if (peer_ask(&s->peer, "step", reply, sizeof reply))
			snprintf(c->why, sizeof c->why, "%s", n2d_error_text());
}

/* It greets after steps that warm it up. */
static int open_peer(struct bench_case *c)
{
	struct step_case *s = c->arg;
	if (!s->peer.pid)
		return n2d_error("%s", c->why[0] ? c->why : "not started");
	return peer_greet(&s->peer);
}

static void close_peer(struct bench_case *c) { peer_stop(&((struct step_case *)c->arg)->peer); }

void step_case_peer(struct step_case *s, const struct n2d_ctx *ctx, const char *preset, int threads, int best)
{
	*s = (struct step_case){.m = {.c = {.ctx = ctx, .arg = s, .open = open_peer, .run = run_peer, .close = close_peer, .outside = 1},
				      .group = preset, .threads = threads}, .program = best ? "pytorch-best" : "pytorch"};
	s->peer.name = s->program;
	snprintf(s->m.c.id, sizeof s->m.c.id, "step/%s/preset=%s,threads=%d", s->program, preset, threads);
	work(s);
}

void step_case_start(struct model_case *m)
{
	struct step_case *s = (struct step_case *)m;
	char threads[16], script[] = N2D_SRCDIR "/bench/peers/torch_step.py";
	char *argv[] = {"/usr/bin/python3", script, "--serve", "--preset", (char *)s->m.group, "--threads", threads,
			strcmp(s->program, "pytorch-best") == 0 ? "--best" : NULL, NULL};
	if (!s->peer.name)
		return;
	snprintf(threads, sizeof threads, "%d", s->m.threads);
	if (peer_start(&s->peer, s->program, argv))
		fprintf(stderr, "n2d-bench: %s\n", n2d_error_text());
}
