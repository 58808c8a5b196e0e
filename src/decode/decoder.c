#include "decode/decoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/trace.h"
#include "layer/cross_attention.h"
#include "model/plan.h"
#include "model/stack.h"
#include "op/embed.h"
#include "op/position.h"

/* ---- memory */

static size_t cache_floats(const struct n2d_decoder *d, const struct n2d_sublayer *s)
{
	switch (s->kind) {
	case N2D_SUBLAYER_MIXER: return s->layer.kind->cache(&s->layer.c, d->width, d->room);
	case N2D_SUBLAYER_CROSS: return n2d_cross_attention_kv(&s->layer.c, d->B, d->S);
	default: return 0;
	}
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Of a step, and of the projection of the memory. */
static size_t workspace(const struct n2d_decoder *d, const struct n2d_sublayer *s)
{
	switch (s->kind) {
	case N2D_SUBLAYER_MIXER: return s->layer.kind->step_workspace(d->ctx, &s->layer.c, d->width, d->room);
	case N2D_SUBLAYER_CROSS: return n2d_cross_attention_step_workspace(d->ctx, &s->layer.c, d->width, d->B, d->S);
	default: return s->layer.kind->workspace(d->ctx, &s->layer.c, d->width, 1, 0);
	}
}

/* Returns the floats; lays them out when base is there. */
static size_t lay(struct n2d_decoder *d, float *base)
{
	const struct n2d_stack *s = &d->m->decoder;
	struct n2d_cursor c = {base, 0};
	size_t most = 0;
	n2d_plan_nodes(&c, &d->side, s, d->width, d->m->c.d_model, 0);
	for (size_t i = 0; i < s->n; i++) {
		size_t ws = workspace(d, &s->sublayers[i]);
		most = larger(most, ws);
		d->cache[i] = n2d_take(&c, cache_floats(d, &s->sublayers[i]));
	}
	d->branch = n2d_take(&c, n2d_mul(d->width, d->m->c.d_model));
	d->position = n2d_take(&c, d->m->c.d_model);
	d->ws = n2d_take(&c, most);
	return c.used;
}

/* The arrays of pointers, and no memory for what they point to. */
static int begin(struct n2d_decoder *d, const struct n2d_ctx *ctx, const struct n2d_transformer *m)
{
	*d = (struct n2d_decoder){.ctx = ctx, .m = m};
	d->cache = calloc(m->decoder.n + 1, sizeof *d->cache);
	d->side.nodes = calloc(m->decoder.n_nodes, sizeof *d->side.nodes);
	if (d->cache && d->side.nodes)
		return 0;
	n2d_decoder_free(d);
	return n2d_error("no memory for a decoder of %zu sublayers", m->decoder.n);
}

static void set_sizes(struct n2d_decoder *d, size_t B, size_t S, size_t width, size_t room)
{
	d->B = B;
	d->S = S;
	d->width = width;
	d->room = room;
}

size_t n2d_decoder_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t width, size_t room)
{
	struct n2d_decoder d;
	if (begin(&d, ctx, m))
		return N2D_TOO_LARGE;
	set_sizes(&d, B, S, width, room);
	size_t floats = lay(&d, NULL);
	n2d_decoder_free(&d);
	return n2d_mul(floats, sizeof(float));
}

int n2d_decoder_init(struct n2d_decoder *d, const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t bytes)
{
	if (begin(d, ctx, m))
		return -1;
	if (!n2d_arena_init(&d->memory, bytes))
		return 0;
	n2d_decoder_free(d);
	return -1;
}

void n2d_decoder_free(struct n2d_decoder *d)
{
	free(d->cache);
	free(d->side.nodes);
	n2d_arena_free(&d->memory);
	memset(d, 0, sizeof *d);
}

int n2d_decoder_start(struct n2d_decoder *d, const float *memory, const int32_t *memory_len, size_t B, size_t S, size_t width, size_t room)
{
	const struct n2d_stack *s = &d->m->decoder;
	const struct n2d_config *c = &d->m->c;
	set_sizes(d, B, S, width, room);
	d->memory_len = memory_len;
	if (c->positions == N2D_POSITIONS_LEARNED && room > c->max_length)
		return n2d_error("%zu positions are more than the learned position table has (max-length %zu)", room, c->max_length);
	if (n2d_mul(lay(d, NULL), sizeof(float)) > d->memory.size)
		return n2d_error("decoding %zu x %zu tokens with %zu hypotheses of %zu positions needs more than the %zu bytes set apart", B, S, width,
				 room, d->memory.size);
	lay(d, (float *)d->memory.base);
	n2d_trace_where(d->ctx, "decoder cross-attention");
	for (size_t i = 0; i < s->n; i++)
		if (s->sublayers[i].kind == N2D_SUBLAYER_CROSS)
			n2d_cross_attention_project(d->ctx, &s->sublayers[i].layer, d->cache[i], memory, memory_len, B, S, d->ws);
	return 0;
}

/* ---- one position */

struct at {
	struct n2d_decoder *d;
	const struct n2d_step *step;
	const int32_t *sentence;
};

static void apply(const struct n2d_run *r, size_t i, float *y, const float *x)
{
	const struct at *a = r->arg;
	const struct n2d_sublayer *s = &r->stack->sublayers[i];
	const struct n2d_decoder *d = a->d;
	if (s->kind == N2D_SUBLAYER_CROSS)
		n2d_cross_attention_step(r->ctx, &s->layer, y, x, d->cache[i], a->sentence, d->memory_len, a->step->rows, d->S, r->ws);
	else if (s->kind == N2D_SUBLAYER_MIXER)
		s->layer.kind->step(r->ctx, &s->layer, y, d->cache[i], x, a->step, r->ws);
	else
		s->layer.kind->forward(r->ctx, &s->layer, y, NULL, x, &(struct n2d_sentences){.B = a->step->rows, .T = 1}, r->ws);
}

/* What is added to the embedding at position `at`. */
static const float *position(const struct n2d_decoder *d, size_t at)
{
	size_t D = d->m->c.d_model;
	switch (d->m->c.positions) {
	case N2D_POSITIONS_SINUSOIDAL: n2d_position_sinusoidal(d->position, at, 1, D); return d->position;
	case N2D_POSITIONS_LEARNED: return d->m->w + d->m->tgt_positions + at * D;
	default: return NULL;
	}
}

void n2d_decoder_step(struct n2d_decoder *d, const struct n2d_step *s, const int32_t *word, const int32_t *sentence)
{
	const struct n2d_transformer *m = d->m;
	size_t D = m->c.d_model;
	struct at a = {d, s, sentence};
	struct n2d_run r = {.ctx = d->ctx, .m = m, .stack = &m->decoder, .side = &d->side, .spare = {d->branch}, .ws = d->ws, .apply = apply, .arg = &a};
	d->side.rows = s->rows;
	n2d_trace_where(d->ctx, "embeddings");
	n2d_embed_fwd(d->ctx, d->side.embedded, m->w + m->tgt_embed, word, position(d, s->at), NULL, (float)sqrt((double)D), s->rows, D);
	n2d_stack_forward(&r);
}
