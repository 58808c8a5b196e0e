/* Softmax of a row, and its backward. */
#include <math.h>

#include "simd/body.h"
#include "simd/vmath.h"

/* scale * x[i ..] of a row of n; lanes beyond it are -inf, of which the exponential is 0. */
V_INLINE v_t scaled(const float *x, v_t scale, size_t i, size_t n)
{
	size_t left = n - i;
	if (left >= V_LANES)
		return v_mul(scale, v_load(x + i));
	return v_sel(m_first(left), v_mul(scale, v_loadn(x + i, left)), v_set1(-INFINITY));
}

V_INLINE v_t load(const float *x, size_t i, size_t n) { return n - i >= V_LANES ? v_load(x + i) : v_loadn(x + i, n - i); }

V_INLINE void store(float *y, size_t i, size_t n, v_t a)
{
	if (n - i >= V_LANES)
		v_store(y + i, a);
	else
		v_storen(y + i, a, n - i);
}

/* A NaN is passed over by the maximum and comes back through the exponential. */
static float max_of(const float *x, v_t scale, size_t n)
{
	v_t m = v_set1(-INFINITY);
	for (size_t i = 0; i < n; i += V_LANES)
		m = v_max(scaled(x, scale, i, n), m);
	return v_hmax(m);
}

/* In place: the exponentials are written before the sum is known, and divided in a second pass
 * over what is still in the first-level cache. */
static void softmax(float *y, const float *x, float scale, size_t n)
{
	v_t s = v_set1(scale), m = v_set1(max_of(x, s, n)), sum = v_zero();
	for (size_t i = 0; i < n; i += V_LANES) {
		v_t e = v_exp(v_sub(scaled(x, s, i, n), m));
		sum = v_add(sum, e);
		store(y, i, n, e);
	}
	v_t c = v_set1(1 / v_sum(sum));
	for (size_t i = 0; i < n; i += V_LANES)
		store(y, i, n, v_mul(c, load(y, i, n)));
}

void N2D_FN(softmax_fwd)(float *y, const float *x, float scale, size_t first, size_t end, size_t n)
{
	if (end < first)
		end = first;
	for (size_t i = 0; i < first; i++)
		y[i] = 0;
	softmax(y + first, x + first, scale, end - first);
	for (size_t i = end; i < n; i++)
		y[i] = 0;
}

void N2D_FN(softmax_bwd)(float *dx, const float *dy, const float *y, float scale, size_t first, size_t end, size_t n)
{
	if (end < first)
		end = first;
	v_t a = v_zero(), b = v_zero(), s = v_set1(scale);
	size_t i = first;
	for (; i + 2 * V_LANES <= end; i += 2 * V_LANES) {
		a = v_mac(v_load(dy + i), v_load(y + i), a);
		b = v_mac(v_load(dy + i + V_LANES), v_load(y + i + V_LANES), b);
	}
	for (; i < end; i += V_LANES)
		a = v_mac(load(dy, i, end), load(y, i, end), a);
	v_t mean = v_set1(v_sum(v_add(a, b)));
	for (i = 0; i < first; i++)
		dx[i] = 0;
	for (i = first; i < end; i += V_LANES)
		store(dx, i, end, v_mul(v_mul(s, load(y, i, end)), v_sub(load(dy, i, end), mean)));
	for (i = end; i < n; i++)
		dx[i] = 0;
}
