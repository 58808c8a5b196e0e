#include "op/recurrent.h"

#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/gemm.h"

/* Below this many FLOPs a step one thread is faster than two that have to meet. */
#define STEP_FLOPS 2e5

static const struct {
	size_t gates, segments, segment[4]; /* where gate g's product goes */
	const char *fwd, *bwd;
} cells[] = {
	[N2D_RNN] = {1, 1, {0}, "rnn", "rnn_bwd"},
	[N2D_LSTM] = {4, 4, {0, 1, 2, 3}, "lstm", "lstm_bwd"},
	[N2D_GRU] = {3, 4, {1, 2, 0}, "gru", "gru_bwd"},
};

size_t n2d_recurrent_gates(enum n2d_cell cell) { return cells[cell].gates; }
size_t n2d_recurrent_segments(enum n2d_cell cell) { return cells[cell].segments; }

size_t n2d_recurrent_packed(const struct n2d_ctx *ctx, enum n2d_cell cell, size_t D)
{
	return n2d_mul(2 * cells[cell].gates, n2d_packed_floats(ctx, D, D));
}

/* Gate after gate: all forward (op(B) = U^T), then all backward. */
void n2d_recurrent_pack(const struct n2d_ctx *ctx, enum n2d_cell cell, size_t D, float *packed, const float *U)
{
	size_t G = cells[cell].gates, one = n2d_packed_floats(ctx, D, D);
	for (size_t g = 0; g < G; g++) {
		n2d_pack(ctx, packed + g * one, 1, D, D, U + g * D * D, D);
		n2d_pack(ctx, packed + (G + g) * one, 0, D, D, U + g * D * D, D);
	}
}

/* Zeros for the state before the first step; dh and dc of the step after. */
size_t n2d_recurrent_workspace(const struct n2d_recurrent *r)
{
	return n2d_add(n2d_floats(r->D, 1, 1), n2d_mul(2, n2d_floats(r->B, r->D, 1)));
}

struct job {
	const struct n2d_ctx *ctx;
	const struct n2d_recurrent *r;
	const float *packed, *b_q, *dy, *zero;
	float *h, *c, *a, *da, *dh, *dc;
	size_t one;           /* floats of a packed gate */
	size_t c_row, c_step; /* floats between sentences and between steps of c */
	int steps; /* each is a call for the observer */
	struct n2d_call call;
};

/* The units of one thread: whole panels. */
struct part {
	size_t u0, u1;
	float *scratch;
};

static struct part part(const struct job *j, int thread, int threads)
{
	size_t nr = j->ctx->k->nr, D = j->r->D, panels = (D + nr - 1) / nr, n = (size_t)threads, t = (size_t)thread;
	size_t u0 = n2d_cut(panels, n, t) * nr, u1 = n2d_cut(panels, n, t + 1) * nr;
	return (struct part){u0 < D ? u0 : D, u1 < D ? u1 : D, j->ctx->pack[thread]};
}

/* ---- products of a step, on the thread's units */

/* One product of x[B][D], or of K = 0 terms of it: out[B][units] = beta out + x packed (+ bias). */
struct product {
	float *out;
	size_t ldo;
	const float *packed, *bias;
	float beta;
};

/* Rows of x that are packed in the scratch. */
static void tiles(const struct job *j, const struct part *p, const struct product *m, size_t row, size_t rows, size_t K)
{
	const struct n2d_kernels *k = j->ctx->k;
	for (size_t u = p->u0; u < p->u1; u += k->nr) {
		struct n2d_gemm_end end = {.bias = m->bias ? m->bias + u : NULL};
		k->gemm_tile(m->out + row * m->ldo + u, p->scratch, m->packed + u * j->r->D, m->beta, m->bias ? &end : NULL, m->packed + u * j->r->D, 0, rows,
			     p->u1 - u < k->nr ? p->u1 - u : k->nr, K, 1, k->mr, k->nr, m->ldo);
	}
}

/* n products of the same x. */
static void products(const struct job *j, const struct part *p, const struct product *m, size_t n, const float *x, size_t ldx,
		     size_t K)
{
	const struct n2d_kernels *k = j->ctx->k;
	size_t D = j->r->D, B = j->r->B;
	for (size_t i = 0; B == 1 && i < n; i++) {
		struct n2d_gemm_end end = {.bias = m[i].bias ? m[i].bias + p->u0 : NULL};
		k->gemv(m[i].out + p->u0, x, m[i].packed + p->u0 * D, m[i].beta, m[i].bias ? &end : NULL, p->u1 - p->u0, K, k->nr,
			D * k->nr);
	}
	for (size_t row = 0; B > 1 && row < B; row += k->mr) {
		size_t rows = B - row < k->mr ? B - row : k->mr;
		k->gemm_pack_rows(p->scratch, x + row * ldx, 1, k->mr, 0, rows, K, ldx);
		for (size_t i = 0; i < n; i++)
			tiles(j, p, m + i, row, rows, K);
	}
}

/* ---- forward */

