/* Scaled dot-product attention (paper, section 3.2.1), forward and backward.
 *
 *	O[b,h] = softmax(scale * Q[b,h] K[b,h]^T + mask) V[b,h]
 *
 * Q, O are [B,H,Tq,K], K, V are [B,H,Tk,K] through strides, so they may lie inside a fused
 * [B,T,3,H,K] projection. Element (b,h,t,k) is at p[b*sb + h*sh + t*st + k].
 *
 * Which keys query i sees: with i' = i + Tk - Tq (aligned to the end: the last query is at the
 * last key), key j is visible when j < klen[b], and (causal) j <= i', and (window R > 0) |i' - j| <= R.
 * A row with no visible key gives O = 0 and lse = -inf, and passes no gradient. An invisible key
 * has weight 0 whatever its content, NaN included. NaN in a row of Q stays in that row of O.
 *
 * The streaming version keeps O(Tq + Tk) memory; the materialised one stores P[B,H,Tq,Tk], and multiplies
 * the zeros in it: there a NaN in a row of V that a causal or window mask hides (not padding) does reach O.
 * Rows give the same bits alone and in a padded batch, and for any number of threads. */
#ifndef N2D_ATTENTION_H
#define N2D_ATTENTION_H

#include "base/ctx.h"

struct n2d_strides {
	size_t sb, sh, st; /* batch, head, row; floats */
};

struct n2d_attention {
	size_t B, H, Tq, Tk, K;
	struct n2d_strides q, k, v, o; /* gradients use the strides of what they are gradients of */
	const int32_t *klen;           /* [B], visible keys of each sentence, or NULL for Tk */
	const int32_t *qlen;           /* [B], rows of each sentence; those behind see no key. NULL for Tq */
	/* [B + 1], or NULL: sentences lie without padding between them, b's rows of Q and O are rows at[b] .. at[b + 1] - 1, qlen[b] of
	 * them, and those of K and V likewise, klen[b] of them; sb of their strides is not looked at. */
	const int32_t *q_at, *k_at;
	int causal;
	size_t window; /* R; 0 for no window */
	float scale;   /* 1/sqrt(d_k) */
};

/* Floats of workspace; passes N2D_TOO_LARGE. */
size_t n2d_attention_fwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a);
size_t n2d_attention_bwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a);

/* lse[B,H,Tq]: log of the sum of exponentials of each row, kept for backward; may be NULL. */
void n2d_attention_fwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *O, float *lse, const float *Q,
		       const float *K, const float *V, float *ws);

/* Writes (does not add) dQ, dK, dV. */
void n2d_attention_bwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *dQ, float *dK, float *dV,
		       const float *dO, const float *O, const float *lse, const float *Q, const float *K,
		       const float *V, float *ws);

/* The same through a stored P[B,H,Tq,Tk] (dense). The backward needs one matrix of the same size in ws. */
size_t n2d_attention_mat_fwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a);
size_t n2d_attention_mat_bwd_workspace(const struct n2d_ctx *ctx, const struct n2d_attention *a);
void n2d_attention_mat_fwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *O, float *P, const float *Q,
			   const float *K, const float *V, float *ws);
void n2d_attention_mat_bwd(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *dQ, float *dK, float *dV,
			   const float *dO, const float *P, const float *Q, const float *K, const float *V, float *ws);

/* P[B,H,Tq,Tk] alone, for those who want to see it: rows sum to 1, hidden keys have exactly 0, so does a row that sees no key. */
void n2d_attention_weights(const struct n2d_ctx *ctx, const struct n2d_attention *a, float *P, const float *Q, const float *K);

/* FLOPs of the two products over visible keys: 4 K a visible pair. Backward: 2.5 times as much. */
double n2d_attention_flops(const struct n2d_attention *a);
/* Compulsory traffic of the forward pass: Q, K, V, O once, without padding. */
double n2d_attention_bytes(const struct n2d_attention *a);

#endif
