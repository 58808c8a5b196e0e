#include "bench/style.h"

#include <string.h>

/* Colours that differ for colour-blind readers too, on a light page and lifted on a dark one (after Okabe and Ito; tests/tables.sh holds how far they lie apart),
 * and a mark for each layer. */
static const struct layer_style styles[] = {
	{"self-attention", "self-attention", "#0072b2", 7},
	{"self-attention-materialised", "materialised", "#56b4e9", 6},
	{"restricted-attention", "restricted", "#009e73", 5},
	{"rnn", "RNN", "#e69f00", 9},
	{"lstm", "LSTM", "#d55e00", 11},
	{"gru", "GRU", "#661100", 13},
	{"convolution", "convolution", "#cc79a7", 4},
	{"separable-convolution", "separable", "#6a1fc0", 8},
	{"ffn", "feed-forward", "#404040", 2},
};

const struct layer_style *layer_style(const char *layer)
{
	size_t i = 0, n = sizeof styles / sizeof *styles;
	while (i + 1 < n && strcmp(styles[i].layer, layer) != 0)
		i++;
	return styles + i;
}
