/* AArch64 Advanced SIMD: 4 lanes. See vec.h for the contract. */
#ifndef N2D_VEC_NEON_H
#define N2D_VEC_NEON_H

#include <arm_neon.h>

#define V_ISA neon
#define V_LANES 4
#define V_GEMM_MR 8
#define V_GEMM_NV 3
#define V_ATTN_MR 8
#define V_ATTN_NV 3

typedef float32x4_t v_t;
typedef int32x4_t i_t;
typedef uint32x4_t m_t; /* all bits of a lane set or clear */

static inline i_t i_load(const int32_t *p) { return vld1q_s32(p); }
static inline void i_store(int32_t *p, i_t a) { vst1q_s32(p, a); }
static inline i_t i_set1(int32_t a) { return vdupq_n_s32(a); }
static inline i_t i_iota(void)
{
	static const int32_t k[4] = {0, 1, 2, 3};
	return vld1q_s32(k);
}

static inline m_t m_first(size_t n) { return vcltq_s32(i_iota(), vdupq_n_s32((int32_t)n)); }
static inline m_t m_and(m_t a, m_t b) { return vandq_u32(a, b); }
static inline m_t m_or(m_t a, m_t b) { return vorrq_u32(a, b); }
static inline m_t m_not(m_t a) { return vmvnq_u32(a); }
static inline int m_any(m_t a) { return vmaxvq_u32(a) != 0; }
static inline int m_all(m_t a) { return vminvq_u32(a) != 0; }

static inline v_t v_set1(float a) { return vdupq_n_f32(a); }
static inline v_t v_zero(void) { return vdupq_n_f32(0); }
static inline v_t v_load(const float *p) { return vld1q_f32(p); }
static inline void v_store(float *p, v_t a) { vst1q_f32(p, a); }
static inline void v_stream(float *p, v_t a) { v_store(p, a); }
static inline void v_stream_end(void) {}
static inline v_t v_loadn(const float *p, size_t n)
{
	v_t a = v_zero();
	if (n >= 4)
		return v_load(p);
	if (n > 0)
		a = vld1q_lane_f32(p, a, 0);
	if (n > 1)
		a = vld1q_lane_f32(p + 1, a, 1);
	if (n > 2)
		a = vld1q_lane_f32(p + 2, a, 2);
	return a;
}
static inline void v_storen(float *p, v_t a, size_t n)
{
	if (n >= 4) {
		v_store(p, a);
		return;
	}
	if (n > 0)
		vst1q_lane_f32(p, a, 0);
	if (n > 1)
		vst1q_lane_f32(p + 1, a, 1);
	if (n > 2)
		vst1q_lane_f32(p + 2, a, 2);
}
#define v_prefetch(p) __builtin_prefetch(p)
#define v_prefetch_far(p) __builtin_prefetch(p, 0, 2)

static inline i_t v_bits(v_t a) { return vreinterpretq_s32_f32(a); }
static inline v_t i_bits(i_t a) { return vreinterpretq_f32_s32(a); }

static inline v_t v_add(v_t a, v_t b) { return vaddq_f32(a, b); }
static inline v_t v_sub(v_t a, v_t b) { return vsubq_f32(a, b); }
static inline v_t v_mul(v_t a, v_t b) { return vmulq_f32(a, b); }
static inline v_t v_div(v_t a, v_t b) { return vdivq_f32(a, b); }
static inline v_t v_sqrt(v_t a) { return vsqrtq_f32(a); }
static inline v_t v_abs(v_t a) { return vabsq_f32(a); }
static inline v_t v_neg(v_t a) { return vnegq_f32(a); }
static inline v_t v_fma(v_t a, v_t b, v_t c) { return vfmaq_f32(c, a, b); }
static inline v_t v_fnma(v_t a, v_t b, v_t c) { return vfmsq_f32(c, a, b); }
static inline v_t v_mac(v_t a, v_t b, v_t c) { return vfmaq_f32(c, a, b); }

