#include "model/transformer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "layer/cross_attention.h"
#include "layer/linear.h"
#include "model/stack.h"

/* ---- where the parameters are */

static size_t at(const struct n2d_transformer *m, const char *name)
{
	const struct n2d_parameter *p = n2d_parameters_find(&m->p, name);
	return p ? p->offset : N2D_NOWHERE;
}

static size_t at_layer(const struct n2d_transformer *m, const char *side, size_t layer, const char *name)
{
	char full[96];
	snprintf(full, sizeof full, "%s.layers.%zu.%s", side, layer, name);
	return at(m, full);
}

/* The norm of sublayer i; i == s->n: the final norm. Gone past it, or not there: N2D_NOWHERE. */
static struct n2d_norm_at norm_at(const struct n2d_transformer *m, const char *side, size_t i, size_t n, size_t per_layer)
{
	char gamma[96], beta[96];
	if (i < n) {
		snprintf(gamma, sizeof gamma, "%s.layers.%zu.norm%zu.weight", side, i / per_layer, i % per_layer + 1);
		snprintf(beta, sizeof beta, "%s.layers.%zu.norm%zu.bias", side, i / per_layer, i % per_layer + 1);
	} else {
		snprintf(gamma, sizeof gamma, "%s.norm.weight", side);
		snprintf(beta, sizeof beta, "%s.norm.bias", side);
	}
	return (struct n2d_norm_at){at(m, gamma), at(m, beta)};
}

/* ---- sublayers */

static struct n2d_layer_config layer_config(const struct n2d_config *c, int decoder)
{
	return (struct n2d_layer_config){
		.D = c->d_model, .H = c->heads, .d_k = n2d_config_d_k(c), .d_v = n2d_config_d_v(c), .R = c->window, .W = c->conv_width,
		.dilation = 1, .F = c->d_ff, .causal = decoder, .rotary = c->positions == N2D_POSITIONS_ROTARY,
		.activation = (enum n2d_ffn_activation)c->activation, .finite = 1,
	};
}

static const struct n2d_layer_kind *mixer_kind(const struct n2d_config *c)
{
	static const char *const names[] = {"self-attention", "lstm", "convolution"};
	return n2d_layer_find(c->window ? "restricted-attention" : names[c->mixer]);
}

static struct n2d_sublayer sublayer(const struct n2d_transformer *m, int decoder, size_t layer, enum n2d_sublayer_kind kind)
{
	static const char *const mixers[] = {"self_attn.in_proj_weight", "lstm.weight_ih_l0", "conv.weight"};
	const char *names[] = {mixers[m->c.mixer], "multihead_attn.in_proj_weight", "linear1.weight"};
	struct n2d_layer_config c = layer_config(&m->c, decoder);
	const struct n2d_layer_kind *kinds[] = {mixer_kind(&m->c), NULL, n2d_layer_find("ffn")};
	if (kind == N2D_SUBLAYER_CROSS)
		c.causal = c.rotary = 0, c.R = 0;
	return (struct n2d_sublayer){kind, {kinds[kind], c, NULL, NULL}, at_layer(m, decoder ? "decoder" : "encoder", layer, names[kind])};
}

static int stack_init(struct n2d_transformer *m, struct n2d_stack *s, int decoder)
{
	static const enum n2d_sublayer_kind order[2][3] = {
		{N2D_SUBLAYER_MIXER, N2D_SUBLAYER_FFN}, {N2D_SUBLAYER_MIXER, N2D_SUBLAYER_CROSS, N2D_SUBLAYER_FFN}};
	const char *side = decoder ? "decoder" : "encoder";
	size_t per = n2d_config_sublayers(&m->c, decoder), post = m->c.norm == N2D_NORM_POST;
	s->n = per * (decoder ? m->c.dec_layers : m->c.enc_layers);
	s->n_nodes = s->n + 1 + (post && n2d_config_final_norm(&m->c));
	s->sublayers = calloc(s->n + 1, sizeof *s->sublayers);
	s->nodes = calloc(s->n_nodes, sizeof *s->nodes);
	if (!s->sublayers || !s->nodes)
		return n2d_error("no memory for a model of %zu sublayers", s->n);
	for (size_t i = 0; i < s->n; i++)
		s->sublayers[i] = sublayer(m, decoder, i / per, order[decoder][i % per]);
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i] = post && !i ? (struct n2d_norm_at){N2D_NOWHERE, N2D_NOWHERE} : norm_at(m, side, i - post, s->n, per);
	return 0;
}

static size_t sublayer_packed(const struct n2d_ctx *ctx, const struct n2d_sublayer *s)
{
	return s->kind == N2D_SUBLAYER_CROSS ? n2d_cross_attention_packed(ctx, &s->layer.c) : s->layer.kind->packed(ctx, &s->layer.c);
}

static void sublayer_pack(const struct n2d_ctx *ctx, const struct n2d_sublayer *s)
{
	float *packed = (float *)s->layer.packed;
	if (s->kind == N2D_SUBLAYER_CROSS)
		n2d_cross_attention_pack(ctx, &s->layer.c, packed, s->layer.params);
	else
		s->layer.kind->pack(ctx, &s->layer.c, packed, s->layer.params);
}

/* ---- memory */

