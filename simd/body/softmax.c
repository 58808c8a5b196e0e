/* Softmax of a row, and its backward. */
#include <math.h>

#include "simd/body.h"
#include "simd/vmath.h"

V_INLINE v_t load(const float *x, size_t i, size_t n) { return n - i >= V_LANES ? v_load(x + i) : v_loadn(x + i, n - i); }

V_INLINE void store(float *y, size_t i, size_t n, v_t a)
{
	if (n - i >= V_LANES)
		v_store(y + i, a);
	else
		v_storen(y + i, a, n - i);
}

enum { GROUP = V_CHAINS * V_LANES };

/* The x of the greatest score: the least if scale is negative. A NaN is passed over, and comes back through the exponential. */
V_INLINE float leader(const float *x, size_t n, const int negative)
{
	v_t none = v_set1(negative ? INFINITY : -INFINITY), a[V_CHAINS];
	size_t i = 0;
	V_UNROLL
	for (int j = 0; j < V_CHAINS; j++)
		a[j] = none;
	for (; i + GROUP <= n; i += GROUP) {
		V_UNROLL
		for (int j = 0; j < V_CHAINS; j++)
			a[j] = negative ? v_min(v_load(x + i + j * V_LANES), a[j]) : v_max(v_load(x + i + j * V_LANES), a[j]);
	}
	for (; i < n; i += V_LANES) {
		v_t b = n - i >= V_LANES ? v_load(x + i) : v_sel(m_first(n - i), v_loadn(x + i, n - i), none);
		a[0] = negative ? v_min(b, a[0]) : v_max(b, a[0]);
	}
	V_UNROLL
	for (int j = 1; j < V_CHAINS; j++)
		a[0] = negative ? v_min(a[j], a[0]) : v_max(a[j], a[0]);
	return negative ? v_hmin(a[0]) : v_hmax(a[0]);
}

V_INLINE v_t total(const v_t e[V_CHAINS])
{
	v_t a = V_CHAINS > 1 ? v_add(e[0], e[V_CHAINS > 1]) : e[0];
	return V_CHAINS > 2 ? v_add(a, v_add(e[V_CHAINS - 2], e[V_CHAINS - 1])) : a;
}

/* y = exp(scale (x - lead)); returns the sum. Fetches what lies `ahead`. */
V_INLINE float weights(float *y, const float *x, float scale, float lead, size_t n, size_t ahead)
{
	v_t c = v_set1(scale * 0x1.715476p+0f), top = v_set1(lead), sum = v_zero(), e[V_CHAINS];
	size_t i = 0;
	for (; i + GROUP <= n; i += GROUP) {
		v_fetch(x + i + ahead, GROUP);
		v_fetch(y + i + ahead, GROUP);
		V_UNROLL
		for (int j = 0; j < V_CHAINS; j++)
			e[j] = v_mul(c, v_sub(v_load(x + i + j * V_LANES), top));
		v_weights(V_CHAINS, e);
		V_UNROLL
		for (int j = 0; j < V_CHAINS; j++)
			v_store(y + i + j * V_LANES, e[j]);
		sum = v_add(sum, total(e));
	}
	for (; i < n; i += V_LANES) {
		e[0] = v_mul(c, v_sub(load(x, i, n), top));
		if (n - i < V_LANES)
			e[0] = v_sel(m_first(n - i), e[0], v_set1(-INFINITY));
		v_weights(1, e);
		sum = v_add(sum, e[0]);
		store(y, i, n, e[0]);
	}
	return v_sum(sum);
}

/* In place: the exponentials are written before the sum is known, and divided in a third pass over what is still in the
 * first-level cache. */
static void softmax(float *y, const float *x, float scale, size_t n, size_t ahead)
{
	float lead = scale < 0 ? leader(x, n, 1) : leader(x, n, 0);
	v_t c = v_set1(1 / weights(y, x, scale, lead, n, ahead));
	V_ROW(n, v_st(y + i, v_mul(c, v_ld(y + i, m)), m));
}

void N2D_FN(softmax_fwd)(float *y, const float *x, float scale, size_t first, size_t end, size_t n)
{
	if (end < first)
		end = first;
	for (size_t i = 0; i < first; i++)
		y[i] = 0;
	softmax(y + first, x + first, scale, end - first, v_ahead(n));
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
