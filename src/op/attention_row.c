#include "op/attention_row.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"

/* Heads of a task: all of a sentence, so that its cache is read as it lies, unless threads would be idle. */
static size_t heads_of(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t want = 2 * (size_t)ctx->threads, parts = ctx->threads == 1 || !a->B || a->B >= want ? 1 : (want + a->B - 1) / a->B;
	return parts < a->H ? (a->H + parts - 1) / parts : a->H ? 1 : 0;
}

struct sizes {
	size_t s, mx, sum, total;
};

static struct sizes sizes(const struct n2d_ctx *ctx, size_t heads, size_t width)
{
	struct sizes z = {n2d_floats(heads, N2D_ATTN_KEYS, 1), n2d_floats(heads, 1, 1), n2d_floats(heads, ctx->k->lanes, 1), 0};
	z.total = n2d_add(n2d_add(z.s, z.mx), n2d_add(z.sum, n2d_floats(heads, width, 1)));
	return z;
}

size_t n2d_attention_one_workspace(const struct n2d_ctx *ctx, size_t heads, size_t width) { return sizes(ctx, heads, width).total; }

void n2d_attention_one(const struct n2d_ctx *ctx, struct n2d_attn_row x, size_t first, size_t end, float *o, size_t o_sh, float *lse, float *ws)
{
	struct sizes z = sizes(ctx, x.heads, x.width);
	float *mx = ws + z.s, *sum = mx + z.mx, *out = sum + z.sum;
	const float *k = x.k, *v = x.v;
	const size_t *at = x.at;
	x.s = ws;
	x.start = 1;
	for (size_t tile = first / N2D_ATTN_KEYS * N2D_ATTN_KEYS; tile < end; tile += N2D_ATTN_KEYS) {
		if (at)
			x.at = at + tile;
		else
			x.k = k + tile * x.k_st, x.v = v + tile * x.v_st;
		x.first = first > tile ? first - tile : 0, x.end = n2d_attn_part(end, tile);
		ctx->k->attn_row(out, mx, sum, &x);
		x.start = 0;
	}
	ctx->k->attn_end(o, lse, out, mx, sum, x.heads, x.width, o_sh, x.width);
}

size_t n2d_attention_row_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	return n2d_mul(n2d_attention_one_workspace(ctx, heads_of(ctx, a), a->K), (size_t)ctx->threads);
}

struct rows {
	const struct n2d_attn_job *j;
	size_t heads, parts, each; /* each: floats of a thread */
	float *ws;
};

static void unseen(const struct n2d_attn_job *j, size_t b, size_t h0, size_t heads)
{
	for (size_t h = h0; h < h0 + heads && n2d_rows_there(j->a->q_at, b, 1); h++) {
		memset(j->O + n2d_head(j->a->o, j->a->q_at, b, h), 0, j->a->K * sizeof(float));
		if (j->lse)
			j->lse[b * j->a->H + h] = -INFINITY;
	}
}

static void task(void *arg, size_t t, int thread)
{
	const struct rows *r = arg;
	const struct n2d_attention *a = r->j->a;
	size_t b = t / r->parts, h = t % r->parts * r->heads, heads = a->H - h < r->heads ? a->H - h : r->heads;
	struct n2d_band w = n2d_attention_band(a, b);
	if (w.row0 == w.row1) {
		unseen(r->j, b, h, heads);
		return;
	}
	struct n2d_attn_row x = {.q = r->j->Q + n2d_head(a->q, a->q_at, b, h), .k = r->j->K + n2d_head(a->k, a->k_at, b, h), .v = r->j->V + n2d_head(a->v, a->k_at, b, h)};
	x.q_sh = a->q.sh, x.k_sh = a->k.sh, x.k_st = a->k.st, x.v_sh = a->v.sh, x.v_st = a->v.st;
	x.heads = heads, x.width = a->K, x.scale = a->scale;
	n2d_attention_one(r->j->ctx, x, n2d_clamp(w.first, w.keys), n2d_clamp(w.end, w.keys), r->j->O + n2d_head(a->o, a->q_at, b, h), a->o.sh,
			  r->j->lse ? r->j->lse + b * a->H + h : NULL, r->ws + (size_t)thread * r->each);
}

void n2d_attention_row(const struct n2d_attn_job *j, float *ws)
{
	size_t heads = heads_of(j->ctx, j->a), parts = heads ? (j->a->H + heads - 1) / heads : 0;
	struct rows r = {j, heads, parts, n2d_attention_one_workspace(j->ctx, heads, j->a->K), ws};
	n2d_parallel(j->ctx, j->a->B * parts, task, &r);
}
