#include "layer/cross_attention.h"

#include "base/size.h"
#include "base/trace.h"
#include "layer/heads.h"
#include "layer/rows.h"

int n2d_cross_attention_check(const struct n2d_layer_config *c) { return n2d_heads_check("cross-attention", c); }
size_t n2d_cross_attention_params(const struct n2d_layer_config *c) { return n2d_heads_params(c); }

void n2d_cross_attention_init(const struct n2d_layer_config *c, float *params, struct n2d_rng *rng)
{
	n2d_heads_init(c, params, rng);
}

/* ---- packed: q from x, k and v from the memory, the output */

struct packed {
	const float *q, *kv, *out;
};

static struct packed packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, const float *p)
{
	const float *kv = p + n2d_heads_in_packed(ctx, c, 1);
	return (struct packed){p, kv, kv + n2d_heads_in_packed(ctx, c, 2)};
}

size_t n2d_cross_attention_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_add(n2d_add(n2d_heads_in_packed(ctx, c, 1), n2d_heads_in_packed(ctx, c, 2)), n2d_heads_out_packed(ctx, c));
}

void n2d_cross_attention_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *to, const float *params)
{
	struct packed p = packed(ctx, c, to);
	n2d_heads_in_pack(ctx, c, to, params, 0, 1);
	n2d_heads_in_pack(ctx, c, (float *)p.kv, params, 1, 2);
	n2d_heads_out_pack(ctx, c, (float *)p.out, params);
}

static struct n2d_attention attention(const struct n2d_layer_config *c, const struct n2d_sentences *queries, const struct n2d_sentences *keys)
{
	size_t HK = n2d_heads_width(c);
	return n2d_heads_attention(c, HK, 2 * HK, queries, keys);
}

/* Of B sentences of T queries and S keys each. */
static struct n2d_attention rectangle(const struct n2d_layer_config *c, size_t B, size_t T, size_t S)
{
	return attention(c, &(struct n2d_sentences){.B = B, .T = T}, &(struct n2d_sentences){.B = B, .T = S});
}

/* ---- what forward leaves for backward: q[B,T,H,K], kv[B,S,2,H,K], o[B,T,H,K], lse[B,H,T] */

struct kept {
	float *q, *kv, *o, *lse;
};

static struct kept kept(const struct n2d_layer_config *c, float *p, size_t B, size_t T, size_t S)
{
	size_t HK = n2d_heads_width(c);
	float *kv = p + n2d_floats(B, T, HK), *o = kv + n2d_floats(B, S, 2 * HK);
	return (struct kept){p, kv, o, o + n2d_floats(B, T, HK)};
}

static size_t kept_floats(const struct n2d_layer_config *c, size_t B, size_t T, size_t S)
{
	size_t HK = n2d_heads_width(c);
	return n2d_add(n2d_mul(2, n2d_floats(B, T, HK)), n2d_floats(B, S, n2d_mul(2, HK)));
}

size_t n2d_cross_attention_saved(const struct n2d_layer_config *c, size_t B, size_t T, size_t S)
{
	return n2d_add(kept_floats(c, B, T, S), n2d_floats(B, c->H, T));
}

/* The memory without its padding. */
static size_t memory_floats(const struct n2d_layer_config *c, size_t B, size_t S)
{
	return c->finite ? 0 : n2d_floats(B, S, c->D);
}

size_t n2d_cross_attention_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, size_t S,
				     int train)
{
	size_t keep = n2d_cross_attention_saved(c, B, T, S), memory = memory_floats(c, B, S);
	if (n2d_mul(n2d_add(keep, memory), sizeof(float)) == N2D_TOO_LARGE)
		return N2D_TOO_LARGE; /* the operators may assume that theirs fit */
	struct n2d_attention a = rectangle(c, B, T, S);
	size_t fwd = n2d_attention_fwd_workspace(ctx, &a), bwd = n2d_add(kept_floats(c, B, T, S), n2d_attention_bwd_workspace(ctx, &a));
	return n2d_add(memory, !train ? n2d_add(keep, fwd) : fwd > bwd ? fwd : bwd);
}

/* ---- forward and backward */

void n2d_cross_attention_fwd(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *keep, const float *x,
			     const float *memory, const struct n2d_sentences *queries, const struct n2d_sentences *keys, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t B = queries->B, T = queries->T, S = keys->T, n = n2d_sentences_rows(queries), n_keys = n2d_sentences_rows(keys);
	struct packed p = packed(ctx, c, l->packed);
	struct n2d_attention a = attention(c, queries, keys);
	float *clean = ws, *more = ws + memory_floats(c, B, S);
	struct kept s = kept(c, keep ? keep : more, B, T, S);
	if (!keep)
		more += n2d_cross_attention_saved(c, B, T, S);
	const int32_t *dirty = n2d_rows_dirty(c, queries);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, y, x, dirty, B, T, c->D); /* y is not needed yet */
	memory = n2d_rows_clean(ctx, clean, memory, n2d_rows_dirty(c, keys), B, S, c->D);
	n2d_heads_in_fwd(ctx, c, s.q, x, p.q, 1, n);
	n2d_heads_in_fwd(ctx, c, s.kv, memory, p.kv, 2, n_keys);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	n2d_attention_fwd(ctx, &a, s.o, s.lse, s.q, s.kv, s.kv + n2d_heads_width(c), more);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	n2d_heads_out_fwd(ctx, c, y, s.o, p.out, l->params, n);
	n2d_rows_clear(ctx, y, dirty, B, T, c->D);
	n2d_trace_part(ctx, part);
}

