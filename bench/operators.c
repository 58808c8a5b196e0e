#include "bench/operators.h"

size_t timed_operators(struct timed *t, size_t n, size_t room, const struct n2d_ctx *ctx)
{
	n = operators_gemm(t, n, room, ctx);
	n = operators_attention(t, n, room, ctx);
	n = operators_norm(t, n, room, ctx);
	return n;
}