static void forward_gates(const struct job *j, const struct part *p, size_t t)
{
	const struct n2d_kernels *k = j->ctx->k;
	size_t D = j->r->D, T = j->r->T, S = cells[j->r->cell].segments, u = p->u0, n = p->u1 - p->u0;
	for (size_t b = 0; b < j->r->B; b++) {
		float *h = j->h + (b * T + t) * D, *a = j->a + (b * T + t) * S * D;
		size_t c = b * j->c_row + t * j->c_step + u;
		switch (j->r->cell) {
		case N2D_RNN: k->tanh(h + u, a + u, n); break;
		case N2D_LSTM: k->lstm_fwd(h + u, j->c + c, a + u, t ? j->c + c - j->c_step : j->zero + u, n, D); break;
		case N2D_GRU: k->gru_fwd(h + u, a + u, (t ? h - D : j->zero) + u, n, D); break;
		}
	}
}

/* n steps from t on: one, or all. */
static void open_steps(struct job *j, size_t t, size_t n, int backward)
{
	const struct n2d_recurrent *r = j->r;
	size_t D = r->D, T = r->T, S = cells[r->cell].segments, G = cells[r->cell].gates, B = r->B, rows = B * n, apart = n == T ? 1 : T;
	double BD = (double)B * (double)D, products = 2 * BD * (double)D * (double)G * (double)(n - (backward ? t + n == T : t == 0));
	double bytes = 4 * ((double)G * (double)D * (double)D + BD * (double)(S * (backward ? 3 : 2) + 3)) * (double)n;
	if (!n2d_trace_open(j->ctx, &j->call, backward ? cells[r->cell].bwd : cells[r->cell].fwd, products, bytes))
		return;
	n2d_trace_dim(&j->call, "B", B);
	n2d_trace_dim(&j->call, "D", D);
	n2d_trace_dim(&j->call, n == T ? "T" : "step", n == T ? T : t);
	n2d_trace_read(&j->call, j->packed, 1, 2 * G * j->one, 2 * G * j->one, N2D_ALL_ROWS);
	n2d_trace_read(&j->call, j->a + t * S * D, rows, S * D, apart * S * D, N2D_ROWWISE);
	if (backward) {
		n2d_trace_read(&j->call, j->dy + t * D, rows, D, apart * D, N2D_ROWWISE);
		n2d_trace_read(&j->call, t + n < T ? j->da + (t + n) * S * D : NULL, rows, S * D, apart * S * D, N2D_ROWWISE);
		n2d_trace_write(&j->call, j->da + t * S * D, rows, S * D, apart * S * D);
		return;
	}
	n2d_trace_read(&j->call, t ? j->h + (t - 1) * D : NULL, rows, D, apart * D, N2D_ROWWISE);
	n2d_trace_write(&j->call, j->a + t * S * D, rows, S * D, apart * S * D);
	n2d_trace_write(&j->call, j->h + t * D, rows, D, apart * D);
}

/* The products with h' = 0 before the first step are ones of no terms: only gru's b_q is left of them. */
static void forward_products(const struct job *j, const struct part *p, size_t t)
{
	enum n2d_cell cell = j->r->cell;
	size_t D = j->r->D, T = j->r->T, S = cells[cell].segments, n = cells[cell].gates;
	struct product m[4];
	for (size_t g = 0; g < n; g++) {
		int q = cell == N2D_GRU && cells[cell].segment[g] == 0;
		m[g] = (struct product){j->a + t * S * D + cells[cell].segment[g] * D, T * S * D, j->packed + g * j->one,
					q ? j->b_q : NULL, q ? 0 : 1};
	}
	products(j, p, m, n, j->h + (t ? t - 1 : 0) * D, T * D, t ? D : 0);
}

static void forward_steps(void *arg, int thread, int threads)
{
	struct job *j = arg;
	const struct n2d_recurrent *r = j->r;
	struct part p = part(j, thread, threads);
	for (size_t t = 0; t < r->T; t++) {
		if (thread == 0 && j->steps)
			open_steps(j, t, 1, 0);
		forward_products(j, &p, t);
		forward_gates(j, &p, t);
		n2d_barrier();
		if (thread == 0 && j->steps)
			n2d_trace_close(j->ctx, &j->call);
	}
}

/* Few rows and one step: products of their own, the same chains. */
void n2d_recurrent_step(const struct n2d_ctx *ctx, enum n2d_cell cell, size_t rows, size_t D, float *h, float *c, float *a,
			const float *hp, const float *cp, const float *packed, const float *b_q)
{
	const struct n2d_kernels *k = ctx->k;
	size_t S = cells[cell].segments;
	for (size_t g = 0; g < cells[cell].gates; g++) {
		struct n2d_gemm m = n2d_gemm_plain(0, 1, rows, D, D);
		int q = cell == N2D_GRU && cells[cell].segment[g] == 0;
		m.ldc = S * D;
		m.beta = q ? 0 : 1;
		m.bias = q ? b_q : NULL;
		n2d_gemm_packed(ctx, &m, a + cells[cell].segment[g] * D, hp, packed + g * n2d_packed_floats(ctx, D, D));
	}
	for (size_t r = 0; r < rows; r++) {
		float *to = h + r * D, *gates = a + r * S * D;
		switch (cell) {
		case N2D_RNN: k->tanh(to, gates, D); break;
		case N2D_LSTM: k->lstm_fwd(to, c + r * D, gates, cp + r * D, D, D); break;
		case N2D_GRU: k->gru_fwd(to, gates, hp + r * D, D, D); break;
		}
	}
}

