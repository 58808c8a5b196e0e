/* The learning rate: the paper's at fixed points, the others by their definition, and the edges of warmup. */
#include "config.h"

#include "train/schedule.h"
#include "tests/unit.h"

static struct n2d_schedule make(const char *name, double rate, size_t warmup, size_t d_model)
{
	struct n2d_schedule s;
	if (n2d_schedule_make(&s, name, rate, warmup, d_model))
		fail_msg("%s", n2d_error_text());
	return s;
}

/* Computed apart, in Python. */
static void the_papers_rate_at_fixed_points(void **state)
{
	(void)state;
	static const struct {
		size_t d_model, warmup;
		uint64_t step;
		double rate;
	} golden[] = {
		{512, 4000, 1, 1.746928107421711e-07}, {512, 4000, 2, 3.493856214843422e-07},
		{512, 4000, 10, 1.7469281074217108e-06}, {512, 4000, 3999, 0.0006985965501579421},
		{512, 4000, 4000, 0.0006987712429686843}, {512, 4000, 4001, 0.000698683912937353},
		{512, 4000, 8000, 0.0004941058844013093}, {512, 4000, 100000, 0.00013975424859373687},
		{128, 2000, 1, 9.882117688026186e-07}, {128, 2000, 2, 1.976423537605237e-06},
		{128, 2000, 10, 9.882117688026186e-06}, {128, 2000, 1999, 0.0019754353258364344},
		{128, 2000, 2000, 0.0019764235376052374}, {128, 2000, 2001, 0.0019759296169333724},
		{128, 2000, 4000, 0.0013975424859373686}, {128, 2000, 100000, 0.00027950849718747374},
		{1024, 4000, 1, 1.2352647110032733e-07}, {1024, 4000, 2, 2.4705294220065465e-07},
		{1024, 4000, 10, 1.2352647110032732e-06}, {1024, 4000, 3999, 0.0004939823579302089},
		{1024, 4000, 4000, 0.0004941058844013092}, {1024, 4000, 4001, 0.0004940441327439536},
		{1024, 4000, 8000, 0.00034938562148434214}, {1024, 4000, 100000, 9.882117688026186e-05},
		{256, 1, 1, 0.0625}, {256, 1, 2, 0.04419417382415922},
		{256, 1, 10, 0.01976423537605237}, {256, 1, 100000, 0.0001976423537605237},
	};
	for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
		struct n2d_schedule s = make("paper", 1, golden[i].warmup, golden[i].d_model);
		/* four roundings of pow and products here and there: 8 units in the last place */
		UNIT_NEAR("paper", "rate", i, n2d_schedule_rate(&s, golden[i].step), golden[i].rate, golden[i].rate * 8 * 0x1p-53);
	}
	struct n2d_schedule one = make("paper", 1, 4000, 512), two = make("paper", 2, 4000, 512);
	assert_true(n2d_schedule_rate(&two, 17) == 2 * n2d_schedule_rate(&one, 17));
}

/* The reference experiment's: 0.005 min(step / 2000, sqrt(2000 / step)). */
static void inverse_sqrt_and_constant(void **state)
{
	(void)state;
	struct n2d_schedule s = make("inverse-sqrt", 0.005, 2000, 128), c = make("constant", 0.001, 4, 128);
	static const double inverse[][2] = {{1, 2.5e-6}, {2, 5e-6}, {1000, 0.0025}, {2000, 0.005}, {8000, 0.0025}, {200000, 0.0005}};
	static const double constant[][2] = {{1, 0.00025}, {3, 0.00075}, {4, 0.001}, {5, 0.001}, {1e9, 0.001}};
	for (size_t i = 0; i < sizeof inverse / sizeof *inverse; i++)
		UNIT_NEAR("inverse-sqrt", "rate", i, n2d_schedule_rate(&s, (uint64_t)inverse[i][0]), inverse[i][1],
			  inverse[i][1] * 4 * 0x1p-53);
	for (size_t i = 0; i < sizeof constant / sizeof *constant; i++)
		UNIT_NEAR("constant", "rate", i, n2d_schedule_rate(&c, (uint64_t)constant[i][0]), constant[i][1],
			  constant[i][1] * 4 * 0x1p-53);
}

/* Positive and finite from the first step, growing to warmup, and the same for a warmup of 0 and of 1. */
static void every_warmup_is_defined(void **state)
{
	(void)state;
	static const char *const names[] = {"paper", "inverse-sqrt", "constant"};
	static const size_t warmups[] = {0, 1, 2, 10, 100, SIZE_MAX};
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < sizeof warmups / sizeof *warmups; k++) {
			struct n2d_schedule s = make(names[i], 0.5, warmups[k], 512), one = make(names[i], 0.5, 1, 512);
			double before = 0;
			for (uint64_t step = 1; step <= 100; step++) {
				double rate = n2d_schedule_rate(&s, step);
				assert_true(isfinite(rate) && rate > 0);
				if (step <= warmups[k])
					assert_true(rate > before);
				else if (warmups[k] < 2)
					assert_true(rate == n2d_schedule_rate(&one, step) && (step == 1 || rate <= before));
				before = rate;
			}
		}
}

static void what_cannot_be_is_said(void **state)
{
	(void)state;
	struct n2d_schedule s;
	static const double wrong[] = {0, -1, NAN, INFINITY};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(n2d_schedule_make(&s, "constant", wrong[i], 1, 1), -1);
		assert_non_null(strstr(n2d_error_text(), "positive"));
	}
	assert_int_equal(n2d_schedule_make(&s, "cosine", 1, 1, 1), -1);
	assert_non_null(strstr(n2d_error_text(), "'cosine' must be one of paper|inverse-sqrt|constant"));
	assert_int_equal(n2d_schedule_make(&s, "paper", 1, 1, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_rate_at_fixed_points),
		cmocka_unit_test(inverse_sqrt_and_constant),
		cmocka_unit_test(every_warmup_is_defined),
		cmocka_unit_test(what_cannot_be_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
