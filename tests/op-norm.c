/* LayerNorm and RMSNorm as operators: golden rows, gradients against central differences in double, and the same bits for any
 * number of threads; with the residual sum and dropout, the bits of the operators one after the other. */
#include "config.h"

#include "op/dropout.h"
#include "op/norm.h"
#include "tests/unit.h"

enum { ROWS = 200, D = 173 }; /* two tasks of rows and a part */

static const struct n2d_norm shape[] = {{N2D_LAYERNORM, ROWS, D, 1e-5f, NULL}, {N2D_RMSNORM, ROWS, D, 1e-5f, NULL}};

struct data {
	float x[ROWS * D], r[ROWS * D], dy[ROWS * D], gamma[D], beta[D]; /* inputs */
	float y[ROWS * D], s[ROWS * D], dx[ROWS * D], dgamma[D], dbeta[D], mean[ROWS], rstd[ROWS];
};

static struct data *open_data(void)
{
	struct data *d = calloc(1, sizeof *d);
	struct n2d_rng rng;
	n2d_rng_init(&rng, 3, 0);
	n2d_rng_fill_normal(&rng, d->x, ROWS * D, 0.5, 1);
	n2d_rng_fill_normal(&rng, d->r, ROWS * D, 0, 1);
	n2d_rng_fill_normal(&rng, d->dy, ROWS * D, 0, 1);
	n2d_rng_fill_normal(&rng, d->gamma, D, 1, 0.5);
	n2d_rng_fill_normal(&rng, d->beta, D, 0, 1);
	return d;
}

static void run(const struct n2d_ctx *ctx, const struct n2d_norm *n, struct data *d)
{
	float *ws = malloc(n2d_norm_bwd_workspace(n) * sizeof *ws);
	for (size_t j = 0; j < D; j++)
		d->dgamma[j] = d->dbeta[j] = 1; /* added to */
	n2d_norm_fwd(ctx, n, d->y, d->s, d->mean, d->rstd, d->x, d->r, d->gamma, d->beta);
	struct n2d_norm_grads g = {.dx = d->dx, .dgamma = d->dgamma, .dbeta = d->dbeta, .add = 1, .dy = d->dy};
	n2d_norm_bwd(ctx, n, &g, d->s, d->gamma, d->mean, d->rstd, ws);
	free(ws);
}

/* sum_j dy_j y_j of one row in double: its derivatives are what backward returns. */
static double objective(const struct n2d_norm *n, const double *t, const float *dy, const double *gamma, const float *beta)
{
	double mean = 0, var = 0, f = 0;
	for (size_t j = 0; j < D; j++)
		mean += n->kind == N2D_LAYERNORM ? t[j] / D : 0;
	for (size_t j = 0; j < D; j++)
		var += (t[j] - mean) * (t[j] - mean) / D;
	for (size_t j = 0; j < D; j++)
		f += dy[j] * ((t[j] - mean) / sqrt(var + (double)n->eps) * gamma[j] + (n->kind == N2D_LAYERNORM ? beta[j] : 0));
	return f;
}

/* Central differences with h = 1e-4: truncation and rounding near 1e-8, the operator's float sums near 1e-6. */
static void gradients(void **state)
{
	(void)state;
	struct data *d = open_data();
	struct n2d_ctx ctx;
	const double h = 1e-4;
	for (size_t kind = 0; kind < 2; kind++)
		UNIT_EACH_ISA(ctx, 2)
		{
			double dgamma[D] = {0}, dbeta[D] = {0};
			run(&ctx, shape + kind, d);
			for (size_t i = 0; i < ROWS; i++) {
				double t[D], gamma[D];
				for (size_t j = 0; j < D; j++) {
					t[j] = d->x[i * D + j] + d->r[i * D + j];
					gamma[j] = d->gamma[j];
				}
				const float *dy = d->dy + i * D;
				for (size_t j = i % 7; j < D; j += i ? 7 : 1) {
					double at = t[j], up, down;
					t[j] = at + h, up = objective(shape + kind, t, dy, gamma, d->beta);
					t[j] = at - h, down = objective(shape + kind, t, dy, gamma, d->beta);
					t[j] = at;
					UNIT_NEAR(ctx.k->isa, "dx", i * D + j, d->dx[i * D + j], (up - down) / (2 * h), 1e-5);
				}
				for (size_t j = 0; j < D; j++) {
					double at = gamma[j], up, down;
					gamma[j] = at + h, up = objective(shape + kind, t, dy, gamma, d->beta);
					gamma[j] = at - h, down = objective(shape + kind, t, dy, gamma, d->beta);
					gamma[j] = at;
					dgamma[j] += (up - down) / (2 * h);
					dbeta[j] += kind == N2D_LAYERNORM ? dy[j] : 0;
				}
			}
			for (size_t j = 0; j < D; j++) { /* sums of 200 terms near 1 */
				UNIT_NEAR(ctx.k->isa, "dgamma", j, d->dgamma[j], 1 + dgamma[j], 1e-4);
				UNIT_NEAR(ctx.k->isa, "dbeta", j, d->dbeta[j], 1 + dbeta[j], 1e-4);
			}
		}
	free(d);
}

