/* One matrix product, blocked (op/gemm.h has the contract): no batch, no parts, nobody watches. With one thread it runs in the caller's,
 * whose packing buffer it uses. */
#ifndef N2D_GEMM_BLOCKED_H
#define N2D_GEMM_BLOCKED_H

#include "op/gemm.h"

void n2d_product(const struct n2d_ctx *ctx, int threads, const struct n2d_gemm *g, float *C, const float *A, const float *B);
void n2d_product_packed(const struct n2d_ctx *ctx, int threads, const struct n2d_gemm *g, float *C, const float *A, const float *packed);

#endif
