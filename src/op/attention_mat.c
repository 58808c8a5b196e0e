/* Attention through its stored matrix of weights P[B,H,Tq,Tk]: three plain steps forward (scores, softmax, sum of values) and
 * five backward, each over whole matrices. What streaming saves is what this costs in memory. */
#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/attention.h"
#include "op/attention_band.h"
#include "op/gemm.h"

size_t n2d_attention_mat_fwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	return (void)ctx, (void)a, 0;
}

/* dP, then dS in its place. */
size_t n2d_attention_mat_bwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	return (void)ctx, n2d_floats(n2d_mul(a->B, a->H), a->Tq, a->Tk);
}

/* One sentence: its rows and keys without padding, and its matrices of all heads. */
struct sentence {
	const struct n2d_ctx *ctx;
	const struct n2d_attention *a;
	struct n2d_band band;
	size_t b, rows, keys;
	float *P, *dP; /* [H,Tq,Tk] */
};

static struct sentence sentence(const struct n2d_ctx *ctx, const struct n2d_attention *a, size_t b, float *P, float *dP)
{
	struct sentence s = {ctx, a, n2d_attention_band(a, b), b, a->Tq, 0, NULL, NULL};
	size_t at = b * a->H * a->Tq * a->Tk;
	if (a->qlen)
		s.rows = n2d_clamp(a->qlen[b], a->Tq);
	s.keys = s.band.keys;
	s.P = P + at;
	s.dP = dP ? dP + at : NULL;
	return s;
}

/* One product a head. Strides: of rows, and between heads. */
struct matrix {
	const float *p;
	size_t ld, head;
};

static struct matrix heads(const float *p, struct n2d_strides s, const int32_t *at, size_t b)
{
	return (struct matrix){p + n2d_head(s, at, b, 0), s.st, s.sh};
}

static struct matrix weights(const struct sentence *s, const float *P)
{
	return (struct matrix){P, s->a->Tk, s->a->Tq * s->a->Tk};
}

static void product(const struct sentence *s, struct matrix C, struct matrix A, struct matrix B, int ta, int tb, size_t M,
		    size_t N, size_t K)
{
	struct n2d_gemm g = n2d_gemm_plain(ta, tb, M, N, K);
	g.lda = A.ld, g.ldb = B.ld, g.ldc = C.ld;
	g.batch = s->a->H, g.sa = A.head, g.sb = B.head, g.sc = C.head;
	n2d_gemm(s->ctx, &g, (float *)C.p, A.p, B.p);
}

enum { ROWS = 16 }; /* of a task */

static void softmax_rows(void *arg, size_t task, int thread)
{
	(void)thread;
	const struct sentence *s = arg;
	const struct n2d_attention *a = s->a;
	size_t tasks = (a->Tq + ROWS - 1) / ROWS, h = task / tasks, i0 = task % tasks * ROWS;
	for (size_t i = i0; i < a->Tq && i < i0 + ROWS; i++) {
		size_t at = (h * a->Tq + i) * a->Tk;
		size_t first = n2d_clamp((ptrdiff_t)i + s->band.first, s->keys), end = n2d_clamp((ptrdiff_t)i + s->band.end, s->keys);
		if (i >= s->rows)
			first = end = 0;
		if (s->dP)
			s->ctx->k->softmax_bwd(s->dP + at, s->dP + at, s->P + at, a->scale, first, end, a->Tk);
		else
			s->ctx->k->softmax_fwd(s->P + at, s->P + at, a->scale, first, end, a->Tk);
	}
}

static void softmax(const struct sentence *s)
{
	n2d_parallel(s->ctx, s->a->H * ((s->a->Tq + ROWS - 1) / ROWS), softmax_rows, (void *)s);
}

/* Rows of all heads from `from` on = 0: the padding, which no product writes. */
static void clear(const struct n2d_attention *a, float *x, struct n2d_strides s, const int32_t *at, size_t b, size_t from, size_t T)
{
	for (size_t h = 0; h < a->H; h++)
		for (size_t t = from; t < n2d_rows_there(at, b, T); t++)
			memset(x + n2d_head(s, at, b, h) + t * s.st, 0, a->K * sizeof *x);
}

static size_t span(const struct n2d_attention *a, struct n2d_strides s) { return a->H ? (a->H - 1) * s.sh + a->K : 0; }

static void observe(struct n2d_call *call, const struct n2d_attention *a)
{
	n2d_trace_dim(call, "B", a->B);
	n2d_trace_dim(call, "H", a->H);
	n2d_trace_dim(call, "Tq", a->Tq);
	n2d_trace_dim(call, "Tk", a->Tk);
	n2d_trace_dim(call, "K", a->K);
}

/* Beyond the operands: P written, read and written by the softmax, read again. */
static double matrix_bytes(const struct n2d_attention *a, double passes)
{
	return 4 * passes * (double)a->B * (double)a->H * (double)a->Tq * (double)a->Tk;
}

