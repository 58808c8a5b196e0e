/* AVX-512 (F, BW, DQ, VL): 16 lanes. See vec.h for the contract. */
#ifndef N2D_VEC_AVX512_H
#define N2D_VEC_AVX512_H

#include <immintrin.h>

#define V_ISA avx512
#define V_LANES 16
#define V_GEMM_MR 14
#define V_GEMM_NV 2
#define V_ATTN_MR 12
#define V_ATTN_NV 2

typedef __m512 v_t;
typedef __m512i i_t;
typedef __mmask16 m_t;

static inline m_t m_first(size_t n) { return (m_t)_cvtu32_mask16((1u << n) - 1u); }
static inline m_t m_and(m_t a, m_t b) { return a & b; }
static inline m_t m_or(m_t a, m_t b) { return a | b; }
static inline m_t m_not(m_t a) { return (m_t)~a; }
static inline int m_any(m_t a) { return a != 0; }
static inline int m_all(m_t a) { return a == 0xffff; }

static inline v_t v_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, v_t a) { _mm512_storeu_ps(p, a); }
static inline void v_stream(float *p, v_t a) { _mm512_stream_ps(p, a); }
static inline void v_stream_end(void) { _mm_sfence(); }
static inline v_t v_loadn(const float *p, size_t n) { return _mm512_maskz_loadu_ps(m_first(n), p); }
static inline void v_storen(float *p, v_t a, size_t n) { _mm512_mask_storeu_ps(p, m_first(n), a); }
static inline i_t i_load(const int32_t *p) { return _mm512_loadu_si512(p); }
static inline void i_store(int32_t *p, i_t a) { _mm512_storeu_si512(p, a); }
#define v_prefetch(p) __builtin_prefetch(p)
#define v_prefetch_far(p) __builtin_prefetch(p, 0, 2)

