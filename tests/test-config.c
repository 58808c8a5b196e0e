/* Configurations: options and their texts, the paper's Table 3, names and shapes as PyTorch's, initial values, model files. */
#include "config.h"

#include <unistd.h>

#include "base/size.h"
#include "model/model_file.h"
#include "model/parameters.h"
#include "tests/unit.h"

/* A configuration from "preset name=value name=value". */
static struct n2d_config make(const char *text)
{
	char copy[256], *rest;
	struct n2d_config c = {0};
	snprintf(copy, sizeof copy, "%s", text);
	if (n2d_config_preset(&c, strtok_r(copy, " ", &rest)))
		fail_msg("%s", n2d_error_text());
	for (char *word; (word = strtok_r(NULL, " ", &rest));) {
		char *value = strchr(word, '=');
		*value++ = 0;
		if (n2d_config_set(&c, word, value))
			fail_msg("%s", n2d_error_text());
	}
	return c;
}

static struct n2d_parameters parameters(const char *text)
{
	struct n2d_config c = make(text);
	struct n2d_parameters p;
	if (n2d_parameters_list(&p, &c))
		fail_msg("%s: %s", text, n2d_error_text());
	return p;
}

static size_t count(const char *text)
{
	struct n2d_parameters p = parameters(text);
	size_t n = p.count;
	n2d_parameters_free(&p);
	return n;
}

/* In the paper, in tenths of a million, and exactly where it has been counted by hand. */
static void counts_are_the_papers(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t tenths;
	} table3[] = {
		{"base", 651},
		{"base d-k=16", 580}, {"base d-k=32", 604},
		{"base heads=1", 651}, {"base heads=32", 651}, {"base heads=4 d-k=128", 651},
		{"base layers=2", 357}, {"base layers=4", 504}, {"base layers=8", 798},
		{"base d-model=256", 279}, {"base d-model=1024", 1680},
		{"base d-ff=1024", 525}, {"base d-ff=4096", 903},
	};
	for (size_t i = 0; i < sizeof table3 / sizeof *table3; i++) {
		char text[128];
		snprintf(text, sizeof text, "%s vocab=41000", table3[i].text);
		size_t n = count(text);
		if ((n + 50000) / 100000 != table3[i].tenths)
			fail_msg("%s: %zu, should be %zu.%zu million", text, n, table3[i].tenths / 10, table3[i].tenths % 10);
	}
	/* V D + 6 (4 (D D + D) + 2 D F + F + D + 4 D) + 6 (8 (D D + D) + 2 D F + F + D + 6 D) */
	assert_int_equal(count("base vocab=41000"), 65130496);
	assert_int_equal(count("tiny vocab=9712"), 2568192);
}

static void options_change_the_counts(void **state)
{
	(void)state;
	const size_t V = 1000, D = 128, F = 256, base = count("tiny vocab=1000");
	static const struct {
		const char *with;
		long more;
	} change[] = {
		{"tied=output", 1000 * 128}, {"tied=none", 2 * 1000 * 128}, {"output-bias=yes", 1000},
		{"norm=pre", 4 * 128}, {"norm=pre final-norm=no", 0}, {"final-norm=yes", 4 * 128},
		{"norm-kind=none", -20 * 2 * 128}, {"norm-kind=none norm=pre", -20 * 2 * 128}, {"residual=no", 0},
		{"ffn=no", -8 * (2 * 128 * 256 + 256 + 128 + 2 * 128)},
		{"norm-kind=rms", -20 * 128}, {"positions=learned max-length=50", 2 * 50 * 128}, {"positions=none", 0},
		{"positions=rotary", 0}, {"activation=gelu", 0}, {"activation=swiglu", 8 * (256 * 128 + 256)}, {"window=5", 0},
		{"dropout=0", 0}, {"smoothing=0.2", 0},
		{"mixer=lstm", 8 * (8 * 128 * 128 + 8 * 128 - 4 * 128 * 128 - 4 * 128)},
		{"mixer=conv", 8 * (3 * 128 * 128 + 128 - 4 * 128 * 128 - 4 * 128)},
		{"mixer=conv conv-width=5", 8 * (5 * 128 * 128 + 128 - 4 * 128 * 128 - 4 * 128)},
		{"enc-layers=0", -4 * (4 * (128 * 128 + 128) + 2 * 128 * 256 + 256 + 128 + 4 * 128)},
	};
	assert_int_equal(base, V * D + 4 * (4 * (D * D + D) + 2 * D * F + F + D + 4 * D) +
				       4 * (8 * (D * D + D) + 2 * D * F + F + D + 6 * D));
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		char text[128];
		snprintf(text, sizeof text, "tiny vocab=1000 %s", change[i].with);
		if (count(text) != base + (size_t)change[i].more)
			fail_msg("%s: %zu, should be %zu", text, count(text), base + (size_t)change[i].more);
	}
}

