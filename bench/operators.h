/* The operators that `n2d-bench kernels` times beside the kernels: a file each. */
#ifndef BENCH_OPERATORS_H
#define BENCH_OPERATORS_H

#include "bench/timed.h"

size_t operators_attention(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);
size_t operators_gemm(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);

/* Products of a peer (blas.h), and after sampling the table against ours. */
struct blas;
size_t operators_peers(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, const struct blas *peer);
void operators_peers_print(struct bench_case **c, size_t n);

#endif
