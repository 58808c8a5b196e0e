/* The average of model files. */
#define _GNU_SOURCE
#include "config.h"

#include "model/average.h"
#include "model/model_file.h"
#include "tests/scratch.h"
#include "tests/small_model.h"

static const char *words = "one two";

/* A model of random weights in a file of this name; values[p->floats] are they, one of them -0. */
static const char *save(const char *name, const char *options, uint64_t seed, struct n2d_parameters *p, float **values)
{
	const struct n2d_metadata more = {N2D_VOCABULARY, words};
	struct n2d_config c = small_config("", options);
	const char *path = scratch_path(name);
	assert_int_equal(n2d_parameters_list(p, &c), 0);
	*values = malloc(p->floats * sizeof **values);
	n2d_parameters_init(p, *values, seed);
	(*values)[p->list[0].offset] = -0.0f;
	if (n2d_model_save(path, &c, p, *values, &more, 1))
		fail_msg("%s", n2d_error_text());
	return path;
}

/* The weights in a file, and that its vocabulary is this. */
static float *load(const char *path, const struct n2d_parameters *p, const char *vocabulary)
{
	struct n2d_safetensors f;
	float *values = malloc(p->floats * sizeof *values);
	if (n2d_safetensors_open(&f, path) || n2d_model_load(values, p, &f))
		fail_msg("%s", n2d_error_text());
	assert_string_equal(n2d_safetensors_text(&f, N2D_VOCABULARY), vocabulary);
	assert_int_equal(f.count, p->n); /* what is tied is there once */
	n2d_safetensors_close(&f);
	return values;
}

static void the_mean_of_each_weight(void **state)
{
	(void)state;
	struct n2d_parameters p[3];
	float *w[3];
	const char *path[3] = {save("a", "", 1, &p[0], &w[0]), save("b", "", 2, &p[1], &w[1]), save("c", "", 3, &p[2], &w[2])};
	const char *out = scratch_path("mean");
	assert_int_equal(n2d_average(out, path, 3), 0);
	float *mean = load(out, p, words);
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = p->list[i].offset; k < p->list[i].offset + p->list[i].count; k++)
			assert_true(mean[k] == (float)(((double)w[0][k] + (double)w[1][k] + (double)w[2][k]) / 3));
	free(mean);
	for (size_t n = 1; n <= 3; n++) { /* of a model with itself: that model, to the bit */
		assert_int_equal(n2d_average(out, (const char *const[]){path[1], path[1], path[1]}, n), 0);
		mean = load(out, p, words);
		assert_memory_equal(mean, w[1], p->floats * sizeof *mean);
		free(mean);
	}
	for (int i = 0; i < 3; i++) {
		n2d_parameters_free(&p[i]);
		free(w[i]);
	}
}

static void what_does_not_go_together_is_named(void **state)
{
	(void)state;
	struct n2d_parameters p[2];
	float *w[2];
	const char *path[2] = {save("a", "", 1, &p[0], &w[0]), save("d", "norm=pre", 1, &p[1], &w[1])}, *out = scratch_path("none");
	assert_int_equal(n2d_average(out, path, 2), N2D_EXIT_USAGE);
	assert_non_null(strstr(n2d_error_text(), "/d: norm is pre, but post in "));
	assert_int_equal(n2d_average(out, (const char *const[]){path[0], out}, 2), N2D_EXIT_USAGE);
	assert_non_null(strstr(n2d_error_text(), out));
	assert_int_equal(access(out, F_OK), -1);
	assert_int_equal(n2d_average(scratch_path("none/mean"), path, 1), N2D_EXIT_FAILED);
	struct n2d_parameters q;
	float *v;
	words = "two one";
	assert_int_equal(n2d_average(out, (const char *const[]){path[0], save("e", "", 3, &q, &v)}, 2), N2D_EXIT_USAGE);
	assert_non_null(strstr(n2d_error_text(), "/e: its vocabulary is not that of "));
	n2d_parameters_free(&q);
	free(v);
	for (int i = 0; i < 2; i++) {
		n2d_parameters_free(&p[i]);
		free(w[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_mean_of_each_weight), cmocka_unit_test(what_does_not_go_together_is_named)};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
