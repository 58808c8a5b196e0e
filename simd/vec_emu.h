/* 8 or 16 lanes as plain arrays: lets sanitizers, and processors without them, run the code
 * paths (tails above all) of wide instruction sets. See vec.h for the contract. */
#ifndef N2D_VEC_EMU_H
#define N2D_VEC_EMU_H

#include <math.h>

#ifdef N2D_VEC_emu16
#define V_ISA emu16
#define V_LANES 16
#define V_GEMM_MR 14
#define V_ATTN_MR 12
#else
#define V_ISA emu8
#define V_LANES 8
#define V_GEMM_MR 6
#define V_ATTN_MR 6
#endif
#define V_GEMM_NV 2
#define V_ATTN_NV 2

/* One type, read either way. With two and memcpy between them gcc 12 miscompiles tanh for AArch64: both copies share a
 * place on the stack, the store of the integers is dropped because the same bytes lie there already (postreload), then
 * their load passes the store of the floats that was kept, which has another type (sched2). The other instruction sets
 * tell v_t from i_t. */
typedef union {
	float f[V_LANES];
	int32_t i[V_LANES];
} v_t, i_t;
typedef struct {
	unsigned char m[V_LANES];
} m_t;

/* A function of type T named NAME whose lane l is EXPR. */
#define V_EACH(T, field, name, args, expr) \
	static inline T name args \
	{ \
		T r; \
		for (size_t l = 0; l < V_LANES; l++) \
			r.field[l] = expr; \
		return r; \
	}

V_EACH(m_t, m, m_first, (size_t n), l < n)
V_EACH(m_t, m, m_and, (m_t a, m_t b), a.m[l] & b.m[l])
V_EACH(m_t, m, m_or, (m_t a, m_t b), a.m[l] | b.m[l])
V_EACH(m_t, m, m_not, (m_t a), !a.m[l])
static inline int m_any(m_t a)
{
	int r = 0;
	for (size_t l = 0; l < V_LANES; l++)
		r |= a.m[l];
	return r;
}
static inline int m_all(m_t a) { return !m_any(m_not(a)); }

V_EACH(v_t, f, v_load, (const float *p), p[l])
V_EACH(v_t, f, v_loadn, (const float *p, size_t n), l < n ? p[l] : 0)
static inline void v_storen(float *p, v_t a, size_t n)
{
	for (size_t l = 0; l < n; l++)
		p[l] = a.f[l];
}
static inline void v_store(float *p, v_t a) { v_storen(p, a, V_LANES); }
static inline void v_stream(float *p, v_t a) { v_store(p, a); }
static inline void v_stream_end(void) {}
V_EACH(i_t, i, i_load, (const int32_t *p), p[l])
static inline void i_store(int32_t *p, i_t a)
{
	for (size_t l = 0; l < V_LANES; l++)
		p[l] = a.i[l];
}
#define v_prefetch(p) ((void)(p))
#define v_prefetch_far(p) ((void)(p))

V_EACH(v_t, f, v_set1, (float a), a)
V_EACH(v_t, f, v_zero, (void), 0)
V_EACH(i_t, i, i_set1, (int32_t a), a)
V_EACH(i_t, i, i_iota, (void), (int32_t)l)

static inline i_t v_bits(v_t a) { return a; }
static inline v_t i_bits(i_t a) { return a; }

V_EACH(v_t, f, v_add, (v_t a, v_t b), a.f[l] + b.f[l])
V_EACH(v_t, f, v_sub, (v_t a, v_t b), a.f[l] - b.f[l])
V_EACH(v_t, f, v_mul, (v_t a, v_t b), a.f[l] * b.f[l])
V_EACH(v_t, f, v_div, (v_t a, v_t b), a.f[l] / b.f[l])
V_EACH(v_t, f, v_sqrt, (v_t a), sqrtf(a.f[l]))
V_EACH(v_t, f, v_abs, (v_t a), fabsf(a.f[l]))
V_EACH(v_t, f, v_neg, (v_t a), -a.f[l])
V_EACH(v_t, f, v_fma, (v_t a, v_t b, v_t c), fmaf(a.f[l], b.f[l], c.f[l]))
V_EACH(v_t, f, v_fnma, (v_t a, v_t b, v_t c), fmaf(-a.f[l], b.f[l], c.f[l]))
V_EACH(v_t, f, v_mac, (v_t a, v_t b, v_t c), a.f[l] * b.f[l] + c.f[l])
V_EACH(v_t, f, v_max, (v_t a, v_t b), a.f[l] > b.f[l] ? a.f[l] : b.f[l])
V_EACH(v_t, f, v_min, (v_t a, v_t b), a.f[l] < b.f[l] ? a.f[l] : b.f[l])
V_EACH(v_t, f, v_round, (v_t a), rintf(a.f[l]))

