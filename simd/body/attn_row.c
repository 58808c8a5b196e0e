/* One query, as in decoding: K and V are read once, so packing them would double the traffic. A vector's worth of keys at a
 * time, all heads of each, as a cache of tokens lies in memory: keys are transposed in registers, values summed where they are.
 * Every element is the chain of operations that attn_fwd makes of it. */
#include "simd/attn_softmax.h"

/* s[V_LANES]: scores of keys [lo, hi) of a group. */
V_INLINE void group_scores(float *s, const float *q, const float *k, size_t lo, size_t hi, const struct n2d_attn_row *a)
{
	v_t acc = v_zero(), scale = v_set1(a->scale);
	for (size_t c = 0; c < a->width; c += V_LANES) {
		v_t t[V_LANES];
		float x[V_LANES];
		size_t n = a->width - c < V_LANES ? a->width - c : V_LANES;
		v_store(x, v_mul(scale, v_ld(q + c, n)));
		attn_square(t, k + c, lo, hi, n, a->k_st);
		V_UNROLL
		for (size_t i = 0; i < V_LANES; i++)
			if (i < n)
				acc = v_mac(v_set1(x[i]), t[i], acc);
	}
	v_store(s, acc);
}

/* o += sum over keys [lo, hi) of s[j] v[j] */
V_INLINE void group_sums(float *o, const float *s, const float *v, size_t lo, size_t hi, const struct n2d_attn_row *a)
{
	enum { NV = 4 };
	size_t c = 0;
	for (; c + NV * V_LANES <= a->width; c += NV * V_LANES) {
		v_t acc[NV];
		V_UNROLL
		for (size_t i = 0; i < NV; i++)
			acc[i] = v_load(o + c + i * V_LANES);
		for (size_t j = lo; j < hi; j++) {
			v_t p = v_set1(s[j]);
			V_UNROLL
			for (size_t i = 0; i < NV; i++)
				acc[i] = v_mac(p, v_load(v + j * a->v_st + c + i * V_LANES), acc[i]);
		}
		V_UNROLL
		for (size_t i = 0; i < NV; i++)
			v_store(o + c + i * V_LANES, acc[i]);
	}
	for (; c < a->width; c += V_LANES) {
		size_t n = a->width - c < V_LANES ? a->width - c : V_LANES;
		v_t acc = v_ld(o + c, n);
		for (size_t j = lo; j < hi; j++)
			acc = v_mac(v_set1(s[j]), v_ld(v + j * a->v_st + c, n), acc);
		v_st(o + c, acc, n);
	}
}

static void softmax(float *o, float *mx, float *sum, float *s, const struct n2d_attn_row *a)
{
	attn_hide(s, a->first, a->end);
	float c = 1, most = attn_row_max(s, a->first, a->end, a->start ? -INFINITY : *mx);
	if (!a->start)
		attn_corrections(&c, mx, &most, 1);
	*mx = most;
	v_store(sum, attn_row_exp(s, a->start ? v_zero() : v_mul(v_set1(c), v_load(sum)), a->first, a->end, most));
	if (a->start)
		V_ROW(a->width, v_st(o + i, v_zero(), m));
	else if (c != 1)
		attn_scale(o, o, c, a->width);
}

void N2D_FN(attn_row)(float *o, float *mx, float *sum, const struct n2d_attn_row *a)
{
	for (size_t j = v_whole(a->first); j < a->end; j += V_LANES) {
		size_t lo = a->first > j ? a->first - j : 0, hi = a->end - j < V_LANES ? a->end - j : V_LANES;
		for (size_t h = 0; h < a->heads; h++)
			group_scores(a->s + h * ATTN_LD + j, a->q + h * a->q_sh, a->k + h * a->k_sh + j * a->k_st, lo, hi, a);
	}
	for (size_t h = 0; h < a->heads; h++)
		softmax(o + h * a->width, mx + h, sum + h * V_LANES, a->s + h * ATTN_LD, a);
	for (size_t j = v_whole(a->first); j < a->end; j += V_LANES) {
		size_t lo = a->first > j ? a->first - j : 0, hi = a->end - j < V_LANES ? a->end - j : V_LANES;
		for (size_t h = 0; h < a->heads; h++)
			group_sums(o + h * a->width, a->s + h * ATTN_LD + j, a->v + h * a->v_sh + j * a->v_st, lo, hi, a);
	}
}
