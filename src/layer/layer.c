#include "layer/layer.h"

#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "layer/kinds.h"

const struct n2d_layer_kind *const n2d_layer_kinds[] = {
	&n2d_layer_self_attention,
	&n2d_layer_self_attention_materialised,
	&n2d_layer_restricted_attention,
	&n2d_layer_rnn,
	&n2d_layer_lstm,
	&n2d_layer_gru,
	&n2d_layer_convolution,
	&n2d_layer_separable_convolution,
	&n2d_layer_ffn,
	NULL,
};

const struct n2d_layer_kind *n2d_layer_find(const char *name)
{
	for (const struct n2d_layer_kind *const *k = n2d_layer_kinds; *k; k++)
		if (strcmp((*k)->name, name) == 0)
			return *k;
	return NULL;
}

int n2d_layer_check_params(const char *kind, size_t params)
{
	if (n2d_mul(params, sizeof(float)) == N2D_TOO_LARGE)
		return n2d_error("%s: more parameters than memory can be addressed for", kind);
	return 0;
}

double n2d_layer_bytes(size_t params, size_t D, size_t B, size_t T, int backward)
{
	double x = (double)B * (double)T * (double)D, p = (double)params;
	return 4 * (backward ? 3 * x + 3 * p : 2 * x + p);
}