/* As torch.nn.Transformer(8, 2, 1, 1, 16).state_dict() has them. */
static void names_are_pytorchs(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t a, b;
	} want[] = {
		{"src_embed.weight", 11, 8},
		{"encoder.layers.0.self_attn.in_proj_weight", 24, 8}, {"encoder.layers.0.self_attn.in_proj_bias", 24, 0},
		{"encoder.layers.0.self_attn.out_proj.weight", 8, 8}, {"encoder.layers.0.self_attn.out_proj.bias", 8, 0},
		{"encoder.layers.0.linear1.weight", 16, 8}, {"encoder.layers.0.linear1.bias", 16, 0},
		{"encoder.layers.0.linear2.weight", 8, 16}, {"encoder.layers.0.linear2.bias", 8, 0},
		{"encoder.layers.0.norm1.weight", 8, 0}, {"encoder.layers.0.norm1.bias", 8, 0},
		{"encoder.layers.0.norm2.weight", 8, 0}, {"encoder.layers.0.norm2.bias", 8, 0},
		{"encoder.norm.weight", 8, 0}, {"encoder.norm.bias", 8, 0},
		{"decoder.layers.0.self_attn.in_proj_weight", 24, 8}, {"decoder.layers.0.self_attn.in_proj_bias", 24, 0},
		{"decoder.layers.0.self_attn.out_proj.weight", 8, 8}, {"decoder.layers.0.self_attn.out_proj.bias", 8, 0},
		{"decoder.layers.0.multihead_attn.in_proj_weight", 24, 8}, {"decoder.layers.0.multihead_attn.in_proj_bias", 24, 0},
		{"decoder.layers.0.multihead_attn.out_proj.weight", 8, 8}, {"decoder.layers.0.multihead_attn.out_proj.bias", 8, 0},
		{"decoder.layers.0.linear1.weight", 16, 8}, {"decoder.layers.0.linear1.bias", 16, 0},
		{"decoder.layers.0.linear2.weight", 8, 16}, {"decoder.layers.0.linear2.bias", 8, 0},
		{"decoder.layers.0.norm1.weight", 8, 0}, {"decoder.layers.0.norm1.bias", 8, 0},
		{"decoder.layers.0.norm2.weight", 8, 0}, {"decoder.layers.0.norm2.bias", 8, 0},
		{"decoder.layers.0.norm3.weight", 8, 0}, {"decoder.layers.0.norm3.bias", 8, 0},
		{"decoder.norm.weight", 8, 0}, {"decoder.norm.bias", 8, 0},
		{"generator.bias", 11, 0},
	};
	struct n2d_parameters p =
		parameters("base vocab=11 d-model=8 heads=2 d-ff=16 layers=1 final-norm=yes output-bias=yes");
	assert_int_equal(p.n, sizeof want / sizeof *want);
	for (size_t i = 0; i < p.n; i++) {
		assert_string_equal(p.list[i].name, want[i].name);
		assert_int_equal(p.list[i].shape[0], want[i].a);
		assert_int_equal(p.list[i].shape[1], want[i].b);
		assert_int_equal(p.list[i].dims, want[i].b ? 2 : 1);
		assert_ptr_equal(n2d_parameters_find(&p, want[i].name), &p.list[i]);
	}
	assert_null(n2d_parameters_find(&p, "encoder.layers.1.norm1.weight"));
	n2d_parameters_free(&p);
}

