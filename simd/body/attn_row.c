/* One query, as in decoding: K and V are read once, so packing them would double the traffic. A vector's worth of keys at a
 * time, all heads of each, as a cache of tokens lies in memory: keys are transposed in registers, values summed where they are.
 * Every element is the chain of operations that attn_fwd makes of it. */
#include "simd/attn_softmax.h"

/* s[V_LANES]: scores of keys [lo, hi) of the group that begins with key j. at: a->at, or the constant NULL. */
V_INLINE void group_scores(float *s, const struct n2d_attn_row *a, const size_t *at, size_t h, size_t j, size_t lo, size_t hi)
{
	const float *q = a->q + h * a->q_sh, *k = a->k + h * a->k_sh + (at ? 0 : j * a->k_st);
	v_t acc = v_zero(), scale = v_set1(a->scale);
	for (size_t c = 0; c < a->width; c += V_LANES) {
		v_t t[V_LANES];
		float x[V_LANES];
		size_t n = a->width - c < V_LANES ? a->width - c : V_LANES;
		v_store(x, v_mul(scale, v_ld(q + c, n)));
		attn_square(t, k + c, at ? at + j : NULL, lo, hi, n, a->k_st);
		V_UNROLL
		for (size_t i = 0; i < V_LANES; i++)
			if (i < n)
				acc = v_mac(v_set1(x[i]), t[i], acc);
	}
	v_store(s, acc);
}

/* n vectors of o += sum over keys [lo, hi) of s[i] v[i] */
V_INLINE void some_sums(const size_t n, float *o, const float *s, const float *v, const size_t *at, size_t v_st, size_t lo, size_t hi)
{
	v_t acc[4];
	V_UNROLL
	for (size_t i = 0; i < n; i++)
		acc[i] = v_load(o + i * V_LANES);
	for (size_t j = lo; j < hi; j++) {
		const float *x = attn_at(v, at, j, v_st);
		v_t p = v_set1(s[j]);
		V_UNROLL
		for (size_t i = 0; i < n; i++)
			acc[i] = v_mac(p, v_load(x + i * V_LANES), acc[i]);
	}
	V_UNROLL
	for (size_t i = 0; i < n; i++)
		v_store(o + i * V_LANES, acc[i]);
}

/* o += sum over keys [lo, hi) of the group that begins with key j of s v */
V_INLINE void group_sums(float *o, const float *s, const struct n2d_attn_row *a, const size_t *at, size_t h, size_t j, size_t lo, size_t hi)
{
	const float *v = a->v + h * a->v_sh + (at ? 0 : j * a->v_st);
	size_t c = 0;
	at = at ? at + j : NULL;
	for (; c + 4 * V_LANES <= a->width; c += 4 * V_LANES)
		some_sums(4, o + c, s, v + c, at, a->v_st, lo, hi);
	if (c + 2 * V_LANES <= a->width) {
		some_sums(2, o + c, s, v + c, at, a->v_st, lo, hi);
		c += 2 * V_LANES;
	}
	for (; c < a->width; c += V_LANES) {
		size_t n = a->width - c < V_LANES ? a->width - c : V_LANES;
		v_t acc = v_ld(o + c, n);
		for (size_t i = lo; i < hi; i++)
			acc = v_mac(v_set1(s[i]), v_ld(attn_at(v, at, i, a->v_st) + c, n), acc);
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

V_INLINE void row(float *o, float *mx, float *sum, const struct n2d_attn_row *a, const size_t *at)
{
	for (size_t j = v_whole(a->first); j < a->end; j += V_LANES) {
		size_t lo = a->first > j ? a->first - j : 0, hi = a->end - j < V_LANES ? a->end - j : V_LANES;
		for (size_t h = 0; h < a->heads; h++)
			group_scores(a->s + h * ATTN_LD + j, a, at, h, j, lo, hi);
	}
	for (size_t h = 0; h < a->heads; h++)
		softmax(o + h * a->width, mx + h, sum + h * V_LANES, a->s + h * ATTN_LD, a);
	for (size_t j = v_whole(a->first); j < a->end; j += V_LANES) {
		size_t lo = a->first > j ? a->first - j : 0, hi = a->end - j < V_LANES ? a->end - j : V_LANES;
		for (size_t h = 0; h < a->heads; h++)
			group_sums(o + h * a->width, a->s + h * ATTN_LD + j, a, at, h, j, lo, hi);
	}
}

void N2D_FN(attn_row)(float *o, float *mx, float *sum, const struct n2d_attn_row *a)
{
	if (a->at)
		row(o, mx, sum, a, a->at);
	else
		row(o, mx, sum, a, NULL);
}
