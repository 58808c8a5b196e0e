/* Operators on independent elements and rows: activations, dropout, cross entropy, Adam, embedding, positions. Their kernels have
 * problems of their own; here are golden values, gradients by central differences, padding, and threads. */
#include "config.h"

#include "op/activation.h"
#include "op/adam.h"
#include "op/dropout.h"
#include "op/embed.h"
#include "op/loss.h"
#include "op/pointwise.h"
#include "op/position.h"
#include "op/rotary.h"
#include "op/square_sum.h"
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

/* Everything once into out[13][N] and a float: what 1, 2 and 3 threads must agree on. */
static void all_operators(const struct n2d_ctx *ctx, float *out, const float *x, const float *dy)
{
	struct n2d_dropout drop = {{1, 2}, {3, 4}, 0.3f};
	struct n2d_adam adam = {1e-3, 0.9, 0.98, 1e-9, 1, 5};
	struct n2d_loss_sum sum = {0};
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
	n2d_adam(ctx, &adam, &(struct n2d_adam_arrays){out + 5 * N, out + 6 * N, out + 7 * N, dy, NULL, N});
	n2d_xent(ctx, &sum, out + 8 * N, row, row + ROWS, x, id, 0.1f, 1, ROWS, D, D);
	n2d_swiglu_fwd(ctx, out + 9 * N, x, ROWS / 2, D); /* rows of 2 D */
	n2d_swiglu_bwd(ctx, out + 10 * N, dy, x, ROWS / 2, D);
	memcpy(out + 11 * N, x, N * sizeof *x);
	n2d_rotary_table(out + 12 * N, 3, ROWS, 2);
	n2d_rotary(ctx, &(struct n2d_rotary){ROWS, ROWS, D / 3, 2, 3, D, NULL, 0}, out + 11 * N, out + 12 * N);
	out[13 * N] = (float)sum.loss;
}

