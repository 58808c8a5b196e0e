/* AVX2 with FMA: 8 lanes. See vec.h for the contract. */
#ifndef N2D_VEC_AVX2_H
#define N2D_VEC_AVX2_H

#include <immintrin.h>

#define V_ISA avx2
#define V_LANES 8
#define V_GEMM_MR 6
#define V_GEMM_NV 2
#define V_ATTN_MR 6
#define V_ATTN_NV 2

typedef __m256 v_t;
typedef __m256i i_t;
typedef __m256 m_t; /* all bits of a lane set or clear */

/* A window over eight ones and eight zeros gives the mask of the first n lanes. */
static const int32_t v_first_[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
static inline __m256i v_firsti_(size_t n) { return _mm256_loadu_si256((const __m256i *)(v_first_ + 8 - n)); }

static inline m_t m_first(size_t n) { return _mm256_castsi256_ps(v_firsti_(n)); }
static inline m_t m_and(m_t a, m_t b) { return _mm256_and_ps(a, b); }
static inline m_t m_or(m_t a, m_t b) { return _mm256_or_ps(a, b); }
static inline m_t m_not(m_t a) { return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1))); }
static inline int m_any(m_t a) { return _mm256_movemask_ps(a) != 0; }
static inline int m_all(m_t a) { return _mm256_movemask_ps(a) == 0xff; }

