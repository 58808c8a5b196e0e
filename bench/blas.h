/* Matrix products of others: libraries found at run time, none of them needed to build. */
#ifndef BENCH_BLAS_H
#define BENCH_BLAS_H

#include "bench/plain.h"

struct blas {
	char name[32];     /* openblas, blis, onednn; with -forced: told which processor this is; compiler: plain loops */
	char version[128]; /* as the library says */
	char arch[32];     /* the instruction set or processor that it chose, in its words */
	void *handle;
	void (*cblas)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
	int (*dnnl)(char, char, long, long, long, float, const float *, long, const float *, long, float, float *, long);
	plain_gemm *plain;
	void *set_threads;
	int wide; /* takes its threads as a 64-bit integer */
};

int is_blas(const char *name);
/* A library to load in place of the usual one: "openblas=/opt/lib/libopenblas.so". 1 when the name is of one in the list `which` (NULL: any). */
int blas_path(const char *text, const char *which);
/* Loads what there is, with RTLD_LOCAL. Variables that steer
 * a library (OPENBLAS_CORETYPE, ...) are taken out of the environment first, and what was done is told on standard error. `isa` is our widest: the
 * same library is loaded once more told to use it, as its own detection can be wrong; one that dies of it is left out. The last one is what
 * our compiler makes of plain loops. which: a list of names, a library's for both of its copies; NULL: all. Returns how many; -1 and a message when a file that blas_path named
 * is not that library. */
int blas_load(const struct blas **list, const char *isa, const char *which);
/* Their threads onto the processors that ours are pinned to: after pin_init. */
void blas_pin(void);
/* How many threads its next call takes. */
void blas_threads(const struct blas *b, int threads);
/* C = op(A) op(B), row-major, all sizes within int. */
void blas_gemm(const struct blas *b, int threads, int ta, int tb, size_t M, size_t N, size_t K, float *C, size_t ldc, const float *A,
	       size_t lda, const float *B, size_t ldb);

#endif
