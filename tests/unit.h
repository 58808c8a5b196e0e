/* For tests of operators and layers with cmocka: contexts of every instruction set, and
 * comparison against a double-precision oracle.
 *
 *	UNIT_EACH_ISA(ctx, threads) { ... }  runs its block once a compiled and supported set
 */
#ifndef UNIT_H
#define UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/rng.h"

/* Opens the next usable context from row *i of the instruction sets on; 0 when there is none. Honours N2D_ISA: then
 * only that one. */
static inline int unit_next(struct n2d_ctx *ctx, size_t *i, int threads)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	const char *only = getenv("N2D_ISA");
	for (; *i < n; ++*i) {
		if (!isa[*i].k || !isa[*i].supported || (only && *only && strcmp(only, isa[*i].name) != 0))
			continue;
		if (n2d_ctx_init(ctx, isa[*i].name, threads))
			fail_msg("%s", n2d_error_text());
		++*i;
		return 1;
	}
	return 0;
}

#define UNIT_EACH_ISA(ctx, threads) \
	for (size_t unit_i_ = 0; unit_next(&(ctx), &unit_i_, (threads)); n2d_ctx_free(&(ctx)))

/* !(|got - want| <= bound) fails, so NaN fails; NaN wants NaN. */
#define UNIT_NEAR(isa, what, i, got, want, bound) \
	do { \
		double g_ = (got), w_ = (want), b_ = (bound); \
		int good_ = isnan(w_) ? isnan(g_) : isinf(w_) ? g_ == w_ : fabs(g_ - w_) <= b_; \
		if (!good_) \
			fail_msg("%s: %s[%zu] = %.9g, should be %.9g, off by %.3g, bound %.3g", (isa), (what), (size_t)(i), g_, w_, \
				 fabs(g_ - w_), b_); \
	} while (0)

#endif
