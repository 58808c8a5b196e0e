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

static struct sizes sizes(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	size_t heads = heads_of(ctx, a);
	struct sizes z = {n2d_floats(heads, N2D_ATTN_KEYS, 1), n2d_floats(heads, 1, 1), n2d_floats(heads, ctx->k->lanes, 1), 0};
	z.total = n2d_add(n2d_add(z.s, z.mx), n2d_add(z.sum, n2d_floats(heads, a->K, 1)));
	return z;
}

size_t n2d_attention_row_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a)
{
	return n2d_mul(sizes(ctx, a).total, (size_t)ctx->threads);
}

struct rows {
	const struct n2d_attn_job *j;
	struct sizes sizes;
	size_t heads, parts;
	float *ws;
};

static void unseen(const struct n2d_attn_job *j, size_t b, size_t h0, size_t heads)
{
	for (size_t h = h0; h < h0 + heads; h++) {
		memset(j->O + n2d_head(j->a->o, b, h), 0, j->a->K * sizeof(float));
		if (j->lse)
			j->lse[b * j->a->H + h] = -INFINITY;
	}
}

static void task(void *arg, size_t t, int thread)
{
	const struct rows *r = arg;
	const struct n2d_attention *a = r->j->a;
	const struct n2d_kernels *k = r->j->ctx->k;
	size_t b = t / r->parts, h = t % r->parts * r->heads, heads = a->H - h < r->heads ? a->H - h : r->heads;
	struct n2d_band w = n2d_attention_band(a, b);
	float *s = r->ws + (size_t)thread * r->sizes.total, *mx = s + r->sizes.s, *sum = mx + r->sizes.mx, *o = sum + r->sizes.sum;
	if (w.row0 == w.row1) {
		unseen(r->j, b, h, heads);
		return;
	}
	struct n2d_attn_row x = {.q = r->j->Q + n2d_head(a->q, b, h), .q_sh = a->q.sh, .k_sh = a->k.sh, .k_st = a->k.st};
	x.v_sh = a->v.sh, x.v_st = a->v.st, x.heads = heads, x.width = a->K, x.scale = a->scale, x.s = s, x.start = 1;
	size_t first = n2d_clamp(w.first, w.keys), end = n2d_clamp(w.end, w.keys);
	for (size_t tile = n2d_attn_tile(&w, 0); tile < end; tile += N2D_ATTN_KEYS) {
		x.k = r->j->K + n2d_head(a->k, b, h) + tile * a->k.st, x.v = r->j->V + n2d_head(a->v, b, h) + tile * a->v.st;
		x.first = first > tile ? first - tile : 0, x.end = n2d_attn_part(end, tile);
		k->attn_row(o, mx, sum, &x);
		x.start = 0;
	}
	k->attn_end(r->j->O + n2d_head(a->o, b, h), r->j->lse ? r->j->lse + b * a->H + h : NULL, o, mx, sum, heads, a->K, a->o.sh, a->K);
}

void n2d_attention_row(const struct n2d_attn_job *j, float *ws)
{
	size_t heads = heads_of(j->ctx, j->a), parts = heads ? (j->a->H + heads - 1) / heads : 0;
	struct rows r = {j, sizes(j->ctx, j->a), heads, parts, ws};
	n2d_parallel(j->ctx, j->a->B * parts, task, &r);
}
