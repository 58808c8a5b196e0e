/* Dropout. Elements come in groups of 64, each the 4 words of 16 counters: element e of group g takes word e / 16 of
 * counter 16 g + e % 16. A vector of counters so gives vectors of neighbours on every instruction set, without
 * a transposition. */
#include "simd/body.h"

enum { GROUP = 64, COUNTERS = 16 };

/* The products of the round, 32 x 32 -> 64 bits: *hi and the low half. */
V_INLINE i_t wide(i_t a, uint32_t b, i_t *hi)
{
	i_t vb = i_set1((int32_t)b);
	*hi = i_mulhi(a, vb);
	return i_mullo(a, vb);
}

/* c: the four words of V_LANES counters, replaced by their random words (Philox4x32-10: Salmon et al. 2011). */
V_INLINE void philox(i_t c[4], const uint32_t key[2])
{
	uint32_t k0 = key[0], k1 = key[1];
	for (int round = 0; round < 10; round++) {
		i_t p, q, lop = wide(c[0], 0xD2511F53u, &p), loq = wide(c[2], 0xCD9E8D57u, &q);
		c[0] = i_xor(i_xor(q, c[1]), i_set1((int32_t)k0));
		c[2] = i_xor(i_xor(p, c[3]), i_set1((int32_t)k1));
		c[1] = loq;
		c[3] = lop;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

/* Group g's words, less 2^31 so that signed comparison orders them. */
V_INLINE void group_words(i_t w[4], const struct n2d_dropout *d, uint64_t g, size_t lane)
{
	uint64_t counter = g * COUNTERS + lane; /* a multiple of V_LANES: its low half does not carry within the vector */
	w[0] = i_add(i_set1((int32_t)counter), i_iota());
	w[1] = i_set1((int32_t)(counter >> 32));
	w[2] = i_set1((int32_t)d->stream[0]);
	w[3] = i_set1((int32_t)d->stream[1]);
	philox(w, d->key);
	V_UNROLL
	for (int j = 0; j < 4; j++)
		w[j] = i_xor(w[j], i_set1(INT32_MIN));
}

V_INLINE void whole_group(float *y, const float *x, const struct n2d_dropout *d, uint64_t g, i_t below, v_t scale)
{
	for (size_t l = 0; l < COUNTERS; l += V_LANES) {
		i_t w[4];
		group_words(w, d, g, l);
		V_UNROLL
		for (size_t j = 0; j < 4; j++) {
			size_t i = j * COUNTERS + l;
			v_store(y + i, v_sel(i_lt(w[j], below), v_zero(), v_mul(scale, v_load(x + i))));
		}
	}
}

/* Elements [from, to) of a group; y and x begin at element `from`. */
static void part_group(float *y, const float *x, const struct n2d_dropout *d, uint64_t g, size_t from, size_t to, i_t below,
		       float scale)
{
	int32_t drop[GROUP];
	for (size_t l = 0; l < COUNTERS; l += V_LANES) {
		i_t w[4];
		group_words(w, d, g, l);
		for (size_t j = 0; j < 4; j++)
			i_store(drop + j * COUNTERS + l, i_sel(i_lt(w[j], below), i_set1(1), i_set1(0)));
	}
	for (size_t i = from; i < to; i++)
		y[i - from] = drop[i] ? 0 : scale * x[i - from];
}

void N2D_FN(dropout)(float *y, const float *x, const struct n2d_dropout *d, uint64_t first, size_t n)
{
	/* p * 2^32 words of 2^32 are below; p < 1 keeps it below 2^32. */
	uint32_t threshold = (uint32_t)((double)d->p * 0x1p32);
	float scale = (float)(1 / (1 - (double)d->p));
	i_t below = i_set1((int32_t)(threshold ^ 0x80000000u));
	v_t vscale = v_set1(scale);
	uint64_t g = first / GROUP;
	size_t at = first % GROUP; /* of the next element in its group */
	while (n) {
		size_t m = n < GROUP - at ? n : GROUP - at;
		if (m == GROUP)
			whole_group(y, x, d, g, below, vscale);
		else
			part_group(y, x, d, g, at, at + m, below, scale);
		y += m, x += m, n -= m, at = 0, g++;
	}
}
