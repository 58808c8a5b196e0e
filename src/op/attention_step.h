/* Attention of one query a row over keys that lie where caches have them, as in decoding.
 *
 *	o[r,h] = softmax over j in [first, end_r) of scale q[r,h] k_j[h], times v_j[h]
 *
 * Key j of row r is at K + slot * slot_st + j * key_st, with slot = slots[r * slots_row + j * slots_key], or r where slots is NULL;
 * end_r = len[slot of key 0], at most end, or end where len is NULL. A row that sees no key gives 0. The bits are those of n2d_attention_fwd's
 * last query over the same keys. */
#ifndef N2D_ATTENTION_STEP_H
#define N2D_ATTENTION_STEP_H

#include <stdint.h>

#include "base/ctx.h"

struct n2d_attention_step {
	size_t rows, H, K;
	size_t q_row, o_row;       /* floats from row to row of Q and O; head h at h * K */
	size_t slot_st, key_st;    /* of K and of V */
	const int32_t *slots, *len;
	size_t slots_row, slots_key;
	size_t first, end;
	float scale;
};

/* Floats of workspace; passes N2D_TOO_LARGE. */
size_t n2d_attention_step_workspace(const struct n2d_ctx *ctx, size_t H, size_t K, size_t end);
void n2d_attention_step(const struct n2d_ctx *ctx, const struct n2d_attention_step *a, float *O, const float *Q, const float *K,
			const float *V, float *ws);

#endif
