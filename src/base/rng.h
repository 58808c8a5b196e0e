/* Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011). The value at a counter does
 * not depend on what was drawn before, so masks and initial weights depend on (seed, stream,
 * element) alone, whatever the number of threads. */
#ifndef N2D_RNG_H
#define N2D_RNG_H

#include <stddef.h>
#include <stdint.h>

/* out = the four words at counter (ctr[0..3]) under key (key[0..1]). */
void n2d_philox(uint32_t out[4], const uint32_t ctr[4], const uint32_t key[2]);

/* A sequential view of one stream. */
struct n2d_rng {
	uint32_t key[2], ctr[4], out[4];
	unsigned left; /* unread words of out */
};

void n2d_rng_init(struct n2d_rng *r, uint64_t seed, uint64_t stream);
uint32_t n2d_rng_u32(struct n2d_rng *r);
double n2d_rng_uniform(struct n2d_rng *r);          /* [0, 1), 32 bits */
uint32_t n2d_rng_below(struct n2d_rng *r, uint32_t n); /* [0, n), unbiased; n > 0 */
double n2d_rng_normal(struct n2d_rng *r);           /* N(0, 1) */

/* Puts x[0..n) into random order, all orders equally likely; n < 2^32. */
void n2d_rng_shuffle(struct n2d_rng *r, uint32_t *x, size_t n);

/* x[i] = mean + scale * N(0, 1). */
void n2d_rng_fill_normal(struct n2d_rng *r, float *x, size_t n, double mean, double scale);

#endif
