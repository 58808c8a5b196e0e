/* oneDNN's recurrent layers and convolution. What it likes to have in a layout of its own (weights) is brought into it before; input, output and
 * their gradients stay where and how ours are. It adds to gradients of recurrent weights, so they are cleared in every call: ours are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "bench/blas.h"
#include "bench/layer_peer.h"
#include "bench/onednn.h"
#include "layer/recurrent.h"

enum { BUFFERS = 24, STEPS = 3 };

struct state {
	const struct onednn *f;
	struct onednn_op op[STEPS]; /* forward; backward: one, or for data and for weights */
	int steps, buffers, ngradients;
	struct n2d_arena buffer[BUFFERS];
	struct gradient {
		struct onednn_md ours; /* plain */
		float *data;           /* as oneDNN has it */
		size_t bytes;
		const struct onednn_op *op;
		enum onednn_name name;
		int clear;
	} gradient[3]; /* of w, u and bias, of weight and bias */
};

static void *room(struct state *s, size_t bytes)
{
	if (s->buffers == BUFFERS || n2d_arena_init(s->buffer + s->buffers, bytes))
		return NULL;
	n2d_arena_touch(s->buffer + s->buffers);
	return n2d_arena_get(s->buffer + s->buffers++, bytes);
}

/* An argument in the primitive's own layout, from plain data (NULL: whatever). */
static void *give(struct state *s, struct onednn_op *o, enum onednn_name name, const struct onednn_md *plain, const float *data)
{
	void *p = o->bad ? NULL : room(s, onednn_bytes(o, name));
	if (!p || (plain && onednn_convert(s->f, onednn_layout(o, name), p, plain, data)))
		o->bad |= !o->bad;
	else
		onednn_give(o, name, p);
	return p;
}

static void give_gradient(struct state *s, struct onednn_op *o, enum onednn_name name, const struct onednn_md *ours, int clear)
{
	float *p = give(s, o, name, NULL, NULL);
	s->gradient[s->ngradients++] = (struct gradient){*ours, p, onednn_bytes(o, name), o, name, clear};
}

/* ---- recurrent: layers 1, directions 1, inputs, gates, units; u r o where PyTorch and we have r z n */

struct cell {
	enum n2d_cell cell;
	size_t D, G, biases;
};

static struct cell cell_of(const struct layer_case *l)
{
	enum n2d_cell c = l->kind->name[0] == 'r' ? N2D_RNN : l->kind->name[0] == 'l' ? N2D_LSTM : N2D_GRU;
	return (struct cell){c, l->shape.c.D, n2d_recurrent_gates(c), c == N2D_GRU ? 4 : n2d_recurrent_gates(c)};
}

static void swap_gates(float *to, const float *from, size_t n)
{
	memcpy(to, from + n, n * sizeof *to);
	memcpy(to + n, from, n * sizeof *to);
	memcpy(to + 2 * n, from + 2 * n, n * sizeof *to);
}

/* Their weights and biases, plain: [G,D,D] twice and [biases,D]. */
static float *plain_weights(struct state *s, const struct cell *c, const float *params)
{
	size_t n = c->G * c->D * c->D, GD = c->G * c->D, D = c->D;
	struct n2d_recurrent_weights from = n2d_recurrent_weights(c->cell, D, params);
	float *w = room(s, (2 * n + c->biases * D) * sizeof *w), *u = w + n, *b = u + n;
	if (!w)
		return NULL;
	if (c->cell == N2D_GRU) {
		swap_gates(w, from.w, D * D);
		swap_gates(u, from.u, D * D);
		for (size_t i = 0; i < D; i++) {
			b[i] = from.b_w[D + i] + from.b_u[D + i];
			b[D + i] = from.b_w[i] + from.b_u[i];
			b[2 * D + i] = from.b_w[2 * D + i];
			b[3 * D + i] = from.b_u[2 * D + i];
		}
		return w;
	}
	memcpy(w, from.w, n * sizeof *w);
	memcpy(u, from.u, n * sizeof *w);
	for (size_t i = 0; i < GD; i++)
		b[i] = from.b_w[i] + from.b_u[i];
	return w;
}

