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

/* Memory that is read after this call: products fetch a line of it into the second-level cache with each term, so that it comes while they compute.
 * What has been fetched is taken off: parts [0, parts) each lie from p to end. */
struct n2d_attn_ahead {
	size_t parts;
	struct {
		const float *p, *end;
	} part[5];
};

/* Operands, packed: rows in panels by attn_panel, q_next floats from panel to panel where they are the queries'
 * (a call may take some of the rows packed), keys * attn_nr where they are the keys'; kt and vt transposed by attn_pack. */
struct n2d_attn_fwd {
	const float *q;              /* scale * Q */
	const float *kt, *v;
	ptrdiff_t first, end;        /* the band */
	size_t q_next, rows, keys, width, ldo;
	int start;                   /* the first tile: what o, mx and sum hold is not read */
	struct n2d_attn_ahead *ahead; /* or NULL */
};

/* rows and keys as in attn_fwd; dq, dk, dv have row strides lddq, lddk, lddv. */
struct n2d_attn_bwd {
	const float *q, *d;          /* scale * Q, dO */
	const float *lse, *delta;    /* [rows]; delta = sum over columns of dO * O */
	const float *kt, *k, *vt;    /* k: scale * K */
	ptrdiff_t first, end;        /* the band */
	size_t q_next, rows, keys, width;
	size_t lddq, lddk, lddv;
	int start;                   /* the first tile: dq is written */
	struct n2d_attn_ahead *ahead; /* or NULL */
};

/* One query of several heads against a tile of keys, all read where they lie: head h of row t at p[h * sh + t * st], or at p[h * sh + at[t]]. */
struct n2d_attn_row {
	const float *q, *k, *v;
	size_t q_sh, k_sh, k_st, v_sh, v_st;
	const size_t *at;            /* of K and of V; NULL: by k_st and v_st */
	size_t first, end;           /* the keys of the tile that are seen */
	size_t heads, width;
	float scale;
	float *s;                    /* scratch: heads * N2D_ATTN_KEYS floats */
	int start;
};

#endif
