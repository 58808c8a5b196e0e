/* The operators that `n2d-bench kernels` times beside the kernels: a file each. */
#ifndef BENCH_OPERATORS_H
#define BENCH_OPERATORS_H

#include "bench/timed.h"

size_t operators_attention(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);
size_t operators_gemm(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);
size_t operators_norm(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);

/* Beyond the caches, to be held against a limit: their memory and time are nothing for the gate, which has the same kernels in cache. */
size_t operators_rows(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx);

/* A peer's (blas.h): its products; its layer normalisation and softmax, where it is oneDNN. A program's (served.h): products of weights that
 * it has had before; one program at most has them. */
struct blas;
struct served;
size_t operators_gemm_peers(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, const struct blas *peer);
size_t operators_norm_peers(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, const struct blas *peer);
size_t operators_gemm_served(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx, struct served *peer);

#endif