struct shapes {
	struct onednn_md x, weights, bias, plain_weights, plain_bias;
};

static struct shapes recurrent_shapes(const struct onednn *f, const struct cell *c, const struct layer_shape *s)
{
	size_t D = c->D, x[] = {s->n, s->B, D}, by_sentence[] = {D, s->n * D, 1};
	size_t w[] = {1, 1, D, c->G, D}, out_in[] = {c->G * D * D, c->G * D * D, 1, D * D, D}, b[] = {1, 1, c->biases, D};
	return (struct shapes){onednn_plain(f, 3, x, by_sentence), onednn_any(f, 5, w), onednn_any(f, 4, b), onednn_plain(f, 5, w, out_in),
			       onednn_plain(f, 4, b, NULL)};
}

static int describe_forward(const struct onednn *f, struct onednn_desc *d, enum n2d_cell cell, int train, const struct shapes *m)
{
	int kind = train ? ONEDNN_TRAINING : ONEDNN_INFERENCE;
	const struct onednn_md *x = &m->x, *w = &m->weights, *b = &m->bias;
	if (cell == N2D_RNN)
		return f->rnn_forward(d, kind, ONEDNN_TANH, 0, x, NULL, w, w, b, x, NULL, 0, 0, 0);
	if (cell == N2D_GRU)
		return f->gru_forward(d, kind, 0, x, NULL, w, w, b, x, NULL, 0);
	return f->lstm_forward(d, kind, 0, x, NULL, NULL, w, w, b, x, NULL, NULL, 0);
}

static int describe_backward(const struct onednn *f, struct onednn_desc *d, enum n2d_cell cell, const struct shapes *m)
{
	const struct onednn_md *x = &m->x, *w = &m->weights, *b = &m->bias;
	if (cell == N2D_RNN)
		return f->rnn_backward(d, ONEDNN_BACKWARD, ONEDNN_TANH, 0, x, NULL, w, w, b, x, NULL, x, NULL, w, w, b, x, NULL, 0, 0, 0);
	if (cell == N2D_GRU)
		return f->gru_backward(d, ONEDNN_BACKWARD, 0, x, NULL, w, w, b, x, NULL, x, NULL, w, w, b, x, NULL, 0);
	return f->lstm_backward(d, ONEDNN_BACKWARD, 0, x, NULL, NULL, w, w, b, x, NULL, NULL, x, NULL, NULL, w, w, b, x, NULL, NULL, 0);
}

static void give_weights(struct state *s, struct onednn_op *o, const struct cell *c, const struct shapes *m, const float *w)
{
	size_t n = c->G * c->D * c->D;
	give(s, o, ONEDNN_WEIGHTS, &m->plain_weights, w);
	give(s, o, ONEDNN_WEIGHTS_ITER, &m->plain_weights, w + n);
	give(s, o, ONEDNN_BIAS, &m->plain_bias, w + 2 * n);
}

static void open_recurrent(struct state *s, struct layer_case *l)
{
	static struct onednn_desc desc;
	struct layer_group *g = l->group;
	struct cell c = cell_of(l);
	struct shapes m = recurrent_shapes(s->f, &c, &l->shape);
	struct onednn_op *fwd = s->op, *bwd = s->op + 1;
	const float *w = plain_weights(s, &c, l->layer.params);
	onednn_make(fwd, s->f, w ? describe_forward(s->f, &desc, c.cell, l->train, &m) : 1, &desc, NULL);
	s->steps = 1 + l->train;
	onednn_give(fwd, ONEDNN_SRC, g->x);
	onednn_give(fwd, ONEDNN_DST, g->y);
	give_weights(s, fwd, &c, &m, w);
	if (!l->train)
		return;
	void *workspace = give(s, fwd, ONEDNN_WORKSPACE, NULL, NULL);
	onednn_make(bwd, s->f, fwd->bad ? fwd->bad : describe_backward(s->f, &desc, c.cell, &m), &desc, fwd);
	onednn_give(bwd, ONEDNN_SRC, g->x);
	onednn_give(bwd, ONEDNN_DST, g->y);
	onednn_give(bwd, ONEDNN_DIFF_DST, g->dy);
	onednn_give(bwd, ONEDNN_DIFF_SRC, g->dx);
	onednn_give(bwd, ONEDNN_WORKSPACE, workspace);
	give_weights(s, bwd, &c, &m, w);
	give_gradient(s, bwd, ONEDNN_DIFF_WEIGHTS, &m.plain_weights, 1);
	give_gradient(s, bwd, ONEDNN_DIFF_WEIGHTS_ITER, &m.plain_weights, 1);
	give_gradient(s, bwd, ONEDNN_DIFF_BIAS, &m.plain_bias, 1);
}

