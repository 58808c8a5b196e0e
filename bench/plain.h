/* What the compiler makes of a matrix product written as three plain loops, told which instruction set it may use. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <stddef.h>

/* C = op(A) op(B), row-major. One thread. */
typedef void plain_gemm(int ta, int tb, size_t M, size_t N, size_t K, float *C, size_t ldc, const float *A, size_t lda, const float *B, size_t ldb);

/* For an instruction set by name; NULL where this compiler is not told about it. */
plain_gemm *plain_for(const char *isa);

#endif
