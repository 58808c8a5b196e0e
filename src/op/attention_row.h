/* One query a sentence (decoding): K and V are read in place, once. */
#ifndef N2D_ATTENTION_ROW_H
#define N2D_ATTENTION_ROW_H

#include "op/attention_work.h"

size_t n2d_attention_row_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a);
void n2d_attention_row(const struct n2d_attn_job *j, float *ws);

#endif
