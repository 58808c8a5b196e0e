/* Feed-forward network, position after position. */
#include <stdlib.h>

#include "tests/layer/oracle.h"

/* Value and slope of an activation at z, known to z.e: both move by at most their steepest slope times that. A float
 * evaluation adds what the kernels are tested to: GELU 7 ulp, 14 u; its slope and SiLU's 14 u of the terms, which are at most 1 + |z|. */
struct curve {
	struct num value, slope;
};

static struct curve relu(struct num z)
{
	/* So near to 0 that floats may decide otherwise: the slope is one or the other. */
	double e = z.v < -z.e ? 0 : z.e, unsure = fabs(z.v) <= z.e && z.e > 0;
	return (struct curve){{fmax(z.v, 0), e}, {z.v > 0, unsure}};
}

/* Steepest: GELU's slope lies in [-0.13, 1.13], the slope's slope in [-0.25, 0.8]. */
static struct curve gelu(struct num z)
{
	double phi = 0.5 * erfc(-z.v * M_SQRT1_2), density = exp(-z.v * z.v / 2) * 0.5 * M_SQRT1_2 * M_2_SQRTPI;
	double value = z.v * phi;
	return (struct curve){{value, 1.13 * z.e + 14 * ORACLE_U * fabs(value) + ORACLE_TINY},
			      {phi + z.v * density, 0.8 * z.e + 14 * ORACLE_U * (1 + fabs(z.v))}};
}

/* SiLU: [-0.1, 1.1] and [-0.16, 0.5]. */
static struct curve silu(struct num z)
{
	double s = 1 / (1 + exp(-z.v)), value = z.v * s;
	return (struct curve){{value, 1.1 * z.e + 14 * ORACLE_U * fabs(value) + ORACLE_TINY},
			      {s * (1 + z.v * (1 - s)), 0.5 * z.e + 14 * ORACLE_U * (1 + fabs(z.v))}};
}

/* h[F] of z[Z], and with dh the gradient dz[Z]. */
static void activate(const struct n2d_layer_config *c, struct num *h, const struct num *z, struct num *dz, const struct num *dh)
{
	int gated = c->activation == N2D_FFN_SWIGLU;
	for (size_t j = 0; j < c->F; j++) {
		struct curve f = gated ? silu(z[j]) : c->activation == N2D_FFN_GELU ? gelu(z[j]) : relu(z[j]);
		h[j] = gated ? num_mul(f.value, z[c->F + j]) : f.value;
		if (!dh)
			continue;
		dz[j] = num_mul(gated ? num_mul(dh[j], z[c->F + j]) : dh[j], f.slope);
		if (gated)
			dz[c->F + j] = num_mul(dh[j], f.value);
	}
}

static void sentence(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
		     const double *dy, struct num *dx, struct acc *dp)
{
	size_t D = c->D, F = c->F, Z = c->activation == N2D_FFN_SWIGLU ? 2 * F : F, b1 = Z * D, w2 = b1 + Z, b2 = w2 + D * F;
	struct num *in = oracle_alloc(D, sizeof *in), *g = oracle_alloc(D, sizeof *g);
	struct num *z = oracle_alloc(Z, sizeof *z), *dz = oracle_alloc(Z, sizeof *dz);
	struct num *h = oracle_alloc(F, sizeof *h), *dh = oracle_alloc(F, sizeof *dh);
	for (size_t t = 0; t < n; t++) {
		for (size_t i = 0; i < D; i++)
			in[i] = exact(x[t * D + i]);
		oracle_linear(z, in, p, p + b1, D, Z);
		activate(c, h, z, NULL, NULL);
		oracle_linear(y + t * D, h, p + w2, p + b2, F, D);
		if (!dy)
			continue;
		for (size_t i = 0; i < D; i++)
			g[i] = exact(dy[t * D + i]);
		oracle_linear_bwd(dh, dp + w2, dp + b2, g, h, p + w2, F, D);
		activate(c, h, z, dz, dh);
		oracle_linear_bwd(dx + t * D, dp, dp + b1, dz, in, p, D, Z);
	}
	free(in), free(g), free(z), free(dz), free(h), free(dh);
}

static const struct layer_variant variants[] = {
	{1, {.F = 1}}, {1, {.F = 7}}, {1, {.F = 32}}, {1, {.F = 131}}, {1, {.F = 1024}},
	{1, {.F = 17, .activation = N2D_FFN_GELU}},
	{1, {.F = 1, .activation = N2D_FFN_SWIGLU}}, {1, {.F = 33, .activation = N2D_FFN_SWIGLU}},
	{0, {0}},
};

const struct layer_oracle oracle_ffn = {"ffn", variants, sentence};