static void threads_change_nothing(void **state)
{
	(void)state;
	struct data *one = open_data(), *more = open_data();
	size_t isas;
	const struct n2d_isa *isa = n2d_isa_all(&isas);
	for (size_t s = 0; s < isas; s++)
		for (int threads = 1; threads <= 3 && isa[s].k && isa[s].supported; threads++) {
			struct n2d_ctx ctx;
			assert_int_equal(n2d_ctx_init(&ctx, isa[s].name, threads), 0);
			run(&ctx, shape, threads == 1 ? one : more);
			if (threads > 1)
				assert_memory_equal(one, more, sizeof *one);
			n2d_ctx_free(&ctx);
		}
	free(one);
	free(more);
}

/* ---- the fused operator: in struct fused every choice of what is given and of which arrays are one */

struct fused {
	enum n2d_norm_kind kind;
	int residual, dropout, dy2, skip, keep;
	int y_at, t_at, dx_at, dr_at; /* 0: an array of its own; forward: 1 x, 2 r, 3 (t only) y; backward: 1 dy, 2 dy2, 3 skip */
};

enum { SIZE = ROWS * D };

struct buffers {
	float x[SIZE], r[SIZE], dy[SIZE], dy2[SIZE], skip[SIZE];
	float y[SIZE], t[SIZE], dx[SIZE], dr[SIZE], mean[ROWS], rstd[ROWS], gamma[D], beta[D], dgamma[D], dbeta[D];
};

static void fill(struct buffers *b)
{
	struct n2d_rng rng;
	memset(b, 0, sizeof *b);
	n2d_rng_init(&rng, 4, 0);
	float *a[] = {b->x, b->r, b->dy, b->dy2, b->skip};
	for (size_t i = 0; i < 5; i++)
		n2d_rng_fill_normal(&rng, a[i], SIZE, 0.5, 1);
	n2d_rng_fill_normal(&rng, b->gamma, D, 1, 0.5);
	n2d_rng_fill_normal(&rng, b->beta, D, 0, 1);
}

static const struct n2d_dropout drop = {{5, 6}, {7, 8}, 0.3f};

/* One operator after the other, each array its own; no norm: mean, rstd, dgamma, dbeta stay 0. */
static void apart(const struct n2d_ctx *ctx, const struct fused *f, struct buffers *b)
{
	struct n2d_norm n = {f->kind, ROWS, D, 1e-5f, NULL};
	struct n2d_norm_grads g = {.dx = b->dx, .dgamma = b->dgamma, .dbeta = b->dbeta, .add = 1, .dy = b->dy};
	const struct n2d_dropout none = {{0, 0}, {0, 0}, 0}, *p = f->dropout ? &drop : &none;
	float *ws = malloc(n2d_norm_bwd_workspace(&n) * sizeof *ws);
	memcpy(b->t, b->x, sizeof b->t);
	n2d_dropout(ctx, b->y, b->r, p, ROWS, D);
	if (f->residual)
		ctx->k->add(b->t, b->t, b->y, SIZE);
	if (f->kind == N2D_NORM_NONE)
		memcpy(b->y, b->t, sizeof b->y);
	else
		n2d_norm_fwd(ctx, &n, b->y, NULL, b->mean, b->rstd, b->t, NULL, b->gamma, b->beta);
	if (f->dy2)
		ctx->k->add(b->dy, b->dy, b->dy2, SIZE);
	if (f->kind == N2D_NORM_NONE)
		memcpy(b->dx, b->dy, sizeof b->dx);
	else
		n2d_norm_bwd(ctx, &n, &g, b->t, b->gamma, b->mean, b->rstd, ws);
	if (f->skip)
		ctx->k->add(b->dx, b->dx, b->skip, SIZE);
	n2d_dropout(ctx, b->dr, b->dx, p, ROWS, D);
	free(ws);
}

