/* See vocabulary.h. Compiled for each instruction set with that set's flags; what is checked against
 * uses no vectors. */
#include "tests/vocabulary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "simd/vec.h"
#include "tests/problem/guard.h"

enum { TRIALS = 400 };

static struct vocabulary *now;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fail(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (!now->failed++)
		vsnprintf(now->first, sizeof now->first, format, ap);
	va_end(ap);
}

static int32_t bits(float x)
{
	int32_t i;
	memcpy(&i, &x, sizeof i);
	return i;
}
static float from_bits(int32_t i)
{
	float x;
	memcpy(&x, &i, sizeof x);
	return x;
}

static void same(const char *op, size_t l, int32_t got, int32_t want, int32_t a, int32_t b)
{
	now->checked++;
	if (got != want)
		fail("%s, lane %zu: %08x, should be %08x (operands %08x, %08x)", op, l, (unsigned)got, (unsigned)want, (unsigned)a,
		     (unsigned)b);
}

/* Any NaN is the same NaN for an operation that computes. */
static void equal(const char *op, size_t l, float got, float want, float a, float b)
{
	same(op, l, isnan(got) && isnan(want) ? 0 : bits(got), isnan(got) && isnan(want) ? 0 : bits(want), bits(a), bits(b));
}

/* ---- operands: special values, ordinary ones, and any bits */
static struct n2d_rng rng;
static float A[V_LANES], B[V_LANES], C[V_LANES], R[V_LANES];
static int32_t I[V_LANES], J[V_LANES], K[V_LANES];

static float operand(int kind)
{
	static const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, NAN, INFINITY, -INFINITY, 0x1p-149f, -0x1p-126f, 0x1.fffffep127f, 0.5f, 1.5f, -2.5f, 3.0f};
	if (kind == 0)
		return special[n2d_rng_below(&rng, sizeof special / sizeof *special)];
	if (kind == 1)
		return (float)(8 * n2d_rng_normal(&rng));
	return from_bits((int32_t)n2d_rng_u32(&rng));
}

static void draw(int trial)
{
	for (size_t l = 0; l < V_LANES; l++) {
		A[l] = operand(trial % 3);
		B[l] = n2d_rng_below(&rng, 5) ? operand(trial / 3 % 3) : A[l];
		C[l] = operand(1);
		I[l] = (int32_t)n2d_rng_u32(&rng);
		J[l] = n2d_rng_below(&rng, 5) ? (int32_t)n2d_rng_u32(&rng) : I[l];
	}
}

/* ---- one macro a shape of operation; `want` is an expression in the lanes a, b, c (floats), i, j (int32) */
#define EACH(check) \
	for (size_t l = 0; l < V_LANES; l++) { \
		float a = A[l], b = B[l], c = C[l]; \
		int32_t i = I[l], j = J[l]; \
		(void)a, (void)b, (void)c, (void)i, (void)j; \
		check; \
	}
#define COMPUTES(op, call, want) \
	do { \
		v_store(R, call); \
		EACH(equal(op, l, R[l], want, a, b)) \
	} while (0)
#define SELECTS(op, call, want) /* the very bits, NaN's too */ \
	do { \
		v_store(R, call); \
		EACH(same(op, l, bits(R[l]), bits(want), bits(a), bits(b))) \
	} while (0)
#define INTEGER(op, call, want) \
	do { \
		i_store(K, call); \
		EACH(same(op, l, K[l], (int32_t)(want), i, j)) \
	} while (0)
#define MASK(op, call, want) INTEGER(op, i_sel(call, i_set1(1), i_set1(0)), (want) ? 1 : 0)

static double to_nearest_even(double x)
{
	double f = floor(x), d = x - f;
	if (d > 0.5 || (d == 0.5 && fmod(f, 2) != 0))
		f += 1;
	return copysign(f, x);
}

