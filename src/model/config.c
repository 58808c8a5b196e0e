#include "model/config.h"

#include <string.h>

#include "base/error.h"

#define AT(field) offsetof(struct n2d_config, field)
#define CHOICE(name, field, choices, help) {name, N2D_OPTION_CHOICE, AT(field), choices, 0, 0, help}
#define SIZE(name, field, zero, min, max, help) {name, N2D_OPTION_SIZE, AT(field), zero, min, max, help}
#define REAL(name, field, help) {name, N2D_OPTION_REAL, AT(field), NULL, 0, 1, help}

/* Large enough for any model, and small enough that a product of two sizes fits in 64 bits. */
#define LARGE 1e9

static const struct n2d_option options[] = {
	SIZE("vocab", vocab, NULL, 1, LARGE, "entries of the vocabulary, joint or the target's"),
	SIZE("src-vocab", src_vocab, "joint", 1, LARGE, "entries of a vocabulary of the source's own"),
	SIZE("d-model", d_model, NULL, 1, LARGE, "model width"),
	SIZE("d-ff", d_ff, NULL, 1, LARGE, "inner width of the feed-forward networks"),
	SIZE("heads", heads, NULL, 1, LARGE, "attention heads"),
	SIZE("d-k", d_k, "auto", 1, LARGE, "width of a head's queries and keys; auto: d-model / heads"),
	SIZE("d-v", d_v, "auto", 1, LARGE, "width of a head's values; auto: d-model / heads"),
	{"layers", N2D_OPTION_BOTH, AT(enc_layers), NULL, 1, 10000, "sets enc-layers and dec-layers"},
	SIZE("enc-layers", enc_layers, NULL, 0, 10000, "layers of the encoder"),
	SIZE("dec-layers", dec_layers, NULL, 1, 10000, "layers of the decoder"),
	CHOICE("norm", norm, "post|pre", "normalise after each residual sum, as the paper, or before each sublayer"),
	CHOICE("norm-kind", norm_kind, "layer|rms|none", "LayerNorm, RMSNorm, or no norm at all"),
	CHOICE("final-norm", final_norm, "auto|no|yes", "a norm behind each stack; auto: with norm pre"),
	CHOICE("residual", residual, "no|yes", "a sublayer adds its output to its input; no: its output goes on alone"),
	CHOICE("ffn", ffn, "no|yes", "feed-forward networks; no: layers without"),
	CHOICE("positions", positions, "sinusoidal|learned|none|rotary", "how positions are told"),
	CHOICE("activation", activation, "relu|gelu|swiglu", "of the feed-forward networks"),
	CHOICE("mixer", mixer, "attention|lstm|conv", "what stands in the place of self-attention"),
	SIZE("window", window, "all", 1, LARGE, "positions self-attention sees to either side"),
	SIZE("conv-width", conv_width, NULL, 1, 10001, "width of mixer conv"),
	SIZE("max-length", max_length, NULL, 1, LARGE, "positions a learned table has"),
	CHOICE("tied", tied, "all|output|none", "one matrix for both embeddings and output; for target and output; for none"),
	CHOICE("output-bias", output_bias, "no|yes", "a bias at the output projection"),
	REAL("dropout", dropout, "rate on sublayer outputs and embedding sums"),
	REAL("smoothing", smoothing, "label smoothing"),
};
const struct n2d_option_table n2d_options = {options, sizeof options / sizeof *options};

static const struct n2d_config base = {
	.d_model = 512, .d_ff = 2048, .heads = 8, .enc_layers = 6, .dec_layers = 6, .conv_width = 3, .max_length = 1024,
	.dropout = 0.1, .smoothing = 0.1, .residual = 1, .ffn = 1,
};

/* Differences from base. tiny: Wu et al., "Good for Misconceived Reasons" (ACL 2021). */
static const struct {
	const char *name;
	struct {
		const char *option, *value;
	} set[8];
} presets[] = {
	{"base", {{0}}},
	{"big", {{"d-model", "1024"}, {"d-ff", "4096"}, {"heads", "16"}, {"dropout", "0.3"}}},
	{"tiny", {{"layers", "4"}, {"d-model", "128"}, {"d-ff", "256"}, {"heads", "4"}, {"dropout", "0.3"}}},
};

int n2d_config_preset(struct n2d_config *c, const char *name)
{
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		if (strcmp(presets[i].name, name) != 0)
			continue;
		size_t vocab = c->vocab, src_vocab = c->src_vocab;
		*c = base;
		c->vocab = vocab;
		c->src_vocab = src_vocab;
		for (size_t k = 0; presets[i].set[k].option; k++)
			if (n2d_config_set(c, presets[i].set[k].option, presets[i].set[k].value))
				return -1;
		return 0;
	}
	return n2d_error("preset: '%s' must be base, big or tiny", name);
}

int n2d_config_set(struct n2d_config *c, const char *name, const char *value)
{
	const struct n2d_option *o = n2d_option_find(&n2d_options, name);
	return o ? n2d_option_set(c, o, value) : n2d_error("'%s' is no option of a model", name);
}

size_t n2d_config_src_vocab(const struct n2d_config *c) { return c->src_vocab ? c->src_vocab : c->vocab; }

size_t n2d_config_d_k(const struct n2d_config *c) { return c->d_k ? c->d_k : c->d_model / c->heads; }

size_t n2d_config_d_v(const struct n2d_config *c) { return c->d_v ? c->d_v : c->d_model / c->heads; }

int n2d_config_final_norm(const struct n2d_config *c)
{
	if (c->norm_kind == N2D_NORM_NO)
		return 0;
	return c->final_norm == N2D_FINAL_AUTO ? c->norm == N2D_NORM_PRE : c->final_norm == N2D_FINAL_YES;
}

size_t n2d_config_sublayers(const struct n2d_config *c, int decoder) { return 1 + (decoder != 0) + (c->ffn != 0); }

int n2d_config_check(const struct n2d_config *c)
{
	int attention = c->mixer == N2D_MIXER_ATTENTION;
	if (!c->vocab)
		return n2d_error("vocab must be given: the entries of the vocabulary");
	if (c->src_vocab && c->tied == N2D_TIED_ALL)
		return n2d_error("src-vocab %zu: words of the source's own have an embedding of their own: tied must be output or none, not all", c->src_vocab);
	if ((!c->d_k || !c->d_v) && c->d_model % c->heads)
		return n2d_error("d-model %zu is not a multiple of heads %zu; d-k and d-v would have to be given", c->d_model, c->heads);
	if (c->window && !attention)
		return n2d_error("window %zu needs mixer attention", c->window);
	if (c->positions == N2D_POSITIONS_ROTARY && !attention)
		return n2d_error("positions rotary needs mixer attention");
	if (c->positions == N2D_POSITIONS_ROTARY && n2d_config_d_k(c) % 2)
		return n2d_error("positions rotary turns pairs: d-k must be even, not %zu", n2d_config_d_k(c));
	if (c->norm_kind == N2D_NORM_NO && c->final_norm == N2D_FINAL_YES)
		return n2d_error("final-norm yes needs a norm: norm-kind layer or rms, not none");
	if (c->mixer == N2D_MIXER_CONV && c->conv_width % 2 == 0)
		return n2d_error("conv-width must be odd, not %zu: the encoder looks equally far to both sides", c->conv_width);
	return 0;
}
