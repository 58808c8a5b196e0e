#include "model/stack.h"

#include "base/size.h"
#include "base/trace.h"
#include "layer/cross_attention.h"
#include "op/dropout.h"
#include "op/norm.h"

/* ---- sublayers */

/* What the observer is told. */
static const char *where(const struct n2d_run *r, const struct n2d_sublayer *s)
{
	static const char *const names[2][3] = {
		{"encoder self-attention", NULL, "encoder feed-forward"},
		{"decoder self-attention", "decoder cross-attention", "decoder feed-forward"},
	};
	static const char *const mixers[2][3] = {
		{"encoder self-attention", "encoder LSTM", "encoder convolution"},
		{"decoder self-attention", "decoder LSTM", "decoder convolution"},
	};
	int decoder = r->stack == &r->m->decoder;
	return s->kind == N2D_SUBLAYER_MIXER ? mixers[decoder][r->m->c.mixer] : names[decoder][s->kind];
}

void n2d_sublayer_forward(const struct n2d_run *r, size_t i, float *y, const float *x)
{
	const struct n2d_sublayer *s = &r->stack->sublayers[i];
	const struct n2d_activations *q = r->side, *k = r->memory;
	if (s->kind == N2D_SUBLAYER_CROSS)
		n2d_cross_attention_fwd(r->ctx, &s->layer, y, q->saved[i], x, k->out, &q->s, &k->s, r->ws);
	else
		s->layer.kind->forward(r->ctx, &s->layer, y, q->saved[i], x, &q->s, r->ws);
}

static void sublayer_backward(const struct n2d_run *r, size_t i, float *dx, const float *dy, float *grads, float *dmemory)
{
	const struct n2d_sublayer *s = &r->stack->sublayers[i];
	const struct n2d_activations *q = r->side, *k = r->memory;
	const float *x = q->nodes[i].y;
	n2d_trace_where(r->ctx, where(r, s));
	if (s->kind == N2D_SUBLAYER_CROSS)
		n2d_cross_attention_bwd(r->ctx, &s->layer, dx, dmemory, grads + s->at, r->add, dy, x, k->out, q->saved[i], &q->s, &k->s,
					r->ws);
	else
		s->layer.kind->backward(r->ctx, &s->layer, dx, grads + s->at, r->add, dy, x, q->saved[i], &q->s, r->ws);
}

size_t n2d_sublayer_saved(const struct n2d_sublayer *s, size_t B, size_t T, size_t S)
{
	if (s->kind == N2D_SUBLAYER_CROSS)
		return n2d_cross_attention_saved(&s->layer.c, B, T, S);
	return s->layer.kind->saved(&s->layer.c, B, T);
}

static size_t sublayer_workspace(const struct n2d_ctx *ctx, const struct n2d_sublayer *s, size_t B, size_t T, size_t S, int train)
{
	if (s->kind == N2D_SUBLAYER_CROSS)
		return n2d_cross_attention_workspace(ctx, &s->layer.c, B, T, S, train);
	return s->layer.kind->workspace(ctx, &s->layer.c, B, T, train);
}

static double sublayer_flops(const struct n2d_sublayer *s, size_t B, size_t T, size_t S, int backward)
{
	if (s->kind == N2D_SUBLAYER_CROSS)
		return n2d_cross_attention_flops(&s->layer.c, B, T, S, backward);
	return s->layer.kind->flops(&s->layer.c, B, T, backward);
}

/* ---- nodes */

#define EPS 1e-5f /* PyTorch's */

/* A layer begins with its mixer. Its gradients are complete when node i, before it, has its own: with norm pre it belongs to the layer. */
static int layer_begins(const struct n2d_stack *s, size_t i) { return i < s->n && s->sublayers[i].kind == N2D_SUBLAYER_MIXER; }

static float *parameter(float *array, size_t at) { return at == N2D_NOWHERE ? NULL : array + at; }

static int has_dropout(const struct n2d_run *r, size_t i) { return r->dropout.p > 0 && i > 0 && i <= r->stack->n; }

/* The operator of node i, with the dropout of the sublayer before it, which *d is room for. */
static struct n2d_norm norm_of(const struct n2d_run *r, size_t i, struct n2d_dropout *d)
{
	enum n2d_norm_kind kind = r->m->c.norm_kind == N2D_NORM_RMS ? N2D_RMSNORM : N2D_LAYERNORM;
	if (r->stack->nodes[i].gamma == N2D_NOWHERE)
		kind = N2D_NORM_NONE;
	*d = r->dropout;
	d->stream[1] = r->first_site + (uint32_t)i;
	return (struct n2d_norm){kind, r->side->rows, r->m->c.d_model, EPS, has_dropout(r, i) ? d : NULL};
}

