/* Dense and separable convolution of one sentence, with the error of a float evaluation carried along. */
#include <stdlib.h>

#include "tests/layer/oracle.h"

/* The position that tap w of output t sees, or n when it lies outside. */
static size_t seen(const struct n2d_layer_config *c, size_t n, size_t t, size_t w)
{
	ptrdiff_t centre = c->causal ? (ptrdiff_t)c->W - 1 : ((ptrdiff_t)c->W - 1) / 2;
	ptrdiff_t at = (ptrdiff_t)t + ((ptrdiff_t)w - centre) * (ptrdiff_t)c->dilation;
	return at < 0 || at >= (ptrdiff_t)n ? n : (size_t)at;
}

static void dense(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		  const double *dy, struct num *dx, struct acc *dp)
{
	size_t D = c->D, W = c->W;
	struct acc *ax = oracle_alloc(n * D, sizeof *ax);
	for (size_t t = 0; t < n; t++)
		for (size_t o = 0; o < D; o++) {
			struct acc s = {0};
			for (size_t w = 0; w < W; w++)
				for (size_t i = 0, at = seen(c, n, t, w); at < n && i < D; i++) {
					double weight = p[(o * D + i) * W + w];
					acc_mul(&s, exact(x[at * D + i]), exact(weight));
					if (!dy)
						continue;
					acc_mul(ax + at * D + i, exact(dy[t * D + o]), exact(weight));
					acc_mul(dp + (o * D + i) * W + w, exact(dy[t * D + o]), exact(x[at * D + i]));
				}
			acc_add(&s, exact(p[W * D * D + o]));
			y[t * D + o] = acc_end(&s);
			if (dy)
				acc_add(dp + W * D * D + o, exact(dy[t * D + o]));
		}
	for (size_t i = 0; dy && i < n * D; i++)
		dx[i] = acc_end(ax + i);
	free(ax);
}

static void separable(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		      const double *dy, struct num *dx, struct acc *dp)
{
	size_t D = c->D, W = c->W;
	const double *point = p + W * D;
	struct num *z = oracle_alloc(D, sizeof *z), *dz = oracle_alloc(D, sizeof *dz), *g = oracle_alloc(D, sizeof *g);
	struct acc *ax = oracle_alloc(n * D, sizeof *ax);
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++) {
			struct acc s = {0};
			for (size_t w = 0; w < W; w++)
				if (seen(c, n, t, w) < n)
					acc_mul(&s, exact(x[seen(c, n, t, w) * D + i]), exact(p[w * D + i]));
			z[i] = acc_end(&s);
		}
		oracle_linear(y + t * D, z, point, point + D * D, D, D);
		for (size_t i = 0; dy && i < D; i++)
			g[i] = exact(dy[t * D + i]);
		if (dy)
			oracle_linear_bwd(dz, dp + W * D, dp + W * D + D * D, g, z, point, D, D);
		for (size_t w = 0; dy && w < W; w++)
			for (size_t i = 0, at = seen(c, n, t, w); at < n && i < D; i++) {
				acc_mul(ax + at * D + i, dz[i], exact(p[w * D + i]));
				acc_mul(dp + w * D + i, dz[i], exact(x[at * D + i]));
			}
	}
	for (size_t i = 0; dy && i < n * D; i++)
		dx[i] = acc_end(ax + i);
	free(z), free(dz), free(g), free(ax);
}

static const struct layer_variant variants[] = {
	{1, {.W = 1, .dilation = 1}},
	{1, {.W = 3, .dilation = 1}},
	{1, {.W = 3, .dilation = 2, .causal = 1}},
	{1, {.W = 2, .dilation = 1, .causal = 1}},
	{1, {.W = 5, .dilation = 4}},
	{0, {0}},
};

const struct layer_oracle oracle_convolution = {"convolution", variants, dense};
const struct layer_oracle oracle_separable_convolution = {"separable-convolution", variants, separable};
