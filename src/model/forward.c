/* A batch through the whole model, and back. */
#include <math.h>
#include <string.h>

#include "base/trace.h"
#include "layer/output.h"
#include "model/stack.h"
#include "op/clear.h"
#include "op/dropout.h"
#include "op/embed.h"

/* Dropout's sites: a stack's nodes from here on; site + 0 is its embedding. */
enum { SITE_ENCODER = 0, SITE_DECODER = 1 << 16 };

/* ---- rows */

/* All sublayers do without padding. */
static int ragged(const struct n2d_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->sublayers[i].kind != N2D_SUBLAYER_CROSS && !s->sublayers[i].layer.kind->ragged)
			return 0;
	return 1;
}

/* Of words[B,T] those of the side's rows. */
static void gather(const struct n2d_activations *a, int32_t *row, const int32_t *word)
{
	for (size_t b = 0; b < a->s.B; b++) {
		size_t first = n2d_sentence_row(&a->s, b), n = a->s.at ? (size_t)a->s.len[b] : a->s.T;
		memcpy(row + first, word + b * a->s.T, n * sizeof *row);
	}
}

/* Which rows are whose. word NULL: the activations are the caller's. */
static void place(struct n2d_activations *a, const int32_t *word, const int32_t *len, size_t B, size_t T, int without_padding)
{
	size_t row = 0;
	for (size_t b = 0; b < B; b++) {
		a->at[b] = (int32_t)row;
		for (size_t t = 0; t < (without_padding ? (size_t)len[b] : T); t++)
			a->position[row++] = (int32_t)t;
	}
	a->at[B] = (int32_t)row;
	a->rows = row;
	a->s = (struct n2d_sentences){B, T, len, without_padding ? a->at : NULL, a->position};
	if (word)
		gather(a, a->id, word);
}

/* ---- one side's view of the model */

static struct n2d_run run_of(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p,
			     const struct n2d_dropout_key *key, int decoder)
{
	struct n2d_run r = {
		.ctx = ctx, .m = m, .stack = decoder ? &m->decoder : &m->encoder, .side = decoder ? &p->target : &p->source,
		.memory = decoder ? &p->source : NULL, .first_site = decoder ? SITE_DECODER : SITE_ENCODER,
		.spare = {p->grad[0], p->grad[1], p->grad[2]}, .ws = p->ws, .apply = n2d_sublayer_forward, .final = &p->final,
	};
	if (key)
		r.dropout = (struct n2d_dropout){{(uint32_t)key->seed, (uint32_t)(key->seed >> 32)}, {(uint32_t)key->step, r.first_site}, key->p};
	return r;
}

/* ---- embeddings (section 3.4): sqrt(D) E[id] + position, then dropout */

static float embed_scale(const struct n2d_transformer *m) { return (float)sqrt((double)m->c.d_model); }

static const float *position_table(const struct n2d_transformer *m, const struct n2d_pass *p, int decoder)
{
	switch (m->c.positions) {
	case N2D_POSITIONS_SINUSOIDAL: return p->positions;
	case N2D_POSITIONS_LEARNED: return m->w + (decoder ? m->tgt_positions : m->src_positions);
	default: return NULL;
	}
}

static void embed(const struct n2d_run *r, const float *table, const float *positions)
{
	const struct n2d_activations *a = r->side;
	size_t D = r->m->c.d_model;
	n2d_trace_where(r->ctx, "embeddings");
	n2d_embed_fwd(r->ctx, a->embedded, table, a->id, positions, a->position, embed_scale(r->m), a->rows, D);
	if (r->dropout.p > 0)
		n2d_dropout(r->ctx, a->embedded, a->embedded, &r->dropout, a->rows, D);
}

/* dx: of the embedded batch, overwritten. dtable has V rows; shared: something has been written to dtable before. dpositions: a learned table's gradient, or NULL. */
static void embed_backward(const struct n2d_run *r, float *dtable, size_t V, int shared, float *dpositions, float *dx)
{
	const struct n2d_activations *a = r->side;
	size_t D = r->m->c.d_model;
	n2d_trace_where(r->ctx, "embeddings");
	if (r->dropout.p > 0)
		n2d_dropout(r->ctx, dx, dx, &r->dropout, a->rows, D);
	if (!r->add && !shared)
		n2d_clear(r->ctx, dtable, V * D);
	n2d_embed_bwd_acc(r->ctx, dtable, dx, a->id, embed_scale(r->m), a->rows, D);
	if (!dpositions)
		return;
	if (!r->add)
		n2d_clear(r->ctx, dpositions, r->m->c.max_length * D);
	n2d_embed_bwd_acc(r->ctx, dpositions, dx, a->position, 1, a->rows, D);
}

