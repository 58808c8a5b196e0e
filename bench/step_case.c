#include "bench/step_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/size.h"
#include "bench/check.h"

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
	if (n2d_step_batch(ctx, &s->model, &s->optimiser, &s->pass, &o, &s->batch->b, 1, &r))
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

/* Of the check: few, some with padding on either side. */
static size_t few(const struct step_case *s) { return strcmp(s->preset, "tiny") == 0 ? 5 : 2; }

int step_gradients(float *grads, struct n2d_loss_sum *sum, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_batch *b,
		   const struct n2d_dropout_key *dropout)
{
	struct n2d_pass p;
	struct n2d_pass_need need = {0};
	*sum = (struct n2d_loss_sum){0};
	n2d_pass_need_add(&need, ctx, m, &(struct n2d_shape){b->B, b->S, b->T}, 1, 1);
	if (n2d_pass_init(&p, m, &need, 1))
		return -1;
	int bad = n2d_pass_shape(&p, ctx, m, b->B, b->S, b->T);
	if (!bad) {
		n2d_transformer_forward(ctx, m, &p, b, dropout);
		n2d_transformer_loss(ctx, m, &p, b, sum, m->c.smoothing, 1, grads, 0);
		n2d_transformer_backward(ctx, m, &p, dropout, grads, 0);
	}
	n2d_pass_free(&p);
	return bad;
}

/* Gradients of few pairs with dropout, from the first weights, on one instruction set. */
static int gradients(struct step_case *s, const struct n2d_ctx *ctx, float *grads)
{
	struct n2d_transformer m;
	struct n2d_loss_sum sum;
	struct n2d_dropout_key key = {1, 0, (float)s->model.c.dropout};
	struct step_batch *batch = step_batch_make(s->preset, few(s));
	if (!batch || n2d_transformer_init(&m, ctx, &s->model.c)) {
		free(batch);
		return -1;
	}
	memcpy(m.w, s->model.w, m.p.floats * sizeof *m.w);
	n2d_transformer_pack(ctx, &m);
	int bad = step_gradients(grads, &sum, ctx, &m, &batch->b, &key);
	n2d_transformer_free(&m);
	free(batch);
	return bad;
}

/* Held against scalar: the two differ by rounding alone, through some 50 operators in a row. */
static int check(struct step_case *s)
{
	struct n2d_ctx scalar;
	struct n2d_arena memory;
	size_t n = s->model.p.floats, room = n2d_floats(n, 1, 1);
	int bad = -1;
	if (n2d_arena_init(&memory, n2d_mul(room, 2 * sizeof(float))))
		return -1;
	float *want = n2d_arena_floats(&memory, room), *got = n2d_arena_floats(&memory, room);
	if (!n2d_ctx_init(&scalar, "scalar", s->m.c.ctx->threads)) {
		bad = gradients(s, &scalar, want) || gradients(s, s->m.c.ctx, got) || check_close(s->m.c.id, got, want, n, 1e-4);
		n2d_ctx_free(&scalar);
	}
	n2d_arena_free(&memory);
	return bad ? -1 : 0;
}

int step_case_fits(const struct step_case *s)
{
	size_t there = n2d_memory_available();
	return s->bytes <= there ? 0 : n2d_error("no memory: it takes %.1f GB, %.1f are available", (double)s->bytes / 1e9, (double)there / 1e9);
}

/* Nothing closes it: it stays for the profile. */
static int open_step(struct bench_case *c)
{
	struct step_case *s = c->arg;
	struct n2d_config config = {.vocab = STEP_VOCAB};
	struct n2d_pass_need need = {0};
	if (step_case_fits(s) || n2d_config_preset(&config, s->preset) || n2d_transformer_init(&s->model, c->ctx, &config))
		return -1;
	n2d_parameters_init(&s->model.p, s->model.w, 1);
	n2d_pass_need_add(&need, c->ctx, &s->model, &s->shape, 1, 1);
	s->batch = step_batch_make(s->preset, s->pairs);
	if (!s->batch || n2d_optimiser_init(&s->optimiser, &s->model) || n2d_pass_init(&s->pass, &s->model, &need, 1))
		return -1;
	n2d_arena_touch(&s->optimiser.memory);
	n2d_arena_touch(&s->pass.memory);
	n2d_transformer_pack(c->ctx, &s->model);
	return check(s);
}

/* Memory: two models, one for the check, their gradients, Adam's moments. */
void step_case_plan(struct step_case *s, const char *preset, size_t pairs)
{
	struct n2d_config config = {.vocab = STEP_VOCAB};
	struct n2d_transformer m;
	const struct n2d_ctx *ctx = s->m.c.ctx;
	s->preset = preset;
	s->pairs = pairs ? pairs : step_pairs(preset);
	snprintf(s->group, sizeof s->group, pairs ? "%s,batch=%zu" : "%s", preset, pairs);
	s->m.group = s->group;
	snprintf(s->m.c.id, sizeof s->m.c.id, "step/%s/preset=%s,threads=%d", s->peer.name ? s->program : ctx->k->isa, s->group, s->m.threads);
	s->shape = step_shape(preset, s->pairs, &s->tokens);
	size_t B = s->pairs, S = s->shape.S, T = s->shape.T, small = few(s);
	if (n2d_config_preset(&config, preset) || n2d_transformer_plan(&m, &config))
		return;
	s->m.flops = n2d_transformer_flops(&m, B, S, T, 1) * s->tokens / (double)(B * (S + T)); /* padding is no work */
	s->bytes = n2d_add(n2d_mul(2, n2d_transformer_bytes(ctx, &m)), n2d_mul(5 * sizeof(float), m.p.floats));
	s->bytes = n2d_add(s->bytes, n2d_add(n2d_pass_bytes(ctx, &m, B, S, T, 1), n2d_pass_bytes(ctx, &m, small, S, T, 1)));
	n2d_transformer_free(&m);
}

void step_case_init(struct step_case *s, const struct n2d_ctx *ctx, const char *preset, size_t pairs)
{
	*s = (struct step_case){.m = {.c = {.ctx = ctx, .arg = s, .open = open_step, .run = run}, .threads = ctx->threads, .once = one_step},
				.program = "n2d"};
	step_case_plan(s, preset, pairs);
}
