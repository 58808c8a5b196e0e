/* Attention weights of a sentence pair: each against the definition in double, from the layer's own input and parameters; and what is
 * drawn of them. */
#define _GNU_SOURCE
#include "config.h"

#include <math.h>

#include "base/rng.h"
#include "decode/maps.h"
#include "decode/maps_draw.h"
#include "model/stack.h"
#include "tests/scratch.h"
#include "tests/unit.h"
#include "tests/small_model.h"

static struct n2d_ctx ctx;

enum { S = 9, T = 7, D = 12, LONGEST = 9 };
static int32_t src[S] = {4, 9, 5, 5, 13, 20, 22, 6, N2D_ID_END}, trg[T] = {7, 7, 12, 21, 4, 17, N2D_ID_END};

/* ---- the definition, with a bound on an evaluation in float (u = 2^-24, gamma_n = n u / (1 - n u)) beside every number */

#define U32 0x1p-24
static double gamma_n(double n) { return n * U32 / (1 - n * U32); }

struct number {
	double v, e;
};

/* A row of block 0 (q) or 1 (k) of a head: D products and the bias, so gamma_(D + 1) of the sum of magnitudes. */
static void project(struct number *y, const struct n2d_layer *l, int block, size_t h, const float *x)
{
	size_t d_k = l->c.d_k, rows = 2 * l->c.H * d_k + l->c.H * l->c.d_v, first = ((size_t)block * l->c.H + h) * d_k;
	for (size_t k = 0; k < d_k; k++) {
		const float *w = l->params + (first + k) * D;
		double sum = (double)l->params[rows * D + first + k], abs = fabs(sum);
		for (size_t i = 0; i < D; i++) {
			sum += (double)w[i] * (double)x[i];
			abs += fabs((double)w[i] * (double)x[i]);
		}
		y[k] = (struct number){sum, gamma_n(D + 1) * abs};
	}
}

/* Two products and a sum, of a cosine and a sine rounded once: gamma_3 of the magnitudes. */
static void turn(struct number *y, const struct n2d_layer *l, size_t t)
{
	for (size_t i = 0; l->c.rotary && i < l->c.d_k; i += 2) {
		double angle = (double)t * pow(10000, -(double)i / (double)l->c.d_k), c = cos(angle), s = sin(angle);
		struct number a = y[i], b = y[i + 1];
		double ac = fabs(a.v * c), as = fabs(a.v * s), bc = fabs(b.v * c), bs = fabs(b.v * s);
		y[i] = (struct number){a.v * c - b.v * s, (a.e * fabs(c) + b.e * fabs(s)) * 1.01 + gamma_n(3) * (ac + bs)};
		y[i + 1] = (struct number){a.v * s + b.v * c, (a.e * fabs(s) + b.e * fabs(c)) * 1.01 + gamma_n(3) * (as + bc)};
	}
}

/* d_k products of q and k, each off by its operands' errors, and the scale. */
static struct number score(const struct n2d_layer *l, const struct number *q, const struct number *k)
{
	double sum = 0, e = 0, scale = 1 / sqrt((double)l->c.d_k);
	for (size_t i = 0; i < l->c.d_k; i++) {
		double t = fabs(q[i].v * k[i].v), spread = fabs(q[i].v) * k[i].e + fabs(k[i].v) * q[i].e + q[i].e * k[i].e;
		sum += q[i].v * k[i].v;
		e += spread + gamma_n((double)l->c.d_k + 3) * (t + spread);
	}
	return (struct number){scale * sum, scale * e};
}

static int visible(const struct n2d_layer *l, size_t i, size_t j)
{
	size_t far = i > j ? i - j : j - i;
	return (!l->c.causal || j <= i) && (!l->c.R || far <= l->c.R);
}

/* One row. Scores off by at most e and within D of the maximum: exp(s - max) is off by expm1(2 e + (3.5 D + 7) u) relatively (both scores;
 * roundings of the difference, of its scaling and of exp), their sum by gamma_(n + 3) more; the weight by both. */
