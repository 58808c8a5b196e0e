/* What the processor can do, and the list of instruction sets. Compiled without any -m flag. */
#include "config.h"

#include <string.h>

#include "simd/kernels.h"

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>

/* XCR0: which register states the operating system saves. */
static uint64_t xcr0(void)
{
	uint32_t lo, hi;
	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (uint64_t)hi << 32 | lo;
}

#define BIT(r, n) ((r) >> (n)&1)

static int has_avx2(void)
{
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	int fma = BIT(c, 12), osxsave = BIT(c, 27), avx = BIT(c, 28);
	if (!fma || !osxsave || !avx || (xcr0() & 0x6) != 0x6) /* xmm, ymm */
		return 0;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && BIT(b, 5);
}

static int has_avx512(void)
{
	unsigned a, b, c, d;
	if (!has_avx2() || (xcr0() & 0xe6) != 0xe6) /* and opmask, upper halves, zmm16-31 */
		return 0;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return 0;
	return BIT(b, 16) && BIT(b, 17) && BIT(b, 30) && BIT(b, 31); /* F, DQ, BW, VL */
}

static int has_neon(void) { return 0; }

uint64_t n2d_fpenv_flush(void)
{
	uint32_t csr;
	__asm__ volatile("stmxcsr %0" : "=m"(csr));
	uint32_t flush = csr | 0x8040; /* FTZ, DAZ */
	__asm__ volatile("ldmxcsr %0" : : "m"(flush));
	return csr;
}

void n2d_fpenv_restore(uint64_t state)
{
	uint32_t csr = (uint32_t)state;
	__asm__ volatile("ldmxcsr %0" : : "m"(csr));
}

#elif defined __aarch64__
#include <sys/auxv.h>

static int has_avx2(void) { return 0; }
static int has_avx512(void) { return 0; }
static int has_neon(void) { return getauxval(AT_HWCAP) >> 1 & 1; /* HWCAP_ASIMD */ }

uint64_t n2d_fpenv_flush(void)
{
	uint64_t fpcr;
	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	__asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1u << 24)); /* FZ */
	return fpcr;
}

void n2d_fpenv_restore(uint64_t state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }

#else

static int has_avx2(void) { return 0; }
static int has_avx512(void) { return 0; }
static int has_neon(void) { return 0; }
uint64_t n2d_fpenv_flush(void) { return 0; }
void n2d_fpenv_restore(uint64_t state) { (void)state; }

#endif

static int has_scalar(void) { return 1; }
static int has_emu8(void) { return 1; }
static int has_emu16(void) { return 1; }

/* K_<id>: the table's address where the set is compiled in, else NULL. */
#ifdef N2D_WITH_scalar
extern const struct n2d_kernels n2d_scalar_kernels;
#define K_scalar &n2d_scalar_kernels
#else
#define K_scalar NULL
#endif
#ifdef N2D_WITH_emu8
extern const struct n2d_kernels n2d_emu8_kernels;
#define K_emu8 &n2d_emu8_kernels
#else
#define K_emu8 NULL
#endif
#ifdef N2D_WITH_emu16
extern const struct n2d_kernels n2d_emu16_kernels;
#define K_emu16 &n2d_emu16_kernels
#else
#define K_emu16 NULL
#endif
#ifdef N2D_WITH_neon
extern const struct n2d_kernels n2d_neon_kernels;
#define K_neon &n2d_neon_kernels
#else
#define K_neon NULL
#endif
#ifdef N2D_WITH_avx2
extern const struct n2d_kernels n2d_avx2_kernels;
#define K_avx2 &n2d_avx2_kernels
#else
#define K_avx2 NULL
#endif
#ifdef N2D_WITH_avx512
extern const struct n2d_kernels n2d_avx512_kernels;
#define K_avx512 &n2d_avx512_kernels
#else
#define K_avx512 NULL
#endif

const struct n2d_isa *n2d_isa_all(size_t *n)
{
	static struct n2d_isa isa[] = {
#define N2D_ISA(id, rank, what) {#id, what, rank, K_##id, -1},
#include "simd/isa.def"
#undef N2D_ISA
	};
	static int (*const has[])(void) = {
#define N2D_ISA(id, rank, what) has_##id,
#include "simd/isa.def"
#undef N2D_ISA
	};
	*n = sizeof isa / sizeof isa[0];
	for (size_t i = 0; i < *n; i++) /* the same values from any thread */
		if (isa[i].supported < 0)
			isa[i].supported = has[i]();
	return isa;
}

const struct n2d_isa *n2d_isa_find(const char *name)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(isa[i].name, name) == 0)
			return isa + i;
	return NULL;
}

const struct n2d_isa *n2d_isa_best(void)
{
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n), *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (isa[i].k && isa[i].supported && (!best || isa[i].rank > best->rank))
			best = isa + i;
	return best;
}
