#include "model/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/size.h"

/* The list being made. */
struct maker {
	struct n2d_parameters *p;
	const struct n2d_config *c;
	size_t room;
	int failed;
	char prefix[40]; /* "encoder.layers.0." */
};

/* A sublayer starts: the next parameter is aligned. */
static void align(struct maker *m) { m->p->floats = n2d_round_up(m->p->floats, N2D_ALIGN / sizeof(float)); }

static struct n2d_parameter *grow(struct maker *m)
{
	struct n2d_parameters *p = m->p;
	if (p->n == m->room) {
		size_t room = 2 * m->room + 64;
		struct n2d_parameter *list = realloc(p->list, room * sizeof *list);
		if (!list) {
			m->failed = 1;
			return NULL;
		}
		p->list = list;
		m->room = room;
	}
	return memset(&p->list[p->n++], 0, sizeof *p->list);
}

/* prefix + name with shape [a], [a,b] or [a,b,w]; b and w 0: not there. */
static struct n2d_parameter *add(struct maker *m, const char *group, const char *name, enum n2d_init init, size_t a, size_t b,
				 size_t w)
{
	struct n2d_parameter *t = m->failed ? NULL : grow(m);
	if (!t)
		return NULL;
	snprintf(t->name, sizeof t->name, "%s%s", m->prefix, name);
	t->group = group;
	t->dims = w ? 3 : b ? 2 : 1;
	t->shape[0] = t->rows[0] = a;
	t->shape[1] = b;
	t->shape[2] = w;
	t->init = init;
	t->offset = m->p->floats;
	t->count = n2d_mul(n2d_mul(a, b ? b : 1), w ? w : 1);
	m->p->floats = n2d_add(m->p->floats, t->count);
	m->p->count = n2d_add(m->p->count, t->count);
	return t;
}

static void stacked(struct n2d_parameter *t, size_t a, size_t b, size_t c, size_t d)
{
	if (t)
		memcpy(t->rows, (size_t[N2D_BLOCKS]){a, b, c, d}, sizeof t->rows);
}

static void norm(struct maker *m, const char *group, const char *name)
{
	char full[32];
	if (m->c->norm_kind == N2D_NORM_NO)
		return;
	align(m);
	snprintf(full, sizeof full, "%s.weight", name);
	add(m, group, full, N2D_INIT_ONE, m->c->d_model, 0, 0);
	snprintf(full, sizeof full, "%s.bias", name);
	if (m->c->norm_kind == N2D_NORM_LAYER)
		add(m, group, full, N2D_INIT_ZERO, m->c->d_model, 0, 0);
}

static void attention(struct maker *m, const char *group, const char *name)
{
	char full[48];
	size_t D = m->c->d_model, keys = m->c->heads * n2d_config_d_k(m->c), values = m->c->heads * n2d_config_d_v(m->c);
	size_t rows = 2 * keys + values;
	align(m);
	snprintf(full, sizeof full, "%s.in_proj_weight", name);
	add(m, group, full, N2D_INIT_XAVIER, rows, D, 0);
	snprintf(full, sizeof full, "%s.in_proj_bias", name);
	add(m, group, full, N2D_INIT_ZERO, rows, 0, 0);
	snprintf(full, sizeof full, "%s.out_proj.weight", name);
	add(m, group, full, N2D_INIT_XAVIER, D, values, 0);
	snprintf(full, sizeof full, "%s.out_proj.bias", name);
	add(m, group, full, N2D_INIT_ZERO, D, 0, 0);
}

static void mixer(struct maker *m, const char *group)
{
	size_t D = m->c->d_model;
	align(m);
	switch (m->c->mixer) {
	case N2D_MIXER_LSTM:
		stacked(add(m, group, "lstm.weight_ih_l0", N2D_INIT_XAVIER, 4 * D, D, 0), D, D, D, D);
		stacked(add(m, group, "lstm.weight_hh_l0", N2D_INIT_XAVIER, 4 * D, D, 0), D, D, D, D);
		add(m, group, "lstm.bias_ih_l0", N2D_INIT_ZERO, 4 * D, 0, 0);
		add(m, group, "lstm.bias_hh_l0", N2D_INIT_ZERO, 4 * D, 0, 0);
		break;
	case N2D_MIXER_CONV:
		add(m, group, "conv.weight", N2D_INIT_XAVIER, D, D, m->c->conv_width);
		add(m, group, "conv.bias", N2D_INIT_ZERO, D, 0, 0);
		break;
	default: attention(m, group, "self_attn");
	}
}

static void feed_forward(struct maker *m, const char *group)
{
	size_t D = m->c->d_model, F = m->c->d_ff, gated = m->c->activation == N2D_ACTIVATION_SWIGLU;
	align(m);
	stacked(add(m, group, "linear1.weight", N2D_INIT_XAVIER, F + gated * F, D, 0), F, gated * F, 0, 0);
	add(m, group, "linear1.bias", N2D_INIT_ZERO, F + gated * F, 0, 0);
	add(m, group, "linear2.weight", N2D_INIT_XAVIER, D, F, 0);
	add(m, group, "linear2.bias", N2D_INIT_ZERO, D, 0, 0);
}

static const char *const mixers[2][3] = {
	{"encoder self-attention", "encoder LSTM", "encoder convolution"},
	{"decoder self-attention", "decoder LSTM", "decoder convolution"},
};