static void check_row(const struct n2d_layer *l, const float *P, const struct number *q, struct number (*k)[D], size_t i, size_t n, const char *what)
{
	struct number s[LONGEST];
	double max = -INFINITY, least = INFINITY, e = 0, sum = 0, total = 0;
	for (size_t j = 0; j < n; j++) {
		s[j] = score(l, q, k[j]);
		if (!visible(l, i, j))
			continue;
		max = fmax(max, s[j].v);
		least = fmin(least, s[j].v);
		e = fmax(e, s[j].e);
	}
	for (size_t j = 0; j < n; j++)
		sum += visible(l, i, j) ? exp(s[j].v - max) : 0;
	double E = expm1(2 * e + (3.5 * (max - least) + 7) * U32), g = gamma_n((double)n + 3);
	for (size_t j = 0; j < n; j++) {
		double want = visible(l, i, j) ? exp(s[j].v - max) / sum : 0;
		UNIT_NEAR(what, "weight", j, (double)P[j], want, want * (2 * E + g) * 1.01);
		total += (double)P[j];
	}
	UNIT_NEAR(what, "sum of weights", i, total, 1, gamma_n((double)n + 3));
}

/* x, memory: the inputs that queries and keys are made of. */
static void check_map(const struct n2d_attention_map *m, const struct n2d_layer *l, const float *x, const float *memory, const char *what)
{
	for (size_t h = 0; h < m->H; h++) {
		struct number q[D], k[LONGEST][D];
		for (size_t j = 0; j < m->Tk; j++) {
			project(k[j], l, 1, h, memory + j * D);
			turn(k[j], l, j);
		}
		for (size_t i = 0; i < m->Tq; i++) {
			project(q, l, 0, h, x + i * D);
			turn(q, l, i);
			check_row(l, m->P + (h * m->Tq + i) * m->Tk, q, k, i, m->Tk, what);
		}
	}
}

/* The model's own pass, for the inputs of its sublayers. */
static void pass_forward(struct n2d_pass *p, const struct n2d_transformer *m, const int32_t *in)
{
	static const int32_t src_len = S, trg_len = T;
	const struct n2d_shape shape = {1, S, T};
	const struct n2d_batch b = {1, S, T, src, in, trg, &src_len, &trg_len, S, T};
	struct n2d_pass_need need = {0};
	n2d_pass_need_add(&need, &ctx, m, &shape, 1, 1);
	if (n2d_pass_init(p, m, &need, 1) || n2d_pass_shape(p, &ctx, m, 1, S, T))
		fail_msg("%s", n2d_error_text());
	n2d_transformer_forward(&ctx, m, p, &b, NULL);
}

/* All maps of a model; `kinds`: how many of the three kinds it has. */
static void check_model(const char *options, size_t kinds)
{
	struct n2d_transformer m;
	struct n2d_maps maps;
	struct n2d_pass p;
	small_model_init(&m, &ctx, "", options, 0.5);
	if (n2d_maps_make(&maps, &ctx, &m, src, S, trg, T))
		fail_msg("%s: %s", options, n2d_error_text());
	assert_int_equal(maps.n, kinds * 2);
	assert_int_equal(maps.in[0], N2D_ID_BEGIN);
	assert_memory_equal(maps.in + 1, trg, (T - 1) * sizeof *trg);
	pass_forward(&p, &m, maps.in);
	for (size_t i = 0; i < maps.n; i++) {
		const struct n2d_attention_map *map = &maps.map[i];
		int encoder = map->kind == N2D_MAP_ENCODER;
		size_t at = encoder ? 2 * map->layer : 3 * map->layer + (map->kind == N2D_MAP_CROSS);
		const struct n2d_stack *stack = encoder ? &m.encoder : &m.decoder;
		const float *x = (encoder ? &p.source : &p.target)->nodes[at].y;
		char what[320];
		snprintf(what, sizeof what, "%s, %s, kind %d layer %zu", ctx.k->isa, options, map->kind, map->layer);
		assert_int_equal(map->layers, 2);
		assert_int_equal(map->Tq, encoder ? S : T);
		assert_int_equal(map->Tk, map->kind == N2D_MAP_DECODER ? T : S);
		check_map(map, &stack->sublayers[at].layer, x, map->kind == N2D_MAP_CROSS ? p.source.out : x, what);
	}
	n2d_pass_free(&p);
	n2d_maps_free(&maps);
	n2d_transformer_free(&m);
}

