/* Sums, multiples and biases of rows. */
#include "simd/body.h"

void N2D_FN(add)(float *z, const float *x, const float *y, size_t n)
{
	V_ROW(n, v_st(z + i, v_add(v_ld(x + i, m), v_ld(y + i, m)), m));
}

void N2D_FN(scale)(float *y, const float *x, float a, size_t n)
{
	v_t va = v_set1(a);
	V_ROW(n, v_st(y + i, v_mul(va, v_ld(x + i, m)), m));
}

void N2D_FN(axpy)(float *z, const float *x, const float *y, float a, size_t n)
{
	v_t va = v_set1(a);
	V_ROW(n, v_st(z + i, v_fma(va, v_ld(x + i, m), v_ld(y + i, m)), m));
}

void N2D_FN(bias_add)(float *y, const float *x, const float *b, size_t rows, size_t n, size_t ldy, size_t ldx)
{
	for (size_t r = 0; r < rows; r++, y += ldy, x += ldx)
		N2D_FN(add)(y, x, b, n);
}

/* Four rows at a time: s is loaded and stored once for them, and each element keeps the order of the rows. */
void N2D_FN(colsum_acc)(float *s, const float *x, size_t rows, size_t n, size_t ldx)
{
	size_t r = 0;
	for (; r + 4 <= rows; r += 4, x += 4 * ldx) {
		const float *x1 = x + ldx, *x2 = x1 + ldx, *x3 = x2 + ldx;
		V_ROW(n, v_t a = v_add(v_ld(s + i, m), v_ld(x + i, m)); a = v_add(a, v_ld(x1 + i, m));
		      a = v_add(a, v_ld(x2 + i, m)); v_st(s + i, v_add(a, v_ld(x3 + i, m)), m));
	}
	for (; r < rows; r++, x += ldx)
		N2D_FN(add)(s, s, x, n);
}
