/* What the processor can do at most, for progress lines: the share of it that a computation reaches. */
#ifndef N2D_PEAK_H
#define N2D_PEAK_H

#include "base/ctx.h"

/* Multiply-add FLOPs a second of all threads of ctx together, from registers: the best of five short runs. */
double n2d_peak_flops(const struct n2d_ctx *ctx);

/* Bytes a second that all threads together read from memory beyond the caches: the best of five. 0 when there is no memory for it. */
double n2d_peak_bandwidth(const struct n2d_ctx *ctx);

#endif
