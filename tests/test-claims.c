/* The claims about the paper that can be computed exactly hold, on every instruction set. */
#include "config.h"

#include "bench/claims.h"
#include "tests/unit.h"

static struct n2d_ctx ctx;

static void say(void *arg, const struct claim *c, const char *quantity, double value, int holds)
{
	size_t *numbers = arg;
	++*numbers;
	if (holds != 1)
		fail_msg("%s: %s: %s = %.9g", ctx.k->isa, c->text, quantity, value);
}

static void what_is_exact_holds(void **state)
{
	(void)state;
	UNIT_EACH_ISA(ctx, 1) {
		size_t numbers = 0;
		struct claims c = {&ctx, say, &numbers};
		claims_attention(&c);
		claims_positions(&c);
		assert_int_equal(claims_model(&c), 0);
		assert_true(numbers == 28);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_exact_holds)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
