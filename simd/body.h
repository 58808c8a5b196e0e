/* What every kernel body includes: the vocabulary, and this instruction set's prototypes of all
 * rows of kernels.def, so that a body whose arguments differ from its row does not compile. */
#ifndef N2D_BODY_H
#define N2D_BODY_H

#include "config.h"

#include "simd/kernels.h"
#include "simd/vec.h"

#define N2D_KERNEL(family, ret, name, args) ret N2D_FN(name) args;
#include "simd/kernels.def"
#undef N2D_KERNEL

/* The first n lanes; costs nothing where n is the constant V_LANES. */
V_INLINE v_t v_ld(const float *p, size_t n) { return n == V_LANES ? v_load(p) : v_loadn(p, n); }
V_INLINE void v_st(float *p, v_t a, size_t n)
{
	if (n == V_LANES)
		v_store(p, a);
	else
		v_storen(p, a, n);
}

/* Operators walk rows that follow each other, and passes over a row in the first-level cache leave memory idle: they fetch what comes
 * two rows further, or 4 KiB. (A fetch may go anywhere.) Long rows would throw themselves out: nothing is fetched then. */
enum { V_LINE = 16, V_ROW_MOST = 4096 };
static inline size_t v_ahead(size_t n) { return n > V_ROW_MOST ? 0 : n < 512 ? 1024 : 2 * n; }

/* The lines of `floats` floats at p. */
V_INLINE void v_fetch(const float *p, const size_t floats)
{
	V_UNROLL
	for (size_t i = 0; i < floats; i += V_LINE)
		v_prefetch(p + i);
}

/* A vector at p[i] and after it: a line once. */
V_INLINE void v_fetch_at(const float *p, size_t i)
{
	if (V_LANES >= V_LINE || i % V_LINE == 0)
		v_prefetch(p + i);
}

/* Runs a statement for each vector of a row of n floats: it begins at i and has m lanes, V_LANES of them but in the last. */
#define V_ROW(n, ...) \
	do { \
		size_t i = 0; \
		for (; i < v_whole(n); i += V_LANES) { \
			enum { m = V_LANES }; \
			__VA_ARGS__; \
		} \
		if (i < (n)) { \
			const size_t m = (n) - i; \
			__VA_ARGS__; \
		} \
	} while (0)

#endif