/* Layers take one pointer to their parameters: within a sublayer there are no gaps, and each starts on N2D_ALIGN. */
static void check_places(const char *text)
{
	struct n2d_parameters p = parameters(text);
	size_t end = 0, sum = 0, starts = 0;
	for (size_t i = 0; i < p.n; i++) {
		const struct n2d_parameter *t = &p.list[i];
		int first = !strstr(t->name, "bias") && !strstr(t->name, "out_proj") && !strstr(t->name, "linear2") &&
			    !strstr(t->name, "weight_hh");
		if (first)
			assert_int_equal(t->offset, n2d_round_up(end, N2D_ALIGN / sizeof(float)));
		else
			assert_int_equal(t->offset, end);
		starts += (size_t)first;
		end = t->offset + t->count;
		sum += t->count;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(t->name, p.list[k].name);
	}
	assert_int_equal(sum, p.count);
	assert_int_equal(p.floats, n2d_round_up(end, N2D_ALIGN / sizeof(float)));
	assert_int_equal(starts, 5 + 2 * 4 + 2 * 6);
	n2d_parameters_free(&p);
}

static void sublayers_lie_together(void **state)
{
	(void)state;
	check_places("base vocab=13 d-model=9 heads=3 d-ff=7 layers=2 positions=learned tied=none");
	check_places("base vocab=13 d-model=9 heads=3 d-ff=7 layers=2 positions=learned tied=none mixer=conv");
	check_places("base vocab=13 d-model=9 heads=3 d-ff=7 layers=2 positions=learned tied=none mixer=lstm");
}

static void options_read_back(void **state)
{
	(void)state;
	struct n2d_config c = make("big vocab=37000 d-k=48 dropout=0.30000000000000004 smoothing=1e-3 norm=pre norm-kind=rms "
				   "positions=rotary activation=swiglu tied=output output-bias=yes window=7 dec-layers=2 "
				   "residual=no ffn=no");
	struct n2d_config d = {0};
	assert_int_equal(n2d_config_preset(&d, "tiny"), 0);
	for (size_t i = 0; i < n2d_options.count; i++) {
		char text[N2D_OPTION_TEXT];
		if (n2d_options.list[i].kind != N2D_OPTION_BOTH)
			assert_int_equal(n2d_config_set(&d, n2d_options.list[i].name, n2d_option_get(&c, &n2d_options.list[i], text)), 0);
	}
	assert_memory_equal(&c, &d, sizeof c);
	assert_int_equal(c.norm, N2D_NORM_PRE);
	assert_int_equal(c.positions, N2D_POSITIONS_ROTARY);
	assert_int_equal(c.activation, N2D_ACTIVATION_SWIGLU);
	assert_int_equal(c.tied, N2D_TIED_OUTPUT);
	assert_int_equal(c.enc_layers, 6);
	assert_int_equal(c.dec_layers, 2);
	assert_true(c.dropout == 0.30000000000000004 && c.smoothing == 0.001);
	assert_int_equal(n2d_config_d_k(&c), 48);
	assert_int_equal(n2d_config_d_v(&c), 64);
	c = make("base vocab=5");
	assert_int_equal(n2d_config_preset(&c, "big"), 0);
	assert_int_equal(c.vocab, 5);
	assert_int_equal(c.d_model, 1024);
}

