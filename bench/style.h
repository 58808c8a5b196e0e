/* How figures draw each kind of layer: a new kind needs a row here. */
#ifndef BENCH_STYLE_H
#define BENCH_STYLE_H

struct layer_style {
	const char *layer, *name, *colour; /* name: a short one */
	int mark;                          /* gnuplot's */
};
/* The last row's where the layer has none. */
const struct layer_style *layer_style(const char *layer);

#endif
