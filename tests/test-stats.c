/* The statistics of the benchmark, on numbers whose answer is known. */
#define _GNU_SOURCE
#include <unistd.h>

#include "base/clock.h"
#include "bench/check.h"
#include "bench/compare.h"
#include "bench/csv.h"
#include "bench/fit.h"
#include "bench/noise.h"
#include "bench/options.h"
#include "bench/roof.h"
#include "bench/sample.h"
#include "bench/shadow.h"
#include "bench/stats.h"
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
	const double n[] = {64, 128, 256, 512}, square[] = {1, 4, 16, 64}, line[] = {3, 6, 12, 24};
	/* a ~ n^2, b ~ n: equal where (n/64)^2 = 3 n/64. */
	UNIT_NEAR("", "n*", 0, fit_crossing(n, square, line, 4), 192, 1e-9);
	assert_true(fit_crossing(n, line, square, 4) == INFINITY);
	assert_true(fit_crossing(n, square, line, 1) == INFINITY);
	const double never[] = {5, 8, 20, 70};
	assert_true(fit_crossing(n, never, line, 4) == 0);
	/* Ties say nothing: 1 % below, then clearly above, is never below. */
	const double tied[] = {2.97, 6.01, 13, 30};
	assert_true(fit_crossing(n, tied, line, 4) == 0);
	assert_int_equal(fit_first_below(tied, line, 4), 1);
	assert_int_equal(fit_first_below(square, line, 4), -1);
	assert_int_equal(fit_first_below(tied, line, 2), 0);
	const double through[] = {2, 6.01, 13, 70}; /* below, tie, above: between the first and the third */
	double crossed = fit_crossing(n, through, line, 4);
	assert_true(crossed > 64 && crossed < 256);
	const double restless[] = {2, 7, 11, 70}; /* below, above, below, above */
	assert_true(isnan(fit_crossing(n, restless, line, 4)));
	struct fit a = {.c = {0, 4e-11, 1e-11}}, b = {.c = {0, 1.4e-10, 0}};
	UNIT_NEAR("", "predicted", 0, fit_crossing_predicted(&a, &b, 512), 5120, 1); /* 4d + n = 14d */
	assert_true(isinf(fit_crossing_predicted(&b, &a, 512))); /* below from there on */
	struct fit low = {.c = {0, 1e-11, 0}};
	assert_true(isinf(fit_crossing_predicted(&low, &b, 512)));
}

static void test_noise(void **state)
{
	(void)state;
	const char *text = "cpu  9 9 9 9 9 9 9 9 9 9\n"
			   "cpu0 100 10 50 1000 70 3 4 5 8 9\n"
			   "cpu1 1 1 1 1 1 1 1 1 1 1\n"
			   "cpu2 200 0 0 1000 0 0 0 0 0 0\nintr 77\n";
	int cpus[] = {0, 2};
	noise_watch(cpus, 2);
	UNIT_NEAR("", "busy", 0, noise_parse(text, 100), 3.72, 1e-12); /* 100+10+50+3+4+5 and 200 ticks */
	struct noise a = {.wall = 10, .own = 3, .busy = 50}, b = {.wall = 11, .own = 4, .busy = 51.02};
	UNIT_NEAR("", "others", 0, noise_others(&a, &b), 0.02, 1e-12);
	assert_false(noise_dirty(&a, &b));
	b.busy = 51.2; /* others had 0.2 s of the second */
	assert_true(noise_dirty(&a, &b));
	b.busy = 50.9; /* rounding of ticks */
	assert_true(noise_others(&a, &b) == 0);
	a.busy = -1; /* no /proc/stat */
	assert_true(noise_others(&a, &b) == 0);
}

static void test_plateaus(void **state)
{
	(void)state;
	struct roof_levels l;
	size_t bytes[31], n = 0;
	double rate[31];
	for (double b = 8192; n < 31; b *= sqrt(2), n++) {
		bytes[n] = (size_t)b;
		rate[n] = b < 40e3 ? 480e9 : b < 900e3 ? 260e9 : b < 16e6 ? 120e9 : 39e9;
		rate[n] *= n % 3 ? 1.04 : 0.95;
	}
	for (int i = 22; i < 25; i++)
		rate[i] = 68e9; /* a few points on the slope are no level */
	roof_plateaus(&l, bytes, rate, n);
	assert_int_equal(l.n, 4);
	assert_string_equal(l.level[1].name, "L2");
	assert_string_equal(l.level[3].name, "memory");
	assert_true(l.level[0].capacity > 32e3 && l.level[0].capacity < 50e3);
	assert_true(l.level[1].capacity > 700e3 && l.level[1].capacity < 1.1e6);
	assert_int_equal(roof_level_of(&l, 1e3), 0);
	assert_int_equal(roof_level_of(&l, 500e3), 1);
	assert_int_equal(roof_level_of(&l, 1e12), 3);
	for (size_t i = 0; i < n; i++)
		rate[i] = 10e9 * (i % 2 ? 1.03 : 0.97);
	roof_plateaus(&l, bytes, rate, n); /* one level, however noisy */
	assert_int_equal(l.n, 1);
	assert_string_equal(l.level[0].name, "memory");
}

