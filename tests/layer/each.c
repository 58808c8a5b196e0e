#include "tests/layer/each.h"

#include "tests/unit.h"

void layer_each(const size_t *widths, layer_each_fn fn)
{
	for (const struct layer_oracle *const *o = layer_oracles; *o; o++) {
		const struct n2d_layer_kind *k = n2d_layer_find((*o)->kind);
		size_t i = 0; /* by kind: a new variant must not give other kinds other numbers */
		if (!k)
			fail_msg("no layer is called '%s'", (*o)->kind);
		for (const struct layer_variant *v = (*o)->variants; v->use; v++) {
			size_t before = i;
			for (const size_t *D = widths; *D; D++) {
				struct n2d_layer_config c = v->c;
				c.D = *D;
				if (k->check(&c) == 0)
					fn(k, *o, &c, i++);
			}
			if (i == before)
				fail_msg("%s: variant %td fits no width: %s", k->name, v - (*o)->variants, n2d_error_text());
		}
	}
}
