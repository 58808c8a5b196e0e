/* The kernel table: one complete struct of function pointers an instruction set.
 *
 * Operators receive a table explicitly (ctx->k), so one process can run several sets interleaved.
 * The rows and their contracts are in kernels.def, the instruction sets in isa.def. */
#ifndef N2D_KERNELS_H
#define N2D_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "simd/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to a finished element of a matrix product before it is stored, in this order. */
struct n2d_gemm_end {
	const float *bias; /* [n], added to every row, or NULL */
	int relu;
	const float *residual; /* [m,n] with row stride ldr, added last, or NULL; does not overlap the output */
	size_t ldr;
};

/* Which elements dropout keeps. Element i of the tensor has the word i % 64 / 16 of the Philox4x32-10 block at counter
 * (16 (i / 64) + i % 16, 64 bits; stream[0], stream[1]) under the key, and is dropped when it is below p 2^32. */
struct n2d_dropout {
	uint32_t key[2], stream[2]; /* the seed; step and site */
	float p;                    /* probability of dropping, in [0, 1) */
};

/* The constants of one step of Adam (Kingma and Ba 2015), each rounded once from double. */
struct n2d_adam_step {
	float beta1, rest1; /* rest1 = 1 - beta1 */
	float beta2, rest2;
	float rate;         /* learning rate / (1 - beta1^t) */
	float root;         /* 1 / sqrt(1 - beta2^t) */
	float eps, gscale;  /* gradients are multiplied by gscale first */
};

struct n2d_kernels {
	const char *isa; /* name in isa.def */
	size_t lanes;    /* floats a vector */
	size_t mr, nr;   /* the GEMM register tile: rows, columns */
	size_t attn_mr, attn_nr; /* the attention register tile, likewise */
#define N2D_KERNEL(family, ret, name, args) ret(*name) args;
#include "simd/kernels.def"
#undef N2D_KERNEL
};

struct n2d_isa {
	const char *name, *what;
	int rank;                     /* see isa.def */
	const struct n2d_kernels *k;  /* NULL: not compiled in */
	int supported;                /* by this processor and operating system */
};

/* Every row of isa.def, in its order; *n rows. Constant after the first call. */
const struct n2d_isa *n2d_isa_all(size_t *n);

/* The row called name, or NULL. It may be not compiled or not supported. */
const struct n2d_isa *n2d_isa_find(const char *name);

/* The compiled and supported row of highest rank: scalar at least. */
const struct n2d_isa *n2d_isa_best(void);

/* Sets this thread's flush-to-zero and denormals-are-zero modes, and returns the former state
 * for n2d_fpenv_restore. Without them denormal intermediate values cost up to a hundred times
 * a normal operation on some processors. */
uint64_t n2d_fpenv_flush(void);
void n2d_fpenv_restore(uint64_t state);

#ifdef __cplusplus
}
#endif

#endif