static inline m_t v_lt(v_t a, v_t b) { return vcltq_f32(a, b); }
static inline m_t v_le(v_t a, v_t b) { return vcleq_f32(a, b); }
static inline m_t v_eq(v_t a, v_t b) { return vceqq_f32(a, b); }
static inline v_t v_sel(m_t m, v_t a, v_t b) { return vbslq_f32(m, a, b); }
/* FMAX would return NaN where the contract says b. */
static inline v_t v_max(v_t a, v_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline v_t v_min(v_t a, v_t b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline v_t v_round(v_t a) { return vrndnq_f32(a); }

static inline i_t i_add(i_t a, i_t b) { return vaddq_s32(a, b); }
static inline i_t i_sub(i_t a, i_t b) { return vsubq_s32(a, b); }
static inline i_t i_and(i_t a, i_t b) { return vandq_s32(a, b); }
static inline i_t i_or(i_t a, i_t b) { return vorrq_s32(a, b); }
static inline i_t i_xor(i_t a, i_t b) { return veorq_s32(a, b); }
static inline i_t i_shl(i_t a, int n) { return vshlq_s32(a, vdupq_n_s32(n)); }
static inline i_t i_shr(i_t a, int n)
{
	return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-n)));
}
static inline i_t i_mullo(i_t a, i_t b) { return vmulq_s32(a, b); }
static inline i_t i_mulhi(i_t a, i_t b)
{
	uint32x4_t x = vreinterpretq_u32_s32(a), y = vreinterpretq_u32_s32(b);
	uint64x2_t lo = vmull_u32(vget_low_u32(x), vget_low_u32(y)), hi = vmull_high_u32(x, y);
	return vreinterpretq_s32_u32(vuzp2q_u32(vreinterpretq_u32_u64(lo), vreinterpretq_u32_u64(hi)));
}
static inline m_t i_eq(i_t a, i_t b) { return vceqq_s32(a, b); }
static inline m_t i_lt(i_t a, i_t b) { return vcltq_s32(a, b); }
static inline i_t i_sel(m_t m, i_t a, i_t b) { return vbslq_s32(m, a, b); }
static inline i_t v_toi(v_t a) { return vcvtnq_s32_f32(a); }
static inline v_t i_tov(i_t a) { return vcvtq_f32_s32(a); }

/* Lanes 0, 1 and lanes 2, 3, each in the low half of 64 bits. */
typedef struct {
	uint64x2_t first, last;
} w_t;
static inline w_t w_make(i_t a)
{
	uint32x4_t u = vreinterpretq_u32_s32(a);
	return (w_t){vmovl_u32(vget_low_u32(u)), vmovl_high_u32(u)};
}
static inline w_t w_mul(w_t a, w_t b)
{
	return (w_t){vmull_u32(vmovn_u64(a.first), vmovn_u64(b.first)), vmull_u32(vmovn_u64(a.last), vmovn_u64(b.last))};
}
static inline w_t w_xor(w_t a, w_t b) { return (w_t){veorq_u64(a.first, b.first), veorq_u64(a.last, b.last)}; }
static inline w_t w_high(w_t a) { return (w_t){vshrq_n_u64(a.first, 32), vshrq_n_u64(a.last, 32)}; }
static inline i_t w_low(w_t a) { return vreinterpretq_s32_u32(vmovn_high_u64(vmovn_u64(a.first), a.last)); }

/* 2^(n/2) twice: the first product is exact, the second rounds once, also into the denormals. */
static inline v_t v_ldexp(v_t a, v_t n)
{
	i_t e = v_toi(n), h = vshrq_n_s32(e, 1), bias = i_set1(127);
	v_t s = i_bits(i_shl(i_add(h, bias), 23)), t = i_bits(i_shl(i_add(i_sub(e, h), bias), 23));
	return v_mul(v_mul(a, s), t);
}

static inline float v_sum(v_t a)
{
	float32x2_t h = vadd_f32(vget_low_f32(a), vget_high_f32(a));
	return vget_lane_f32(h, 0) + vget_lane_f32(h, 1);
}
static inline float v_hmax(v_t a)
{
	float32x2_t p = vget_low_f32(a), q = vget_high_f32(a), h = vbsl_f32(vcgt_f32(p, q), p, q);
	float x = vget_lane_f32(h, 0), y = vget_lane_f32(h, 1);
	return x > y ? x : y;
}
static inline float v_hmin(v_t a)
{
	float32x2_t p = vget_low_f32(a), q = vget_high_f32(a), h = vbsl_f32(vclt_f32(p, q), p, q);
	float x = vget_lane_f32(h, 0), y = vget_lane_f32(h, 1);
	return x < y ? x : y;
}
static inline void v_transpose(v_t r[4])
{
	float32x4x2_t a = vtrnq_f32(r[0], r[1]), b = vtrnq_f32(r[2], r[3]);
	r[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
	r[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
	r[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
	r[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
}

#endif
