/* Padded batches: [B,T,D] in which sentence b has its positions t < len[b]; len == NULL: all T.
 *
 * Layers compute on the whole rectangle wherever a row depends on itself alone, so that one product
 * serves the batch. For that the padding must be finite: rows are cleaned on the way in and
 * results cleared on the way out. A full batch is not touched. */
#ifndef N2D_LAYER_ROWS_H
#define N2D_LAYER_ROWS_H

#include <stdint.h>

#include "layer/layer.h"

static inline size_t n2d_row_count(const int32_t *len, size_t b, size_t T) { return len ? (size_t)len[b] : T; }

/* The lengths by which rows are cleaned and cleared: none where the configuration says that the padding is finite, or there is none. */
static inline const int32_t *n2d_rows_dirty(const struct n2d_layer_config *c, const struct n2d_sentences *s)
{
	return c->finite || s->at ? NULL : s->len;
}

/* x itself when there is no padding; else copy[B,T,D] = x with zeros in the padding. */
const float *n2d_rows_clean(const struct n2d_ctx *ctx, float *copy, const float *x, const int32_t *len, size_t B, size_t T,
			    size_t D);

/* y[B,T,D] = x, with zeros in the padding. */
void n2d_rows_copy(const struct n2d_ctx *ctx, float *y, const float *x, const int32_t *len, size_t B, size_t T, size_t D);

/* y[B,T,D] = 0 in the padding. */
void n2d_rows_clear(const struct n2d_ctx *ctx, float *y, const int32_t *len, size_t B, size_t T, size_t D);

#endif