static void wrong_options_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value, *why;
	} wrong[] = {
		{"norm", "both", "norm: 'both' must be one of post|pre"}, {"norm", "", "norm: ''"}, {"norm", "pos", "'pos'"},
		{"norm", "post|pre", "post|pre"}, {"d-model", "0", "d-model: '0'"}, {"d-model", "-1", "'-1' must be a whole number"},
		{"d-model", "1e3", "'1e3'"}, {"d-model", " 1", "' 1'"}, {"d-model", "", "''"},
		{"d-model", "99999999999999999999", "from 1 to 1000000000"}, {"d-model", "auto", "'auto'"},
		{"d-k", "half", "auto or a whole number"}, {"layers", "10001", "layers: '10001'"},
		{"window", "0", "all or a whole number from 1"}, {"dec-layers", "0", "dec-layers"},
		{"dropout", "1", "dropout: '1' must be a number from 0 to below 1"}, {"dropout", "-0.1", "'-0.1'"},
		{"dropout", "nan", "'nan'"}, {"dropout", "0.1x", "'0.1x'"}, {"dropout", "", "''"}, {"depth", "3", "'depth' is no option"},
	};
	struct n2d_config c = make("base vocab=10"), before = c;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		if (!n2d_config_set(&c, wrong[i].name, wrong[i].value) || !strstr(n2d_error_text(), wrong[i].why))
			fail_msg("%s=%s: '%s' should say '%s'", wrong[i].name, wrong[i].value, n2d_error_text(), wrong[i].why);
		assert_memory_equal(&c, &before, sizeof c);
	}
	assert_int_equal(n2d_config_preset(&c, "huge"), -1);
	assert_non_null(strstr(n2d_error_text(), "base, big or tiny"));
}

static void what_does_not_go_together_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"base", "vocab"},
		{"base vocab=10 heads=7", "not a multiple of heads 7"},
		{"base vocab=10 heads=7 d-k=3", "not a multiple"},
		{"base vocab=10 mixer=lstm window=3", "window 3"},
		{"base vocab=10 mixer=conv positions=rotary", "rotary"},
		{"base vocab=10 d-k=3 positions=rotary", "even, not 3"},
		{"base vocab=10 mixer=conv conv-width=4", "odd, not 4"},
		{"base vocab=10 norm-kind=none final-norm=yes", "needs a norm"},
		{"base vocab=1000000000 d-model=1000000000 heads=1", "too many parameters"},
		{"base vocab=1000000000 d-model=1000000000 heads=1000000000 d-k=1000000000 d-v=1000000000 d-ff=1000000000 layers=10000",
		 "too many parameters"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct n2d_config c = make(wrong[i].text);
		struct n2d_parameters p;
		if (!n2d_parameters_list(&p, &c) || !strstr(n2d_error_text(), wrong[i].why))
			fail_msg("%s: '%s' should say '%s'", wrong[i].text, n2d_error_text(), wrong[i].why);
	}
	assert_int_equal(count("base vocab=10 heads=7 d-k=3 d-v=5 layers=1"),
			 10 * 512 + 3 * (7 * 11 * 513 + 512 * 35 + 512) + 2 * (2 * 512 * 2048 + 2560) + 5 * 1024);
}

/* ---- initial values */

static float *initial(const struct n2d_parameters *p, uint64_t seed)
{
	float *x = malloc(p->floats * sizeof *x);
	assert_non_null(x);
	memset(x, 0xff, p->floats * sizeof *x); /* NaN where nothing is written */
	n2d_parameters_init(p, x, seed);
	return x;
}

/* n values uniform in +-limit: bounds reached, mean and variance right (5 standard deviations). */
static void is_uniform(const char *what, const float *x, size_t n, double limit)
{
	double sum = 0, squares = 0, most = 0, variance = limit * limit / 3;
	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		squares += (double)x[i] * x[i];
		most = fmax(most, fabs(x[i]));
	}
	UNIT_NEAR(what, "mean", 0, sum / (double)n, 0, 5 * sqrt(variance / (double)n));
	UNIT_NEAR(what, "variance", 0, squares / (double)n, variance, 5 * variance * sqrt(0.8 / (double)n));
	UNIT_NEAR(what, "largest", 0, most, limit, limit * 20 / (double)n);
	assert_true(most <= limit * (1 + 1e-6));
}

