/* Result files, and what is judged slower or faster of two of them. */
#define _XOPEN_SOURCE 700
#include "bench/compare.h"
#include "bench/csv.h"
#include "tests/scratch.h"

static void test_csv(void **state)
{
	(void)state;
	const char *path = scratch_path("results.csv");
	struct csv_out o;
	struct csv c;
	double v;
	assert_int_equal(csv_create(&o, path, "t/1", "id,seconds"), 0);
	csv_row(&o, "\"a/b,c=1\",%g", 0.5);
	csv_row(&o, "\"say \"\"x\"\"\",nan");
	csv_row(&o, "c,0.5x");
	assert_int_equal(csv_finish(&o), 0);
	assert_int_equal(csv_read(&c, path), 0);
	assert_int_equal(c.rows, 3);
	assert_string_equal(csv_schema(&c), "t/1");
	assert_string_equal(csv_text(&c, 0, csv_column(&c, "id")), "a/b,c=1");
	assert_string_equal(csv_text(&c, 1, 1), "say \"x\"");
	assert_int_equal(csv_number(&c, 0, 2, &v), 0);
	assert_true(v == 0.5);
	assert_int_equal(csv_number(&c, 1, 2, &v), -1);
	assert_non_null(strstr(n2d_error_text(), ":3: column seconds is 'nan', expected a number"));
	assert_int_equal(csv_number(&c, 2, 2, &v), -1);
	assert_int_equal(csv_column(&c, "none"), -1);
	csv_free(&c);
	scratch_put("results.csv", "schema,a,b\nt/1,1,2\n\nt/1,3\n");
	assert_int_equal(csv_read(&c, path), -1);
	assert_non_null(strstr(n2d_error_text(), ":4: 2 fields, expected 3"));
	scratch_put("results.csv", "schema,a\nt/1,\"1\n");
	assert_int_equal(csv_read(&c, path), -1);
	scratch_put("results.csv", "schema,a\n");
	assert_int_equal(csv_read(&c, path), -1);
	scratch_put("results.csv", "schema,a\nt/1,1\nt/2,1\n");
	assert_int_equal(csv_read(&c, path), 0);
	assert_null(csv_schema(&c));
	csv_free(&c);
	scratch_put("results.csv", "schema,a\r\nt/1,1\r\n");
	assert_int_equal(csv_read(&c, path), 0);
	assert_int_equal(csv_column(&c, "a"), 1);
	assert_string_equal(csv_text(&c, 0, 1), "1");
	csv_free(&c);
	scratch_put("results.csv", "schema,a\nt/1,0.0012"); /* of 0.00123, cut off */
	assert_int_equal(csv_read(&c, path), -1);
	assert_non_null(strstr(n2d_error_text(), "the last line has no end"));
	scratch_put("results.csv", "schema,a\nt/1,1\n");
	assert_int_equal(csv_read(&c, path), 0);
	csv_free(&c);
	unlink(path);
	assert_int_equal(csv_create(&o, "/nonexistent/x.csv", "t/1", "a"), -1);
	assert_int_equal(csv_read(&c, path), -1);
}

/* Eight values a side from 1 and `slower` on, with noise that only adds: a per cent of the square of N(0,1). */
static enum verdict judged(struct n2d_rng *rng, double slower, double threshold)
{
	struct comparison c = {.threshold = threshold};
	float z[16];
	struct compare_row *r = compare_row(&c, "x");
	n2d_rng_fill_normal(rng, z, 16, 0, 1);
	for (int i = 0; i < 16; i++)
		compare_add(&r->side[i % 2], (i % 2 ? slower : 1) * (1 + 0.01 * (double)(z[i] * z[i])));
	compare_judge(&c);
	enum verdict v = c.row[0].verdict;
	compare_free(&c);
	return v;
}

/* Of 20,000 equal pairs as many are apart by chance as theory has it. The five least of 16 values are of one side in C(11, 3) of C(16, 8)
 * orders, 165 in 12870: 256 each way (5 standard deviations: 80). None of them is by 5 %, and 10 % more is always seen. */
static void test_judge(void **state)
{
	(void)state;
	struct n2d_rng rng;
	int slower = 0, faster = 0, seen = 0;
	n2d_rng_init(&rng, 11, 0);
	for (int i = 0; i < 20000; i++) {
		enum verdict v = judged(&rng, 1, 0);
		slower += v == SLOWER;
		faster += v == FASTER;
	}
	assert_in_range(slower, 256 - 80, 256 + 80);
	assert_in_range(faster, 256 - 80, 256 + 80);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(judged(&rng, 1, 0.05), SAME);
		seen += judged(&rng, 1.1, 0.05) == SLOWER;
	}
	assert_int_equal(seen, 1000);
	struct comparison c = {.threshold = 0.05};
	for (int i = 0; i < 5; i++) { /* apart, but by less than the threshold */
		compare_add(&compare_row(&c, "x")->side[BASE], 1 + 1e-3 * i);
		compare_add(&compare_row(&c, "x")->side[HEAD], 1.03 + 1e-3 * i);
	}
	compare_judge(&c);
	assert_int_equal(c.row[0].verdict, SAME);
	c.threshold = 0.02;
	compare_judge(&c);
	assert_int_equal(c.row[0].verdict, SLOWER);
	c.threshold = 0.05;
	c.row[0].suspect = 1;
	compare_judge(&c);
	assert_int_equal(c.row[0].verdict, CLEARED);
	compare_free(&c);
}