static void arithmetic(void)
{
	v_t va = v_load(A), vb = v_load(B), vc = v_load(C);
	COMPUTES("v_add", v_add(va, vb), a + b);
	COMPUTES("v_sub", v_sub(va, vb), a - b);
	COMPUTES("v_mul", v_mul(va, vb), a * b);
	COMPUTES("v_div", v_div(va, vb), a / b);
	COMPUTES("v_sqrt", v_sqrt(va), (float)sqrt((double)a));
	SELECTS("v_abs", v_abs(va), from_bits(bits(a) & INT32_MAX));
	SELECTS("v_neg", v_neg(va), from_bits(bits(a) ^ INT32_MIN));
	COMPUTES("v_fma", v_fma(va, vb, vc), fmaf(a, b, c));
	COMPUTES("v_fnma", v_fnma(va, vb, vc), fmaf(-a, b, c));
	v_store(R, v_mac(va, vb, vc));
	EACH(equal("v_mac", l, R[l], R[l] == a * b + c ? R[l] : fmaf(a, b, c), a, b))
	SELECTS("v_max", v_max(va, vb), a > b ? a : b);
	SELECTS("v_min", v_min(va, vb), a < b ? a : b);
	COMPUTES("v_round", v_round(va), (float)to_nearest_even(a));
	SELECTS("v_set1", v_set1(B[V_LANES / 2]), B[V_LANES / 2]);
	SELECTS("v_zero", v_zero(), 0.0f);
	v_prefetch(NULL); /* never faults */
}

static void masks(void)
{
	v_t va = v_load(A), vb = v_load(B);
	m_t lt = v_lt(va, vb), le = v_le(va, vb);
	MASK("v_lt", lt, a < b);
	MASK("v_le", le, a <= b);
	MASK("v_eq", v_eq(va, vb), a == b);
	MASK("m_and", m_and(m_not(lt), le), !(a < b) && a <= b);
	MASK("m_or", m_or(lt, m_not(le)), a < b || !(a <= b));
	SELECTS("v_sel", v_sel(lt, va, vb), a < b ? a : b);
	int any = 0, all = 1;
	EACH(any |= a < b; all &= a < b)
	same("m_any", 0, m_any(lt) != 0, any, 0, 0);
	same("m_all", 0, m_all(lt) != 0, all, 0, 0);
	same("m_all", 1, m_all(m_not(lt)) != 0, !any, 0, 0);
	for (size_t n = 0; n <= V_LANES; n++) {
		MASK("m_first", m_first(n), l < n);
		same("m_any(m_first)", n, m_any(m_first(n)) != 0, n > 0, 0, 0);
		same("m_all(m_first)", n, m_all(m_first(n)) != 0, n == V_LANES, 0, 0);
	}
}

static void integers(void)
{
	i_t vi = i_load(I), vj = i_load(J);
	INTEGER("i_add", i_add(vi, vj), (uint32_t)i + (uint32_t)j);
	INTEGER("i_sub", i_sub(vi, vj), (uint32_t)i - (uint32_t)j);
	INTEGER("i_and", i_and(vi, vj), i & j);
	INTEGER("i_or", i_or(vi, vj), i | j);
	INTEGER("i_xor", i_xor(vi, vj), i ^ j);
	for (int n = 0; n < 32; n++) {
		INTEGER("i_shl", i_shl(vi, n), (uint32_t)i << n);
		INTEGER("i_shr", i_shr(vi, n), (uint32_t)i >> n);
	}
	INTEGER("i_mullo", i_mullo(vi, vj), (uint32_t)i * (uint32_t)j);
	INTEGER("i_mulhi", i_mulhi(vi, vj), (uint64_t)(uint32_t)i * (uint32_t)j >> 32);
	w_t w = w_mul(w_make(vi), w_make(vj));
	INTEGER("w_make", w_low(w_make(vi)), i);
	INTEGER("w_mul, low", w_low(w), (uint64_t)(uint32_t)i * (uint32_t)j);
	INTEGER("w_mul, high", w_low(w_high(w)), (uint64_t)(uint32_t)i * (uint32_t)j >> 32);
	INTEGER("w_xor", w_low(w_xor(w_high(w), w_make(vi))), i ^ (int32_t)((uint64_t)(uint32_t)i * (uint32_t)j >> 32));
	INTEGER("w_mul of any high half", w_low(w_high(w_mul(w, w_make(vj)))), (uint64_t)((uint32_t)i * (uint32_t)j) * (uint32_t)j >> 32);
	MASK("i_eq", i_eq(vi, vj), i == j);
	MASK("i_lt", i_lt(vi, vj), i < j);
	INTEGER("i_sel", i_sel(i_lt(vi, vj), vi, vj), i < j ? i : j);
	INTEGER("i_set1", i_set1(I[0]), I[0]);
	INTEGER("i_iota", i_iota(), l);
}

