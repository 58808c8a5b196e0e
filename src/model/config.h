/* What a model is: every choice the paper makes, and those of its Table 3 and of later work.
 *
 * One table describes the options: command lines, help texts and the metadata of model files come from it. */
#ifndef N2D_CONFIG_H
#define N2D_CONFIG_H

#include "base/option.h"

enum n2d_config_norm { N2D_NORM_POST, N2D_NORM_PRE };       /* LayerNorm(x + f(x)), as the paper; x + f(LayerNorm(x)) */
enum n2d_config_norm_kind { N2D_NORM_LAYER, N2D_NORM_RMS, N2D_NORM_NO }; /* with mean and bias; root mean square, without both; none */
enum n2d_config_final_norm { N2D_FINAL_AUTO, N2D_FINAL_NO, N2D_FINAL_YES };
enum n2d_config_positions { N2D_POSITIONS_SINUSOIDAL, N2D_POSITIONS_LEARNED, N2D_POSITIONS_NONE, N2D_POSITIONS_ROTARY };
enum n2d_config_activation { N2D_ACTIVATION_RELU, N2D_ACTIVATION_GELU, N2D_ACTIVATION_SWIGLU };
enum n2d_config_mixer { N2D_MIXER_ATTENTION, N2D_MIXER_LSTM, N2D_MIXER_CONV };
enum n2d_config_tied { N2D_TIED_ALL, N2D_TIED_OUTPUT, N2D_TIED_NONE };

struct n2d_config {
	int norm, norm_kind, final_norm, positions, activation, mixer, tied, output_bias; /* of the enums above */
	int residual, ffn; /* 0: sublayers' outputs go on alone; no feed-forward networks */
	size_t vocab, d_model, d_ff, heads;
	size_t src_vocab;  /* the source's own vocabulary; 0: vocab is both sides' */
	size_t d_k, d_v; /* width of a head's queries and keys, and of its values; 0: d_model / heads */
	size_t enc_layers, dec_layers;
	size_t window;     /* self-attention sees this many positions to either side; 0: all */
	size_t conv_width; /* of the mixer conv */
	size_t max_length; /* rows of a learned position table */
	double dropout, smoothing;
};

extern const struct n2d_option_table n2d_options;

/* "base", "big" or "tiny". -1 and a message with the list for another name. The sizes of vocabularies are left as they are. */
int n2d_config_preset(struct n2d_config *c, const char *name);

/* Sets one option from text. -1 and a message naming the option and what was expected. */
int n2d_config_set(struct n2d_config *c, const char *name, const char *value);

/* -1 and a message naming the options that do not go together. vocab 0 is refused: it must have been set. */
int n2d_config_check(const struct n2d_config *c);

/* What the automatic values stand for. */
size_t n2d_config_src_vocab(const struct n2d_config *c);
size_t n2d_config_d_k(const struct n2d_config *c);
size_t n2d_config_d_v(const struct n2d_config *c);
int n2d_config_final_norm(const struct n2d_config *c);

/* Of one layer: the mixer, cross-attention in the decoder, and the feed-forward network last. */
size_t n2d_config_sublayers(const struct n2d_config *c, int decoder);

#endif
