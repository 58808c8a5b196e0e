/* Tries the vector vocabulary of every instruction set that is compiled in and supported. */
#include "config.h"

#include <stdio.h>

#include "simd/kernels.h"
#include "tests/vocabulary.h"

static int failed, tried;

static void try(const char *id, void (*fn)(struct vocabulary *))
{
	struct vocabulary v;
	if (!n2d_isa_find(id)->supported)
		return;
	fn(&v);
	printf("%-8s %zu checked, %zu failed\n", id, v.checked, v.failed);
	if (v.failed)
		printf("FAIL %s\n", v.first);
	failed |= v.failed || !v.checked;
	tried++;
}

int main(void)
{
#ifdef N2D_WITH_scalar
	try("scalar", n2d_scalar_vocabulary);
#endif
#ifdef N2D_WITH_emu8
	try("emu8", n2d_emu8_vocabulary);
#endif
#ifdef N2D_WITH_emu16
	try("emu16", n2d_emu16_vocabulary);
#endif
#ifdef N2D_WITH_neon
	try("neon", n2d_neon_vocabulary);
#endif
#ifdef N2D_WITH_avx2
	try("avx2", n2d_avx2_vocabulary);
#endif
#ifdef N2D_WITH_avx512
	try("avx512", n2d_avx512_vocabulary);
#endif
	return failed || !tried;
}