/* From plain [G,D,D], [G,D,D] and [biases,D] into our order. */
static void our_gradients(const struct cell *c, float *dparams, const float *w, const float *u, const float *b)
{
	size_t D = c->D, n = c->G * D * D, GD = c->G * D;
	struct n2d_recurrent_weights to = n2d_recurrent_weights(c->cell, D, dparams);
	if (c->cell == N2D_GRU) {
		swap_gates(to.w, w, D * D);
		swap_gates(to.u, u, D * D);
		swap_gates(to.b_w, b, D);
		swap_gates(to.b_u, b, D);
		memcpy(to.b_u + 2 * D, b + 3 * D, D * sizeof *b);
		return;
	}
	memcpy(to.w, w, n * sizeof *w);
	memcpy(to.u, u, n * sizeof *w);
	memcpy(to.b_w, b, GD * sizeof *b);
	memcpy(to.b_u, b, GD * sizeof *b);
}

/* ---- convolution */

static void open_convolution(struct state *s, struct layer_case *l)
{
	static struct onednn_desc desc;
	const struct onednn *f = s->f;
	const struct n2d_layer_config *c = &l->shape.c;
	struct layer_group *g = l->group;
	size_t D = c->D, T = l->shape.n, dims[] = {l->shape.B, D, T}, last[] = {T * D, 1, D}, w[] = {D, D, c->W};
	size_t back = (c->causal ? c->W - 1 : (c->W - 1) / 2) * c->dilation, all = (c->W - 1) * c->dilation;
	struct onednn_md x = onednn_plain(f, 3, dims, last), weight = onednn_any(f, 3, w), ours = onednn_plain(f, 3, w, NULL),
			 bias = onednn_plain(f, 1, &D, NULL);
	onednn_dims one = {1}, dilation = {(int64_t)c->dilation - 1}, left = {(int64_t)back}, right = {(int64_t)(all - back)};
	const float *params = l->layer.params, *b = params + D * D * c->W;
	struct onednn_op *fwd = s->op, *data = s->op + 1, *weights = s->op + 2;
	s->steps = l->train ? 3 : 1;
	onednn_make(fwd, f, f->convolution_forward(&desc, l->train ? ONEDNN_TRAINING : ONEDNN_INFERENCE, ONEDNN_CONVOLUTION_AUTO, &x, &weight, &bias,
						   &x, one, dilation, left, right), &desc, NULL);
	onednn_give(fwd, ONEDNN_SRC, g->x);
	onednn_give(fwd, ONEDNN_DST, g->y);
	give(s, fwd, ONEDNN_WEIGHTS, &ours, params);
	give(s, fwd, ONEDNN_BIAS, &bias, b);
	if (!l->train)
		return;
	onednn_make(data, f, f->convolution_data(&desc, ONEDNN_CONVOLUTION_AUTO, &x, &weight, &x, one, dilation, left, right), &desc, fwd);
	onednn_give(data, ONEDNN_DIFF_DST, g->dy);
	onednn_give(data, ONEDNN_DIFF_SRC, g->dx);
	give(s, data, ONEDNN_WEIGHTS, &ours, params);
	onednn_make(weights, f, f->convolution_weights(&desc, ONEDNN_CONVOLUTION_AUTO, &x, &weight, &bias, &x, one, dilation, left, right), &desc, fwd);
	onednn_give(weights, ONEDNN_SRC, g->x);
	onednn_give(weights, ONEDNN_DIFF_DST, g->dy);
	give_gradient(s, weights, ONEDNN_DIFF_WEIGHTS, &ours, 0);
	give_gradient(s, weights, ONEDNN_DIFF_BIAS, &bias, 0);
}