static void threads_change_nothing(void **state)
{
	(void)state;
	size_t isas, floats = 13 * N + 1;
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

/* A pair keeps its length, a turn back undoes a turn, the product of a query and a key depends on their distance alone, and columns
 * that are not turned stay. Each within 8 roundings: cos, sin, two products and a sum, twice. */
static void rotary(void **state)
{
	(void)state;
	enum { T = 40, HEADS = 2, HEAD = 7, K = 6, ROW = 17 };
	const double bound = 8 * 0x1p-24;
	struct n2d_ctx ctx;
	float *q = normal(ROW, 3), *k = normal(ROW, 4), *x = malloc(2 * T * ROW * sizeof *x), *y = x + T * ROW, table[T * K];
	UNIT_EACH_ISA(ctx, 2)
	{
		struct n2d_rotary r = {T, T, HEADS, K, HEAD, ROW, NULL, 0};
		for (int t = 0; t < T; t++)
			memcpy(x + t * ROW, q, ROW * sizeof *x), memcpy(y + t * ROW, k, ROW * sizeof *y);
		n2d_rotary_table(table, 1000, T, K);
		n2d_rotary(&ctx, &r, x, table);
		n2d_rotary(&ctx, &r, y, table);
		for (int t = 0; t < T; t++) {
			const float *a = x + t * ROW, *b = y + (T - 1 - t) * ROW; /* the distance is T - 1 - 2t */
			for (int i = 0; i < ROW; i++)
				if (i % HEAD == K || i >= HEADS * HEAD)
					assert_true(a[i] == q[i]);
			for (int h = 0; h < HEADS * HEAD; h += HEAD)
				for (int i = h; i < h + K; i += 2) {
					double rate = pow(10000, -(double)(i - h) / K), s = sin((T - 1 - 2 * t) * rate), c = cos((T - 1 - 2 * t) * rate);
					double dot = (double)a[i] * b[i] + (double)a[i + 1] * b[i + 1];
					double a0 = q[i], a1 = q[i + 1], b0 = k[i], b1 = k[i + 1];
					double want = c * (a0 * b0 + a1 * b1) + s * (a1 * b0 - a0 * b1);
					double size = hypot(a0, a1) * hypot(b0, b1);
					UNIT_NEAR(ctx.k->isa, "product", i, dot, want, 2 * bound * size);
				}
		}
		r.back = 1;
		n2d_rotary(&ctx, &r, x, table);
		for (int i = 0; i < T * ROW; i++)
			UNIT_NEAR(ctx.k->isa, "turned back", i, x[i], q[i % ROW], bound * 4); /* no pair here is longer */
	}
	free(q), free(k), free(x);
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
		struct n2d_loss_sum sum = {0};
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

/* Numbers computed apart, in double: eps = 0.1 over all V entries, two padded rows; then nothing but padding. A probability is off by the
 * rounding of its logits, |z| <= 4 here, and a few operations: 16 u. A row's loss adds V terms of up to 8. */
static void loss_golden(void **state)
{
	(void)state;
	static const float z[5][V] = {
		{-0.09393389298126219f, -1.236816383272874f, -1.7513836198796038f, -2.4964237194391736f, 0.18612716219425718f, -0.9026648769921477f, -0.5946562327212995f},
		{-1.7831008607292531f, -0.8111610577086024f, 0.5081542316358288f, 0.889846081488917f, -0.4524448158596358f, -0.022110326150831174f, -1.6015852650367086f},
		{-0.6425297092728098f, 2.8426396392097266f, -2.811415407527075f, 3.503086533522933f, 3.5628628399938385f, -1.3253813119835347f, -1.623857621506356f},
		{-3.233460706286695f, -0.08587271402826731f, 2.3474397218373415f, 0.18251380375121043f, -0.22013106221024073f, -2.047559229642682f, -0.6327403725728162f},
		{1.0274043771456853f, -1.6323589925432982f, -1.5902126555787162f, -0.2875531393851084f, 3.0485491541079455f, 2.0659475012189095f, -4.0227747629946045f},
	};
	static const double want[5][V] = {
		{0.23730296801399414, 0.06594553256611373, 0.03367325381065704, -0.891518860099773, 0.31861909665290733, 0.09777766042465275, 0.1382003486314479},
		{0, 0, 0, 0, 0, 0, 0},
		{-0.008218698730842253, 0.1836685788482394, -0.013592224581492203, 0.36888593360548344, 0.3924889420087411, -0.011220813465342636, -0.9120117176847868},
		{-0.01148568389785717, -0.8491014390690023, 0.7285914432980078, 0.0709657063152987, 0.04270907878383204, -0.005119432330768038, 0.023440326900488844},
		{0, 0, 0, 0, 0, 0, 0},
	};
	static const int32_t target[5] = {3, -1, 6, 1, -1}, padding[5] = {-1, -1, -1, -1, -1};
	const double u = 0x1p-24;
	float dz[5 * V], loss[5], nll[5];
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
	{
		struct n2d_loss_sum sum = {0}, none = {0};
		n2d_xent(&ctx, &sum, dz, loss, nll, z[0], target, 0.1f, 1, 5, V, V);
		assert_int_equal(sum.tokens, 3);
		UNIT_NEAR(ctx.k->isa, "loss", 0, sum.loss, 12.279646942241047, 3 * (V + 8) * 8 * u);
		UNIT_NEAR(ctx.k->isa, "nll", 0, sum.nll, 12.599202959741177, 3 * (V + 8) * 8 * u);
		for (size_t i = 0; i < 5 * V; i++)
			UNIT_NEAR(ctx.k->isa, "dz", i, dz[i], want[i / V][i % V], target[i / V] < 0 ? 0 : 16 * u);
		n2d_xent(&ctx, &none, dz, loss, nll, z[0], padding, 0.1f, 1, 5, V, V);
		assert_true(none.tokens == 0 && none.loss == 0 && none.nll == 0);
		for (size_t i = 0; i < 5 * V; i++)
			assert_true(dz[i] == 0);
	}
}

/* Rows of scores whose exponentials overflow, whose weights are 0 or denormal. The scores' own rounding to float, u |x| each, weighs
 * most: 2 * 89 u, and as much again for their difference; flushed denormals are off by the smallest normal number. */
static void softmax_golden(void **state)
{
	(void)state;
	static const float x[3][4] = {{10000, -10000, 0, 10000}, {-INFINITY, 0, 1, -INFINITY}, {88.8f, 88.9f, -200, 0}};
	static const double want[3][4] = {{0.5, 0, 0, 0.5}, {0, 0.2689414213699951, 0.7310585786300049, 0}, {0.47502081252105793, 0.5249791874789421, 1.788406602424716e-126, 1.292297919586316e-39}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1)
		for (size_t i = 0; i < 3; i++) {
			float y[4];
			ctx.k->softmax_fwd(y, x[i], 1, 0, 4, 4);
			for (size_t j = 0; j < 4; j++)
				UNIT_NEAR(ctx.k->isa, "softmax", 4 * i + j, y[j], want[i][j], want[i][j] * 4 * 89 * 0x1p-24 + 0x1p-126);
			ctx.k->softmax_fwd(y, x[i], 1, 2, 2, 4); /* nothing is seen */
			for (size_t j = 0; j < 4; j++)
				assert_true(y[j] == 0);
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
		struct n2d_loss_sum sum = {0};
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
			n2d_adam(&ctx, &a, &(struct n2d_adam_arrays){w, m, v, g, NULL, 3});
			for (size_t i = 0; i < 3; i++) /* t roundings of w */
				UNIT_NEAR(ctx.k->isa, "w", i, w[i], want[t - 1][i], (double)t * 0x1p-24 * fabs(want[t - 1][i]) + 1e-9);
		}
	}
}

static double sum_of(const float *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* Against a sum in double, at most N2D_CHUNK squares of which are summed in float, so within as many roundings; Adam tells the same bits, with any number of
 * threads. More chunks than are kept at a time: squares of 1, which float counts exactly. */
static void squares(void **state)
{
	(void)state;
	enum { CHUNKS = 258, MANY = (CHUNKS - 1) * N2D_CHUNK + 5 };
	const struct n2d_adam a = {1e-3, 0.9, 0.98, 1e-9, 0.5, 1};
	struct n2d_ctx ctx;
	float *g = normal(N, 3), *zeros = calloc(3 * (size_t)MANY, sizeof *zeros), *ones = malloc(MANY * sizeof *ones), alone[CHUNKS];
	double want = 0, sum;
	for (size_t i = 0; i < N; i++)
		want += (double)g[i] * g[i];
	for (int threads = 1; threads <= 3; threads++)
		UNIT_EACH_ISA(ctx, threads)
		{
			sum = n2d_square_sum(&ctx, g, N);
			UNIT_NEAR(ctx.k->isa, "squares", 0, sum, want, want * N2D_CHUNK * 0x1p-24);
			n2d_adam(&ctx, &a, &(struct n2d_adam_arrays){zeros, zeros + N, zeros + 2 * N, g, alone, N});
			assert_true(sum_of(alone, n2d_chunks(N, N2D_CHUNK)) == sum);
		}
	for (size_t i = 0; i < MANY; i++)
		ones[i] = i % 2 ? 1 : -1;
	assert_int_equal(n2d_ctx_init(&ctx, NULL, 2), 0);
	assert_true(n2d_square_sum(&ctx, ones, MANY) == MANY);
	n2d_adam(&ctx, &a, &(struct n2d_adam_arrays){zeros, zeros + MANY, zeros + 2 * (size_t)MANY, ones, alone, MANY});
	assert_true(sum_of(alone, CHUNKS) == MANY && zeros[MANY - 1] != 0);
	n2d_ctx_free(&ctx);
	free(g);
	free(zeros);
	free(ones);
}

/* Repeated and padded ids, and repeated positions. */
static void embedding(void **state)
{
	(void)state;
	static const int32_t id[6] = {4, 0, 4, 2, 4, -1}, at[5] = {0, 1, 2, 0, 1};
	float *table = normal(5 * D, 1), *dy = normal(6 * D, 2), *pos = normal(3 * D, 3), y[5 * D], d[5 * D];
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2)
	{
		n2d_embed_fwd(&ctx, y, table, id, pos, at, 3, 5, D);
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

/* By the paper's formula in double; cos shares the exponent of its sine, an odd width ends with a sine, and position 5000 is as exact
 * as the first: half an ulp of a value up to 1, and the 1e-11 of the contract. */
static void positions(void **state)
{
	(void)state;
	static const struct {
		size_t width, at;
		double want[8];
	} golden[] = {
		{4, 0, {0, 1, 0, 1}},
		{4, 1, {0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653}},
		{4, 2, {0.9092974268256817, -0.4161468365471424, 0.01999866669333308, 0.9998000066665778}},
		{4, 49, {-0.9537526527594719, 0.3005925437436371, 0.470625888171158, 0.8823328586101215}},
		{4, 511, {0.8817704007607503, -0.4716788741741842, -0.9219886775482162, 0.3872168365049372}},
		{4, 5000, {-0.9879664387667768, 0.15466840618074712, -0.26237485370392877, 0.9649660284921133}},
		{5, 0, {0, 1, 0, 1, 0}},
		{5, 1, {0.8414709848078965, 0.5403023058681398, 0.025116222909773774, 0.9996845379152098, 0.0006309573026154199}},
		{5, 2, {0.9092974268256817, -0.4161468365471424, 0.050216599387465206, 0.9987383506934931, 0.0012619143540422218}},
		{5, 49, {-0.9537526527594719, 0.3005925437436371, 0.942764011015436, 0.33346067164522825, 0.030911984766140464}},
		{5, 511, {0.8817704007607503, -0.4716788741741842, 0.2661232930206715, 0.9639389985428714, 0.3168620310684212}},
		{5, 5000, {-0.9879664387667768, 0.15466840618074712, -0.06932890943593063, 0.9975938563946876, -0.013193686002997189}},
		{8, 0, {0, 1, 0, 1, 0, 1, 0, 1}},
		{8, 1, {0.8414709848078965, 0.5403023058681398, 0.09983341664682815, 0.9950041652780258, 0.009999833334166664, 0.9999500004166653, 0.0009999998333333417, 0.9999995000000417}},
		{8, 2, {0.9092974268256817, -0.4161468365471424, 0.19866933079506122, 0.9800665778412416, 0.01999866669333308, 0.9998000066665778, 0.0019999986666669333, 0.9999980000006666}},
		{8, 49, {-0.9537526527594719, 0.3005925437436371, -0.9824526126243325, 0.18651236942257576, 0.470625888171158, 0.8823328586101215, 0.04898039418715918, 0.9987997401808185}},
		{8, 511, {0.8817704007607503, -0.4716788741741842, 0.7409726108017196, 0.6715352485474484, -0.9219886775482162, 0.3872168365049372, 0.48904974715649274, 0.8722558941080137}},
		{8, 5000, {-0.9879664387667768, 0.15466840618074712, -0.46777180532247614, -0.883849273431478, -0.26237485370392877, 0.9649660284921133, -0.9589242746631385, 0.28366218546322625}},
	};
	for (size_t g = 0; g < sizeof golden / sizeof *golden; g++) {
		size_t width = golden[g].width, at = golden[g].at;
		float got[2 * 8]; /* the second row of a table; position 0 alone */
		n2d_position_sinusoidal(got, at ? at - 1 : 0, at ? 2 : 1, width);
		for (size_t i = 0; i < width; i++)
			UNIT_NEAR("double", "pe", g * 8 + i, got[(at ? width : 0) + i], golden[g].want[i], 0x1p-25 + 1e-11);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_change_nothing), cmocka_unit_test(dropout), cmocka_unit_test(loss_and_padding),
		cmocka_unit_test(loss_golden), cmocka_unit_test(softmax_golden), cmocka_unit_test(rotary),
		cmocka_unit_test(extreme_logits), cmocka_unit_test(adam_golden), cmocka_unit_test(squares), cmocka_unit_test(embedding), cmocka_unit_test(positions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
