#include "base/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/threads.h"

/* A KC x NC panel of B and an MC x KC block of A: see op/gemm.c. */
#define PACK_FLOATS ((size_t)3 << 20)

static void usable(char *list, size_t size)
{
	size_t n, used = 0;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	list[0] = 0;
	for (size_t i = 0; i < n; i++)
		if (isa[i].k && isa[i].supported && used < size)
			used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "", isa[i].name);
}

static int choose(struct n2d_ctx *ctx, const char *name)
{
	char list[128];
	const char *from = "--isa";
	if (!name) {
		name = getenv("N2D_ISA");
		from = "N2D_ISA";
		if (!name || !*name) {
			ctx->k = n2d_isa_best()->k;
			return 0;
		}
	}
	const struct n2d_isa *isa = n2d_isa_find(name);
	usable(list, sizeof list);
	if (!isa)
		return n2d_error("%s: unknown instruction set '%s'; usable here: %s", from, name, list);
	if (!isa->k)
		return n2d_error("%s: %s is not compiled in; usable here: %s", from, name, list);
	if (!isa->supported)
		return n2d_error("%s: %s is not supported here (needs %s); usable here: %s", from, name, isa->what, list);
	ctx->k = isa->k;
	return 0;
}

struct n2d_cache n2d_cache_read(void)
{
	struct n2d_cache c = n2d_cache_reported();
	if (!c.l1d)
		c.l1d = 32 << 10;
	if (!c.l2)
		c.l2 = 512 << 10;
	if (!c.l3)
		c.l3 = 8 << 20;
	return c;
}

/* On huge pages where they can be had: with small ones address translation takes 2 to 4 % of a product that packs B. Only
 * what is used is ever touched. */
static float *pack_buffer(void)
{
	size_t bytes = PACK_FLOATS * sizeof(float);
	float *p = aligned_alloc((size_t)2 << 20, bytes);
#ifdef MADV_HUGEPAGE
	if (p)
		madvise(p, bytes, MADV_HUGEPAGE); /* advice: a refusal changes nothing but speed */
#endif
	return p;
}

int n2d_ctx_init(struct n2d_ctx *ctx, const char *isa, int threads)
{
	memset(ctx, 0, sizeof *ctx);
	if (choose(ctx, isa))
		return -1;
	if (threads < 0 || threads > N2D_THREADS_MOST)
		return n2d_error("threads: %d is not in 1 .. %d", threads, N2D_THREADS_MOST);
	ctx->threads = threads ? threads : n2d_threads_default();
#ifndef _OPENMP
	ctx->threads = 1;
#endif
	ctx->cache = n2d_cache_read();
	ctx->pack_floats = PACK_FLOATS;
	ctx->pack = calloc((size_t)ctx->threads, sizeof *ctx->pack);
	for (int t = 0; ctx->pack && t < ctx->threads; t++)
		if (!(ctx->pack[t] = pack_buffer())) {
			n2d_ctx_free(ctx);
			return n2d_error("no memory for %d packing buffers", threads);
		}
	return ctx->pack ? 0 : n2d_error("no memory for %d packing buffers", threads);
}

void n2d_ctx_free(struct n2d_ctx *ctx)
{
	for (int t = 0; ctx->pack && t < ctx->threads; t++)
		free(ctx->pack[t]);
	free(ctx->pack);
	memset(ctx, 0, sizeof *ctx);
}