static void test_weights(void **state)
{
	(void)state;
	UNIT_EACH_ISA(ctx, 2)
	{
		check_model("", 3);
		check_model("norm=pre norm-kind=rms activation=gelu", 3);
		check_model("positions=rotary", 3);
		check_model("window=2", 3);
		check_model("d-k=5 d-v=2", 3);
		check_model("d-k=2 d-v=6 positions=learned", 3);
		check_model("mixer=lstm", 1);
		check_model("mixer=conv", 1);
	}
}

/* ---- what is drawn */

static char *text_of(const char *path)
{
	FILE *f = fopen(path, "rb");
	static char text[1 << 20];
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = 0;
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *draw(void (*how)(struct n2d_out *, const struct n2d_map_view *), const struct n2d_map_view *v)
{
	struct n2d_out out;
	const char *path = scratch_path("drawn");
	assert_int_equal(n2d_out_open(&out, path), 0);
	how(&out, v);
	if (n2d_out_commit(&out))
		fail_msg("%s", n2d_error_text());
	return text_of(path);
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Two heads, two queries, three keys. */
static const float P[] = {0.5f, 0.25f, 0.25f, 0, 0, 1, /* head 1 */ 0.005f, 0.995f, 0, 0.125f, 0.125f, 0.75f};
static const char *const source[] = {"<a>", "b&\"c\"", "d\1\357\277\276e"},
			 *const target[] = {"<s>", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
static const struct n2d_attention_map cross = {N2D_MAP_CROSS, 3, 6, 2, 2, 3, P};
static const struct n2d_attention_map *const one[] = {&cross, &cross};

static void test_pictures(void **state)
{
	(void)state;
	static void (*const how[])(struct n2d_out *, const struct n2d_map_view *) = {n2d_maps_lines, n2d_maps_heat};
	static const char *const mark[] = {"<line ", "fill-opacity"};
	for (int i = 0; i < 2; i++) {
		const unsigned char both[] = {1, 1}, second[] = {0, 1};
		struct n2d_map_view v = {one, 1, source, target, both, NULL};
		const char *s = draw(how[i], &v);
		assert_int_equal(times(s, mark[i]), 8); /* weights of 0.01 and more */
		assert_int_equal(times(s, "opacity=\"0.500\""), 1);
		assert_non_null(strstr(s, "Decoder attention over the source, layer 4 of 6<"));
		assert_non_null(strstr(s, ">&lt;a&gt;<"));
		assert_non_null(strstr(s, ">b&amp;&quot;c&quot;<"));
		assert_non_null(strstr(s, ">d\xef\xbf\xbd\xef\xbf\xbd" "e<")); /* what XML cannot hold */
		assert_non_null(strstr(s, ">aaaaaaaaaaaaaaaaaaaaaaaa\xe2\x80\xa6<"));
		assert_non_null(strstr(s, "head 2: &lt;s&gt; → b&amp;&quot;c&quot; 0.995<"));
		assert_int_equal(times(s, "<text") - times(s, "</text"), 0);
		v.head = second;
		assert_int_equal(times(draw(how[i], &v), mark[i]), 4);
		v.word = "<s>";
		assert_int_equal(n2d_map_queries(&v, &cross), 1);
		assert_int_equal(times(draw(how[i], &v), mark[i]), 1);
		v.n = 2;
		assert_int_equal(times(draw(how[i], &v), mark[i]), 2);
	}
}

static void test_table(void **state)
{
	(void)state;
	const unsigned char second[] = {0, 1};
	struct n2d_map_view v = {one, 1, source, target, second, "<s>"};
	assert_string_equal(draw(n2d_maps_csv, &v), "schema,kind,layer,head,query,key,query_token,key_token,weight\n"
						    "attention/1,cross,4,2,1,1,\"<s>\",\"<a>\",0.00499999989\n"
						    "attention/1,cross,4,2,1,2,\"<s>\",\"b&\"\"c\"\"\",0.995000005\n"
						    "attention/1,cross,4,2,1,3,\"<s>\",\"d\1\xef\xbf\xbe" "e\",0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
