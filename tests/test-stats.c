/* The statistics of the benchmark, on numbers whose answer is known. */
#include "bench/fit.h"
#include "bench/limits.h"
#include "bench/stats.h"
#include "bench/where.h"
#include "tests/unit.h"

static void test_summary(void **state)
{
	(void)state;
	const double odd[] = {5, 1, 9, 2, 4}, even[] = {8, 1, 2, 4};
	struct stat_summary s = stat_summarise(odd, 5);
	assert_true(s.n == 5 && s.median == 4 && s.min == 1 && s.max == 9);
	assert_true(s.mad == 2); /* |1 3 5 2 0| sorted 0 1 2 3 5 */
	assert_true(odd[0] == 5);
	assert_true(stat_summarise(even, 4).median == 3);
	assert_true(stat_summarise(NULL, 0).median == 0);
	/* One wild sample moves neither. */
	const double wild[] = {5, 1, 1e9, 2, 4};
	assert_true(stat_summarise(wild, 5).median == 4 && stat_summarise(wild, 5).mad == 2);
}

/* Of a peak of 100 FLOP/s a call of 104 FLOP in a second is measured as it is; of 106, it shows that the peak was disturbed. */
static void test_limit(void **state)
{
	(void)state;
	const struct limit l = {.peak = 100, .seconds = 1}, memory = {.peak = 100, .seconds = 3}, none = {.peak = NAN};
	assert_true(limit_percent(&l, &(struct work){.flops = 104}, 1) == 100 && limit_percent(&l, &(struct work){.flops = 104}, 2) == 50);
	assert_true(isnan(limit_percent(&l, &(struct work){.flops = 106}, 1)));
	assert_true(limit_percent(&memory, &(struct work){.flops = 104}, 1) == 300); /* from caches: that can be */
	assert_true(limit_percent(&none, &(struct work){.flops = 106}, 1) == 0);
}

static void test_where(void **state)
{
	(void)state;
	struct where w = {.untold = 0};
	where_end(&w);
	assert_string_equal(w.text, "");
	where_add(&w, "rnn", 16, "");
	where_add(&w, "rnn", 32, " (so)");
	where_add(&w, "lstm", 64, "");
	where_end(&w);
	assert_string_equal(w.text, "rnn at n = 16, 32 (so); lstm at n = 64");
	for (int i = 0; i < 1000; i++)
		where_add(&w, "lstm", 10000 + i, "");
	where_end(&w);
	const char *tail = strstr(w.text, " and ");
	assert_true(strlen(w.text) < WHERE_MOST && tail);
	size_t told = (size_t)(tail - strstr(w.text, ", 10000")) / strlen(", 10000");
	assert_int_equal((size_t)strtol(tail + 5, NULL, 10), 1000 - told);
}

/* Anscombe's first set: y = 3.0001 + 0.5001 x, standard error of the slope 0.1179, t(9) = 2.2622. */
static void test_line(void **state)
{
	(void)state;
	const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
	const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
	struct stat_line l;
	assert_int_equal(stat_line(&l, x, y, 11), 0);
	UNIT_NEAR("", "a", 0, l.a, 3.0000909, 1e-6);
	UNIT_NEAR("", "b", 0, l.b, 0.5000909, 1e-6);
	UNIT_NEAR("", "half", 0, l.half, 2.2622 * 0.1179, 1e-4);
	assert_int_equal(stat_line(&l, x, y, 1), -1);
	assert_int_equal(stat_line(&l, (double[]){3, 3}, y, 2), -1);
	assert_int_equal(stat_line(&l, x, y, 2), 0);
	assert_true(isinf(l.half));
	UNIT_NEAR("", "t", 60, stat_t95(60), 2.0003, 2e-4);
	UNIT_NEAR("", "t", 11, stat_t95(11), 2.2010, 5e-4);
}

static void test_power(void **state)
{
	(void)state;
	double x[6], y[6];
	struct stat_line l;
	for (int i = 0; i < 6; i++) {
		x[i] = 16 << i;
		y[i] = 3e-7 * x[i] * sqrt(x[i]);
	}
	assert_int_equal(stat_power(&l, x, y, 6), 0);
	UNIT_NEAR("", "exponent", 0, l.b, 1.5, 1e-12);
	UNIT_NEAR("", "half", 0, l.half, 0, 1e-10);
	y[3] = 0;
	assert_int_equal(stat_power(&l, x, y, 6), -1);
}

static size_t sweep(struct fit_point *p, const double c[3], double wobble)
{
	size_t k = 0;
	for (double n = 16; n <= 4096; n *= 2, k++)
		p[k] = (struct fit_point){n, 512, 0};
	for (double d = 64; d <= 1024; d *= 2, k++)
		p[k] = (struct fit_point){512, d, 0};
	for (size_t i = 0; i < k; i++)
		p[i].seconds = (c[0] + c[1] * p[i].n * p[i].d * p[i].d + c[2] * p[i].n * p[i].n * p[i].d) *
			       (i % 2 ? 1 + wobble : 1 - wobble);
	return k;
}

