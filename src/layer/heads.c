#include "layer/heads.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "layer/kinds.h"
#include "layer/linear.h"
#include "op/gemm.h"
#include "op/rotary.h"

static size_t width_or(size_t d, const struct n2d_layer_config *c) { return d ? d : c->H ? c->D / c->H : 0; }
size_t n2d_heads_d_k(const struct n2d_layer_config *c) { return width_or(c->d_k, c); }
size_t n2d_heads_d_v(const struct n2d_layer_config *c) { return width_or(c->d_v, c); }

/* K */
static size_t head(const struct n2d_layer_config *c)
{
	size_t k = n2d_heads_d_k(c), v = n2d_heads_d_v(c);
	return k > v ? k : v;
}

size_t n2d_heads_width(const struct n2d_layer_config *c) { return n2d_mul(c->H, head(c)); }

static size_t block_width(const struct n2d_layer_config *c, size_t block) { return block < 2 ? n2d_heads_d_k(c) : n2d_heads_d_v(c); }

/* Rows of in_proj before this block; of all, for block 3. */
static size_t block_row(const struct n2d_layer_config *c, size_t block)
{
	size_t row = 0;
	for (size_t i = 0; i < block; i++)
		row = n2d_add(row, n2d_mul(c->H, block_width(c, i)));
	return row;
}

/* Some head is narrower than K. */
static int padded(const struct n2d_layer_config *c) { return n2d_heads_d_k(c) != n2d_heads_d_v(c); }

/* ---- parameters */

struct weights {
	float *in, *in_bias, *out, *out_bias;
};

static struct weights weights(const struct n2d_layer_config *c, const float *p)
{
	size_t rows = block_row(c, 3);
	float *in = (float *)p, *in_bias = in + rows * c->D, *out = in_bias + rows;
	return (struct weights){in, in_bias, out, out + c->D * c->H * n2d_heads_d_v(c)};
}

size_t n2d_heads_params(const struct n2d_layer_config *c)
{
	size_t rows = block_row(c, 3), values = n2d_mul(c->H, n2d_heads_d_v(c));
	return n2d_add(n2d_mul(rows, n2d_add(c->D, 1)), n2d_mul(c->D, n2d_add(values, 1)));
}

int n2d_heads_check(const char *kind, const struct n2d_layer_config *c)
{
	if (!c->D || !c->H || ((!c->d_k || !c->d_v) && c->D % c->H))
		return n2d_error("%s: width D = %zu must be a positive multiple of the number of heads H = %zu", kind, c->D, c->H);
	if (c->rotary && n2d_heads_d_k(c) % 2)
		return n2d_error("%s: rotary positions turn pairs, but d_k = %zu is odd", kind, n2d_heads_d_k(c));
	return n2d_layer_check_params(kind, n2d_mul(4, n2d_mul(n2d_add(c->D, 1), n2d_add(n2d_heads_width(c), 1))));
}

void n2d_heads_init(const struct n2d_layer_config *c, float *params, struct n2d_rng *rng)
{
	struct weights w = weights(c, params);
	size_t rows = block_row(c, 3), values = c->H * n2d_heads_d_v(c);
	n2d_linear_init(w.in, c->D, rows, rng);
	n2d_linear_init(w.out, values, c->D, rng);
	memset(w.in_bias, 0, rows * sizeof(float));
	memset(w.out_bias, 0, c->D * sizeof(float));
}

/* to[heads,K,row] = from[heads,width,row] with zeros behind each head */
static void spread(float *to, const float *from, size_t heads, size_t width, size_t K, size_t row)
{
	for (size_t h = 0; h < heads; h++, to += K * row, from += width * row) {
		memcpy(to, from, width * row * sizeof *to);
		memset(to + width * row, 0, (K - width) * row * sizeof *to);
	}
}

/* ---- in: packed weights, the bias, and where heads are spread a copy to pack from */

