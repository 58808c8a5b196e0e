/* Operators on independent elements and rows: activations, dropout, cross entropy, Adam, embedding, positions. Their kernels have
 * problems of their own; here are golden values, gradients by central differences, padding, and threads. */
#include "config.h"

#include "op/activation.h"
#include "op/adam.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/loss.h"
#include "op/position.h"
#include "tests/unit.h"

enum { ROWS = 301, D = 257, N = ROWS * D, V = 7 }; /* N: two whole chunks and a part */

static float *normal(size_t n, uint64_t seed)
{
	float *x = malloc(n * sizeof *x);
	struct n2d_rng rng;
	n2d_rng_init(&rng, seed, 0);
	n2d_rng_fill_normal(&rng, x, n, 0, 1);
	return x;
}

static void check_gelu_gradient(const struct n2d_ctx *ctx, const float *x, const float *dy, const float *dx)
{
	const double h = 1e-4; /* truncation near 1e-8; floats near 1e-7 */
	for (size_t i = 0; i < N; i += 13) {
		double a = x[i] + h, b = x[i] - h;
		double slope = (a * erfc(-a * M_SQRT1_2) - b * erfc(-b * M_SQRT1_2)) / (4 * h);
		UNIT_NEAR(ctx->k->isa, "dx", i, dx[i], slope * dy[i], 3e-6 * (1 + fabs(dy[i])));
	}
}

/* Everything once into out[6][N]: what 1, 2 and 3 threads must agree on. */
static void all_operators(const struct n2d_ctx *ctx, float *out, const float *x, const float *dy)
{
	struct n2d_dropout drop = {{1, 2}, {3, 4}, 0.3f};
	struct n2d_adam adam = {1e-3, 0.9, 0.98, 1e-9, 1, 5};
	struct n2d_loss_sum sum = {0, 0, 0};
	int32_t id[ROWS];
	float row[2 * ROWS];
	for (int i = 0; i < ROWS; i++)
		id[i] = i % 5 == 4 ? -1 : i * 7 % 50;
	n2d_relu_fwd(ctx, out, x, ROWS, D);
	n2d_gelu_fwd(ctx, out + N, x, ROWS, D);
	n2d_gelu_bwd(ctx, out + 2 * N, dy, x, ROWS, D);
	n2d_dropout(ctx, out + 3 * N, x, &drop, ROWS, D);
	memcpy(out + 4 * N, x, N * sizeof *x);
	n2d_embed_bwd_acc(ctx, out + 4 * N, dy, id, 2, ROWS, D);
	memcpy(out + 5 * N, x, N * sizeof *x);
	memset(out + 6 * N, 0, 2 * N * sizeof *x);
	n2d_adam(ctx, &adam, out + 5 * N, out + 6 * N, out + 7 * N, dy, N);
	n2d_xent(ctx, &sum, out + 8 * N, row, row + ROWS, x, id, 0.1f, 1, ROWS, D, D);
	out[9 * N] = (float)sum.loss;
}

static void threads_change_nothing(void **state)
{
	(void)state;
	size_t isas, floats = 9 * N + 1;
	const struct n2d_isa *isa = n2d_isa_all(&isas);
	float *x = normal(N, 1), *dy = normal(N, 2), *one = calloc(floats, sizeof *one), *more = calloc(floats, sizeof *more);
	for (size_t s = 0; s < isas; s++)
		for (int threads = 1; threads <= 3 && isa[s].k && isa[s].supported; threads++) {
			struct n2d_ctx ctx;
			assert_int_equal(n2d_ctx_init(&ctx, isa[s].name, threads), 0);
			all_operators(&ctx, threads == 1 ? one : more, x, dy);
			if (threads > 1)
				assert_memory_equal(one, more, floats * sizeof *one);
			else
				check_gelu_gradient(&ctx, x, dy, one + 2 * N);
			n2d_ctx_free(&ctx);
		}
	free(x), free(dy), free(one), free(more);
}

