/* The matrix product: every form, against sums in double; and that neither threads nor neighbours nor
 * packing change a bit. Bound as in tests/problem/gemm.c: gamma_(K+4) of the sum of absolute values. */
#include "config.h"

#include "base/size.h"
#include "op/gemm.h"
#include "tests/unit.h"

static double gamma_n(double n) { return n * 0x1p-24 / (1 - n * 0x1p-24); }

/* Operands of one call, with strides wider than the matrices and NaN between rows. */
struct data {
	struct n2d_gemm g;
	float *A, *B, *C, *C0, *bias, *R;
	size_t floats_c;
};

static float *filled(struct n2d_rng *rng, size_t n)
{
	float *p = malloc(n * sizeof *p + !n); /* no room behind it: sanitizers see what is read there */
	assert_non_null(p);
	n2d_rng_fill_normal(rng, p, n, 0, 1);
	return p;
}

/* rows x width matrices `between` floats apart; the gaps of each row become NaN. */
static float *matrices(struct n2d_rng *rng, size_t batch, size_t between, size_t rows, size_t width, size_t stride)
{
	float *p = filled(rng, batch * between);
	for (size_t b = 0; b < batch; b++)
		for (size_t i = 0; i < rows; i++)
			for (size_t j = width; j < stride; j++)
				p[b * between + i * stride + j] = NAN;
	return p;
}

static struct n2d_gemm shape(int ta, int tb, size_t M, size_t N, size_t K, size_t pad, size_t batch)
{
	struct n2d_gemm g = n2d_gemm_plain(ta, tb, M, N, K);
	g.lda += pad;
	g.ldb += 2 * pad;
	g.ldc += pad;
	g.ldr = N + 3 * pad;
	g.batch = batch;
	g.sa = (ta ? K : M) * g.lda + pad;
	g.sb = (tb ? N : K) * g.ldb;
	g.sc = M * (g.ldc > g.ldr ? g.ldc : g.ldr);
	return g;
}

static void data_open(struct data *d, const struct n2d_gemm *g, int bias, int residual)
{
	struct n2d_rng rng;
	n2d_rng_init(&rng, g->M * 131 + g->N * 17 + g->K, 1);
	d->g = *g;
	d->A = matrices(&rng, g->batch, g->sa, g->ta ? g->K : g->M, g->ta ? g->M : g->K, g->lda);
	d->B = matrices(&rng, g->batch, g->sb, g->tb ? g->N : g->K, g->tb ? g->K : g->N, g->ldb);
	d->floats_c = g->batch * g->sc;
	d->C0 = matrices(&rng, g->batch, g->sc, g->M, g->N, g->ldc);
	for (size_t i = 0; g->beta == 0 && i < d->floats_c; i++)
		d->C0[i] = NAN; /* must not be read */
	d->R = matrices(&rng, g->batch, g->sc, g->M, g->N, g->ldr);
	d->bias = filled(&rng, g->N);
	d->C = filled(&rng, d->floats_c);
	d->g.bias = bias ? d->bias : NULL;
	d->g.residual = residual ? d->R : NULL;
}

static void data_close(struct data *d)
{
	free(d->A), free(d->B), free(d->C), free(d->C0), free(d->bias), free(d->R);
}

static void check_element(const char *isa, const struct data *d, size_t b, size_t i, size_t j)
{
	const struct n2d_gemm *g = &d->g;
	double sum = 0, abs = 0;
	for (size_t k = 0; k < g->K; k++) {
		double t = (double)g->alpha * d->A[b * g->sa + (g->ta ? k * g->lda + i : i * g->lda + k)] *
			   d->B[b * g->sb + (g->tb ? j * g->ldb + k : k * g->ldb + j)];
		sum += t;
		abs += fabs(t);
	}
	double add[3] = {g->beta == 0 ? 0 : (double)g->beta * d->C0[b * g->sc + i * g->ldc + j], g->bias ? g->bias[j] : 0,
			 g->residual ? g->residual[b * g->sc + i * g->ldr + j] : 0};
	sum += add[0] + add[1];
	if (g->relu)
		sum = fmax(sum, 0);
	UNIT_NEAR(isa, "C", b * g->sc + i * g->ldc + j, d->C[b * g->sc + i * g->ldc + j], sum + add[2],
		  gamma_n((double)g->K + 4) * (abs + fabs(add[0]) + fabs(add[1]) + fabs(add[2])));
}