/* ---- as peers */

static int is_convolution(const struct layer_case *l) { return strcmp(l->kind->name, "convolution") == 0; }

static int has(const struct layer_peer *p, const struct layer_case *l)
{
	static const char *const names[] = {"rnn", "lstm", "gru"};
	(void)p;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(l->kind->name, names[i]) == 0)
			return 1;
	return is_convolution(l);
}

static void close_state(struct layer_case *l)
{
	struct state *s = l->peer_state;
	for (int i = 0; i < s->steps; i++)
		onednn_free(s->op + i);
	for (int i = 0; i < s->buffers; i++)
		n2d_arena_free(s->buffer + i);
	free(s);
	l->peer_state = NULL;
}

static int open_state(struct layer_case *l)
{
	struct state *s = calloc(1, sizeof *s);
	if (!s)
		return n2d_error("no memory");
	l->peer_state = s;
	blas_threads(l->peer->library, l->c.ctx->threads); /* its primitives are made for as many */
	s->f = onednn_open(((const struct blas *)l->peer->library)->handle);
	(is_convolution(l) ? open_convolution : open_recurrent)(s, l);
	for (int i = 0; i < s->steps; i++)
		if (onednn_done(s->op + i, l->kind->name)) {
			close_state(l);
			return -1;
		}
	snprintf(l->peer_isa, sizeof l->peer_isa, "%s", onednn_implementation(s->op));
	return 0;
}

static void run(struct layer_case *l, size_t calls, struct sample *sample)
{
	struct state *s = l->peer_state;
	(void)sample;
	blas_threads(l->peer->library, l->c.ctx->threads);
	while (calls--) {
		for (int i = 0; i < s->ngradients; i++)
			if (s->gradient[i].clear)
				memset(s->gradient[i].data, 0, s->gradient[i].bytes);
		for (int i = 0; i < s->steps; i++)
			onednn_run(s->op + i);
	}
	s->f->wait(s->f->stream);
}

static int gradients(struct layer_case *l)
{
	struct state *s = l->peer_state;
	float *plain[3] = {NULL};
	for (int i = 0; i < s->steps; i++)
		if (onednn_done(s->op + i, l->kind->name))
			return -1;
	for (int i = 0; i < s->ngradients; i++) {
		const struct gradient *d = s->gradient + i;
		plain[i] = room(s, s->f->md_bytes(&d->ours));
		if (!plain[i] || onednn_convert(s->f, &d->ours, plain[i], onednn_layout(d->op, d->name), d->data))
			return -1;
	}
	if (l->train && is_convolution(l)) {
		size_t D = l->shape.c.D, n = D * D * l->shape.c.W;
		memcpy(l->group->dparams, plain[0], n * sizeof *plain[0]);
		memcpy(l->group->dparams + n, plain[1], D * sizeof *plain[1]);
	} else if (l->train) {
		struct cell c = cell_of(l);
		our_gradients(&c, l->group->dparams, plain[0], plain[1], plain[2]);
	}
	return 0;
}

const struct layer_peer *onednn_layers(const struct blas *b)
{
	static struct layer_peer p = {.has = has, .open = open_state, .run = run, .gradients = gradients, .close = close_state};
	if (!onednn_open(b->handle))
		return NULL;
	snprintf(p.name, sizeof p.name, "%s", b->name);
	snprintf(p.version, sizeof p.version, "%s", b->version);
	snprintf(p.isa, sizeof p.isa, "%s", b->arch);
	p.library = (void *)b;
	return &p;
}