/* ---- backward */

static void backward_gates(const struct job *j, const struct part *p, size_t t)
{
	const struct n2d_kernels *k = j->ctx->k;
	size_t D = j->r->D, T = j->r->T, S = cells[j->r->cell].segments, u = p->u0, n = p->u1 - p->u0;
	for (size_t b = 0; b < j->r->B; b++) {
		size_t row = b * T + t;
		const float *h = j->h + row * D, *a = j->a + row * S * D, *dy = j->dy + row * D;
		float *da = j->da + row * S * D, *dh = j->dh + b * D, *dc = j->dc + b * D;
		switch (j->r->cell) {
		case N2D_RNN: k->rnn_bwd(da + u, dy + u, dh + u, h + u, n); break;
		case N2D_LSTM:
			k->lstm_bwd(da + u, dc + u, dy + u, dh + u, a + u, j->c + row * D + u,
				    t ? j->c + (row - 1) * D + u : j->zero + u, n, D);
			break;
		case N2D_GRU: k->gru_bwd(da + u, dh + u, dy + u, a + u, (t ? h - D : j->zero) + u, n, D); break;
		}
	}
}

/* dh = the sum over gates of da U; gru's dh holds already what passes through z. */
static void backward_products(const struct job *j, const struct part *p, size_t t)
{
	enum n2d_cell cell = j->r->cell;
	size_t D = j->r->D, T = j->r->T, S = cells[cell].segments, G = cells[cell].gates;
	for (size_t g = 0; g < G; g++) {
		struct product m = {j->dh, D, j->packed + (G + g) * j->one, NULL, g || cell == N2D_GRU};
		products(j, p, &m, 1, j->da + t * S * D + cells[cell].segment[g] * D, T * S * D, D);
	}
}

static void backward_steps(void *arg, int thread, int threads)
{
	struct job *j = arg;
	struct part p = part(j, thread, threads);
	for (size_t t = j->r->T; t-- > 0;) {
		if (thread == 0 && j->steps)
			open_steps(j, t, 1, 1);
		if (t + 1 < j->r->T)
			backward_products(j, &p, t + 1);
		backward_gates(j, &p, t);
		n2d_barrier();
		if (thread == 0 && j->steps)
			n2d_trace_close(j->ctx, &j->call);
	}
}

/* ---- all steps */

static void run(const struct n2d_ctx *ctx, struct job *j, int backward)
{
	struct n2d_ctx alone = *ctx;
	double D = (double)j->r->D;
	alone.threads = 1;
	int small = 2 * (double)j->r->B * D * D * (double)cells[j->r->cell].gates < STEP_FLOPS;
	j->one = n2d_packed_floats(ctx, j->r->D, j->r->D);
	j->steps = ctx->trace && ctx->trace->steps;
	if (!j->steps)
		open_steps(j, 0, j->r->T, backward);
	n2d_team(small ? &alone : ctx, backward ? backward_steps : forward_steps, j);
	if (!j->steps)
		n2d_trace_close(ctx, &j->call);
}

void n2d_recurrent_fwd(const struct n2d_ctx *ctx, const struct n2d_recurrent *r, float *h, float *c, int keep, float *a,
		       const float *packed, const float *b_q, float *ws)
{
	struct job j = {.ctx = ctx, .r = r, .packed = packed, .b_q = b_q, .zero = ws, .h = h, .c = c, .a = a};
	if (!r->B || !r->T || !r->D)
		return;
	memset(ws, 0, r->D * sizeof *ws);
	j.c_row = !c ? 0 : keep ? r->T * r->D : r->D;
	j.c_step = c && keep ? r->D : 0;
	run(ctx, &j, 0);
}

void n2d_recurrent_bwd(const struct n2d_ctx *ctx, const struct n2d_recurrent *r, float *da, const float *dy, const float *h,
		       const float *c, const float *a, const float *packed, float *ws)
{
	size_t state = n2d_floats(r->B, r->D, 1), zeros = n2d_floats(r->D, 1, 1);
	if (!r->B || !r->T || !r->D)
		return;
	struct job j = {.ctx = ctx, .r = r, .packed = packed, .dy = dy, .zero = ws, .h = (float *)h, .c = (float *)c};
	j.a = (float *)(r->cell == N2D_RNN ? h : a);
	j.da = da, j.dh = ws + zeros, j.dc = j.dh + state;
	memset(ws, 0, (zeros + 2 * state) * sizeof *ws);
	run(ctx, &j, 1);
}

double n2d_recurrent_flops(const struct n2d_recurrent *r)
{
	double D = (double)r->D, steps = r->T ? (double)(r->T - 1) : 0;
	return 2 * (double)r->B * steps * D * D * (double)cells[r->cell].gates;
}