/* Every element while they are few, else some 2000 with all edges among them. */
static void check_all(const char *isa, const struct data *d)
{
	const struct n2d_gemm *g = &d->g;
	size_t step = g->batch * g->M * g->N * (g->K + 1) > 4000000 ? 1 + g->M * g->N / 2000 : 1;
	for (size_t b = 0; b < g->batch; b++)
		for (size_t e = 0; e < g->M * g->N; e += step)
			check_element(isa, d, b, e / g->N, e % g->N);
	for (size_t i = 0; step > 1 && i < g->M; i++)
		check_element(isa, d, g->batch - 1, i, g->N - 1);
	for (size_t j = 0; step > 1 && j < g->N; j++)
		check_element(isa, d, g->batch - 1, g->M - 1, j);
	for (size_t b = 0; b < g->batch; b++) /* between the rows nothing was written */
		for (size_t i = 0; i + 1 < g->M; i++)
			assert_memory_equal(d->C + b * g->sc + i * g->ldc + g->N, d->C0 + b * g->sc + i * g->ldc + g->N,
					    (g->ldc - g->N) * sizeof(float));
}

static void reset(struct data *d) { memcpy(d->C, d->C0, d->floats_c * sizeof(float)); }

/* Past the caches the same is written, aligned or not. */
static void check_past(const struct n2d_ctx *ctx, const struct data *d, const float *packed)
{
	struct n2d_ctx past = *ctx;
	size_t n = n2d_round_up(d->g.N, ctx->k->nr) * d->g.K;
	float *again = aligned_alloc(N2D_ALIGN, n2d_packed_floats(ctx, d->g.K, d->g.N) * sizeof(float) + N2D_ALIGN);
	assert_non_null(again);
	past.past_caches = 1;
	for (size_t i = 0; i < 2; i++) {
		memset(again, 0xff, (n + i) * sizeof(float));
		n2d_pack(&past, again + i, d->g.tb, d->g.K, d->g.N, d->B, d->g.ldb);
		assert_memory_equal(again + i, packed, n * sizeof(float));
	}
	free(again);
}

/* Plain and packed; packed must give the same bits. */
static void check_product(const struct n2d_ctx *ctx, const struct n2d_gemm *g, int bias, int residual)
{
	struct data d;
	data_open(&d, g, bias, residual);
	reset(&d);
	n2d_gemm(ctx, &d.g, d.C, d.A, d.B);
	check_all(ctx->k->isa, &d);
	if (g->batch == 1) {
		size_t n = n2d_packed_floats(ctx, g->K, g->N);
		float *packed = aligned_alloc(N2D_ALIGN, n * sizeof(float) + N2D_ALIGN), *C = d.C;
		d.C = malloc(d.floats_c * sizeof(float) + 1);
		assert_true(packed && d.C);
		n2d_pack(ctx, packed, g->tb, g->K, g->N, d.B, g->ldb);
		check_past(ctx, &d, packed);
		reset(&d);
		n2d_gemm_packed(ctx, &d.g, d.C, d.A, packed);
		assert_memory_equal(C, d.C, d.floats_c * sizeof(float));
		free(C);
		free(packed);
	}
	data_close(&d);
}