static inline v_t v_set1(float a) { return _mm512_set1_ps(a); }
static inline v_t v_zero(void) { return _mm512_setzero_ps(); }
static inline i_t i_set1(int32_t a) { return _mm512_set1_epi32(a); }
static inline i_t i_iota(void)
{
	return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

static inline i_t v_bits(v_t a) { return _mm512_castps_si512(a); }
static inline v_t i_bits(i_t a) { return _mm512_castsi512_ps(a); }

static inline v_t v_add(v_t a, v_t b) { return _mm512_add_ps(a, b); }
static inline v_t v_sub(v_t a, v_t b) { return _mm512_sub_ps(a, b); }
static inline v_t v_mul(v_t a, v_t b) { return _mm512_mul_ps(a, b); }
static inline v_t v_div(v_t a, v_t b) { return _mm512_div_ps(a, b); }
static inline v_t v_sqrt(v_t a) { return _mm512_sqrt_ps(a); }
static inline v_t v_abs(v_t a) { return _mm512_abs_ps(a); }
static inline v_t v_neg(v_t a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
static inline v_t v_fma(v_t a, v_t b, v_t c) { return _mm512_fmadd_ps(a, b, c); }
static inline v_t v_fnma(v_t a, v_t b, v_t c) { return _mm512_fnmadd_ps(a, b, c); }
static inline v_t v_mac(v_t a, v_t b, v_t c) { return _mm512_fmadd_ps(a, b, c); }
static inline v_t v_max(v_t a, v_t b) { return _mm512_max_ps(a, b); }
static inline v_t v_min(v_t a, v_t b) { return _mm512_min_ps(a, b); }
static inline v_t v_round(v_t a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

static inline m_t v_lt(v_t a, v_t b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline m_t v_le(v_t a, v_t b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline m_t v_eq(v_t a, v_t b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline v_t v_sel(m_t m, v_t a, v_t b) { return _mm512_mask_blend_ps(m, b, a); }

static inline i_t i_add(i_t a, i_t b) { return _mm512_add_epi32(a, b); }
static inline i_t i_sub(i_t a, i_t b) { return _mm512_sub_epi32(a, b); }
static inline i_t i_and(i_t a, i_t b) { return _mm512_and_si512(a, b); }
static inline i_t i_or(i_t a, i_t b) { return _mm512_or_si512(a, b); }
static inline i_t i_xor(i_t a, i_t b) { return _mm512_xor_si512(a, b); }
static inline i_t i_shl(i_t a, int n) { return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n)); }
static inline i_t i_shr(i_t a, int n) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline i_t i_mullo(i_t a, i_t b) { return _mm512_mullo_epi32(a, b); }
static inline i_t i_mulhi(i_t a, i_t b)
{
	__m512i even = _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32);
	__m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
	return _mm512_mask_blend_epi32(0xaaaa, even, odd);
}
static inline m_t i_eq(i_t a, i_t b) { return _mm512_cmpeq_epi32_mask(a, b); }
static inline m_t i_lt(i_t a, i_t b) { return _mm512_cmplt_epi32_mask(a, b); }
static inline i_t i_sel(m_t m, i_t a, i_t b) { return _mm512_mask_blend_epi32(m, b, a); }
static inline i_t v_toi(v_t a) { return _mm512_cvtps_epi32(a); }
static inline v_t i_tov(i_t a) { return _mm512_cvtepi32_ps(a); }

/* Even and odd lanes apart, each in the low half of 64 bits. */
typedef struct {
	__m512i even, odd;
} w_t;
static inline w_t w_make(i_t a) { return (w_t){a, _mm512_srli_epi64(a, 32)}; }
static inline w_t w_mul(w_t a, w_t b) { return (w_t){_mm512_mul_epu32(a.even, b.even), _mm512_mul_epu32(a.odd, b.odd)}; }
static inline w_t w_xor(w_t a, w_t b) { return (w_t){i_xor(a.even, b.even), i_xor(a.odd, b.odd)}; }
static inline w_t w_high(w_t a) { return (w_t){_mm512_srli_epi64(a.even, 32), _mm512_srli_epi64(a.odd, 32)}; }
static inline i_t w_low(w_t a) { return _mm512_mask_blend_epi32(0xaaaa, a.even, _mm512_slli_epi64(a.odd, 32)); }

static inline v_t v_ldexp(v_t a, v_t n) { return _mm512_scalef_ps(a, n); }

static inline float v_sum(v_t a)
{
	__m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
	__m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
	q = _mm_add_ps(q, _mm_movehl_ps(q, q));
	return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}
static inline float v_hmax(v_t a)
{
	__m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
	__m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
	q = _mm_max_ps(q, _mm_movehl_ps(q, q));
	return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}
static inline float v_hmin(v_t a)
{
	__m256 h = _mm256_min_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
	__m128 q = _mm_min_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
	q = _mm_min_ps(q, _mm_movehl_ps(q, q));
	return _mm_cvtss_f32(_mm_min_ss(q, _mm_movehdup_ps(q)));
}

/* 16 x 16: pairs of floats, then pairs of doubles, then quarters of a register, twice. */
static inline void v_transpose(v_t r[16])
{
	v_t t[16], u[16];
#pragma GCC unroll 16
	for (int i = 0; i < 16; i += 2) {
		t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
		t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
	}
#pragma GCC unroll 16
	for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
		for (int j = 0; j < 2; j++) {
			__m512d a = _mm512_castps_pd(t[i + j]), b = _mm512_castps_pd(t[i + j + 2]);
			u[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
			u[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
		}
#pragma GCC unroll 4
	for (int j = 0; j < 4; j++) {
		v_t a = _mm512_shuffle_f32x4(u[j], u[j + 4], 0x88), b = _mm512_shuffle_f32x4(u[j + 8], u[j + 12], 0x88);
		v_t c = _mm512_shuffle_f32x4(u[j], u[j + 4], 0xdd), d = _mm512_shuffle_f32x4(u[j + 8], u[j + 12], 0xdd);
		r[j] = _mm512_shuffle_f32x4(a, b, 0x88);
		r[j + 8] = _mm512_shuffle_f32x4(a, b, 0xdd);
		r[j + 4] = _mm512_shuffle_f32x4(c, d, 0x88);
		r[j + 12] = _mm512_shuffle_f32x4(c, d, 0xdd);
	}
}

#endif
