/* Dropout. Elements come in groups of 64, each the 4 words of 16 counters: element e of group g takes word e / 16 of
 * counter 16 g + e % 16. A vector of counters so gives vectors of neighbours on every instruction set, without
 * a transposition. */
#include "simd/body.h"

enum { GROUP = 64, COUNTERS = 16 };

/* The keys of the ten rounds, in every lane. */
struct rounds {
	w_t key[10][2];
};

V_INLINE struct rounds schedule(const uint32_t key[2])
{
	struct rounds r;
	for (uint32_t i = 0; i < 10; i++) {
		r.key[i][0] = w_make(i_set1((int32_t)(key[0] + i * 0x9E3779B9u)));
		r.key[i][1] = w_make(i_set1((int32_t)(key[1] + i * 0xBB67AE85u)));
	}
	return r;
}

enum { BLOCKS = 2 }; /* of V_LANES counters worked on together: one alone would wait for its own products */

/* The random words of `blocks` <= BLOCKS blocks of V_LANES counters, the first at `counter` (Philox4x32-10: Salmon et al. 2011), less 2^31
 * so that signed comparison orders them. In 64-bit lanes a product's halves need no sorting: what stands above a low half
 * is never looked at. Counters are multiples of V_LANES, so their low words do not carry within a block. */
V_INLINE void philox(i_t out[BLOCKS][4], const struct n2d_dropout *d, const struct rounds *r, uint64_t counter, int blocks)
{
	w_t c[BLOCKS][4], a = w_make(i_set1((int32_t)0xD2511F53u)), b = w_make(i_set1((int32_t)0xCD9E8D57u));
	V_UNROLL
	for (int v = 0; v < blocks; v++, counter += V_LANES) {
		c[v][0] = w_make(i_add(i_set1((int32_t)counter), i_iota()));
		c[v][1] = w_make(i_set1((int32_t)(counter >> 32)));
		c[v][2] = w_make(i_set1((int32_t)d->stream[0]));
		c[v][3] = w_make(i_set1((int32_t)d->stream[1]));
	}
	V_UNROLL
	for (int round = 0; round < 10; round++)
		V_UNROLL
		for (int v = 0; v < blocks; v++) {
			w_t p = w_mul(c[v][0], a), q = w_mul(c[v][2], b);
			c[v][0] = w_xor(w_xor(w_high(q), c[v][1]), r->key[round][0]);
			c[v][2] = w_xor(w_xor(w_high(p), c[v][3]), r->key[round][1]);
			c[v][1] = q;
			c[v][3] = p;
		}
	V_UNROLL
	for (int v = 0; v < blocks; v++)
		V_UNROLL
		for (int j = 0; j < 4; j++)
			out[v][j] = i_xor(w_low(c[v][j]), i_set1(INT32_MIN));
}

/* Counters 16 g + at and on, `blocks` blocks of them; y and x begin at group g's element 0. */
V_INLINE void drop_blocks(float *y, const float *x, const struct n2d_dropout *d, const struct rounds *r, uint64_t g, size_t at,
			  int blocks, i_t below, v_t scale)
{
	i_t w[BLOCKS][4];
	philox(w, d, r, g * COUNTERS + at, blocks);
	V_UNROLL
	for (int v = 0; v < blocks; v++, at += V_LANES)
		V_UNROLL
		for (size_t j = 0; j < 4; j++) {
			size_t i = at / COUNTERS * GROUP + j * COUNTERS + at % COUNTERS;
			v_store(y + i, v_sel(i_lt(w[v][j], below), v_zero(), v_mul(scale, v_load(x + i))));
		}
}

static void whole_groups(float *y, const float *x, const struct n2d_dropout *d, const struct rounds *r, uint64_t g, size_t groups,
			 i_t below, float scale)
{
	v_t k = v_set1(scale);
	size_t at = 0, end = groups * COUNTERS;
	for (; at + BLOCKS * V_LANES <= end; at += BLOCKS * V_LANES) {
		size_t step = at / COUNTERS;
		drop_blocks(y + step * GROUP, x + step * GROUP, d, r, g + step, at % COUNTERS, BLOCKS, below, k);
	}
	if (at < end) {
		size_t step = at / COUNTERS;
		drop_blocks(y + step * GROUP, x + step * GROUP, d, r, g + step, at % COUNTERS, 1, below, k);
	}
}

/* Elements [from, to) of a group; y and x begin at element `from`. */
static void part_group(float *y, const float *x, const struct n2d_dropout *d, const struct rounds *r, uint64_t g, size_t from,
		       size_t to, i_t below, float scale)
{
	int32_t drop[GROUP];
	for (size_t l = 0; l < COUNTERS; l += V_LANES) {
		i_t w[BLOCKS][4];
		philox(w, d, r, g * COUNTERS + l, 1);
		V_UNROLL
		for (size_t j = 0; j < 4; j++)
			i_store(drop + j * COUNTERS + l, i_sel(i_lt(w[0][j], below), i_set1(1), i_set1(0)));
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
	struct rounds r = schedule(d->key);
	uint64_t g = first / GROUP;
	size_t at = first % GROUP; /* of the next element in its group */
	if (at && n) {
		size_t m = n < GROUP - at ? n : GROUP - at;
		part_group(y, x, d, &r, g++, at, at + m, below, scale);
		y += m, x += m, n -= m;
	}
	whole_groups(y, x, d, &r, g, n / GROUP, below, scale);
	if (n % GROUP) {
		size_t whole = n / GROUP;
		part_group(y + whole * GROUP, x + whole * GROUP, d, &r, g + whole, 0, n % GROUP, below, scale);
	}
}