/* n normal values: their variance is right (5 standard deviations). */
static void is_normal(const char *what, const float *x, size_t n, double variance)
{
	double squares = 0;
	for (size_t i = 0; i < n; i++)
		squares += (double)x[i] * x[i];
	UNIT_NEAR(what, "variance", 0, squares / (double)n, variance, 5 * variance * sqrt(2.0 / (double)n));
}

static const float *values_of(const struct n2d_parameters *p, const float *x, const char *name)
{
	const struct n2d_parameter *t = n2d_parameters_find(p, name);
	if (!t)
		fail_msg("no %s", name);
	return x + t->offset;
}

static void initial_values_are_documented(void **state)
{
	(void)state;
	const size_t D = 64, F = 96, V = 500, K = 24, H = 4;
	struct n2d_parameters p = parameters("base vocab=500 d-model=64 d-ff=96 heads=4 d-k=24 layers=1 activation=swiglu "
					     "positions=learned tied=none output-bias=yes");
	float *x = initial(&p, 1);
	const float *w = values_of(&p, x, "encoder.layers.0.self_attn.in_proj_weight");
	is_uniform("query", w, H * K * D, sqrt(6.0 / (D + 2 * H * K + D)));
	is_uniform("key", w + H * K * D, H * K * D, sqrt(6.0 / (D + 2 * H * K + D)));
	is_uniform("value", w + 2 * H * K * D, D * D, sqrt(6.0 / (D + 2 * H * K + D)));
	is_uniform("out_proj", values_of(&p, x, "decoder.layers.0.multihead_attn.out_proj.weight"), D * D, sqrt(6.0 / (D + D)));
	w = values_of(&p, x, "encoder.layers.0.linear1.weight");
	is_uniform("gate", w, F * D, sqrt(6.0 / (D + F)));
	is_uniform("linear1", w + F * D, F * D, sqrt(6.0 / (D + F)));
	is_uniform("linear2", values_of(&p, x, "encoder.layers.0.linear2.weight"), F * D, sqrt(6.0 / (D + F)));
	is_uniform("generator", values_of(&p, x, "generator.weight"), V * D, sqrt(6.0 / (D + V)));
	is_normal("embedding", values_of(&p, x, "tgt_embed.weight"), V * D, 1.0 / D);
	is_normal("positions", values_of(&p, x, "src_positions.weight"), 1024 * D, 0.5);
	size_t written = 0;
	for (size_t i = 0; i < p.n; i++)
		for (size_t k = 0; k < p.list[i].count; k++, written++)
			if (p.list[i].init == N2D_INIT_ZERO || p.list[i].init == N2D_INIT_ONE)
				assert_true(x[p.list[i].offset + k] == (p.list[i].init == N2D_INIT_ONE));
	double all = 0; /* gaps are 0, not what was there */
	for (size_t i = 0; i < p.floats; i++)
		all += x[i];
	assert_true(isfinite(all) && written == p.count);
	free(x);
	n2d_parameters_free(&p);
}

static void initial_values_follow_the_seed(void **state)
{
	(void)state;
	struct n2d_parameters p = parameters("tiny vocab=50 mixer=conv");
	float *x = initial(&p, 1), *y = initial(&p, 1), *z = initial(&p, 2);
	is_uniform("conv", values_of(&p, x, "encoder.layers.0.conv.weight"), 3 * 128 * 128, sqrt(6.0 / (6 * 128)));
	assert_memory_equal(x, y, p.floats * sizeof *x);
	assert_memory_not_equal(values_of(&p, x, "src_embed.weight"), values_of(&p, z, "src_embed.weight"), 64);
	assert_memory_not_equal(values_of(&p, x, "encoder.layers.0.linear1.weight"),
				values_of(&p, x, "encoder.layers.1.linear1.weight"), 64);
	free(x);
	free(y);
	free(z);
	n2d_parameters_free(&p);
}

/* ---- files */

