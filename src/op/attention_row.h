/* One query a sentence (decoding): K and V are read in place, once. */
#ifndef N2D_ATTENTION_ROW_H
#define N2D_ATTENTION_ROW_H

#include "op/attention_work.h"

/* One query's heads over keys [first, end), first < end, tile after tile: x has q, k, v, their strides (or the list `at`), heads, width and
 * scale, counted from key 0. o[heads,width] (o_sh apart), lse[heads] or NULL. Tiles are anchored at key 0: the bits do not depend on which
 * of the ways attention is computed. Floats of ws: */
size_t n2d_attention_one_workspace(const struct n2d_ctx *ctx, size_t heads, size_t width);
void n2d_attention_one(const struct n2d_ctx *ctx, struct n2d_attn_row x, size_t first, size_t end, float *o, size_t o_sh, float *lse, float *ws);

size_t n2d_attention_row_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a);
void n2d_attention_row(const struct n2d_attn_job *j, float *ws);

#endif
