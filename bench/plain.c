#include "bench/plain.h"

#include <string.h>

/* The same text for each instruction set. A sum into one number stays in order, as C has it; the other order of loops is the one that
 * compilers make vectors of. */
#define PLAIN(name, attributes) \
	attributes static void name(int ta, int tb, size_t M, size_t N, size_t K, float *C, size_t ldc, const float *A, size_t lda, \
				    const float *B, size_t ldb) \
	{ \
		size_t down = ta ? 1 : lda, along = ta ? lda : 1; \
		for (size_t i = 0; i < M; i++) { \
			float *restrict c = C + i * ldc; \
			for (size_t j = 0; j < N; j++) \
				c[j] = 0; \
			for (size_t j = 0; tb && j < N; j++) \
				for (size_t k = 0; k < K; k++) \
					c[j] += A[i * down + k * along] * B[j * ldb + k]; \
			for (size_t k = 0; !tb && k < K; k++) \
				for (size_t j = 0; j < N; j++) \
					c[j] += A[i * down + k * along] * B[k * ldb + j]; \
		} \
	}

/* As a user would compile them: -O3, multiply-adds allowed. */
#ifdef __clang__
#define HARD
#define WIDE ""
#pragma clang fp contract(fast)
#else
#define HARD __attribute__((optimize("O3", "fp-contract=fast")))
#define WIDE ",prefer-vector-width=512"
#endif

PLAIN(plain_default, HARD)
#ifdef __x86_64__
PLAIN(plain_avx2, HARD __attribute__((target("avx2,fma"))))
PLAIN(plain_avx512, HARD __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma" WIDE))))
#endif

plain_gemm *plain_for(const char *isa)
{
#ifdef __x86_64__
	if (strcmp(isa, "avx2") == 0)
		return plain_avx2;
	if (strcmp(isa, "avx512") == 0)
		return plain_avx512;
#endif
	return strcmp(isa, "neon") == 0 || strcmp(isa, "scalar") == 0 ? plain_default : NULL;
}
