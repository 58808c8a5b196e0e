#include "layer/linear.h"

#include <math.h>

#include "base/size.h"
#include "op/gemm.h"

size_t n2d_linear_packed(const struct n2d_ctx *ctx, size_t in, size_t out)
{
	return n2d_add(n2d_packed_floats(ctx, in, out), n2d_packed_floats(ctx, out, in));
}

void n2d_linear_pack(const struct n2d_ctx *ctx, float *packed, const float *w, size_t in, size_t out)
{
	n2d_pack(ctx, packed, 1, in, out, w, in);
	n2d_pack(ctx, packed + n2d_packed_floats(ctx, in, out), 0, out, in, w, in);
}

void n2d_linear_init(float *w, size_t in, size_t out, struct n2d_rng *rng)
{
	double limit = sqrt(6.0 / ((double)in + (double)out));
	for (size_t i = 0; i < in * out; i++)
		w[i] = (float)(limit * (2 * n2d_rng_uniform(rng) - 1));
}

void n2d_linear_fwd(const struct n2d_ctx *ctx, float *y, const float *x, const float *packed, const float *bias, int relu,
		    size_t n, size_t in, size_t out, size_t ldx, size_t ldy)
{
	struct n2d_gemm g = n2d_gemm_plain(0, 1, n, out, in);
	g.lda = ldx;
	g.ldc = ldy;
	g.bias = bias;
	g.relu = relu;
	n2d_gemm_packed(ctx, &g, y, x, packed);
}

void n2d_linear_bwd(const struct n2d_ctx *ctx, float *dx, int add, const float *dy, const float *packed, size_t n, size_t in,
		    size_t out, size_t ldx, size_t ldy)
{
	struct n2d_gemm g = n2d_gemm_plain(0, 0, n, in, out);
	g.lda = ldy;
	g.ldc = ldx;
	g.beta = add ? 1 : 0;
	n2d_gemm_packed(ctx, &g, dx, dy, packed + n2d_packed_floats(ctx, in, out));
}

/* As a product with a row of ones, which reads x once and where it is. */
void n2d_column_sums(const struct n2d_ctx *ctx, float *s, int add, const float *x, size_t n, size_t D, size_t ldx)
{
	const float one = 1;
	struct n2d_gemm g = n2d_gemm_plain(1, 0, 1, D, n);
	g.lda = 0;
	g.ldb = ldx;
	g.beta = add ? 1 : 0;
	g.parts = n2d_gemm_parts(1, D, n);
	n2d_gemm(ctx, &g, s, &one, x);
}

void n2d_linear_weights(const struct n2d_ctx *ctx, float *dw, float *dbias, int add, const float *dy, const float *x, size_t n,
			size_t in, size_t out, size_t ldx, size_t ldy)
{
	struct n2d_gemm g = n2d_gemm_plain(1, 0, out, in, n);
	g.lda = ldy;
	g.ldb = ldx;
	g.beta = add ? 1 : 0;
	g.parts = n2d_gemm_parts(out, in, n);
	n2d_gemm(ctx, &g, dw, dy, x);
	if (dbias)
		n2d_column_sums(ctx, dbias, add, dy, n, out, ldy);
}
