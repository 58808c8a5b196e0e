#include "base/rng.h"

#include <math.h>
#include <string.h>

void n2d_philox(uint32_t out[4], const uint32_t ctr[4], const uint32_t key[2])
{
	uint32_t c0 = ctr[0], c1 = ctr[1], c2 = ctr[2], c3 = ctr[3], k0 = key[0], k1 = key[1];
	for (int round = 0; round < 10; round++) {
		uint64_t p = (uint64_t)0xD2511F53u * c0, q = (uint64_t)0xCD9E8D57u * c2;
		c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
		c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
		c1 = (uint32_t)q;
		c3 = (uint32_t)p;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

void n2d_rng_init(struct n2d_rng *r, uint64_t seed, uint64_t stream)
{
	memset(r, 0, sizeof *r);
	r->key[0] = (uint32_t)seed;
	r->key[1] = (uint32_t)(seed >> 32);
	r->ctr[2] = (uint32_t)stream;
	r->ctr[3] = (uint32_t)(stream >> 32);
}

uint32_t n2d_rng_u32(struct n2d_rng *r)
{
	if (!r->left) {
		n2d_philox(r->out, r->ctr, r->key);
		if (!++r->ctr[0])
			r->ctr[1]++;
		r->left = 4;
	}
	return r->out[--r->left];
}

double n2d_rng_uniform(struct n2d_rng *r) { return n2d_rng_u32(r) * 0x1p-32; }

uint32_t n2d_rng_below(struct n2d_rng *r, uint32_t n)
{
	uint32_t reject = (uint32_t)-n % n; /* 2^32 mod n: below it the product would be uneven */
	for (;;) {
		uint64_t p = (uint64_t)n2d_rng_u32(r) * n;
		if ((uint32_t)p >= reject)
			return (uint32_t)(p >> 32);
	}
}

double n2d_rng_normal(struct n2d_rng *r)
{
	double u = (n2d_rng_u32(r) + 0.5) * 0x1p-32, v = n2d_rng_uniform(r);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v); /* Box and Muller */
}

void n2d_rng_fill_normal(struct n2d_rng *r, float *x, size_t n, double mean, double scale)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (float)(mean + scale * n2d_rng_normal(r));
}

void n2d_rng_shuffle(struct n2d_rng *r, uint32_t *x, size_t n)
{
	for (size_t i = n; i > 1; i--) { /* Fisher and Yates */
		size_t k = n2d_rng_below(r, (uint32_t)i);
		uint32_t swap = x[k];
		x[k] = x[i - 1];
		x[i - 1] = swap;
	}
}
