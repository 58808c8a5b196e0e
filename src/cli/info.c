/* n2d info: what this machine and this build are. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "cli/cli.h"

int n2d_cmd_info(int argc, char **argv)
{
	struct n2d_ctx ctx;
	(void)argc;
	(void)argv;
	if (n2d_ctx_init(&ctx, NULL, 0)) {
		fprintf(stderr, "n2d info: %s\n", n2d_error_text());
		return N2D_EXIT_USAGE;
	}
	size_t n;
	const struct n2d_isa *isa = n2d_isa_all(&n);
	printf("n2d %s\n\ninstruction sets\n", PACKAGE_VERSION);
	for (size_t i = 0; i < n; i++)
		printf("  %-8s %-12s %-13s %s%s\n", isa[i].name, isa[i].k ? "compiled" : "not compiled",
		       isa[i].supported ? "supported" : "not supported", isa[i].what, isa[i].k == ctx.k ? "  <- in use" : "");
	printf("threads  %d\ncaches   L1d %zu KiB, L2 %zu KiB, L3 %zu KiB\n", ctx.threads, ctx.cache.l1d >> 10,
	       ctx.cache.l2 >> 10, ctx.cache.l3 >> 10);
	n2d_ctx_free(&ctx);
	return N2D_EXIT_OK;
}
