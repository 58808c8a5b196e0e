/* Attention's tests: memory and operands of a case, and calls of the operator on them. */
#ifndef ATTENTION_CASE_H
#define ATTENTION_CASE_H

#include "tests/unit.h"

#include "op/attention.h"
#include "tests/problem/guard.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* Exactly so many floats, NaN everywhere, between pages that cannot be touched. */
struct array {
	struct guard g;
	float *p;
	size_t floats;
};

/* Runs its block for each row of each head: b, h, t, and `at`, where it begins. */
#define EACH_ROW(a, s, T) \
	for (size_t b = 0; b < (a)->B; b++) \
		for (size_t h = 0; h < (a)->H; h++) \
			for (size_t t = 0; t < (T); t++) \
				for (size_t at = b * (s).sb + h * (s).sh + t * (s).st, once = 1; once; once = 0)

/* Everything a case needs. Heads in fused or padded rows; what lies between is NaN and must stay so. */
struct work {
	struct n2d_attention a;
	struct array q, k, v, o, dq, dk, dv, d, lse, ws;
	struct array P; /* the materialised version's weights */
	int materialised;
};

/* [B,T,n,H,K]: of n operands side by side in a token's row. */
struct n2d_strides fused(size_t n, size_t H, size_t T, size_t K);

/* Heads one after another, rows of width K + some gap, scale 1/sqrt(K). Masks: none, causal, windows, both. */
enum { MASKS = 6 };
struct n2d_attention shape(size_t B, size_t H, size_t Tq, size_t Tk, size_t K, int mask);

/* For the streaming version; work_materialise makes it one for the other. */
void work_init(struct work *w, const struct n2d_ctx *ctx, const struct n2d_attention *a, uint64_t seed);
void work_materialise(struct work *w, const struct n2d_ctx *ctx);
void work_free(struct work *w);
void forward(const struct n2d_ctx *ctx, struct work *w);
void backward(const struct n2d_ctx *ctx, struct work *w);

#endif