static void test_fit(void **state)
{
	(void)state;
	struct fit_point p[32];
	struct fit f;
	const double c[3] = {2e-6, 4e-11, 1e-11};
	size_t n = sweep(p, c, 0);
	assert_int_equal(fit_cost(&f, p, n), 0);
	for (size_t i = 0; i < 3; i++)
		UNIT_NEAR("", "c", i, f.c[i], c[i], 1e-6 * c[i]);
	UNIT_NEAR("", "rms", 0, f.rms, 0, 1e-9);
	n = sweep(p, c, 0.03); /* 3 % of noise moves no term that matters somewhere by more than 10 % */
	assert_int_equal(fit_cost(&f, p, n), 0);
	for (size_t i = 1; i < 3; i++)
		UNIT_NEAR("", "c", i, f.c[i], c[i], 0.1 * c[i]);
	UNIT_NEAR("", "rms", 0, f.rms, 0.03, 0.005);
	/* A layer without the n^2 term must not get a negative one. */
	n = sweep(p, (double[]){2e-6, 4e-11, 0}, 0.05);
	assert_int_equal(fit_cost(&f, p, n), 0);
	assert_true(f.c[0] >= 0 && f.c[1] >= 0 && f.c[2] >= 0);
	UNIT_NEAR("", "c", 1, f.c[1], 4e-11, 0.1 * 4e-11);
	p[2].seconds = 0;
	assert_int_equal(fit_cost(&f, p, n), -1);
	assert_int_equal(fit_cost(&f, p, 0), -1);
}

static void test_crossing(void **state)
{
	(void)state;
	const double n[] = {64, 128, 256, 512}, square[] = {1, 4, 16, 64}, line[] = {3, 6, 12, 24}, tie[] = {.03, .03, .03, .03};
	/* a ~ n^2, b ~ n: equal where (n/64)^2 = 3 n/64. */
	UNIT_NEAR("", "n*", 0, fit_crossing(n, square, line, tie, 4, NULL), 192, 1e-9);
	assert_true(fit_crossing(n, line, square, tie, 4, NULL) == INFINITY);
	assert_true(fit_crossing(n, square, line, tie, 1, NULL) == INFINITY);
	const double never[] = {5, 8, 20, 70};
	assert_true(fit_crossing(n, never, line, tie, 4, NULL) == 0);
	/* Ties say nothing: 1 % below, then clearly above, is never below. */
	const double tied[] = {2.97, 6.01, 13, 30};
	assert_true(fit_crossing(n, tied, line, tie, 4, NULL) == 0);
	assert_int_equal(fit_first_below(tied, line, tie, 4), 1);
	assert_int_equal(fit_first_below(square, line, tie, 4), -1);
	assert_int_equal(fit_first_below(tied, line, tie, 2), 0);
	const double through[] = {2, 6.01, 13, 70}; /* below, tie, above: between the first and the third */
	size_t last = 9;
	assert_true(fit_ties(tied, line, tie, 4, &last) == 2 && last == 3);
	assert_true(fit_ties(tied, line, tie, 2, &last) == 2 && last == 3);
	double between[2], crossed = fit_crossing(n, through, line, tie, 4, between);
	assert_true(between[0] == 64 && between[1] == 256 && crossed > 64 && crossed < 256);
	const double restless[] = {2, 7, 11, 70}; /* below, above, below, above */
	assert_true(isnan(fit_crossing(n, restless, line, tie, 4, NULL)));
	const double scattered[] = {.03, .2, .03, .03}; /* above at the second point, but not by more than they scatter */
	assert_true(fit_crossing(n, restless, line, scattered, 4, NULL) > 256);
	struct fit a = {.c = {0, 4e-11, 1e-11}}, b = {.c = {0, 1.4e-10, 0}};
	UNIT_NEAR("", "predicted", 0, fit_crossing_predicted(&a, &b, 512), 5120, 1); /* 4d + n = 14d */
	assert_true(isinf(fit_crossing_predicted(&b, &a, 512))); /* below from there on */
	struct fit low = {.c = {0, 1e-11, 0}};
	assert_true(isinf(fit_crossing_predicted(&low, &b, 512)));
}