#ifdef HAVE_MODEL_FILES
static void model_files_keep_everything(void **state)
{
	(void)state;
	char path[] = "test-config.XXXXXX";
	static const struct n2d_metadata more = {"step", "17"}, clash = {"norm", "pre"};
	struct n2d_config c = make("tiny vocab=30 layers=1 norm=pre mixer=conv dropout=0.25"), d;
	struct n2d_parameters p, q = parameters("tiny vocab=30 layers=1 mixer=conv");
	struct n2d_safetensors s;
	assert_int_equal(n2d_parameters_list(&p, &c), 0);
	float *x = initial(&p, 3), *y = malloc(p.floats * sizeof *y);
	assert_int_equal(close(mkstemp(path)), 0);
	assert_int_equal(n2d_model_save(path, &c, &p, x, &clash, 1), -1);
	if (n2d_model_save(path, &c, &p, x, &more, 1) || n2d_safetensors_open(&s, path) || n2d_model_config(&d, &s))
		fail_msg("%s", n2d_error_text());
	assert_memory_equal(&c, &d, sizeof c);
	assert_string_equal(n2d_safetensors_text(&s, "step"), "17");
	memset(y, 0xff, p.floats * sizeof *y);
	assert_int_equal(n2d_model_load(y, &p, &s), 0);
	assert_memory_equal(x, y, p.floats * sizeof *x);
	assert_int_equal(n2d_model_load(y, &q, &s), -1); /* without final norms */
	assert_non_null(strstr(n2d_error_text(), "'encoder.norm.weight' is no parameter"));
	n2d_parameters_free(&q);
	q = parameters("tiny vocab=30 layers=1 norm=pre mixer=conv output-bias=yes");
	assert_int_equal(n2d_model_load(x, &p, &s), 0);
	x = realloc(x, q.floats * sizeof *x);
	assert_int_equal(n2d_model_load(x, &q, &s), -1);
	assert_non_null(strstr(n2d_error_text(), "'generator.bias' is missing"));
	n2d_parameters_free(&q);
	q = parameters("tiny vocab=31 layers=1 norm=pre mixer=conv");
	x = realloc(x, q.floats * sizeof *x);
	assert_int_equal(n2d_model_load(x, &q, &s), -1);
	assert_non_null(strstr(n2d_error_text(), "'src_embed.weight' is F32 [30,128], the model needs F32 [31,128]"));
	n2d_safetensors_close(&s);
	static const struct n2d_metadata wrong[] = {{"vocab", "30"}, {"d-model", "much"}, {"heads", "8"}};
	assert_int_equal(n2d_safetensors_write(path, NULL, 0, wrong, 3), 0);
	assert_int_equal(n2d_safetensors_open(&s, path), 0);
	assert_int_equal(n2d_model_config(&d, &s), -1);
	assert_non_null(strstr(n2d_error_text(), "d-model: 'much'"));
	n2d_safetensors_close(&s);
	assert_int_equal(n2d_safetensors_write(path, NULL, 0, wrong, 1), 0);
	assert_int_equal(n2d_safetensors_open(&s, path), 0);
	assert_int_equal(n2d_model_config(&d, &s), -1);
	assert_non_null(strstr(n2d_error_text(), "no 'd-model'"));
	n2d_safetensors_close(&s);
	unlink(path);
	free(x);
	free(y);
	n2d_parameters_free(&p);
	n2d_parameters_free(&q);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_the_papers),
		cmocka_unit_test(options_change_the_counts),
		cmocka_unit_test(names_are_pytorchs),
		cmocka_unit_test(sublayers_lie_together),
		cmocka_unit_test(options_read_back),
		cmocka_unit_test(wrong_options_are_named),
		cmocka_unit_test(what_does_not_go_together_is_refused),
		cmocka_unit_test(initial_values_are_documented),
		cmocka_unit_test(initial_values_follow_the_seed),
#ifdef HAVE_MODEL_FILES
		cmocka_unit_test(model_files_keep_everything),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
