/* The context of every operator: which kernels, how many threads, which caches, who watches. */
#ifndef N2D_CTX_H
#define N2D_CTX_H

#include <stddef.h>

#include "simd/kernels.h"

struct n2d_cache {
	size_t l1d, l2, l3; /* bytes; measured or reported, never 0 */
};

struct n2d_trace;
struct n2d_beside;

enum { N2D_THREADS_MOST = 1024 };

struct n2d_ctx {
	const struct n2d_kernels *k;
	int threads; /* 1 to N2D_THREADS_MOST */
	struct n2d_cache cache;
	struct n2d_trace *trace; /* NULL: nobody watches */
	const struct n2d_beside *beside; /* base/threads.h; NULL: nothing waits */
	float **pack;            /* pack[thread]: pack_floats of scratch for n2d_gemm */
	size_t pack_floats;
	int past_caches; /* n2d_pack: what it writes will not be in the caches when it is read */
};

/* isa: a name of isa.def, or NULL for the environment's N2D_ISA or else the best supported.
 * threads: 0 for n2d_threads_default(). -1 and a message for an unknown, not compiled or not
 * supported instruction set (the message lists those that can be used), or no memory. */
int n2d_ctx_init(struct n2d_ctx *ctx, const char *isa, int threads);
void n2d_ctx_free(struct n2d_ctx *ctx);

/* Caches as the operating system tells them, with the usual sizes where it does not. */
struct n2d_cache n2d_cache_read(void);

#endif
