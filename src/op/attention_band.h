/* Which keys a row sees: attention.h's rules as one band of diagonals, shared by the versions. */
#ifndef N2D_ATTENTION_BAND_H
#define N2D_ATTENTION_BAND_H

#include "op/attention.h"

/* Row i sees the keys j < keys with i + first <= j < i + end. Rows outside [row0, row1) see none. */
struct n2d_band {
	ptrdiff_t first, end;
	size_t keys, row0, row1;
};

struct n2d_band n2d_attention_band(const struct n2d_attention *a, size_t b);

/* i in [0, n]. */
static inline size_t n2d_clamp(ptrdiff_t i, size_t n) { return i < 0 ? 0 : (size_t)i < n ? (size_t)i : n; }

/* The first element of head (b, h); at: q_at or k_at. */
static inline size_t n2d_head(struct n2d_strides s, const int32_t *at, size_t b, size_t h)
{
	return (at ? (size_t)at[b] * s.st : b * s.sb) + h * s.sh;
}

/* Rows of sentence b that are there, padding too; T: Tq or Tk. Of the whole batch. */
static inline size_t n2d_rows_there(const int32_t *at, size_t b, size_t T) { return at ? (size_t)(at[b + 1] - at[b]) : T; }
static inline size_t n2d_all_rows(const int32_t *at, size_t B, size_t T) { return at ? (size_t)at[B] : B * T; }

#endif
