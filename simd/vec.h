/* The vector vocabulary of kernel bodies (which include body.h).
 *
 * Each vec_<isa>.h defines the same operations, all static inline:
 *
 *   types      v_t  V_LANES floats      i_t  V_LANES int32      m_t  V_LANES truth values
 *   memory     v_load v_store (any alignment)  v_loadn v_storen (first n <= V_LANES lanes; the
 *              others read as 0 and nothing beyond is touched)   i_load i_store  v_prefetch
 *              and v_prefetch_far, into the second-level cache (macros: gcc takes a function that does nothing else for one without effect)
 *              v_stream, to whole vectors of aligned memory, past the caches where a vector is a cache line; v_stream_end after the last
 *   lanes      v_set1 v_zero i_set1 i_iota  v_transpose (V_LANES vectors, in place)
 *   arithmetic v_add v_sub v_mul v_div v_sqrt v_abs v_neg
 *              v_fma(a,b,c) = a*b + c and v_fnma(a,b,c) = c - a*b, rounded ONCE on every
 *              instruction set: elementwise kernels use these and agree bit for bit everywhere;
 *              v_mac(a,b,c) = a*b + c, rounded once or twice, whichever is fast: for long sums,
 *              whose bounds hold for both
 *              v_max(a,b) = a > b ? a : b and v_min(a,b) = a < b ? a : b, so b when either is NaN
 *              v_ldexp(a, n) = a * 2^n for integral n in [-160, 130], |a| in [0.25, 4]; rounded once
 *              v_round to nearest even
 *   masks      v_lt v_le v_eq (false on NaN)  m_and m_or m_not m_first(n) m_any m_all
 *              v_sel(m, a, b) = m ? a : b
 *   integers   i_add i_sub i_and i_or i_xor i_shl i_shr (logical) i_mullo i_mulhi (unsigned)
 *              i_eq i_lt (signed) i_sel
 *   wide       w_t: V_LANES words of 64 bits. w_make(i) has i in the low half; what the high half holds is not said. w_mul: product of
 *              the low halves (unsigned)  w_xor  w_high(w): the high half moved low  w_low(w): the low halves
 *   between    v_toi (round to nearest, |x| < 2^31)  i_tov  v_bits / i_bits (same bits)
 *   across     v_sum v_hmax v_hmin: fixed order, a tree over halves
 *
 * N2D_FN(name) is the symbol of this instruction set's version of a kernel.
 */
#ifndef N2D_VEC_H
#define N2D_VEC_H

#include <stddef.h>
#include <stdint.h>

#define N2D_CAT_(a, b, c) a##b##_##c
#define N2D_CAT(a, b, c) N2D_CAT_(a, b, c)
#define N2D_FN(name) N2D_CAT(n2d_, V_ISA, name)

/* Before a loop with few, constant rounds: no loop is left, so an array of vectors it indexes can stay in registers.
 * gcc needs it at EVERY loop over such an array (setting, loading, storing too), or the array lives in memory.
 * Emulated vectors live there anyway: unrolled, a tile of them takes a compiler with sanitizers minutes. */
#if defined N2D_VEC_emu8 || defined N2D_VEC_emu16
#define V_UNROLL
#elif defined __clang__
#define V_UNROLL _Pragma("clang loop unroll(full)")
#else
#define V_UNROLL _Pragma("GCC unroll 32")
#endif

/* A piece of a kernel whose size arguments are constants of its caller. */
#define V_INLINE static inline __attribute__((always_inline))

#if defined N2D_VEC_avx512
#include "simd/vec_avx512.h"
#elif defined N2D_VEC_avx2
#include "simd/vec_avx2.h"
#elif defined N2D_VEC_neon
#include "simd/vec_neon.h"
#elif defined N2D_VEC_emu8 || defined N2D_VEC_emu16
#include "simd/vec_emu.h"
#elif defined N2D_VEC_scalar
#include "simd/vec_scalar.h"
#else
#error "compile kernel bodies with -DN2D_VEC_<isa>"
#endif

/* Vectors in a row of n floats, and the lanes of its last, partial one. */
static inline size_t v_whole(size_t n) { return n / V_LANES * V_LANES; }

#endif
