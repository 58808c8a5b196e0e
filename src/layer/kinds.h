/* The kinds of layers, one a file, and what they share. */
#ifndef N2D_LAYER_KINDS_H
#define N2D_LAYER_KINDS_H

#include "layer/layer.h"

extern const struct n2d_layer_kind n2d_layer_self_attention, n2d_layer_self_attention_materialised,
	n2d_layer_restricted_attention;
extern const struct n2d_layer_kind n2d_layer_rnn, n2d_layer_lstm, n2d_layer_gru;
extern const struct n2d_layer_kind n2d_layer_convolution, n2d_layer_separable_convolution;
extern const struct n2d_layer_kind n2d_layer_ffn;

/* -1 and a message naming the kind when its parameters are too many. */
int n2d_layer_check_params(const char *kind, size_t params);

/* Bytes of activations [B,T,D] in and out and of the parameters, once each. Backward: x and dy in,
 * dx out; parameters in, gradients in and out. */
double n2d_layer_bytes(size_t params, size_t D, size_t B, size_t T, int backward);

#endif