static void together(const struct n2d_ctx *ctx, const struct fused *f, struct buffers *b, const struct buffers *want)
{
	struct n2d_norm n = {f->kind, ROWS, D, 1e-5f, f->dropout ? &drop : NULL};
	float *ws = malloc(n2d_norm_bwd_workspace(&n) * sizeof *ws);
	float *y = (float *[]){b->y, b->x, b->r}[f->y_at], *t = f->keep ? (float *[]){b->t, b->x, b->r, y}[f->t_at] : NULL;
	n2d_norm_fwd(ctx, &n, y, t, b->mean, b->rstd, b->x, f->residual ? b->r : NULL, b->gamma, b->beta);
	assert_memory_equal(b->mean, want->mean, sizeof b->mean);
	assert_memory_equal(b->rstd, want->rstd, sizeof b->rstd);
	assert_memory_equal(y, want->y, sizeof b->y);
	if (t && t != y && f->residual && f->kind != N2D_NORM_NONE)
		assert_memory_equal(t, want->t, sizeof b->t);
	struct n2d_norm_grads g = {.dgamma = b->dgamma, .dbeta = b->dbeta, .add = 1, .dy = b->dy, .dy2 = f->dy2 ? b->dy2 : NULL,
				   .skip = f->skip ? b->skip : NULL};
	g.dx = (float *[]){b->dx, b->dy, b->dy2, b->skip}[f->dx_at];
	g.dr = f->dropout ? (float *[]){b->dr, b->dy, b->dy2, b->skip}[f->dr_at] : NULL;
	n2d_norm_bwd(ctx, &n, &g, f->kind == N2D_NORM_NONE ? NULL : want->t, b->gamma, b->mean, b->rstd, ws);
	assert_memory_equal(g.dx, want->dx, sizeof b->dx);
	assert_memory_equal(g.dr ? g.dr : g.dx, want->dr, sizeof b->dr);
	assert_memory_equal(b->dgamma, want->dgamma, sizeof b->dgamma);
	assert_memory_equal(b->dbeta, want->dbeta, sizeof b->dbeta);
	free(ws);
}