/* The share of dropped elements is p to five standard deviations, the same mask serves backward, p = 0 copies. */
static void dropout(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	float *x = normal(N, 1), *y = malloc(N * sizeof *y), *dx = malloc(N * sizeof *dx);
	UNIT_EACH_ISA(ctx, 2)
	{
		struct n2d_dropout d = {{9, 9}, {0, 1}, 0.1f};
		size_t dropped = 0;
		n2d_dropout(&ctx, y, x, &d, ROWS, D);
		n2d_dropout(&ctx, dx, y, &d, ROWS, D);
		for (size_t i = 0; i < N; i++) {
			dropped += y[i] == 0;
			UNIT_NEAR(ctx.k->isa, "dx", i, dx[i], y[i] / 0.9, 3e-7 * fabs(y[i]));
		}
		UNIT_NEAR(ctx.k->isa, "dropped", 0, (double)dropped / N, 0.1, 5 * sqrt(0.1 * 0.9 / N));
		d.p = 0;
		n2d_dropout(&ctx, y, x, &d, ROWS, D);
		assert_memory_equal(x, y, N * sizeof *x);
		d.stream[0]++; /* another step: another mask */
		d.p = 0.5f;
		n2d_dropout(&ctx, y, x, &d, ROWS, D);
		d.stream[0]++;
		n2d_dropout(&ctx, dx, x, &d, ROWS, D);
		assert_memory_not_equal(y, dx, N * sizeof *y);
	}
	free(x), free(y), free(dx);
}

/* One row in double, every term as the definition has it. */
static double smoothed(const double *z, int32_t target, double eps)
{
	double top = z[0], s = 0, loss = 0;
	for (int i = 1; i < V; i++)
		top = fmax(top, z[i]);
	for (int i = 0; i < V; i++)
		s += exp(z[i] - top);
	for (int i = 0; i < V; i++)
		loss -= ((i == target ? 1 - eps : 0) + eps / V) * (z[i] - top - log(s));
	return loss;
}

static void loss_and_padding(void **state)
{
	(void)state;
	static const int32_t target[6] = {3, -1, 6, 1, -1, 0};
	float z[6 * V], dz[6 * V], loss[6], nll[6];
	struct n2d_rng rng;
	struct n2d_ctx ctx;
	n2d_rng_init(&rng, 5, 0);
	n2d_rng_fill_normal(&rng, z, 6 * V, 0, 2);
	z[1 * V] = NAN; /* padding is never looked at */
	UNIT_EACH_ISA(ctx, 2)
	{
		struct n2d_loss_sum sum = {0, 0, 0};
		double want = 0, want_nll = 0;
		n2d_xent(&ctx, &sum, dz, loss, nll, z, target, 0.1f, 0.5f, 6, V, V);
		for (int i = 0; i < 6; i++) {
			double t[V];
			for (int j = 0; j < V; j++)
				t[j] = z[i * V + j];
			want += target[i] < 0 ? 0 : smoothed(t, target[i], 0.1f);
			want_nll += target[i] < 0 ? 0 : smoothed(t, target[i], 0);
			for (int j = 0; j < V; j++) {
				double at = t[j], h = 1e-4, up, down;
				if (target[i] < 0) {
					assert_true(dz[i * V + j] == 0 && !signbit(dz[i * V + j]));
					continue;
				}
				t[j] = at + h, up = smoothed(t, target[i], 0.1f);
				t[j] = at - h, down = smoothed(t, target[i], 0.1f);
				t[j] = at;
				UNIT_NEAR(ctx.k->isa, "dz", i * V + j, dz[i * V + j], 0.5 * (up - down) / (2 * h), 1e-6);
			}
		}
		assert_int_equal(sum.tokens, 4);
		UNIT_NEAR(ctx.k->isa, "loss", 0, sum.loss, want, 1e-5);
		UNIT_NEAR(ctx.k->isa, "nll", 0, sum.nll, want_nll, 1e-5);
	}
}