/* 24 pairs on a machine whose speed changes by a third in every tenth run. */
static void pairs(struct compare_row *r, struct n2d_rng *rng, double slower)
{
	for (int i = 0; i < 24; i++)
		for (int side = 0; side < SIDES; side++)
			compare_add(&r->side[side], (side == HEAD ? slower : 1) * (1 + 0.01 * n2d_rng_uniform(rng)) * (n2d_rng_uniform(rng) < 0.1 ? 1.33 : 1));
}

/* A row that looked slower, whose passes find head that much slower; how many were taken. */
static enum verdict suspected(struct n2d_rng *rng, const double slower[3], int *passes)
{
	struct comparison c = {.threshold = 0.05, .again = 1};
	struct compare_row *r = compare_row(&c, "x");
	pairs(r, rng, 1.2);
	for (*passes = 0; *passes < 3; ++*passes) {
		compare_judge(&c);
		if (!compare_again(r, *passes))
			break;
		pairs(r, rng, slower[*passes]);
	}
	compare_judge(&c);
	enum verdict v = r->verdict;
	compare_free(&c);
	return v;
}

static void test_suspects(void **state)
{
	(void)state;
	struct n2d_rng rng;
	static const struct {
		double slower[3];
		enum verdict verdict;
		int passes;
	} wanted[] = {
		{{1.2, 1.2, 0}, SLOWER, 2}, {{1, 1, 0}, CLEARED, 2}, {{1.2, 1, 1.2}, SLOWER, 3}, {{1.2, 1, 1}, CLEARED, 3},
		{{1, 1.2, 1.2}, SLOWER, 3}, {{1, 1.2, 1}, CLEARED, 3},
	};
	int passes, seen = 0;
	n2d_rng_init(&rng, 12, 0);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		assert_int_equal(suspected(&rng, wanted[i].slower, &passes), wanted[i].verdict);
		assert_int_equal(passes, wanted[i].passes);
	}
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(suspected(&rng, (const double[]){1, 1, 1}, &passes), CLEARED);
		seen += suspected(&rng, (const double[]){1.1, 1.1, 1.1}, &passes) == SLOWER;
	}
	assert_true(seen > 1980); /* a pair is turned round with probability 0.09: more than 4 of 24 in one of 30; twice in three, in one of 300 */
	/* In the first pass of builds the ratio alone makes a suspect; of files it does not. */
	struct comparison c = {.threshold = 0.05, .again = 1};
	for (int i = 0; i < 8; i++) {
		compare_add(&compare_row(&c, "x")->side[BASE], i < 4 ? 1 : 1.33);
		compare_add(&compare_row(&c, "x")->side[HEAD], i < 4 ? 1.1 : 1.46);
	}
	compare_judge(&c);
	assert_int_equal(c.row[0].verdict, SLOWER);
	c.again = 0;
	compare_judge(&c);
	assert_int_equal(c.row[0].verdict, SAME);
	compare_free(&c);
}

static void test_compare_read(void **state)
{
	(void)state;
	const char *path = scratch_path("results.csv");
	struct comparison c = {.threshold = 0.05};
	scratch_put("results.csv", "schema,id,seconds,clean,program\nt/1,a,3,1,n2d\nt/1,b,7,0,n2d\nt/1,a,9,0,n2d\nt/1,a,2,1,n2d\nt/1,b,5,0,n2d\n"
			 "t/1,p,1,1,pytorch\nt/1,a,nan,1,n2d\n");
	assert_int_equal(compare_read(&c, BASE, path, 0), 0);
	assert_int_equal(c.rows, 2);
	struct compare_values *a = &compare_row(&c, "a")->side[BASE], *b = &compare_row(&c, "b")->side[BASE];
	assert_true(a->n == 2 && a->x[0] == 3 && a->x[1] == 2 && !a->disturbed);
	assert_true(b->n == 2 && b->x[0] == 7 && b->x[1] == 5 && b->disturbed);
	scratch_put("results.csv", "schema,id,seconds\nt/1,a,4\nt/1,a,6\nt/1,new,1\n");
	assert_int_equal(compare_read(&c, HEAD, path, 1), 0);
	assert_true(compare_row(&c, "a")->side[HEAD].n == 1 && compare_row(&c, "a")->side[HEAD].x[0] == 4);
	compare_judge(&c);
	assert_int_equal(compare_row(&c, "a")->verdict, SLOWER);
	assert_int_equal(compare_row(&c, "b")->verdict, ONLY_BASE);
	assert_int_equal(compare_row(&c, "new")->verdict, ONLY_HEAD);
	compare_row(&c, "b")->listed = compare_row(&c, "none")->listed = 1 << BASE | 1 << HEAD;
	compare_judge(&c);
	assert_int_equal(compare_row(&c, "b")->verdict, FAILED);
	assert_int_equal(compare_row(&c, "none")->verdict, NOT_MEASURED);
	scratch_put("results.csv", "schema,id,seconds\nt/1,a,0\n");
	assert_int_equal(compare_read(&c, HEAD, path, 0), -1);
	assert_non_null(strstr(n2d_error_text(), ":2: seconds is 0, expected more than 0"));
	scratch_put("results.csv", "schema,id\nt/1,a\n");
	assert_int_equal(compare_read(&c, HEAD, path, 0), -1);
	compare_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_judge), cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_compare_read),
	};
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
