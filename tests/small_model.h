/* A small Transformer of random weights, for tests. Include after tests/unit.h. */
#ifndef TESTS_SMALL_MODEL_H
#define TESTS_SMALL_MODEL_H

#include <string.h>

#include "base/rng.h"
#include "model/transformer.h"

/* Preset base, made small, with options "name=value name=value" on top: a test's own, and those of a case. */
static inline struct n2d_config small_config(const char *own, const char *options)
{
	struct n2d_config c = {0};
	char text[512], *rest = text;
	int n = snprintf(text, sizeof text, "vocab=23 d-model=12 d-ff=20 heads=3 layers=2 %s %s", own, options);
	assert_in_range(n, 1, sizeof text - 1);
	assert_int_equal(n2d_config_preset(&c, "base"), 0);
	for (char *word; (word = strsep(&rest, " "));) {
		char *equals = strchr(word, '=');
		if (!equals)
			continue;
		*equals = 0;
		assert_int_equal(n2d_config_set(&c, word, equals + 1), 0);
	}
	return c;
}

/* spread: every weight is off its initial value by at most as much, because biases that are 0, norms' weights that are 1 and small weights hide
 * mistakes. */
static inline void small_model_init(struct n2d_transformer *m, const struct n2d_ctx *ctx, const char *own, const char *options, double spread)
{
	struct n2d_config c = small_config(own, options);
	struct n2d_rng r;
	if (n2d_transformer_init(m, ctx, &c))
		fail_msg("%s: %s", options, n2d_error_text());
	n2d_parameters_init(&m->p, m->w, 3);
	n2d_rng_init(&r, 5, 1);
	for (size_t i = 0; i < m->p.n; i++)
		for (size_t k = 0; k < m->p.list[i].count; k++)
			m->w[m->p.list[i].offset + k] += (float)(spread * (2 * n2d_rng_uniform(&r) - 1));
	n2d_transformer_pack(ctx, m);
}

#endif