/* The residual stream before node i. */
static const float *residual(const struct n2d_run *r, size_t i)
{
	const struct n2d_node *before = &r->side->nodes[i - 1];
	return r->m->c.norm == N2D_NORM_POST ? before->y : before->t;
}

/* branch: the sublayer's output; NULL: t is there already, or without residual sums what dropout makes t. */
static void node_forward(const struct n2d_run *r, size_t i, const float *branch)
{
	const struct n2d_node *n = &r->side->nodes[i];
	const struct n2d_norm_at *at = &r->stack->nodes[i];
	struct n2d_dropout d;
	struct n2d_norm norm = norm_of(r, i, &d);
	n2d_trace_where(r->ctx, r->stack == &r->m->decoder ? "decoder norms" : "encoder norms");
	if (!branch && has_dropout(r, i))
		n2d_dropout(r->ctx, n->t, n->t, &d, norm.rows, norm.D);
	if (!branch && n->y == n->t)
		return;
	n2d_norm_fwd(r->ctx, &norm, n->y, n->t, n->mean, n->rstd, branch ? residual(r, i) : n->t, branch,
		     parameter(r->m->w, at->gamma), parameter(r->m->w, at->beta));
}

void n2d_stack_forward(const struct n2d_run *r)
{
	const struct n2d_stack *s = r->stack;
	for (size_t i = 0; i < s->n_nodes; i++) {
		float *branch = i > 0 && i <= s->n && r->m->c.residual ? r->spare[0] : NULL;
		if (i > 0 && i <= s->n) {
			n2d_trace_where(r->ctx, where(r, &s->sublayers[i - 1]));
			r->apply(r, i - 1, branch ? branch : r->side->nodes[i].t, r->side->nodes[i - 1].y);
		}
		node_forward(r, i, branch);
	}
}

/* dt, into `dt`, and that of the sublayer's output, into dr when there is dropout. dy: what the sublayer after passes to y; next: dt of
 * the node after, NULL if no residual sum follows. */
static void node_backward(const struct n2d_run *r, size_t i, float *dt, float *dr, const float *dy, const float *next, float *grads)
{
	const struct n2d_node *n = &r->side->nodes[i];
	const struct n2d_norm_at *at = &r->stack->nodes[i];
	struct n2d_dropout d;
	struct n2d_norm norm = norm_of(r, i, &d);
	int post = r->m->c.norm == N2D_NORM_POST;
	struct n2d_norm_grads g = {.dx = dt, .dr = dr, .dgamma = parameter(grads, at->gamma), .dbeta = parameter(grads, at->beta), .add = r->add, .dy = dy,
				   .dy2 = post ? next : NULL, .skip = post ? NULL : next};
	n2d_trace_where(r->ctx, r->stack == &r->m->decoder ? "decoder norms" : "encoder norms");
	n2d_norm_bwd(r->ctx, &norm, &g, n->t, parameter(r->m->w, at->gamma), n->mean, n->rstd, r->ws);
}

float *n2d_stack_backward(const struct n2d_run *r, float *grads, float *dmemory)
{
	const struct n2d_stack *s = r->stack;
	float *dy = r->spare[0], *dt = r->spare[1], *dr = r->spare[2];
	int residual_follows = 0;
	for (size_t i = s->n_nodes; i-- > 0;) {
		node_backward(r, i, dt, dr, dy, residual_follows ? dt : NULL, grads);
		if (layer_begins(s, i))
			*r->final = s->sublayers[i].at;
		if (i > s->n) { /* a final norm: its input is the y before */
			float *swap = dy;
			dy = dt;
			dt = swap;
		} else if (i > 0) {
			sublayer_backward(r, i - 1, dy, has_dropout(r, i) ? dr : dt, grads, dmemory);
			residual_follows = r->m->c.residual;
		}
	}
	return dt;
}

/* ---- sizes */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t n2d_stack_workspace(const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_stack *s, size_t B, size_t T,
			   size_t S, int train)
{
	struct n2d_norm norm = {.kind = N2D_LAYERNORM, .rows = n2d_mul(B, T), .D = m->c.d_model, .eps = EPS};
	size_t most = train ? n2d_norm_bwd_workspace(&norm) : 0;
	for (size_t i = 0; i < s->n; i++)
		most = larger(most, sublayer_workspace(ctx, &s->sublayers[i], B, T, S, train));
	return most;
}

double n2d_stack_flops(const struct n2d_stack *s, size_t B, size_t T, size_t S, int backward)
{
	double sum = 0;
	for (size_t i = 0; i < s->n; i++)
		sum += sublayer_flops(&s->sublayers[i], B, T, S, backward);
	return sum;
}
