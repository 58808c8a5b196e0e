/* How the streaming versions divide their work. Nothing here changes a bit of any result.
 *
 * With many sentences a thread takes whole ones; with few, all threads take one after another together. Of a sentence, a
 * group of heads is packed first, block of tokens by block of tokens with all heads of each: where heads share a token's
 * row, one head's part alone lies in far pieces, and reading it so takes five times as long. */
#ifndef N2D_ATTENTION_WORK_H
#define N2D_ATTENTION_WORK_H

#include "base/size.h"
#include "base/trace.h"
#include "op/attention.h"
#include "op/attention_band.h"

/* Sizes in floats. */
struct n2d_attn_plan {
	int apart;          /* each thread takes whole sentences */
	size_t group;       /* heads packed together */
	size_t head;        /* packed operands of a head: */
	size_t rows;        /* of its queries in panels, as the next two with the width rounded up to whole panels, */
	size_t columns;     /* of its keys transposed, */
	size_t keys;        /* of its keys in panels */
	size_t wide;        /* that width */
	size_t chunk;       /* rows of a task */
	size_t per_thread;  /* what a task needs beside */
	size_t total;
};

struct n2d_attn_job;

/* Of each group of heads: pack(block) for every block of N2D_ATTN_KEYS tokens that has rows or keys, unless the sentence has
 * no row that sees a key; then work(head, task) for every task [0, tasks) of each head. ws: per_thread floats. */
struct n2d_attn_passes {
	void (*pack)(const struct n2d_attn_job *j, size_t block);
	void (*work)(const struct n2d_attn_job *j, size_t head, size_t task, float *ws);
	size_t tasks;
};

struct n2d_attn_job {
	const struct n2d_ctx *ctx;
	const struct n2d_attention *a;
	const struct n2d_attn_passes *passes;
	struct n2d_attn_plan plan;
	float *O, *lse, *dQ, *dK, *dV;
	const float *Q, *K, *V, *dO, *lse_in, *O_in;
	/* Set by n2d_attn_run: the sentence at work, its band, its heads [h0, h0 + heads), their packed operands. */
	size_t b, h0, heads;
	struct n2d_band band;
	float *packed, *ws;
	struct n2d_attn_ahead *ahead; /* of the next sentence; NULL: threads share the sentences */
};

/* The members from apart, rows to wide. */
struct n2d_attn_plan n2d_attn_sizes(const struct n2d_ctx *ctx, const struct n2d_attention *a);
/* Sets group and total by the other members. */
void n2d_attn_divide(struct n2d_attn_plan *plan, const struct n2d_ctx *ctx, const struct n2d_attention *a);
/* ws: plan.total floats. */
void n2d_attn_run(struct n2d_attn_job *j, float *ws);

/* Opens the trace's call with the operator's sizes; 1 when somebody watches. */
int n2d_attn_open(const struct n2d_ctx *ctx, struct n2d_call *call, const char *op, const struct n2d_attention *a, double passes);
size_t n2d_attn_span(const struct n2d_attention *a, struct n2d_strides s);

/* The packed operands of head h, of the group at work. */
static inline float *n2d_attn_packed(const struct n2d_attn_job *j, size_t h) { return j->packed + (h - j->h0) * j->plan.head; }

static inline size_t n2d_attn_least(size_t a, size_t b) { return a < b ? a : b; }

/* Tokens of the block at t, of n. */
static inline size_t n2d_attn_part(size_t n, size_t t)
{
	return n <= t ? 0 : n - t < N2D_ATTN_KEYS ? n - t : N2D_ATTN_KEYS;
}

/* The first tile of keys that row i, or a later one, sees. */
static inline size_t n2d_attn_tile(const struct n2d_band *w, size_t i)
{
	return n2d_clamp((ptrdiff_t)i + w->first, w->keys) / N2D_ATTN_KEYS * N2D_ATTN_KEYS;
}

/* Rows [t, t + rows) of a head into panels of all Tq rows. */
void n2d_attn_pack_rows(const struct n2d_attn_job *j, float *to, const float *x, float alpha, size_t t, size_t rows, size_t ldx);

#endif