/* Every order of three about equally often: 6000 draws, each within 5 standard deviations (29) of 1000. */
static void test_shuffle(void **state)
{
	(void)state;
	struct n2d_rng rng;
	int count[27] = {0};
	n2d_rng_init(&rng, 7, 0);
	for (int i = 0; i < 6000; i++) {
		size_t o[3];
		sample_shuffle(&rng, o, 3);
		count[o[0] * 9 + o[1] * 3 + o[2]]++;
	}
	const int orders[] = {5, 7, 11, 15, 19, 21};
	for (int i = 0; i < 6; i++)
		assert_in_range(count[orders[i]], 855, 1145);
}

/* A case that takes a known time, and one that refuses to open. */
static void spin(struct bench_case *c, size_t calls, struct sample *s)
{
	double t = n2d_now(), for_seconds = *(double *)c->arg * (double)calls;
	s->part[1] += 0.25 * for_seconds;
	while (n2d_now() - t < for_seconds)
		;
}

/* Slow at first, as something cold or disturbed is. */
static void slow_start(struct bench_case *c, size_t calls, struct sample *s)
{
	double slow = 2e-3, fast = 20e-6;
	for (size_t i = 0; i < calls; i++) {
		c->arg = c->samples == 0 && c->calls < 3 ? &slow : &fast;
		spin(c, 1, s);
	}
}

static int refuse(struct bench_case *c) { return (void)c, n2d_error("wrong by design"); }