/* Logits whose exponentials overflow: the losses are differences of logits, exactly. */
static void extreme_logits(void **state)
{
	(void)state;
	static const float z[3][3] = {{-431, 279, 427}, {-1047, -981, 1891}, {0, 378.1f, 0}};
	static const double want[3] = {858, 2938, 378.1};
	static const int32_t target[3] = {0, 0, 0};
	float dz[9], loss[3], nll[3];
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
	{
		struct n2d_loss_sum sum = {0, 0, 0};
		n2d_xent(&ctx, &sum, dz, loss, nll, z[0], target, 0, 1, 3, 3, 3);
		for (int i = 0; i < 3; i++) {
			int top = i == 2 ? 1 : 2;
			UNIT_NEAR(ctx.k->isa, "loss", i, loss[i], want[i], 4e-5);
			for (int j = 0; j < 3; j++)
				UNIT_NEAR(ctx.k->isa, "dz", 3 * i + j, dz[3 * i + j], (j == top) - (j == 0), 0);
		}
	}
}

/* Three steps from (1, -2, 3) with gradients (0.1 t, 0, -1e-12), by the paper's formulas in double: the second never moves, and eps decides
 * the third. */
static void adam_golden(void **state)
{
	(void)state;
	static const double want[3][3] = {{0.99900000001, -2, 3.000000999000999}, {0.9980375851545954, -2, 3.0000019980019976}, {0.9970847982386536, -2, 3.0000029970029964}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
	{
		float w[3] = {1, -2, 3}, m[3] = {0}, v[3] = {0};
		for (uint64_t t = 1; t <= 3; t++) {
			struct n2d_adam a = {1e-3, 0.9, 0.98, 1e-9, 1, t};
			float g[3] = {0.1f * (float)t, 0, -1e-12f};
			n2d_adam(&ctx, &a, w, m, v, g, 3);
			for (size_t i = 0; i < 3; i++) /* t roundings of w */
				UNIT_NEAR(ctx.k->isa, "w", i, w[i], want[t - 1][i], (double)t * 0x1p-24 * fabs(want[t - 1][i]) + 1e-9);
		}
	}
}

/* Repeated and padded ids; the position of row i is i % T. */
static void embedding(void **state)
{
	(void)state;
	static const int32_t id[6] = {4, 0, 4, 2, 4, -1};
	float *table = normal(5 * D, 1), *dy = normal(6 * D, 2), *pos = normal(3 * D, 3), y[5 * D], d[5 * D];
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2)
	{
		n2d_embed_fwd(&ctx, y, table, id, pos, 3, 5, 3, D);
		memset(d, 0, sizeof d);
		n2d_embed_bwd_acc(&ctx, d, dy, id, 3, 6, D);
		for (int i = 0; i < 5 * D; i++) {
			int row = i / D, col = i % D;
			double sum = 0;
			UNIT_NEAR(ctx.k->isa, "y", i, y[i], 3.0 * table[id[row] * D + col] + pos[row % 3 * D + col], 1e-6);
			for (int r = 0; r < 6; r++)
				sum += id[r] == row ? 3.0 * dy[r * D + col] : 0;
			UNIT_NEAR(ctx.k->isa, "dtable", i, d[i], sum, 3e-6);
		}
	}
	free(table), free(dy), free(pos);
}

/* By the paper's formula in double; cos shares the exponent of its sine, and an odd width ends with a sine. */
static void positions(void **state)
{
	(void)state;
	static const double want4[4] = {-0.9879664387667768, 0.15466840618074712, -0.26237485370392877, 0.9649660284921133};
	static const double want5[5] = {-0.9879664387667768, 0.15466840618074712, -0.06932890943593063, 0.9975938563946876, -0.013193686002997189};
	float a[2 * 4], b[5];
	n2d_position_sinusoidal(a, 4999, 2, 4);
	n2d_position_sinusoidal(b, 5000, 1, 5);
	for (size_t i = 0; i < 4; i++)
		UNIT_NEAR("double", "pe of width 4 at 5000", i, a[4 + i], want4[i], 0x1p-25);
	for (size_t i = 0; i < 5; i++)
		UNIT_NEAR("double", "pe of width 5 at 5000", i, b[i], want5[i], 0x1p-25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_change_nothing), cmocka_unit_test(dropout), cmocka_unit_test(loss_and_padding),
		cmocka_unit_test(extreme_logits), cmocka_unit_test(adam_golden), cmocka_unit_test(embedding), cmocka_unit_test(positions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