/* From tables of the Mann-Whitney test: two-sided 5 % points 2 (5, 5), 23 (10, 10), 127 (20, 20). */
static void test_mann_whitney(void **state)
{
	(void)state;
	UNIT_NEAR("", "P", 0, stat_mann_whitney(5, 5, 0), 1 / 252.0, 1e-15);
	UNIT_NEAR("", "P", 2, stat_mann_whitney(5, 5, 2), 4 / 252.0, 1e-15);
	UNIT_NEAR("", "P", 3, stat_mann_whitney(5, 5, 3), 7 / 252.0, 1e-15);
	UNIT_NEAR("", "P", 34, stat_mann_whitney(3, 4, 0), 1 / 35.0, 1e-15);
	UNIT_NEAR("", "P", 43, stat_mann_whitney(4, 3, 1), 2 / 35.0, 1e-15);
	UNIT_NEAR("", "P", 11, stat_mann_whitney(1, 3, 2), 3 / 4.0, 1e-15);
	assert_true(stat_mann_whitney(5, 5, 25) == 1);
	const size_t point[][3] = {{5, 5, 2}, {10, 10, 23}, {20, 20, 127}};
	for (size_t i = 0; i < 3; i++) {
		assert_true(stat_mann_whitney(point[i][0], point[i][1], point[i][2]) <= 0.025);
		assert_true(stat_mann_whitney(point[i][0], point[i][1], point[i][2] + 1) > 0.025);
	}
	/* Where the exact sum ends the normal one goes on. They differ by the excess kurtosis (-0.091) / 24 times the greatest
	 * (z^3 - 3 z) phi(z) (0.55): 0.0021, and a little of higher order. */
	double mean = 200, deviation = sqrt(20 * 20 * 41 / 12.0);
	for (size_t u = 100; u < 200; u += 10)
		UNIT_NEAR("", "normal", u, stat_mann_whitney(20, 20, u), 0.5 * erfc((mean - (double)u - 0.5) / deviation / sqrt(2)), 2.5e-3);
	deviation = sqrt(21 * 22 * 44 / 12.0);
	UNIT_NEAR("", "normal", 150, stat_mann_whitney(21, 22, 150), 0.5 * erfc((231 - 150.5) / deviation / sqrt(2)), 1e-15);
}

static void test_sign(void **state)
{
	(void)state;
	UNIT_NEAR("", "all of 8", 0, stat_sign(8, 8), 1.0 / 256, 1e-12);
	UNIT_NEAR("", "7 of 8", 0, stat_sign(8, 7), 9.0 / 256, 1e-12);
	UNIT_NEAR("", "20 of 24", 0, stat_sign(24, 20), 12951.0 / 16777216, 1e-12); /* 10626 + 2024 + 276 + 24 + 1 */
	UNIT_NEAR("", "none", 0, stat_sign(5, 0), 1, 1e-12);
	assert_true(stat_sign(24, 19) > 1e-3 && stat_sign(24, 20) < 1e-3 && stat_sign(3, 4) == 0);
}

static void test_shift(void **state)
{
	(void)state;
	const double a[] = {1.02, 1, 1.01, 1.04, 1.03}, b[] = {1.1, 1.15, 1.11, 1.12, 1.14}, few[] = {2, 3};
	struct stat_shift s;
	assert_int_equal(stat_shift(&s, a, 5, b, 5), 0);
	assert_int_equal(s.apart, 1);
	UNIT_NEAR("", "ratio", 0, s.ratio, 1.12 / 1.02, 0.01);
	/* The third of the 25 ratios from either end: 1.1/1.04, 1.11/1.04, 1.1/1.03; 1.15/1, 1.14/1, 1.15/1.01. */
	UNIT_NEAR("", "low", 0, s.low, 1.1 / 1.03, 1e-12);
	UNIT_NEAR("", "high", 0, s.high, 1.15 / 1.01, 1e-12);
	assert_int_equal(stat_shift(&s, b, 5, a, 5), 0);
	assert_int_equal(s.apart, -1);
	assert_int_equal(stat_shift(&s, a, 5, a, 5), 0);
	assert_true(s.apart == 0 && s.ratio == 1);
	assert_int_equal(stat_shift(&s, (double[]){1, 2}, 2, few, 2), 0); /* a tie is not apart */
	assert_true(s.apart == 0 && s.low == 0 && isinf(s.high));
	/* Two of five may be disturbed on the faster side, and all on the slower one. */
	const double two[] = {1, 9, 1.02, 8, 1.01}, three[] = {1, 9, 7, 8, 1.01};
	assert_int_equal(stat_shift(&s, two, 5, b, 5), 0);
	assert_int_equal(s.apart, 1);
	assert_int_equal(stat_shift(&s, b, 5, two, 5), 0);
	assert_int_equal(s.apart, -1);
	assert_int_equal(stat_shift(&s, three, 5, b, 5), 0);
	assert_int_equal(s.apart, 0);
	assert_int_equal(stat_shift(&s, a, 0, b, 5), -1);
	assert_int_equal(stat_shift(&s, (double[]){1, 0}, 2, few, 2), -1);
	assert_int_equal(stat_shift(&s, (double[]){1, NAN}, 2, few, 2), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_mann_whitney),
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_shift),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