static size_t copy_floats(const struct n2d_layer_config *c, size_t n)
{
	return padded(c) ? n2d_floats(n2d_mul(n, n2d_heads_width(c)), c->D, 1) : 0;
}

size_t n2d_heads_in_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t n)
{
	size_t out = n2d_mul(n, n2d_heads_width(c));
	return n2d_add(n2d_linear_packed(ctx, c->D, out), n2d_add(n2d_floats(out, 1, 1), copy_floats(c, n)));
}

void n2d_heads_in_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *packed, const float *params, size_t first,
		       size_t n)
{
	struct weights p = weights(c, params);
	size_t HK = n2d_heads_width(c);
	float *bias = packed + n2d_linear_packed(ctx, c->D, n * HK), *copy = bias + n2d_floats(n * HK, 1, 1);
	for (size_t i = 0; i < n; i++) {
		size_t row = block_row(c, first + i), width = block_width(c, first + i);
		spread(bias + i * HK, p.in_bias + row, c->H, width, head(c), 1);
		if (padded(c))
			spread(copy + i * HK * c->D, p.in + row * c->D, c->H, width, head(c), c->D);
	}
	n2d_linear_pack(ctx, packed, padded(c) ? copy : p.in + block_row(c, first) * c->D, c->D, n * HK);
}

void n2d_heads_in_fwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *y, const float *x, const float *packed,
		      size_t n, size_t rows)
{
	size_t out = n * n2d_heads_width(c);
	n2d_linear_fwd(ctx, y, x, packed, packed + n2d_linear_packed(ctx, c->D, out), 0, rows, c->D, out, c->D, out);
}

void n2d_heads_in_bwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *dx, int add, const float *dy,
		      const float *packed, size_t n, size_t rows)
{
	n2d_linear_bwd(ctx, dx, add, dy, packed, rows, c->D, n * n2d_heads_width(c), c->D, n * n2d_heads_width(c));
}

void n2d_heads_in_weights(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *dparams, int add, const float *dy,
			  const float *x, size_t first, size_t n, size_t rows)
{
	struct weights d = weights(c, dparams);
	size_t D = c->D, K = head(c), HK = n2d_heads_width(c), row = block_row(c, first);
	if (!padded(c)) {
		n2d_linear_weights(ctx, d.in + row * D, d.in_bias + row, add, dy, x, rows, D, n * HK, D, n * HK);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		size_t width = block_width(c, first + i), at = block_row(c, first + i);
		struct n2d_gemm g = n2d_gemm_plain(1, 0, width, D, rows);
		g.lda = n * HK;
		g.beta = add ? 1 : 0;
		g.batch = c->H, g.sa = K, g.sc = width * D;
		n2d_gemm(ctx, &g, d.in + at * D, dy + i * HK, x);
		for (size_t h = 0; h < c->H; h++)
			n2d_column_sums(ctx, d.in_bias + at + h * width, add, dy + i * HK + h * K, rows, width, n * HK);
	}
}

/* ---- positions */

size_t n2d_heads_table(const struct n2d_layer_config *c, size_t T) { return c->rotary ? n2d_floats(T, n2d_heads_d_k(c), 1) : 0; }

void n2d_heads_turn(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *qk, size_t n, size_t first,
		    const struct n2d_sentences *s, int back, float *table)
{
	if (!c->rotary)
		return;
	size_t d = n2d_heads_d_k(c);
	struct n2d_rotary r = {n2d_sentences_rows(s), s->T, 2 * c->H, d, head(c), n * n2d_heads_width(c), s->at ? s->position : NULL, back};
	n2d_rotary_table(table, first, s->T, d);
	n2d_rotary(ctx, &r, qk, table);
}

/* ---- out */

size_t n2d_heads_out_packed(const struct n2d_ctx *ctx, const struct n2d_layer_config *c)
{
	return n2d_add(n2d_linear_packed(ctx, n2d_heads_width(c), c->D), copy_floats(c, 1));
}

