/* Every kind of layer with its oracle, in every variant that is tested. */
#ifndef LAYER_EACH_H
#define LAYER_EACH_H

#include "tests/layer/oracle.h"

typedef void (*layer_each_fn)(const struct n2d_layer_kind *k, const struct layer_oracle *o, const struct n2d_layer_config *c, size_t i);

/* Calls fn for every kind, its oracle, every variant and every width (ended by 0) the kind accepts; i counts the calls. Fails the test
 * when a variant fits no width. */
void layer_each(const size_t *widths, layer_each_fn fn);

#endif