V_EACH(m_t, m, v_lt, (v_t a, v_t b), a.f[l] < b.f[l])
V_EACH(m_t, m, v_le, (v_t a, v_t b), a.f[l] <= b.f[l])
V_EACH(m_t, m, v_eq, (v_t a, v_t b), a.f[l] == b.f[l])
V_EACH(v_t, f, v_sel, (m_t m, v_t a, v_t b), m.m[l] ? a.f[l] : b.f[l])

V_EACH(i_t, i, i_add, (i_t a, i_t b), (int32_t)((uint32_t)a.i[l] + (uint32_t)b.i[l]))
V_EACH(i_t, i, i_sub, (i_t a, i_t b), (int32_t)((uint32_t)a.i[l] - (uint32_t)b.i[l]))
V_EACH(i_t, i, i_and, (i_t a, i_t b), a.i[l] & b.i[l])
V_EACH(i_t, i, i_or, (i_t a, i_t b), a.i[l] | b.i[l])
V_EACH(i_t, i, i_xor, (i_t a, i_t b), a.i[l] ^ b.i[l])
V_EACH(i_t, i, i_shl, (i_t a, int n), (int32_t)((uint32_t)a.i[l] << n))
V_EACH(i_t, i, i_shr, (i_t a, int n), (int32_t)((uint32_t)a.i[l] >> n))
V_EACH(i_t, i, i_mullo, (i_t a, i_t b), (int32_t)((uint32_t)a.i[l] * (uint32_t)b.i[l]))
V_EACH(i_t, i, i_mulhi, (i_t a, i_t b), (int32_t)((uint64_t)(uint32_t)a.i[l] * (uint32_t)b.i[l] >> 32))
V_EACH(m_t, m, i_eq, (i_t a, i_t b), a.i[l] == b.i[l])
V_EACH(m_t, m, i_lt, (i_t a, i_t b), a.i[l] < b.i[l])
V_EACH(i_t, i, i_sel, (m_t m, i_t a, i_t b), m.m[l] ? a.i[l] : b.i[l])
/* As the hardware: what does not fit becomes the most negative number. */
V_EACH(i_t, i, v_toi, (v_t a), fabsf(a.f[l]) < 2147483648.0f ? (int32_t)rintf(a.f[l]) : INT32_MIN)
V_EACH(v_t, f, i_tov, (i_t a), (float)a.i[l])

typedef struct {
	uint64_t w[V_LANES];
} w_t;
V_EACH(w_t, w, w_make, (i_t a), (uint32_t)a.i[l])
V_EACH(w_t, w, w_mul, (w_t a, w_t b), (uint64_t)(uint32_t)a.w[l] * (uint32_t)b.w[l])
V_EACH(w_t, w, w_xor, (w_t a, w_t b), a.w[l] ^ b.w[l])
V_EACH(w_t, w, w_high, (w_t a), a.w[l] >> 32)
V_EACH(i_t, i, w_low, (w_t a), (int32_t)(uint32_t)a.w[l])

/* 2^(n/2) twice: the first product is exact, the second rounds once, also into the denormals. */
static inline v_t v_ldexp(v_t a, v_t n)
{
	i_t e = v_toi(n), h = i_sub(i_shr(i_add(e, i_set1(512)), 1), i_set1(256)), bias = i_set1(127);
	v_t s = i_bits(i_shl(i_add(h, bias), 23)), t = i_bits(i_shl(i_add(i_sub(e, h), bias), 23));
	return v_mul(v_mul(a, s), t);
}

static inline float v_sum(v_t a)
{
	for (size_t h = V_LANES / 2; h; h /= 2)
		for (size_t l = 0; l < h; l++)
			a.f[l] += a.f[l + h];
	return a.f[0];
}
static inline float v_hmax(v_t a)
{
	for (size_t h = V_LANES / 2; h; h /= 2)
		for (size_t l = 0; l < h; l++)
			a.f[l] = a.f[l] > a.f[l + h] ? a.f[l] : a.f[l + h];
	return a.f[0];
}
static inline float v_hmin(v_t a)
{
	for (size_t h = V_LANES / 2; h; h /= 2)
		for (size_t l = 0; l < h; l++)
			a.f[l] = a.f[l] < a.f[l + h] ? a.f[l] : a.f[l + h];
	return a.f[0];
}
static inline void v_transpose(v_t r[V_LANES])
{
	for (size_t i = 0; i < V_LANES; i++)
		for (size_t j = 0; j < i; j++) {
			float t = r[i].f[j];
			r[i].f[j] = r[j].f[i];
			r[j].f[i] = t;
		}
}

#undef V_EACH
#endif