/* s->P of one sentence. */
static void weigh(const struct sentence *s, const float *Q, const float *K)
{
	product(s, weights(s, s->P), heads(Q, s->a->q, s->a->q_at, s->b), heads(K, s->a->k, s->a->k_at, s->b), 0, 1, s->rows, s->keys, s->a->K);
	softmax(s);
}

void n2d_attention_weights(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *P, const float *Q, const float *K)
{
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "attention_weights", n2d_attention_flops(a) / 2, n2d_attention_bytes(a) / 2 + matrix_bytes(a, 3))) {
		observe(&call, a);
		n2d_trace_read(&call, Q, n2d_all_rows(a->q_at, a->B, a->Tq), span(a, a->q), a->q.st, N2D_ROWWISE);
		n2d_trace_read(&call, K, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->k), a->k.st, a->window ? a->window : N2D_ALL_ROWS);
		n2d_trace_write(&call, P, a->B * a->H * a->Tq, a->Tk, a->Tk);
	}
	for (size_t b = 0; b < a->B; b++) {
		struct sentence s = sentence(ctx, a, b, P, NULL);
		weigh(&s, Q, K);
	}
	n2d_trace_close(ctx, &call);
}

void n2d_attention_mat_fwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *O, float *P, const float *Q,
			   const float *K, const float *V, float *ws)
{
	struct n2d_call call;
	size_t reach = a->window ? a->window : N2D_ALL_ROWS;
	(void)ws;
	if (n2d_trace_open(ctx, &call, "attention_mat_fwd", n2d_attention_flops(a), n2d_attention_bytes(a) + matrix_bytes(a, 4))) {
		observe(&call, a);
		n2d_trace_read(&call, Q, n2d_all_rows(a->q_at, a->B, a->Tq), span(a, a->q), a->q.st, N2D_ROWWISE);
		n2d_trace_read(&call, K, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->k), a->k.st, reach);
		n2d_trace_read(&call, V, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->v), a->v.st, reach);
		n2d_trace_write(&call, O, n2d_all_rows(a->q_at, a->B, a->Tq), span(a, a->o), a->o.st);
	}
	for (size_t b = 0; b < a->B; b++) {
		struct sentence s = sentence(ctx, a, b, P, NULL);
		struct matrix W = weights(&s, s.P);
		weigh(&s, Q, K);
		product(&s, heads(O, a->o, a->q_at, b), W, heads(V, a->v, a->k_at, b), 0, 0, s.rows, a->K, s.keys);
		clear(a, O, a->o, a->q_at, b, s.rows, a->Tq);
	}
	n2d_trace_close(ctx, &call);
}

void n2d_attention_mat_bwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *dQ, float *dK, float *dV,
			   const float *dO, const float *P, const float *Q, const float *K, const float *V, float *ws)
{
	struct n2d_call call;
	if (n2d_trace_open(ctx, &call, "attention_mat_bwd", 2 * n2d_attention_flops(a),
			   2 * n2d_attention_bytes(a) + matrix_bytes(a, 6))) {
		observe(&call, a);
		n2d_trace_read(&call, dO, n2d_all_rows(a->q_at, a->B, a->Tq), span(a, a->o), a->o.st, N2D_ALL_ROWS);
		n2d_trace_read(&call, Q, n2d_all_rows(a->q_at, a->B, a->Tq), span(a, a->q), a->q.st, N2D_ALL_ROWS);
		n2d_trace_read(&call, K, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->k), a->k.st, N2D_ALL_ROWS);
		n2d_trace_read(&call, V, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->v), a->v.st, N2D_ALL_ROWS);
		n2d_trace_write(&call, dQ, n2d_all_rows(a->q_at, a->B, a->Tq), span(a, a->q), a->q.st);
		n2d_trace_write(&call, dK, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->k), a->k.st);
		n2d_trace_write(&call, dV, n2d_all_rows(a->k_at, a->B, a->Tk), span(a, a->v), a->v.st);
	}
	for (size_t b = 0; b < a->B; b++) {
		struct sentence s = sentence(ctx, a, b, (float *)P, ws);
		struct matrix W = weights(&s, s.P), dW = weights(&s, s.dP), d = heads(dO, a->o, a->q_at, b);
		product(&s, heads(dV, a->v, a->k_at, b), W, d, 1, 0, s.keys, a->K, s.rows);
		product(&s, dW, d, heads(V, a->v, a->k_at, b), 0, 1, s.rows, s.keys, a->K);
		softmax(&s);
		product(&s, heads(dQ, a->q, a->q_at, b), dW, heads(K, a->k, a->k_at, b), 0, 0, s.rows, a->K, s.keys);
		product(&s, heads(dK, a->k, a->k_at, b), dW, heads(Q, a->q, a->q_at, b), 1, 0, s.keys, a->K, s.rows);
		clear(a, dQ, a->q, a->q_at, b, s.rows, a->Tq);
		clear(a, dK, a->k, a->k_at, b, s.keys, a->Tk);
		clear(a, dV, a->v, a->k_at, b, s.keys, a->Tk);
	}
	n2d_trace_close(ctx, &call);
}
