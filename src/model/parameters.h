/* The parameters of a model: names, shapes, places in one array, initial values.
 *
 * Names and shapes are those of PyTorch's nn.Transformer ("encoder.layers.0.self_attn.in_proj_weight", [3 D, D]), and
 *
 *	src_embed.weight [V,D]        both embeddings and the output (tied all), or the source's alone
 *	tgt_embed.weight [V,D]        target (tied output, none)
 *	generator.weight [V,D]        output (tied none); generator.bias [V] with output-bias
 *	src_positions.weight, tgt_positions.weight [max-length,D]   with positions learned
 *
 * What PyTorch has not: in_proj stacks queries, keys and values as [H d_k + H d_k + H d_v, D] where d_k, d_v are not D / H;
 * with swiglu linear1 is [2 F, D], the gate's rows first; an RMSNorm has no bias; without feed-forward networks a layer has no linear1 and linear2 and
 * not the last of its norms; mixers are called lstm (as nn.LSTM of one layer:
 * lstm.weight_ih_l0 ...) and conv (as nn.Conv1d: [D, D, W]). Final norms (encoder.norm) stand only where the configuration
 * has them; nn.Transformer itself always makes them. */
#ifndef N2D_PARAMETERS_H
#define N2D_PARAMETERS_H

#include <stdint.h>

#include "model/config.h"

enum n2d_init {
	N2D_INIT_ZERO,      /* biases */
	N2D_INIT_ONE,       /* norms' weights */
	N2D_INIT_EMBEDDING, /* N(0, 1/D): times sqrt(D) it is N(0, 1) */
	N2D_INIT_POSITION,  /* learned positions, which nothing multiplies: N(0, 1/2), as large as the sinusoids that they stand for */
	N2D_INIT_XAVIER,    /* Glorot and Bengio (2010): uniform in +-sqrt(6 / (in + out)) */
};

enum { N2D_BLOCKS = 4 };

struct n2d_parameter {
	char name[96];
	const char *group; /* "encoder self-attention": parameters of a group follow each other within a layer */
	size_t dims, shape[3];
	size_t offset, count; /* floats */
	enum n2d_init init;
	size_t rows[N2D_BLOCKS]; /* stacked matrices, each initialised by its own size: their rows; 0 ends */
};

struct n2d_parameters {
	struct n2d_parameter *list, **by_name; /* by_name: in the order of their names */
	size_t n;
	size_t count;  /* parameters */
	size_t floats; /* of the array: a sublayer's parameters lie without gaps, each sublayer starts on N2D_ALIGN */
};

/* -1 and a message when the configuration does not pass n2d_config_check or is too large for memory. */
int n2d_parameters_list(struct n2d_parameters *p, const struct n2d_config *c);
void n2d_parameters_free(struct n2d_parameters *p);

/* NULL when there is none. */
const struct n2d_parameter *n2d_parameters_find(const struct n2d_parameters *p, const char *name);

/* values[floats]: the initial values, gaps 0. They are uniform, scaled by the mean of inputs and outputs; the three projections
 * of an attention count as one matrix, as in PyTorch and in the paper's implementation (which did so where queries, keys
 * and values come from one sequence). Parameter i takes its numbers from the generator's stream (seed, N2D_INIT_STREAM + i). */
#define N2D_INIT_STREAM ((uint64_t)1 << 63)
void n2d_parameters_init(const struct n2d_parameters *p, float *values, uint64_t seed);

#endif
