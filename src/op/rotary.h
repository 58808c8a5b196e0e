/* Rotary positions (Su et al. 2021): pair (2i, 2i+1) of a head's query or key at position t is turned by the angle
 * t 10000^(-2i / d), so that the product of a query and a key depends on their distance alone:
 *
 *	(a, b) -> (a cos - b sin, a sin + b cos)
 */
#ifndef N2D_ROTARY_H
#define N2D_ROTARY_H

#include "base/ctx.h"

/* table[T,d]: cos and sin of each pair's angle at positions first .. first + T - 1; d even. Computed in double. */
void n2d_rotary_table(float *table, size_t first, size_t T, size_t d);

/* Turns the first d of each head's columns in x[rows,heads], heads head floats and rows row floats apart, in place. back: by the
 * negative angle, which is both the inverse and the backward pass. */
struct n2d_rotary {
	size_t rows, T, heads, d, head, row;
	const int32_t *position; /* [rows], below T: row of the table; NULL: i % T */
	int back;
};
void n2d_rotary(const struct n2d_ctx *ctx, const struct n2d_rotary *r, float *x, const float *table);

#endif
