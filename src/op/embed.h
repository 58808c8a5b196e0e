/* Embeddings (paper, sections 3.4 and 3.5): rows of a table [V, D] times `scale` (sqrt(D)) plus a position's vector. */
#ifndef N2D_EMBED_H
#define N2D_EMBED_H

#include "base/ctx.h"

/* y[i] = scale * table[id[i]] + position[t[i]], for i < rows; t NULL: position[0]; position NULL: nothing is added. Ids are in [0, V). */
void n2d_embed_fwd(const struct n2d_ctx *ctx, float *y, const float *table, const int32_t *id, const float *position, const int32_t *t,
		   float scale, size_t rows, size_t D);

/* dtable[id[i]] += scale * dy[i], in the order of i whatever the number of threads. Negative ids (padding) are left out. */
void n2d_embed_bwd_acc(const struct n2d_ctx *ctx, float *dtable, const float *dy, const int32_t *id, float scale, size_t rows,
		       size_t D);

#endif
