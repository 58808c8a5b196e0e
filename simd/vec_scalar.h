/* One lane of plain C. See vec.h for the contract.
 *
 * v_fma is fmaf(): slow where the processor's baseline has no fused multiply-add, but it is what
 * lets elementwise kernels give the same bits on every instruction set. v_mac is not fused. */
#ifndef N2D_VEC_SCALAR_H
#define N2D_VEC_SCALAR_H

#include <math.h>
#include <string.h>

#define V_ISA scalar
#define V_LANES 1
#define V_GEMM_MR 4
#define V_GEMM_NV 4
#define V_ATTN_MR 4
#define V_ATTN_NV 4

typedef float v_t;
typedef int32_t i_t;
typedef int m_t;

static inline m_t m_first(size_t n) { return n != 0; }
static inline m_t m_and(m_t a, m_t b) { return a & b; }
static inline m_t m_or(m_t a, m_t b) { return a | b; }
static inline m_t m_not(m_t a) { return !a; }
static inline int m_any(m_t a) { return a; }
static inline int m_all(m_t a) { return a; }

static inline v_t v_load(const float *p) { return *p; }
static inline void v_store(float *p, v_t a) { *p = a; }
static inline void v_stream(float *p, v_t a) { v_store(p, a); }
static inline void v_stream_end(void) {}
static inline v_t v_loadn(const float *p, size_t n) { return n ? *p : 0; }
static inline void v_storen(float *p, v_t a, size_t n)
{
	if (n)
		*p = a;
}
static inline i_t i_load(const int32_t *p) { return *p; }
static inline void i_store(int32_t *p, i_t a) { *p = a; }
#define v_prefetch(p) __builtin_prefetch(p)
#define v_prefetch_far(p) __builtin_prefetch(p, 0, 2)

static inline v_t v_set1(float a) { return a; }
static inline v_t v_zero(void) { return 0; }
static inline i_t i_set1(int32_t a) { return a; }
static inline i_t i_iota(void) { return 0; }

static inline i_t v_bits(v_t a)
{
	i_t r;
	memcpy(&r, &a, sizeof r);
	return r;
}
static inline v_t i_bits(i_t a)
{
	v_t r;
	memcpy(&r, &a, sizeof r);
	return r;
}

static inline v_t v_add(v_t a, v_t b) { return a + b; }
static inline v_t v_sub(v_t a, v_t b) { return a - b; }
static inline v_t v_mul(v_t a, v_t b) { return a * b; }
static inline v_t v_div(v_t a, v_t b) { return a / b; }
static inline v_t v_sqrt(v_t a) { return sqrtf(a); }
static inline v_t v_abs(v_t a) { return fabsf(a); }
static inline v_t v_neg(v_t a) { return -a; }
static inline v_t v_fma(v_t a, v_t b, v_t c) { return fmaf(a, b, c); }
static inline v_t v_fnma(v_t a, v_t b, v_t c) { return fmaf(-a, b, c); }
static inline v_t v_mac(v_t a, v_t b, v_t c) { return a * b + c; }
static inline v_t v_max(v_t a, v_t b) { return a > b ? a : b; }
static inline v_t v_min(v_t a, v_t b) { return a < b ? a : b; }
static inline v_t v_round(v_t a) { return rintf(a); }

static inline m_t v_lt(v_t a, v_t b) { return a < b; }
static inline m_t v_le(v_t a, v_t b) { return a <= b; }
static inline m_t v_eq(v_t a, v_t b) { return a == b; }
static inline v_t v_sel(m_t m, v_t a, v_t b) { return m ? a : b; }

static inline i_t i_add(i_t a, i_t b) { return (i_t)((uint32_t)a + (uint32_t)b); }
static inline i_t i_sub(i_t a, i_t b) { return (i_t)((uint32_t)a - (uint32_t)b); }
static inline i_t i_and(i_t a, i_t b) { return a & b; }
static inline i_t i_or(i_t a, i_t b) { return a | b; }
static inline i_t i_xor(i_t a, i_t b) { return a ^ b; }
static inline i_t i_shl(i_t a, int n) { return (i_t)((uint32_t)a << n); }
static inline i_t i_shr(i_t a, int n) { return (i_t)((uint32_t)a >> n); }
static inline i_t i_mullo(i_t a, i_t b) { return (i_t)((uint32_t)a * (uint32_t)b); }
static inline i_t i_mulhi(i_t a, i_t b) { return (i_t)((uint64_t)(uint32_t)a * (uint32_t)b >> 32); }
static inline m_t i_eq(i_t a, i_t b) { return a == b; }
static inline m_t i_lt(i_t a, i_t b) { return a < b; }
static inline i_t i_sel(m_t m, i_t a, i_t b) { return m ? a : b; }
static inline i_t v_toi(v_t a) { return fabsf(a) < 2147483648.0f ? (i_t)rintf(a) : INT32_MIN; }
static inline v_t i_tov(i_t a) { return (v_t)a; }

typedef uint64_t w_t;
static inline w_t w_make(i_t a) { return (uint32_t)a; }
static inline w_t w_mul(w_t a, w_t b) { return (uint64_t)(uint32_t)a * (uint32_t)b; }
static inline w_t w_xor(w_t a, w_t b) { return a ^ b; }
static inline w_t w_high(w_t a) { return a >> 32; }
static inline i_t w_low(w_t a) { return (i_t)(uint32_t)a; }

/* 2^(n/2) twice: the first product is exact, the second rounds once, also into the denormals. */
static inline v_t v_ldexp(v_t a, v_t n)
{
	i_t e = v_toi(n), h = i_sub(i_shr(i_add(e, i_set1(512)), 1), i_set1(256)), bias = i_set1(127);
	v_t s = i_bits(i_shl(i_add(h, bias), 23)), t = i_bits(i_shl(i_add(i_sub(e, h), bias), 23));
	return v_mul(v_mul(a, s), t);
}

static inline float v_sum(v_t a) { return a; }
static inline float v_hmax(v_t a) { return a; }
static inline float v_hmin(v_t a) { return a; }
static inline void v_transpose(v_t r[1]) { (void)r; }

#endif