static void all_forms(void **state)
{
	(void)state;
	static const size_t sizes[][3] = {
		{0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {1, 1, 1}, {1, 37, 70}, {2, 33, 5}, {5, 1, 9}, {13, 31, 17}, {14, 32, 16}, {15, 33, 65},
		{16, 100, 31}, {27, 64, 3}, {28, 65, 40}, {29, 15, 2}, {57, 47, 19},
	};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2)
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (int form = 0; form < 32; form++) {
			struct n2d_gemm g = shape(form & 1, form >> 1 & 1, sizes[s][0], sizes[s][1], sizes[s][2], s % 3, 1 + s % 2 * 4);
			static const float alpha[] = {1, 1, -0.5f, 0}, beta[] = {0, 1, 2.5f, 0};
			g.alpha = alpha[(form + s) % 4];
			g.beta = beta[(form / 4 + s) % 4];
			g.relu = form % 3 == 0;
			check_product(&ctx, &g, form % 2, form % 5 < 2);
		}
}

/* Several blocks of rows, columns and k. The contexts' caches are made small so that all are cut. */
static void blocks(void **state)
{
	(void)state;
	/* The last is cut by rows, of which there are fewer tiles than threads. */
	static const size_t sizes[][3] = {{150, 130, 700}, {1, 300, 1100}, {40, 700, 513}, {150, 100, 700}, {160, 3500, 20}, {12, 17, 3000}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 3) {
		ctx.cache.l2 = 64 << 10;
		ctx.pack_floats = 64 << 10;
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (int form = 0; form < 4; form++) {
				struct n2d_gemm g = shape(form & 1, form >> 1, sizes[s][0], sizes[s][1], sizes[s][2], form, 1);
				g.beta = form == 1 ? 1 : form == 2 ? 0.5f : 0;
				check_product(&ctx, &g, 1, form % 2);
			}
	}
}

/* Operands read where they lie: both, B alone with A packed, A alone (what shares cache sets is packed). k is cut. */
static void in_place(void **state)
{
	(void)state;
	static const size_t sizes[][3] = {{30, 64, 1000}, {29, 96, 530}, {200, 64, 700}, {47, 33, 2600}, {20, 64, 1024}, {9, 512, 300}};
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2) {
		ctx.cache.l2 = 256 << 10;
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (int form = 0; form < 4; form++) {
				struct n2d_gemm g = shape(form & 1, form >> 1, sizes[s][0], sizes[s][1], sizes[s][2], s == 4 ? 0 : form, 1);
				g.beta = form == 1 ? 1 : 0;
				g.alpha = s == 1 ? -2 : 1;
				check_product(&ctx, &g, form % 2, 0);
			}
	}
}

/* C of M rows in one call, against each row alone: other tiles, other threads, other blocks. */
static void same_bits(void **state)
{
	(void)state;
	static const size_t sizes[][3] = {{61, 70, 300}, {200, 96, 40}, {9, 515, 130}};
	struct n2d_ctx one, many;
	for (int threads = 1; threads <= 3; threads++) {
		size_t row = 0;
		UNIT_EACH_ISA(one, 1) {
			assert_int_equal(n2d_ctx_init(&many, one.k->isa, threads), 0);
			many.cache.l2 = threads == 2 ? 64 << 10 : many.cache.l2; /* other blocks */
			struct n2d_gemm g = shape(0, row % 2, sizes[row % 3][0], sizes[row % 3][1], sizes[row % 3][2], 1, 1);
			struct data d;
			data_open(&d, &g, 1, 1);
			d.g.relu = 1;
			n2d_gemm(&many, &d.g, d.C, d.A, d.B);
			for (size_t i = 0; i < g.M; i++) {
				struct n2d_gemm r = d.g;
				float *c = calloc(g.N, sizeof *c);
				r.M = 1 + (i % 7 == 3 && i + 1 < g.M);
				r.ldc = r.M == 1 ? g.N : g.ldc;
				c = realloc(c, r.M * r.ldc * sizeof *c);
				r.residual += i * g.ldr;
				n2d_gemm(&one, &r, c, d.A + i * g.lda, d.B);
				assert_memory_equal(c, d.C + i * g.ldc, g.N * sizeof *c);
				free(c);
			}
			data_close(&d);
			n2d_ctx_free(&many);
			row++;
		}
	}
}