static void fused_is_one_after_the_other(void **state)
{
	(void)state;
	static const struct fused f[] = {
		{.kind = N2D_LAYERNORM, .residual = 1, .dropout = 1, .dy2 = 1, .keep = 1},
		{.kind = N2D_LAYERNORM, .residual = 1, .dropout = 1, .dy2 = 1, .skip = 1, .y_at = 2, .dx_at = 2, .dr_at = 1},
		{.kind = N2D_LAYERNORM, .residual = 1, .dropout = 1, .skip = 1, .keep = 1, .t_at = 1, .dx_at = 3, .dr_at = 1},
		{.kind = N2D_LAYERNORM, .residual = 1, .dy2 = 1, .keep = 1, .y_at = 1, .t_at = 2, .dx_at = 1},
		{.kind = N2D_LAYERNORM, .residual = 1, .skip = 1, .keep = 1, .y_at = 2, .t_at = 1, .dx_at = 3},
		{.kind = N2D_LAYERNORM, .residual = 1, .skip = 1, .keep = 1, .t_at = 3, .dx_at = 1},
		{.kind = N2D_LAYERNORM, .y_at = 1, .dy2 = 1, .skip = 1, .dx_at = 3},
		{.kind = N2D_RMSNORM, .residual = 1, .dropout = 1, .dy2 = 1, .keep = 1, .t_at = 2, .dx_at = 2, .dr_at = 1},
		{.kind = N2D_RMSNORM, .residual = 1, .dropout = 1, .dy2 = 1, .skip = 1, .keep = 1, .t_at = 3, .dx_at = 1, .dr_at = 3},
		{.kind = N2D_RMSNORM, .residual = 1, .skip = 1, .y_at = 1, .dx_at = 3},
		{.kind = N2D_NORM_NONE, .residual = 1, .dropout = 1, .dy2 = 1, .keep = 1, .y_at = 2, .t_at = 3, .dx_at = 2, .dr_at = 1},
		{.kind = N2D_NORM_NONE, .residual = 1, .dropout = 1, .skip = 1, .keep = 1, .t_at = 3, .dx_at = 3, .dr_at = 1},
		{.kind = N2D_NORM_NONE, .residual = 1, .y_at = 1, .dx_at = 1},
		{.kind = N2D_NORM_NONE, .y_at = 1, .dy2 = 1, .skip = 1, .dx_at = 3},
		{.kind = N2D_NORM_NONE},
	};
	struct buffers *want = malloc(sizeof *want), *got = malloc(sizeof *got);
	struct n2d_ctx ctx;
	for (size_t i = 0; i < sizeof f / sizeof *f; i++)
		UNIT_EACH_ISA(ctx, 2)
		{
			fill(want);
			fill(got);
			apart(&ctx, &f[i], want);
			together(&ctx, &f[i], got, want);
		}
	free(want);
	free(got);
}

/* Rows by the formula in double with the biased variance and eps (1e-5, 1e-6) inside the root; the last is constant. */
static void golden(void **state)
{
	(void)state;
	static const float x[18] = {0.1942692747600222f, 1.2654885468310357f, 0.5498544239640888f, -0.9189666961926118f, -0.12135115883912695f, -0.13844059750646148f, -0.2995109074783795f, -0.10821024201981266f, -0.7039578452997012f, 0.47746768252867594f, -1.0101220673795817f, -1.4327469547965888f, 4, 4, 4, 4, 4, 4};
	static const float gamma[6] = {1.1746030974319968f, 2.6055292043733296f, 0.579845270998065f, 0.6831349552700321f, 0.7952243535996076f, -0.7197872354836858f};
	static const float beta[6] = {1.2231343375304884f, 0.5829426563712918f, -0.46837497481968177f, -0.139654480162876f, 0.3707256714089075f, 1.2011479469740902f};
	static const double y[2][18] = {
		{1.3207394651731605, 4.956366960083662, -0.11311130813926507, -1.2155249195714075, 0.06299528843444135, 1.49800633616158, 1.626112989687475, 2.278404837390096, -0.6465821601530287, 0.9482899962932309, -0.2652107903012875, 2.2659576410939275, 1.2231343375304884, 0.5829426563712918, -0.46837497481968177, -0.139654480162876, 0.3707256714089075, 1.2011479469740902},
		{1.3207404394563338, 4.956410615102734, -0.11310776193814953, -1.21553565878656, 0.06299221670510413, 1.498009299367924, 1.6261176795097947, 2.2784245689970577, -0.6465842341091323, 0.948302657674326, -0.26521819126160134, 2.2659700332349075, 1.2231343375304884, 0.5829426563712918, -0.46837497481968177, -0.139654480162876, 0.3707256714089075, 1.2011479469740902},
	};
	static const float eps[2] = {1e-5f, 1e-6f};
	struct n2d_ctx ctx;
	for (size_t e = 0; e < 2; e++)
		UNIT_EACH_ISA(ctx, 1)
		{
			struct n2d_norm n = {N2D_LAYERNORM, 3, 6, eps[e], NULL};
			float got[18], mean[3], rstd[3];
			n2d_norm_fwd(&ctx, &n, got, NULL, mean, rstd, x, NULL, gamma, beta);
			for (size_t i = 0; i < 18; i++) /* inputs and a dozen operations rounded to 6e-8 of values up to 5 */
				UNIT_NEAR(ctx.k->isa, "y", 18 * e + i, got[i], y[e][i], 3e-6);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(gradients), cmocka_unit_test(threads_change_nothing),
					   cmocka_unit_test(fused_is_one_after_the_other)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