static inline v_t v_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, v_t a) { _mm256_storeu_ps(p, a); }
static inline void v_stream(float *p, v_t a) { v_store(p, a); }
static inline void v_stream_end(void) {}
static inline v_t v_loadn(const float *p, size_t n) { return _mm256_maskload_ps(p, v_firsti_(n)); }
static inline void v_storen(float *p, v_t a, size_t n) { _mm256_maskstore_ps(p, v_firsti_(n), a); }
static inline i_t i_load(const int32_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline void i_store(int32_t *p, i_t a) { _mm256_storeu_si256((__m256i *)p, a); }
#define v_prefetch(p) __builtin_prefetch(p)
#define v_prefetch_far(p) __builtin_prefetch(p, 0, 2)

static inline v_t v_set1(float a) { return _mm256_set1_ps(a); }
static inline v_t v_zero(void) { return _mm256_setzero_ps(); }
static inline i_t i_set1(int32_t a) { return _mm256_set1_epi32(a); }
static inline i_t i_iota(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }

static inline i_t v_bits(v_t a) { return _mm256_castps_si256(a); }
static inline v_t i_bits(i_t a) { return _mm256_castsi256_ps(a); }

static inline v_t v_add(v_t a, v_t b) { return _mm256_add_ps(a, b); }
static inline v_t v_sub(v_t a, v_t b) { return _mm256_sub_ps(a, b); }
static inline v_t v_mul(v_t a, v_t b) { return _mm256_mul_ps(a, b); }
static inline v_t v_div(v_t a, v_t b) { return _mm256_div_ps(a, b); }
static inline v_t v_sqrt(v_t a) { return _mm256_sqrt_ps(a); }
static inline v_t v_abs(v_t a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline v_t v_neg(v_t a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
static inline v_t v_fma(v_t a, v_t b, v_t c) { return _mm256_fmadd_ps(a, b, c); }
static inline v_t v_fnma(v_t a, v_t b, v_t c) { return _mm256_fnmadd_ps(a, b, c); }
static inline v_t v_mac(v_t a, v_t b, v_t c) { return _mm256_fmadd_ps(a, b, c); }
static inline v_t v_max(v_t a, v_t b) { return _mm256_max_ps(a, b); }
static inline v_t v_min(v_t a, v_t b) { return _mm256_min_ps(a, b); }
static inline v_t v_round(v_t a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

static inline m_t v_lt(v_t a, v_t b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
static inline m_t v_le(v_t a, v_t b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
static inline m_t v_eq(v_t a, v_t b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
static inline v_t v_sel(m_t m, v_t a, v_t b) { return _mm256_blendv_ps(b, a, m); }

static inline i_t i_add(i_t a, i_t b) { return _mm256_add_epi32(a, b); }
static inline i_t i_sub(i_t a, i_t b) { return _mm256_sub_epi32(a, b); }
static inline i_t i_and(i_t a, i_t b) { return _mm256_and_si256(a, b); }
static inline i_t i_or(i_t a, i_t b) { return _mm256_or_si256(a, b); }
static inline i_t i_xor(i_t a, i_t b) { return _mm256_xor_si256(a, b); }
static inline i_t i_shl(i_t a, int n) { return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n)); }
static inline i_t i_shr(i_t a, int n) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline i_t i_mullo(i_t a, i_t b) { return _mm256_mullo_epi32(a, b); }
static inline i_t i_mulhi(i_t a, i_t b)
{
	__m256i even = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
	__m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
	return _mm256_blend_epi32(even, odd, 0xaa);
}
static inline m_t i_eq(i_t a, i_t b) { return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)); }
static inline m_t i_lt(i_t a, i_t b) { return _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)); }
static inline i_t i_sel(m_t m, i_t a, i_t b) { return v_bits(v_sel(m, i_bits(a), i_bits(b))); }
static inline i_t v_toi(v_t a) { return _mm256_cvtps_epi32(a); }
static inline v_t i_tov(i_t a) { return _mm256_cvtepi32_ps(a); }

/* Even and odd lanes apart, each in the low half of 64 bits. */
typedef struct {
	__m256i even, odd;
} w_t;
static inline w_t w_make(i_t a) { return (w_t){a, _mm256_srli_epi64(a, 32)}; }
static inline w_t w_mul(w_t a, w_t b) { return (w_t){_mm256_mul_epu32(a.even, b.even), _mm256_mul_epu32(a.odd, b.odd)}; }
static inline w_t w_xor(w_t a, w_t b) { return (w_t){i_xor(a.even, b.even), i_xor(a.odd, b.odd)}; }
static inline w_t w_high(w_t a) { return (w_t){_mm256_srli_epi64(a.even, 32), _mm256_srli_epi64(a.odd, 32)}; }
static inline i_t w_low(w_t a) { return _mm256_blend_epi32(a.even, _mm256_slli_epi64(a.odd, 32), 0xaa); }

/* 2^(n/2) twice: the first product is exact, the second rounds once, also into the denormals. */
static inline v_t v_ldexp(v_t a, v_t n)
{
	i_t e = v_toi(n), h = _mm256_srai_epi32(e, 1), bias = i_set1(127);
	v_t s = i_bits(i_shl(i_add(h, bias), 23)), t = i_bits(i_shl(i_add(i_sub(e, h), bias), 23));
	return v_mul(v_mul(a, s), t);
}

static inline float v_sum(v_t a)
{
	__m128 q = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	q = _mm_add_ps(q, _mm_movehl_ps(q, q));
	return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}
static inline float v_hmax(v_t a)
{
	__m128 q = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	q = _mm_max_ps(q, _mm_movehl_ps(q, q));
	return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}
static inline float v_hmin(v_t a)
{
	__m128 q = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	q = _mm_min_ps(q, _mm_movehl_ps(q, q));
	return _mm_cvtss_f32(_mm_min_ss(q, _mm_movehdup_ps(q)));
}

/* 8 x 8: pairs of floats, then pairs of doubles, then halves of a register. */
static inline void v_transpose(v_t r[8])
{
	v_t t[8], u[8];
#pragma GCC unroll 8
	for (int i = 0; i < 8; i += 2) {
		t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
		t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
	}
#pragma GCC unroll 8
	for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
		for (int j = 0; j < 2; j++) {
			__m256d a = _mm256_castps_pd(t[i + j]), b = _mm256_castps_pd(t[i + j + 2]);
			u[i + 2 * j] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
			u[i + 2 * j + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
		}
#pragma GCC unroll 4
	for (int j = 0; j < 4; j++) {
		r[j] = _mm256_permute2f128_ps(u[j], u[j + 4], 0x20);
		r[j + 4] = _mm256_permute2f128_ps(u[j], u[j + 4], 0x31);
	}
}

#endif