/* v_toi on what fits; v_ldexp over all of its range, into the denormals and infinity. */
static void conversions(int trial)
{
	INTEGER("v_bits", v_bits(v_load(A)), bits(a));
	SELECTS("i_bits", i_bits(i_load(I)), from_bits(i));
	COMPUTES("i_tov", i_tov(i_load(I)), (float)i);
	float from = trial % 2 ? 0x1p31f : 16;
	for (size_t l = 0; l < V_LANES; l++) {
		B[l] = (float)n2d_rng_below(&rng, 291) - 160;
		A[l] = copysignf((float)(0.25 + 3.75 * n2d_rng_uniform(&rng)), operand(1));
		C[l] = from * ((float)(n2d_rng_u32(&rng) >> 9) * 0x1p-22f - 1); /* multiples of 2^-18: many ties */
		C[l] = l % 2 ? C[l] : rintf(C[l]) + 0.5f;
		C[l] = fabsf(C[l]) < 0x1p31f ? C[l] : 0x1.fffffep30f;
	}
	INTEGER("v_toi", v_toi(v_load(C)), to_nearest_even(c));
	COMPUTES("v_ldexp", v_ldexp(v_load(A), v_load(B)), (float)ldexp(a, (int)b));
}

/* Sums and extrema: halves of the vector, down to one. */
static void across(void)
{
	float sum[V_LANES], max[V_LANES], min[V_LANES];
	memcpy(sum, C, sizeof sum);
	memcpy(max, A, sizeof max);
	memcpy(min, A, sizeof min);
	for (size_t h = V_LANES / 2; h; h /= 2)
		for (size_t l = 0; l < h; l++) {
			sum[l] += sum[l + h];
			max[l] = max[l] > max[l + h] ? max[l] : max[l + h];
			min[l] = min[l] < min[l + h] ? min[l] : min[l + h];
		}
	equal("v_sum", 0, v_sum(v_load(C)), sum[0], C[0], 0);
	equal("v_hmax", 0, v_hmax(v_load(A)), max[0], A[0], 0);
	equal("v_hmin", 0, v_hmin(v_load(A)), min[0], A[0], 0);
	float m[V_LANES][V_LANES];
	v_t r[V_LANES];
	for (size_t i = 0; i < V_LANES; i++) {
		for (size_t j = 0; j < V_LANES; j++)
			m[i][j] = from_bits((int32_t)n2d_rng_u32(&rng));
		r[i] = v_load(m[i]);
	}
	v_transpose(r);
	for (size_t i = 0; i < V_LANES; i++) {
		v_store(R, r[i]);
		for (size_t j = 0; j < V_LANES; j++)
			same("v_transpose", i, bits(R[j]), bits(m[j][i]), (int32_t)i, (int32_t)j);
	}
}

/* Loads and stores of n lanes at both ends of a page: what is beyond faults when touched. */
static void memory(int place)
{
	for (size_t n = 0; n <= V_LANES; n++) {
		struct guard g;
		guard_alloc(&g, n, place);
		for (size_t l = 0; l < n; l++)
			g.p[l] = A[l];
		SELECTS("v_loadn", v_loadn(g.p, n), l < n ? a : 0.0f);
		v_storen(g.p, v_load(B), n);
		for (size_t l = 0; l < n; l++)
			same("v_storen", l, bits(g.p[l]), bits(B[l]), (int32_t)n, 0);
		if (guard_check(&g))
			fail("v_storen of %zu lanes wrote beside them", n);
		guard_free(&g);
	}
}

void N2D_FN(vocabulary)(struct vocabulary *v)
{
	now = v;
	memset(v, 0, sizeof *v);
	n2d_rng_init(&rng, 1, 0);
	for (int trial = 0; trial < TRIALS; trial++) {
		draw(trial);
		arithmetic();
		masks();
		integers();
		across();
		if (trial < 9) {
			memory(GUARD_END);
			memory(0);
		}
		conversions(trial);
	}
}
