/* The table of one instruction set; compiled once for each, as the bodies are. A row without a
 * body does not link. */
#include "simd/body.h"
#include "simd/kernels.h"

#define N2D_STR_(x) #x
#define N2D_STR(x) N2D_STR_(x)

extern const struct n2d_kernels N2D_FN(kernels);
const struct n2d_kernels N2D_FN(kernels) = {
	.isa = N2D_STR(V_ISA),
	.lanes = V_LANES,
	.mr = V_GEMM_MR,
	.nr = V_GEMM_NV * V_LANES,
	.attn_mr = V_ATTN_MR,
	.attn_nr = V_ATTN_NV * V_LANES,
#define N2D_KERNEL(family, ret, name, args) .name = N2D_FN(name),
#include "simd/kernels.def"
#undef N2D_KERNEL
};