void n2d_cross_attention_weights(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *P, const float *keep,
				 const struct n2d_sentences *queries, const struct n2d_sentences *keys)
{
	struct n2d_attention a = attention(&l->c, queries, keys);
	struct kept s = kept(&l->c, (float *)keep, queries->B, queries->T, keys->T);
	n2d_attention_weights(ctx, &a, P, s.q, s.kv);
}

void n2d_cross_attention_bwd(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dmemory, float *dparams, int add,
			     const float *dy, const float *x, const float *memory, const float *keep,
			     const struct n2d_sentences *queries, const struct n2d_sentences *keys, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t B = queries->B, T = queries->T, S = keys->T, n = n2d_sentences_rows(queries), n_keys = n2d_sentences_rows(keys);
	size_t HK = n2d_heads_width(c);
	struct packed p = packed(ctx, c, l->packed);
	struct n2d_attention a = attention(c, queries, keys);
	float *clean = ws;
	struct kept s = kept(c, (float *)keep, B, T, S), d = kept(c, ws + memory_floats(c, B, S), B, T, S); /* d.lse: the operator's workspace */
	const int32_t *dirty = n2d_rows_dirty(c, queries);
	enum n2d_part part = n2d_trace_part(ctx, N2D_PART_PROJECTION);
	/* dx is written last: until then it holds first dy, then x without their padding. */
	dy = n2d_rows_clean(ctx, dx, dy, dirty, B, T, c->D);
	n2d_heads_out_bwd(ctx, c, d.o, dy, p.out, n);
	n2d_heads_out_weights(ctx, c, dparams, add, dy, s.o, n);
	n2d_trace_part(ctx, N2D_PART_MIXING);
	n2d_attention_bwd(ctx, &a, d.q, d.kv, d.kv + HK, d.o, s.o, s.lse, s.q, s.kv, s.kv + HK, d.lse);
	n2d_trace_part(ctx, N2D_PART_PROJECTION);
	x = n2d_rows_clean(ctx, dx, x, dirty, B, T, c->D);
	memory = n2d_rows_clean(ctx, clean, memory, n2d_rows_dirty(c, keys), B, S, c->D);
	n2d_heads_in_weights(ctx, c, dparams, add, d.q, x, 0, 1, n);
	n2d_heads_in_weights(ctx, c, dparams, add, d.kv, memory, 1, 2, n_keys);
	n2d_heads_in_bwd(ctx, c, dmemory, 1, d.kv, p.kv, 2, n_keys); /* adds 0 in the padding, where d.kv is */
	n2d_heads_in_bwd(ctx, c, dx, 0, d.q, p.q, 1, n);
	n2d_trace_part(ctx, part);
}

/* ---- decoding */

size_t n2d_cross_attention_kv(const struct n2d_layer_config *c, size_t B, size_t S)
{
	return n2d_floats(B, S, n2d_mul(2, n2d_heads_width(c)));
}

size_t n2d_cross_attention_step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t rows, size_t B, size_t S)
{
	size_t clean = memory_floats(c, B, S), heads = n2d_mul(2, n2d_floats(rows, n2d_heads_width(c), 1));
	size_t step = n2d_add(heads, n2d_heads_step_workspace(ctx, c, S));
	return clean > step ? clean : step;
}

void n2d_cross_attention_project(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *kv, const float *memory,
				 const int32_t *memory_len, size_t B, size_t S, float *ws)
{
	memory = n2d_rows_clean(ctx, ws, memory, n2d_rows_dirty(&l->c, &(struct n2d_sentences){.len = memory_len}), B, S, l->c.D);
	n2d_heads_in_fwd(ctx, &l->c, kv, memory, packed(ctx, &l->c, l->packed).kv, 2, B * S);
}

void n2d_cross_attention_step(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, const float *x, const float *kv,
			      const int32_t *sentence, const int32_t *memory_len, size_t rows, size_t S, float *ws)
{
	const struct n2d_layer_config *c = &l->c;
	size_t HK = n2d_heads_width(c);
	struct packed p = packed(ctx, c, l->packed);
	struct n2d_attention_step a = n2d_heads_step(c, rows, HK, S);
	float *q = ws, *o = q + n2d_floats(rows, HK, 1), *more = o + n2d_floats(rows, HK, 1);
	a.slot_st = S * 2 * HK, a.key_st = 2 * HK;
	a.slots = sentence, a.slots_row = 1, a.slots_key = 0;
	a.len = memory_len;
	n2d_heads_in_fwd(ctx, c, q, x, p.q, 1, rows);
	n2d_attention_step(ctx, &a, o, q, kv, kv + HK, more);
	n2d_heads_out_fwd(ctx, c, y, o, p.out, l->params, rows);
}

/* ---- cost */

double n2d_cross_attention_flops(const struct n2d_layer_config *c, size_t B, size_t T, size_t S, int backward)
{
	struct n2d_attention a = rectangle(c, B, T, S);
	return n2d_heads_flops(c, (double)B * (double)T, (double)B * (double)S, backward) + n2d_heads_mixing_flops(c, &a, backward ? 5 : 2);
}