/* ---- forward */

static void encode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_dropout_key *dropout)
{
	struct n2d_run r = run_of(ctx, m, p, dropout, 0);
	embed(&r, m->w + m->src_embed, position_table(m, p, 0));
	n2d_stack_forward(&r);
}

static void decode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_dropout_key *dropout)
{
	struct n2d_run r = run_of(ctx, m, p, dropout, 1);
	embed(&r, m->w + m->tgt_embed, position_table(m, p, 1));
	n2d_stack_forward(&r);
}

void n2d_transformer_encode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			    const struct n2d_dropout_key *dropout)
{
	place(&p->source, b->src, b->src_len, p->B, p->S, 0);
	encode(ctx, m, p, dropout);
}

void n2d_transformer_decode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			    const struct n2d_dropout_key *dropout)
{
	place(&p->source, NULL, b->src_len, p->B, p->S, 0);
	place(&p->target, b->trg_in, b->trg_len, p->B, p->T, 0);
	decode(ctx, m, p, dropout);
}

void n2d_transformer_forward(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			     const struct n2d_dropout_key *dropout)
{
	int without_padding = ragged(&m->encoder) && ragged(&m->decoder);
	place(&p->source, b->src, b->src_len, p->B, p->S, without_padding);
	place(&p->target, b->trg_in, b->trg_len, p->B, p->T, without_padding);
	encode(ctx, m, p, dropout);
	decode(ctx, m, p, dropout);
}

static float *parameter(float *array, size_t at) { return array && at != N2D_NOWHERE ? array + at : NULL; }

void n2d_transformer_loss(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			  struct n2d_loss_sum *sum, double eps, double weight, float *grads, int add)
{
	struct n2d_output o = {
		.n = p->target.rows, .D = m->c.d_model, .V = m->c.vocab, .target = p->row_target, .eps = (float)eps, .weight = (float)weight,
		.packed = m->packed_output, .bias = parameter(m->w, m->output_bias), .count_right = !grads || p->count_right,
	};
	gather(&p->target, p->row_target, b->trg_out);
	n2d_trace_where(ctx, "output and loss");
	n2d_output_loss(ctx, &o, sum, p->row_nll, grads ? p->grad[0] : NULL, parameter(grads, m->output), parameter(grads, m->output_bias),
			add, p->target.out, p->ws);
}

/* ---- backward */

void n2d_transformer_backward(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p,
			      const struct n2d_dropout_key *dropout, float *grads, int add)
{
	struct n2d_run r = run_of(ctx, m, p, dropout, 1);
	r.add = add;
	p->final = m->p.floats;
	n2d_clear(ctx, p->dmemory, p->source.rows * m->c.d_model);
	float *dx = n2d_stack_backward(&r, grads, p->dmemory);
	embed_backward(&r, grads + m->tgt_embed, m->c.vocab, m->tgt_embed == m->output, parameter(grads, m->tgt_positions), dx);
	r = run_of(ctx, m, p, dropout, 0);
	r.add = add;
	r.spare[0] = p->dmemory;
	dx = n2d_stack_backward(&r, grads, NULL);
	embed_backward(&r, grads + m->src_embed, n2d_config_src_vocab(&m->c), m->src_embed == m->tgt_embed, parameter(grads, m->src_positions), dx);
}

double n2d_transformer_flops(const struct n2d_transformer *m, size_t B, size_t S, size_t T, int train)
{
	double sum = 0;
	for (int back = 0; back <= train; back++)
		sum += n2d_stack_flops(&m->encoder, B, S, 0, back) + n2d_stack_flops(&m->decoder, B, T, S, back);
	return sum + n2d_output_flops(B * T, m->c.d_model, m->c.vocab, train);
}
