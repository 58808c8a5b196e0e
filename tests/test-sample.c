/* How the benchmark measures: noise, plateaus, samples, checks, and the shadow that paths are walked in. */
#include "base/clock.h"
#include "bench/check.h"
#include "bench/noise.h"
#include "bench/options.h"
#include "bench/roof.h"
#include "bench/sample.h"
#include "bench/shadow.h"
#include "tests/unit.h"

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
	assert_true(sample_disturbed(&a));
	assert_string_equal(sample_mark(&a, 1), "  disturbed");
	for (size_t i = 0; i < a.samples; i++)
		a.sample[i].clean = 1;
	assert_string_equal(sample_mark(&a, 0), "");
	assert_string_equal(sample_mark(&a, 1), "  limit disturbed");
	for (size_t i = 0; i < a.samples; i++)
		a.sample[i].clean = 0;
	double x[64];
	assert_int_equal(sample_seconds(&a, -1, x), a.samples);
	sample_free(&a);
	sample_free(&b);
	n2d_ctx_free(&ctx);
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
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_plateaus),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_sampler),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_shadow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
