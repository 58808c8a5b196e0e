/* Feed-forward network, position after position. */
#include <stdlib.h>

#include "tests/layer/oracle.h"

static void sentence(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		     const double *dy, struct num *dx, struct acc *dp)
{
	size_t D = c->D, F = c->F, b1 = F * D, w2 = b1 + F, b2 = w2 + D * F;
	struct num *in = oracle_alloc(D, sizeof *in), *g = oracle_alloc(D, sizeof *g);
	struct num *h = oracle_alloc(F, sizeof *h), *dh = oracle_alloc(F, sizeof *dh);
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++)
			in[i] = exact(x[t * D + i]);
		oracle_linear(h, in, p, p + b1, D, F);
		for (size_t j = 0; j < F; j++) {
			h[j].e = h[j].v < -h[j].e ? 0 : h[j].e; /* surely 0 */
			h[j].v = h[j].v > 0 ? h[j].v : 0;
		}
		oracle_linear(y + t * D, h, p + w2, p + b2, F, D);
		if (!dy)
			continue;
		for (size_t i = 0; i < D; i++)
			g[i] = exact(dy[t * D + i]);
		oracle_linear_bwd(dh, dp + w2, dp + b2, g, h, p + w2, F, D);
		for (size_t j = 0; j < F; j++) {
			/* So near to 0 that floats may decide otherwise: the gradient is one or the other. */
			if (h[j].v <= h[j].e && h[j].e > 0)
				dh[j].e += fabs(dh[j].v);
			dh[j].v = h[j].v > 0 ? dh[j].v : 0;
		}
		oracle_linear_bwd(dx + t * D, dp, dp + b1, dh, in, p, D, F);
	}
	free(in), free(g), free(h), free(dh);
}

static const struct layer_variant variants[] = {
	{1, {.F = 1}}, {1, {.F = 7}}, {1, {.F = 32}}, {1, {.F = 131}}, {0, {0}},
};

const struct layer_oracle oracle_ffn = {"ffn", variants, sentence};