static size_t stack_packed(const struct n2d_ctx *ctx, const struct n2d_stack *s)
{
	size_t sum = 0;
	for (size_t i = 0; i < s->n; i++)
		sum = n2d_add(sum, n2d_floats(sublayer_packed(ctx, &s->sublayers[i]), 1, 1));
	return sum;
}

static void stack_place(struct n2d_transformer *m, const struct n2d_ctx *ctx, struct n2d_stack *s)
{
	for (size_t i = 0; i < s->n; i++) {
		s->sublayers[i].layer.params = m->w + s->sublayers[i].at;
		s->sublayers[i].layer.packed = n2d_arena_floats(&m->memory, sublayer_packed(ctx, &s->sublayers[i]));
	}
}

size_t n2d_transformer_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m)
{
	size_t floats = n2d_add(m->p.floats, n2d_floats(n2d_linear_packed(ctx, m->c.d_model, m->c.vocab), 1, 1));
	return n2d_mul(n2d_add(floats, n2d_add(stack_packed(ctx, &m->encoder), stack_packed(ctx, &m->decoder))), sizeof(float));
}

int n2d_transformer_plan(struct n2d_transformer *m, const struct n2d_config *c)
{
	memset(m, 0, sizeof *m);
	m->c = *c;
	if (n2d_parameters_list(&m->p, c))
		return -1;
	m->src_embed = at(m, "src_embed.weight");
	m->tgt_embed = c->tied == N2D_TIED_ALL ? m->src_embed : at(m, "tgt_embed.weight");
	m->output = c->tied == N2D_TIED_NONE ? at(m, "generator.weight") : m->tgt_embed;
	m->output_bias = at(m, "generator.bias");
	m->src_positions = at(m, "src_positions.weight");
	m->tgt_positions = at(m, "tgt_positions.weight");
	if (!stack_init(m, &m->encoder, 0) && !stack_init(m, &m->decoder, 1))
		return 0;
	n2d_transformer_free(m);
	return -1;
}

/* With memory by n2d_arena_init or n2d_arena_zeros. */
static int init_by(int (*arena)(struct n2d_arena *a, size_t bytes), struct n2d_transformer *m, const struct n2d_ctx *ctx,
		   const struct n2d_config *c)
{
	if (n2d_transformer_plan(m, c))
		return -1;
	if (arena(&m->memory, n2d_transformer_bytes(ctx, m))) {
		n2d_transformer_free(m);
		return n2d_error("the model's weights: %s", n2d_error_text());
	}
	m->w = n2d_arena_floats(&m->memory, m->p.floats);
	m->packed_output = n2d_arena_floats(&m->memory, n2d_linear_packed(ctx, c->d_model, c->vocab));
	stack_place(m, ctx, &m->encoder);
	stack_place(m, ctx, &m->decoder);
	return 0;
}

int n2d_transformer_init(struct n2d_transformer *m, const struct n2d_ctx *ctx, const struct n2d_config *c)
{
	return init_by(n2d_arena_init, m, ctx, c);
}

int n2d_transformer_zeros(struct n2d_transformer *m, const struct n2d_ctx *ctx, const struct n2d_config *c)
{
	return init_by(n2d_arena_zeros, m, ctx, c);
}

static void stack_free(struct n2d_stack *s)
{
	free(s->sublayers);
	free(s->nodes);
}

void n2d_transformer_free(struct n2d_transformer *m)
{
	n2d_arena_free(&m->memory);
	stack_free(&m->encoder);
	stack_free(&m->decoder);
	n2d_parameters_free(&m->p);
	memset(m, 0, sizeof *m);
}

/* What is more than the caches hold has left them when it is read: it is written past them. How much that is does not follow ctx->cache: its third
 * level is shared, in a virtual machine with strangers. */
static struct n2d_ctx packing(const struct n2d_ctx *ctx, const struct n2d_transformer *m)
{
	enum { MOST_CACHED = 64 << 20 };
	struct n2d_ctx past = *ctx;
	past.past_caches = n2d_transformer_bytes(ctx, m) > MOST_CACHED;
	return past;
}

struct n2d_sublayer *n2d_transformer_sublayer(const struct n2d_transformer *m, size_t i)
{
	return i < m->encoder.n ? &m->encoder.sublayers[i] : &m->decoder.sublayers[i - m->encoder.n];
}

void n2d_transformer_pack_sublayer(const struct n2d_ctx *ctx, struct n2d_transformer *m, size_t i)
{
	struct n2d_ctx past = packing(ctx, m);
	sublayer_pack(&past, n2d_transformer_sublayer(m, i));
}

void n2d_transformer_pack_first(const struct n2d_ctx *ctx, struct n2d_transformer *m, size_t sublayers)
{
	struct n2d_ctx past = packing(ctx, m);
	for (size_t i = 0; i < sublayers; i++)
		sublayer_pack(&past, n2d_transformer_sublayer(m, i));
	n2d_linear_pack(&past, m->packed_output, m->w + m->output, m->c.d_model, m->c.vocab);
}

void n2d_transformer_pack(const struct n2d_ctx *ctx, struct n2d_transformer *m)
{
	n2d_transformer_pack_first(ctx, m, m->encoder.n + m->decoder.n);
}