/* k in parts: the first's chain from beta * C, the others' from 0, added in order, whatever the threads. */
static void parts(void **state)
{
	(void)state;
	static const size_t sizes[][4] = {{30, 64, 1000, 2}, {1, 37, 70, 3}, {128, 33, 600, 4}, {5, 5, 3, 8}, {15, 40, 0, 2}};
	for (size_t k = 4000; k < 4600; k++) /* three parts would keep two threads waiting */
		assert_int_equal(n2d_gemm_parts(128, 128, k), 4);
	assert_int_equal(n2d_gemm_parts(1, 65536, 100000), 8);
	assert_int_equal(n2d_gemm_parts(257, 256, 4512), 1);
	assert_int_equal(n2d_gemm_parts(128, 128, 1023), 1);
	struct n2d_ctx ctx;
	for (int threads = 1; threads <= 5; threads += 2)
		UNIT_EACH_ISA(ctx, threads)
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (int form = 0; form < 4; form++) {
			struct n2d_gemm g = shape(form & 1, form >> 1, sizes[s][0], sizes[s][1], sizes[s][2], s % 3, 1 + s % 2 * 4);
			struct data d;
			g.beta = form == 1 ? 1 : form == 2 ? 0.5f : 0;
			g.parts = sizes[s][3];
			data_open(&d, &g, 0, 0);
			reset(&d);
			n2d_gemm(&ctx, &d.g, d.C, d.A, d.B);
			check_all(ctx.k->isa, &d);
			float *part = calloc(g.M * g.N, sizeof *part), *sum = calloc(g.M * g.N, sizeof *sum);
			for (size_t i = 0, k = 0; i < g.parts; i++) {
				struct n2d_gemm one = g;
				one.batch = one.parts = 1;
				one.K = g.K / g.parts + (i < g.K % g.parts);
				one.ldc = g.N;
				one.beta = i ? 0 : g.beta;
				for (size_t r = 0; r < g.M; r++)
					memcpy(part + r * g.N, d.C0 + r * g.ldc, g.N * sizeof *part);
				n2d_gemm(&ctx, &one, part, d.A + k * (g.ta ? g.lda : 1), d.B + k * (g.tb ? 1 : g.ldb));
				for (size_t e = 0; e < g.M * g.N; e++)
					sum[e] = i ? sum[e] + part[e] : part[e];
				k += one.K;
			}
			for (size_t r = 0; r < g.M; r++)
				assert_memory_equal(sum + r * g.N, d.C + r * g.ldc, g.N * sizeof *sum);
			free(part);
			free(sum);
			data_close(&d);
		}
}

/* residual == C adds C once more. */
static void in_place_residual(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 1) {
		struct n2d_gemm g = shape(0, 0, 33, 40, 50, 0, 1);
		struct data d;
		g.beta = 1;
		data_open(&d, &g, 0, 0);
		d.g.beta = 0;
		d.g.residual = d.C;
		d.g.ldr = g.ldc;
		reset(&d);
		n2d_gemm(&ctx, &d.g, d.C, d.A, d.B);
		d.g.residual = NULL;
		d.g.beta = 1;
		check_all(ctx.k->isa, &d);
		data_close(&d);
	}
}

/* NaN in a row of A stays in that row of C, through ReLU too. */
static void nan_stays_in_its_row(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	UNIT_EACH_ISA(ctx, 2) {
		struct n2d_gemm g = shape(0, 0, 31, 50, 20, 0, 1);
		struct data d;
		data_open(&d, &g, 0, 0);
		d.g.relu = 1;
		d.A[17 * g.lda + 3] = NAN;
		n2d_gemm(&ctx, &d.g, d.C, d.A, d.B);
		for (size_t i = 0; i < g.M; i++)
			for (size_t j = 0; j < g.N; j++)
				assert_int_equal(isnan(d.C[i * g.ldc + j]) != 0, i == 17);
		data_close(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms),
		cmocka_unit_test(blocks),
		cmocka_unit_test(in_place),
		cmocka_unit_test(same_bits),
		cmocka_unit_test(parts),
		cmocka_unit_test(in_place_residual),
		cmocka_unit_test(nan_stays_in_its_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
