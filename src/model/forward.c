/* A batch through the whole model, and back. */
#include <math.h>

#include "base/trace.h"
#include "layer/output.h"
#include "model/stack.h"
#include "op/clear.h"
#include "op/dropout.h"
#include "op/embed.h"

/* Dropout's sites: a stack's nodes from here on; site + 0 is its embedding. */
enum { SITE_ENCODER = 0, SITE_DECODER = 1 << 16 };

/* ---- one side's view of the model */

static struct n2d_run run_of(const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_pass *p,
			     const struct n2d_dropout_key *key, int decoder)
{
	struct n2d_run r = {
		.ctx = ctx, .m = m, .stack = decoder ? &m->decoder : &m->encoder, .side = decoder ? &p->target : &p->source,
		.memory = decoder ? &p->source : NULL, .first_site = decoder ? SITE_DECODER : SITE_ENCODER,
		.spare = {p->grad[0], p->grad[1], p->grad[2]}, .ws = p->ws, .apply = n2d_sublayer_forward,
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

static void embed(const struct n2d_run *r, const float *table, const int32_t *id, const float *positions)
{
	size_t B = r->side->B, T = r->side->T, D = r->m->c.d_model;
	float *x = r->side->embedded;
	n2d_trace_where(r->ctx, "embeddings");
	n2d_embed_fwd(r->ctx, x, table, id, positions, embed_scale(r->m), B * T, T, D);
	if (r->dropout.p > 0)
		n2d_dropout(r->ctx, x, x, &r->dropout, B * T, D);
}

/* dx: of the embedded batch, overwritten. dtable has V rows; shared: something has been written to dtable before. dpositions: a learned table's gradient, or NULL. */
static void embed_backward(const struct n2d_run *r, float *dtable, size_t V, int shared, float *dpositions, float *dx, const int32_t *id, int32_t *position)
{
	size_t B = r->side->B, T = r->side->T, D = r->m->c.d_model;
	n2d_trace_where(r->ctx, "embeddings");
	if (r->dropout.p > 0)
		n2d_dropout(r->ctx, dx, dx, &r->dropout, B * T, D);
	if (!r->add && !shared)
		n2d_clear(r->ctx, dtable, V * D);
	n2d_embed_bwd_acc(r->ctx, dtable, dx, id, embed_scale(r->m), B * T, D);
	if (!dpositions)
		return;
	if (!r->add)
		n2d_clear(r->ctx, dpositions, r->m->c.max_length * D);
	for (size_t i = 0; i < B * T; i++)
		position[i] = (int32_t)(i % T);
	n2d_embed_bwd_acc(r->ctx, dpositions, dx, position, 1, B * T, D);
}

/* ---- forward */

void n2d_transformer_encode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			    const struct n2d_dropout_key *dropout)
{
	p->source.len = b->src_len;
	struct n2d_run r = run_of(ctx, m, p, dropout, 0);
	embed(&r, m->w + m->src_embed, b->src, position_table(m, p, 0));
	n2d_stack_forward(&r);
}

void n2d_transformer_decode(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			    const struct n2d_dropout_key *dropout)
{
	p->source.len = b->src_len;
	p->target.len = b->trg_len;
	struct n2d_run r = run_of(ctx, m, p, dropout, 1);
	embed(&r, m->w + m->tgt_embed, b->trg_in, position_table(m, p, 1));
	n2d_stack_forward(&r);
}

void n2d_transformer_forward(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			     const struct n2d_dropout_key *dropout)
{
	n2d_transformer_encode(ctx, m, p, b, dropout);
	n2d_transformer_decode(ctx, m, p, b, dropout);
}

static float *parameter(float *array, size_t at) { return array && at != N2D_NOWHERE ? array + at : NULL; }

void n2d_transformer_loss(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			  struct n2d_loss_sum *sum, double eps, double weight, float *grads, int add)
{
	struct n2d_output o = {
		.n = p->B * p->T, .D = m->c.d_model, .V = m->c.vocab, .target = b->trg_out, .eps = (float)eps, .weight = (float)weight,
		.packed = m->packed_output, .bias = parameter(m->w, m->output_bias),
	};
	n2d_trace_where(ctx, "output and loss");
	n2d_output_loss(ctx, &o, sum, p->row_nll, grads ? p->grad[0] : NULL, parameter(grads, m->output), parameter(grads, m->output_bias),
			add, p->target.out, p->ws);
}

/* ---- backward */

void n2d_transformer_backward(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b,
			      const struct n2d_dropout_key *dropout, float *grads, int add)
{
	struct n2d_run r = run_of(ctx, m, p, dropout, 1);
	r.add = add;
	n2d_clear(ctx, p->dmemory, p->B * p->S * m->c.d_model);
	float *dx = n2d_stack_backward(&r, grads, p->dmemory);
	embed_backward(&r, grads + m->tgt_embed, m->c.vocab, m->tgt_embed == m->output, parameter(grads, m->tgt_positions), dx, b->trg_in, p->row_position);
	r = run_of(ctx, m, p, dropout, 0);
	r.add = add;
	r.spare[0] = p->dmemory;
	dx = n2d_stack_backward(&r, grads, NULL);
	embed_backward(&r, grads + m->src_embed, n2d_config_src_vocab(&m->c), m->src_embed == m->tgt_embed, parameter(grads, m->src_positions), dx, b->src,
		       p->row_position);
}

double n2d_transformer_flops(const struct n2d_transformer *m, size_t B, size_t S, size_t T, int train)
{
	double sum = 0;
	for (int back = 0; back <= train; back++)
		sum += n2d_stack_flops(&m->encoder, B, S, 0, back) + n2d_stack_flops(&m->decoder, B, T, S, back);
	return sum + n2d_output_flops(B * T, m->c.d_model, m->c.vocab, train);
}