static void test_sampler(void **state)
{
	(void)state;
	struct n2d_ctx ctx;
	double short_time = 50e-6, long_time = 3e-3;
	assert_int_equal(n2d_ctx_init(&ctx, "scalar", 1), 0);
	struct bench_case a = {.ctx = &ctx, .arg = &short_time, .run = spin}, b = {.ctx = &ctx, .arg = &long_time, .run = spin};
	struct bench_case bad = {.ctx = &ctx, .run = spin, .open = refuse}, *all[] = {&a, &bad, &b};
	struct sample_plan p = SAMPLE_PLAN;
	p.want = 5;
	p.seconds = 0.002;
	assert_int_equal(sample_group(all, 3, &p), -1);
	assert_true(a.samples >= 5 && b.samples >= 5 && !bad.samples && bad.failed);
	assert_string_equal(bad.why, "wrong by design");
	for (size_t i = 0; i < a.samples; i++)
		assert_true(a.sample[i].seconds * (double)a.sample[i].calls >= 1e-3);
	assert_int_equal(b.sample[0].calls, 1);
	struct bench_case lazy = {.ctx = &ctx, .run = slow_start}, *one = &lazy;
	assert_int_equal(sample_group(&one, 1, &p), 0);
	for (size_t i = 0; i < lazy.samples; i++)
		assert_true(lazy.sample[i].seconds * (double)lazy.sample[i].calls >= 1e-3);
	sample_free(&lazy);
	double m = sample_median(&a, -1);
	assert_true(m >= short_time && m < 3 * short_time); /* others may disturb, but not the median of all this much */
	UNIT_NEAR("", "part", 0, sample_median(&a, 1), 0.25 * short_time, 1e-9);
	/* Only clean samples count, unless there are none. */
	for (size_t i = 0; i < a.samples; i++)
		a.sample[i] = (struct sample){.seconds = i ? 2 : 1, .clean = i == 0, .calls = 1};
	assert_true(sample_median(&a, -1) == 1);
	for (size_t i = 0; i < a.samples; i++)
		a.sample[i].clean = 0;
	double x[64];
	assert_int_equal(sample_seconds(&a, -1, x), a.samples);
	sample_free(&a);
	sample_free(&b);
	n2d_ctx_free(&ctx);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_csv(void **state)
{
	(void)state;
	char path[64];
	struct csv_out o;
	struct csv c;
	double v;
	snprintf(path, sizeof path, "test-stats-%ld.csv", (long)getpid());
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
	write_text(path, "schema,a,b\nt/1,1,2\n\nt/1,3\n");
	assert_int_equal(csv_read(&c, path), -1);
	assert_non_null(strstr(n2d_error_text(), ":4: 2 fields, expected 3"));
	write_text(path, "schema,a\nt/1,\"1\n");
	assert_int_equal(csv_read(&c, path), -1);
	write_text(path, "schema,a\n");
	assert_int_equal(csv_read(&c, path), -1);
	write_text(path, "schema,a\nt/1,1\nt/2,1\n");
	assert_int_equal(csv_read(&c, path), 0);
	assert_null(csv_schema(&c));
	csv_free(&c);
	write_text(path, "schema,a\r\nt/1,1\r\n");
	assert_int_equal(csv_read(&c, path), 0);
	assert_int_equal(csv_column(&c, "a"), 1);
	assert_string_equal(csv_text(&c, 0, 1), "1");
	csv_free(&c);
	write_text(path, "schema,a\nt/1,0.0012"); /* of 0.00123, cut off */
	assert_int_equal(csv_read(&c, path), -1);
	assert_non_null(strstr(n2d_error_text(), "the last line has no end"));
	write_text(path, "schema,a\nt/1,1\n");
	assert_int_equal(csv_read(&c, path), 0);
	csv_free(&c);
	unlink(path);
	assert_int_equal(csv_create(&o, "/nonexistent/x.csv", "t/1", "a"), -1);
	assert_int_equal(csv_read(&c, path), -1);
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

static void test_compare_read(void **state)
{
	(void)state;
	char path[64];
	struct comparison c = {.threshold = 0.05};
	snprintf(path, sizeof path, "test-stats-%ld.csv", (long)getpid());
	write_text(path, "schema,id,seconds,clean,program\nt/1,a,3,1,n2d\nt/1,b,7,0,n2d\nt/1,a,9,0,n2d\nt/1,a,2,1,n2d\nt/1,b,5,0,n2d\n"
			 "t/1,p,1,1,pytorch\nt/1,a,nan,1,n2d\n");
	assert_int_equal(compare_read(&c, BASE, path, 0), 0);
	assert_int_equal(c.rows, 2);
	struct compare_values *a = &compare_row(&c, "a")->side[BASE], *b = &compare_row(&c, "b")->side[BASE];
	assert_true(a->n == 2 && a->x[0] == 3 && a->x[1] == 2 && !a->disturbed);
	assert_true(b->n == 2 && b->x[0] == 7 && b->x[1] == 5 && b->disturbed);
	write_text(path, "schema,id,seconds\nt/1,a,4\nt/1,a,6\nt/1,new,1\n");
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
	write_text(path, "schema,id,seconds\nt/1,a,0\n");
	assert_int_equal(compare_read(&c, HEAD, path, 0), -1);
	assert_non_null(strstr(n2d_error_text(), ":2: seconds is 0, expected more than 0"));
	write_text(path, "schema,id\nt/1,a\n");
	assert_int_equal(compare_read(&c, HEAD, path, 0), -1);
	compare_free(&c);
	unlink(path);
}

static void test_options(void **state)
{
	(void)state;
	struct size_list l;
	size_t v;
	assert_int_equal(parse_sizes(&l, "--n", "16..100,7"), 0);
	assert_true(l.n == 4 && l.v[0] == 16 && l.v[2] == 64 && l.v[3] == 7);
	assert_int_equal(parse_sizes(&l, "--threads", "1,1,2,1..4"), 0);
	assert_true(l.n == 3 && l.v[0] == 1 && l.v[1] == 2 && l.v[2] == 4);
	assert_int_equal(parse_sizes(&l, "--n", "16,"), -1);
	assert_int_equal(parse_sizes(&l, "--n", "0"), -1);
	assert_int_equal(parse_sizes(&l, "--n", "8..4"), -1);
	assert_int_equal(parse_sizes(&l, "--n", "-3"), -1);
	assert_int_equal(parse_number(&v, "--samples", "12", 1, 100), 0);
	assert_int_equal(parse_number(&v, "--samples", "12x", 1, 100), -1);
	assert_int_equal(parse_number(&v, "--samples", "101", 1, 100), -1);
	assert_true(in_list("lstm,gru", "gru") && !in_list("lstm,gru", "gr") && !in_list("lstm,gru", "stm"));
}

static void test_check(void **state)
{
	(void)state;
	const float want[] = {3, 4}, near[] = {3, 4.0004f}, nan[] = {3, NAN}, zero[] = {0, 0};
	assert_int_equal(check_close("y", near, want, 2, 1e-4), 0);
	assert_int_equal(check_close("y", near, want, 2, 1e-5), -1);
	assert_int_equal(check_close("y", nan, want, 2, 1e-4), -1);
	assert_int_equal(check_close("y", zero, zero, 2, 1e-4), -1);
	assert_int_equal(check_kernel(n2d_isa_best()->k, "stream_copy", 100), 0);
	assert_int_equal(check_kernel(n2d_isa_best()->k, "nothing", 100), -1);
}

/* One call of an operator from rows of `in` to rows of `out`, 8 rows of 4. */
static void operate(struct shadow *s, enum n2d_part part, const float *out, const float *in, size_t reach)
{
	struct n2d_call call = {.part = part};
	struct n2d_trace t = {.user = s};
	n2d_trace_read(&call, in, 8, 4, 4, reach);
	n2d_trace_write(&call, out, 8, 4, 4);
	shadow_see(&t, &call);
}

static void test_shadow(void **state)
{
	(void)state;
	float m[4][8 * 4] = {{0}}, outside[8 * 4] = {0};
	struct shadow s;
	assert_int_equal(shadow_init(&s, m[0], 4 * 8 * 4), 0);
	shadow_mark(&s, m[0], 4); /* row 0 of m[0] */
	operate(&s, N2D_PART_PROJECTION, m[1], m[0], N2D_ROWWISE);
	assert_int_equal(shadow_hops(&s, m[1], 4), 0);
	assert_int_equal(shadow_hops(&s, m[1] + 4, 4), SHADOW_FAR);
	operate(&s, N2D_PART_MIXING, m[2], m[1], 2); /* rows 0, 1, 2 now */
	assert_int_equal(shadow_hops(&s, m[2] + 2 * 4, 4), 1);
	assert_int_equal(shadow_hops(&s, m[2] + 3 * 4, 4), SHADOW_FAR);
	operate(&s, N2D_PART_MIXING, m[3], m[2], N2D_ALL_ROWS);
	assert_int_equal(shadow_hops(&s, m[3] + 7 * 4, 4), 2);
	assert_int_equal(s.deepest, 3);
	/* In place, row by row: no chain. */
	operate(&s, N2D_PART_OTHER, m[3], m[3], N2D_ROWWISE);
	assert_int_equal(s.deepest, 4);
	/* A recurrence in one call: row i reads row i - 1 of its own output. */
	shadow_clear(&s);
	shadow_mark(&s, m[0], 4);
	struct n2d_call call = {.part = N2D_PART_MIXING};
	struct n2d_trace t = {.user = &s};
	n2d_trace_read(&call, m[0], 8, 4, 4, N2D_ROWWISE);
	n2d_trace_read(&call, m[1], 8, 4, 4, 1);
	n2d_trace_write(&call, m[1], 8, 4, 4);
	shadow_see(&t, &call);
	assert_int_equal(s.deepest, 8);
	assert_int_equal(shadow_hops(&s, m[1] + 7 * 4, 4), 8);
	/* Unwatched memory is constant, and nothing is remembered of it. */
	shadow_clear(&s);
	operate(&s, N2D_PART_MIXING, outside, m[0], N2D_ALL_ROWS);
	operate(&s, N2D_PART_MIXING, m[1], outside, N2D_ALL_ROWS);
	assert_int_equal(s.depth[8 * 4], 1);
	shadow_mark(&s, m[0], 4);
	shadow_move(&s, m[2], m[0], 8 * 4);
	assert_int_equal(shadow_hops(&s, m[2], 4), 0);
	shadow_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary), cmocka_unit_test(test_line),     cmocka_unit_test(test_power),
		cmocka_unit_test(test_fit),     cmocka_unit_test(test_crossing), cmocka_unit_test(test_noise),
		cmocka_unit_test(test_plateaus), cmocka_unit_test(test_shuffle), cmocka_unit_test(test_sampler),
		cmocka_unit_test(test_csv),     cmocka_unit_test(test_options),  cmocka_unit_test(test_check),
		cmocka_unit_test(test_shadow),  cmocka_unit_test(test_mann_whitney), cmocka_unit_test(test_shift),
		cmocka_unit_test(test_judge),   cmocka_unit_test(test_compare_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