/* One stack; decoder: with cross-attention, as PyTorch orders them. */
static void stack(struct maker *m, int decoder)
{
	const char *side = decoder ? "decoder" : "encoder", *norms = decoder ? "decoder norms" : "encoder norms";
	static const char *const names[] = {"norm1", "norm2", "norm3"};
	size_t layers = decoder ? m->c->dec_layers : m->c->enc_layers;
	for (size_t i = 0; i < layers && !m->failed; i++) {
		snprintf(m->prefix, sizeof m->prefix, "%s.layers.%zu.", side, i);
		mixer(m, mixers[decoder][m->c->mixer]);
		if (decoder)
			attention(m, "decoder cross-attention", "multihead_attn");
		if (m->c->ffn)
			feed_forward(m, decoder ? "decoder feed-forward" : "encoder feed-forward");
		for (size_t k = 0; k < n2d_config_sublayers(m->c, decoder); k++)
			norm(m, norms, names[k]);
	}
	snprintf(m->prefix, sizeof m->prefix, "%s.", side);
	if (n2d_config_final_norm(m->c))
		norm(m, norms, "norm");
	m->prefix[0] = 0;
}

/* A matrix or vector of its own. */
static void single(struct maker *m, const char *group, const char *name, enum n2d_init init, size_t a, size_t b)
{
	align(m);
	add(m, group, name, init, a, b, 0);
}

static void embeddings(struct maker *m)
{
	const struct n2d_config *c = m->c;
	single(m, "embeddings", "src_embed.weight", N2D_INIT_EMBEDDING, n2d_config_src_vocab(c), c->d_model);
	if (c->tied != N2D_TIED_ALL)
		single(m, "embeddings", "tgt_embed.weight", N2D_INIT_EMBEDDING, c->vocab, c->d_model);
	if (c->positions == N2D_POSITIONS_LEARNED) {
		single(m, "positions", "src_positions.weight", N2D_INIT_POSITION, c->max_length, c->d_model);
		single(m, "positions", "tgt_positions.weight", N2D_INIT_POSITION, c->max_length, c->d_model);
	}
}

static int name_order(const void *a, const void *b)
{
	return strcmp((*(struct n2d_parameter *const *)a)->name, (*(struct n2d_parameter *const *)b)->name);
}

/* Once the list stays where it is. */
static void sort_names(struct maker *m)
{
	struct n2d_parameters *p = m->p;
	if (m->failed || !(p->by_name = malloc(p->n * sizeof(struct n2d_parameter *)))) {
		m->failed = 1;
		return;
	}
	for (size_t i = 0; i < p->n; i++)
		p->by_name[i] = &p->list[i];
	qsort(p->by_name, p->n, sizeof *p->by_name, name_order);
}

int n2d_parameters_list(struct n2d_parameters *p, const struct n2d_config *c)
{
	struct maker m = {.p = p, .c = c};
	memset(p, 0, sizeof *p);
	if (n2d_config_check(c))
		return -1;
	embeddings(&m);
	stack(&m, 0);
	stack(&m, 1);
	if (c->tied == N2D_TIED_NONE)
		single(&m, "output", "generator.weight", N2D_INIT_XAVIER, c->vocab, c->d_model);
	if (c->output_bias)
		single(&m, "output", "generator.bias", N2D_INIT_ZERO, c->vocab, 0);
	align(&m);
	sort_names(&m);
	if (!m.failed && n2d_mul(p->floats, sizeof(float)) <= PTRDIFF_MAX)
		return 0;
	n2d_parameters_free(p);
	return n2d_error("the model has too many parameters for memory: vocab %zu, d-model %zu, d-ff %zu, layers %zu + %zu",
			 c->vocab, c->d_model, c->d_ff, c->enc_layers, c->dec_layers);
}

void n2d_parameters_free(struct n2d_parameters *p)
{
	free(p->list);
	free(p->by_name);
	memset(p, 0, sizeof *p);
}

const struct n2d_parameter *n2d_parameters_find(const struct n2d_parameters *p, const char *name)
{
	struct n2d_parameter key, *of = &key, **found;
	snprintf(key.name, sizeof key.name, "%s", name);
	found = p->n ? bsearch(&of, p->by_name, p->n, sizeof of, name_order) : NULL;
	return found ? *found : NULL;
}

/* Each of the matrices t->rows by its own size; a convolution's in and out count each of its W places. */
static void xavier(const struct n2d_parameter *t, float *x, struct n2d_rng *r)
{
	size_t places = t->dims == 3 ? t->shape[2] : 1, in = t->shape[1] * places;
	for (int b = 0; b < N2D_BLOCKS && t->rows[b]; b++) {
		double limit = sqrt(6.0 / ((double)in + (double)(t->rows[b] * places)));
		for (size_t n = t->rows[b] * in; n--;)
			*x++ = (float)(limit * (2 * n2d_rng_uniform(r) - 1));
	}
}

void n2d_parameters_init(const struct n2d_parameters *p, float *values, uint64_t seed)
{
	memset(values, 0, p->floats * sizeof *values);
	for (size_t i = 0; i < p->n; i++) {
		const struct n2d_parameter *t = &p->list[i];
		float *x = values + t->offset;
		struct n2d_rng r;
		n2d_rng_init(&r, seed, N2D_INIT_STREAM + i);
		if (t->init == N2D_INIT_ONE)
			for (size_t k = 0; k < t->count; k++)
				x[k] = 1;
		else if (t->init == N2D_INIT_EMBEDDING)
			n2d_rng_fill_normal(&r, x, t->count, 0, 1 / sqrt((double)t->shape[1]));
		else if (t->init == N2D_INIT_POSITION)
			n2d_rng_fill_normal(&r, x, t->count, 0, sqrt(0.5));
		else if (t->init == N2D_INIT_XAVIER)
			xavier(t, x, &r);
	}
}
