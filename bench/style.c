#include "bench/style.h"

#include <string.h>

/* Colours that differ for colour-blind readers too (after Okabe and Ito), and a mark for each layer. */
static const struct layer_style styles[] = {
	{"self-attention", "self-attention", "#0072b2", 7},
	{"self-attention-materialised", "materialised", "#56b4e9", 6},
	{"restricted-attention", "restricted", "#009e73", 5},
	{"rnn", "RNN", "#e69f00", 9},
	{"lstm", "LSTM", "#d55e00", 11},
	{"gru", "GRU", "#b8860b", 13},
	{"convolution", "convolution", "#cc79a7", 4},
	{"separable-convolution", "separable", "#8b5fbf", 8},
	{"ffn", "feed-forward", "#666666", 2},
};

const struct layer_style *layer_style(const char *layer)
{
	size_t i = 0, n = sizeof styles / sizeof *styles;
	while (i + 1 < n && strcmp(styles[i].layer, layer) != 0)
		i++;
	return styles + i;
}
