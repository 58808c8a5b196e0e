/* What the attention operator and its kernels share: block sizes and arguments.
 *
 * A kernel works on one head, a tile of at most N2D_ATTN_KEYS keys, and any number of rows
 * (queries). A band says who sees whom: row r sees key j of the tile when r + first <= j < r + end.
 * What is not seen is never multiplied, so NaN there stays there. */
#ifndef N2D_SIMD_ATTENTION_H
#define N2D_SIMD_ATTENTION_H

#include <stddef.h>

/* Keys of a tile: where the running maximum is updated, so part of the result's definition and the
 * same on all instruction sets. A multiple of every register tile's rows and columns. */
enum { N2D_ATTN_KEYS = 192 };

/* Operands of attn_bwd, packed by attn_pack (t: transposed) and attn_panel (rows).
 * rows and keys as in attn_fwd; dq, dk, dv have row strides lddq, lddk, lddv. */
struct n2d_attn_bwd {
	const float *qt, *q;         /* scale * Q, by attn_nr rows and as row panels */
	const float *dt, *d;         /* dO, the same */
	const float *lse, *delta;    /* [rows]; delta = sum over columns of dO * O */
	const float *kt, *k, *vt;    /* the tile's K transposed, scale * K as row panels, V transposed */
	ptrdiff_t first, end;        /* the band */
	size_t rows, keys, width;
	size_t lddq, lddk, lddv;
};

#endif
