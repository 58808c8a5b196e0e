/* General matrix product on row-major float matrices.
 *
 *	C[M,N] = E(alpha * op(A)[M,K] op(B)[K,N] + beta * C)
 *
 * op(X) is X or its transpose. E is the epilogue: add bias[N] to every row, then ReLU, then add
 * residual[M,N]; each when asked for. beta == 0 never reads C. K == 0 gives E(beta * C).
 * C overlaps no input, except residual == C with ldr == ldc and no ReLU, which adds 1 to beta. Row strides are >= the width; rows of A
 * and B, which are only read, may overlap (op/convolution.c) or be one and the same (stride 0).
 * alpha == 0 is as K == 0.
 *
 * Every element is one chain of multiply-adds in the order of k, starting from beta * C (alpha multiplies A first),
 * whatever M, N, the threads, the batch and the rows beside it: a sentence gives the same bits alone and in a batch, and
 * instruction sets with a fused multiply-add agree. With `parts` k is cut into so many (n2d_cut): each is such a chain, the first from
 * beta * C, the others from 0, and they are added in order. Then threads need not all read all of k. */
#ifndef N2D_GEMM_H
#define N2D_GEMM_H

#include "base/ctx.h"

struct n2d_gemm {
	size_t M, N, K;
	int ta, tb; /* A is stored [K,M]; B is stored [N,K] */
	size_t lda, ldb, ldc;
	float alpha, beta;
	const float *bias; /* [N] or NULL */
	int relu;
	const float *residual; /* [M,N] with row stride ldr, or NULL */
	size_t ldr;
	/* The product is done for each i < batch on A + i*sa, B + i*sb, C + i*sc (and residual + i*sc). */
	size_t batch, sa, sb, sc;
	size_t parts; /* of k; 0 as 1. More only in n2d_gemm without an epilogue, M N (parts - 1) <= N2D_GEMM_PARTS */
};

enum { N2D_GEMM_PARTS = 1 << 19 };

/* How many parts pay where K rows are summed into a small matrix: each is computed by the thread whose caches have its rows, where otherwise
 * every thread reads all rows of one operand or of both. 1 for other shapes. */
size_t n2d_gemm_parts(size_t M, size_t N, size_t K);

/* The plain product C = op(A) op(B) of dense matrices; set further members afterwards. */
struct n2d_gemm n2d_gemm_plain(int ta, int tb, size_t M, size_t N, size_t K);

void n2d_gemm(const struct n2d_ctx *ctx, const struct n2d_gemm *g, float *C, const float *A, const float *B);

/* op(B)[K,N] packed once, for many products with the same weights. The floats it takes: */
size_t n2d_packed_floats(const struct n2d_ctx *ctx, size_t K, size_t N);
/* Packs op(B); tb: B is stored [N,K]. The format depends on ctx->k and the caches. */
void n2d_pack(const struct n2d_ctx *ctx, float *packed, int tb, size_t K, size_t N, const float *B, size_t ldb);
/* Of the packed op(B)[K,N] the columns from n on, n a multiple of ctx->k->nr: as if they had been packed alone. */
static inline const float *n2d_packed_from(const float *packed, size_t K, size_t n) { return packed + n * K; }
/* As n2d_gemm with packed in place of B; g->tb, g->ldb and g->sb are not looked at (one B for the batch). Same bits. */
void n2d_gemm_packed(const struct n2d_ctx *ctx, const struct n2d_gemm *g, float *C, const float *A, const float *packed);

/* 2 M N K a product. */
double n2d_gemm_flops(const struct n2d_gemm *g);
/* Compulsory traffic: A, B and C once, C twice when beta != 0. */
double n2d_gemm_bytes(const struct n2d_gemm *g);

#endif