void n2d_heads_out_pack(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *packed, const float *params)
{
	const float *w = weights(c, params).out;
	size_t HK = n2d_heads_width(c);
	float *copy = packed + n2d_linear_packed(ctx, HK, c->D);
	if (padded(c))
		spread(copy, w, c->D * c->H, n2d_heads_d_v(c), head(c), 1);
	n2d_linear_pack(ctx, packed, padded(c) ? copy : w, HK, c->D);
}

void n2d_heads_out_fwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *y, const float *o, const float *packed,
		       const float *params, size_t rows)
{
	n2d_linear_fwd(ctx, y, o, packed, weights(c, params).out_bias, 0, rows, n2d_heads_width(c), c->D, n2d_heads_width(c), c->D);
}

void n2d_heads_out_bwd(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *d_o, const float *dy, const float *packed,
		       size_t rows)
{
	n2d_linear_bwd(ctx, d_o, 0, dy, packed, rows, n2d_heads_width(c), c->D, n2d_heads_width(c), c->D);
}

void n2d_heads_out_weights(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *dparams, int add, const float *dy,
			   const float *o, size_t rows)
{
	struct weights d = weights(c, dparams);
	size_t D = c->D, HK = n2d_heads_width(c), width = n2d_heads_d_v(c);
	if (!padded(c)) {
		n2d_linear_weights(ctx, d.out, d.out_bias, add, dy, o, rows, HK, D, HK, D);
		return;
	}
	struct n2d_gemm g = n2d_gemm_plain(1, 0, D, width, rows);
	g.ldb = HK, g.ldc = c->H * width;
	g.beta = add ? 1 : 0;
	g.batch = c->H, g.sb = head(c), g.sc = width;
	n2d_gemm(ctx, &g, d.out, dy, o);
	n2d_column_sums(ctx, d.out_bias, add, dy, rows, D, D);
}

/* ---- between */

static float scale(const struct n2d_layer_config *c) { return (float)(1 / sqrt((double)n2d_heads_d_k(c))); }

struct n2d_attention n2d_heads_attention(const struct n2d_layer_config *c, size_t q_row, size_t kv_row, const struct n2d_sentences *queries,
					 const struct n2d_sentences *keys)
{
	size_t K = head(c), HK = c->H * K, Tq = queries->T, Tk = keys->T;
	struct n2d_strides q = {Tq * q_row, K, q_row}, kv = {Tk * kv_row, K, kv_row}, o = {Tq * HK, K, HK};
	return (struct n2d_attention){
		.B = queries->B, .H = c->H, .Tq = Tq, .Tk = Tk, .K = K, .q = q, .k = kv, .v = kv, .o = o, .scale = scale(c),
		.qlen = queries->len, .klen = keys->len, .q_at = queries->at, .k_at = keys->at,
	};
}

struct n2d_attention_step n2d_heads_step(const struct n2d_layer_config *c, size_t rows, size_t q_row, size_t end)
{
	return (struct n2d_attention_step){
		.rows = rows, .H = c->H, .K = head(c), .q_row = q_row, .o_row = n2d_heads_width(c), .end = end, .scale = scale(c),
	};
}

size_t n2d_heads_step_workspace(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t end)
{
	return n2d_attention_step_workspace(ctx, c->H, head(c), end);
}

double n2d_heads_flops(const struct n2d_layer_config *c, double queries, double keys, int backward)
{
	double k = (double)n2d_heads_d_k(c), v = (double)n2d_heads_d_v(c);
	return (backward ? 4 : 2) * (double)c->D * (double)c->H * (k + v) * (queries + keys);
}

double n2d_heads_mixing_flops(const struct n2d_layer_config *c, const struct n2d_attention *a, int products)
{
	double used = (double)(n2d_heads_d_k(c) + n2d_heads_d_v(c)) / (2.0 * (double)a->K);
	return products / 2.0 * used * n2d_attention_flops(a);
}
