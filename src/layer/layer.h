/* One interface to every sequence layer: x[B,T,D] -> y[B,T,D], or without the padding x[rows,D] -> y[rows,D].
 *
 * All parameters lie in one array of floats, all gradients in another of the same layout. The
 * caller owns all memory; sizes come from the functions below (floats; N2D_TOO_LARGE passes).
 * Positions t >= len[b] are padding: they are never read into a result, y and dx are 0 there,
 * and the other positions get the bits they would get without the padding.
 *
 * Where all layers of a model can vouch for each other, `finite` saves the copies this takes: the caller promises that x is
 * finite in the padding and dy 0 there; then y is finite there, dx is 0, and all else is as before.
 *
 *	pack     once for each change of the parameters: weights in the kernels' format
 *	forward  y from x; keeps in `saved` what backward needs (saved == NULL: inference, keeps nothing)
 *	backward dx (written), dparams (written, or added to when add) from dy, the same x and saved
 *
 * The products with d x d weights are traced as N2D_PART_PROJECTION, what moves information
 * between positions as N2D_PART_MIXING: time and FLOPs of the two are reported apart. */
#ifndef N2D_LAYER_H
#define N2D_LAYER_H

#include <stdint.h>

#include "base/ctx.h"
#include "base/rng.h"

enum n2d_ffn_activation { N2D_FFN_RELU, N2D_FFN_GELU, N2D_FFN_SWIGLU };

/* The sentences of a batch, and which rows of x are theirs. */
struct n2d_sentences {
	size_t B, T;        /* how many, and the length of the longest or more */
	const int32_t *len; /* [B]; NULL: all T */
	/* [B + 1]; NULL: sentence b begins at row b T, with padding behind it. Else it has rows at[b] .. at[b + 1] - 1, len[b] of them, there is
	 * no padding, and position[rows] says where in its sentence a row stands. Only for kinds that are `ragged`. */
	const int32_t *at, *position;
};

static inline size_t n2d_sentences_rows(const struct n2d_sentences *s) { return s->at ? (size_t)s->at[s->B] : s->B * s->T; }
static inline size_t n2d_sentence_row(const struct n2d_sentences *s, size_t b) { return s->at ? (size_t)s->at[b] : b * s->T; }

struct n2d_layer_config {
	size_t D;        /* model width */
	size_t H;        /* heads (attention) */
	size_t d_k, d_v; /* width of a head's queries and keys, and of its values; 0: D / H, which must divide */
	size_t R;        /* window; restricted attention */
	size_t W;        /* convolution width, odd unless causal */
	size_t dilation; /* >= 1 */
	size_t F;        /* inner width (FFN) */
	int causal;
	int rotary; /* q and k are turned by their positions (attention; op/rotary.h); d_k even */
	enum n2d_ffn_activation activation;
	int finite; /* see above */
};

/* A position of every hypothesis, in decoding. All hypotheses are at the same position; each is a row of x and y and writes what
 * it leaves for later positions into its own slot of a layer's cache. What it finds there of position j lies in slot
 * slots[row * room + j], j <= at: slots[row * room + at] is row itself. A beam search that lets row r descend from row p copies p's
 * list and moves no cache: slots[r] = slots[p], and then slots[r * room + at + 1] = r. */
struct n2d_step {
	size_t rows, at;      /* hypotheses; positions before this one */
	size_t width, room;   /* of the caches: slots, positions; rows <= width, at < room */
	const int32_t *slots; /* [rows,room] */
};

struct n2d_layer;

struct n2d_layer_kind {
	const char *name;  /* "self-attention" */
	int ragged;        /* takes sentences without padding between them */
	const char *table1; /* complexity per layer as Table 1 states it, "O(n^2 d)"; NULL: not a row of it */
	const char *sequential, *path; /* the other two columns */
	/* -1 and a message when the configuration is impossible. */
	int (*check)(const struct n2d_layer_config *c);
	size_t (*params)(const struct n2d_layer_config *c);
	void (*init)(const struct n2d_layer_config *c, float *params, struct n2d_rng *rng);
	size_t (*packed)(const struct n2d_ctx *ctx, const struct n2d_layer_config *c);
	void (*pack)(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, float *packed, const float *params);
	size_t (*saved)(const struct n2d_layer_config *c, size_t B, size_t T);
	/* train: of forward with saved and backward; else of forward without. */
	size_t (*workspace)(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t B, size_t T, int train);
	void (*forward)(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *saved, const float *x,
			const struct n2d_sentences *s, float *ws);
	void (*backward)(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *dx, float *dparams, int add, const float *dy,
			 const float *x, const float *saved, const struct n2d_sentences *s, float *ws);
	/* Attention's weights P[B,H,T,T] of a forward pass with `saved` (op/attention.h). NULL: this kind has none. */
	void (*weights)(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *P, const float *saved, const struct n2d_sentences *s);
	/* Decoding: y[rows,D] from x[rows,D], what forward of a causal layer gives at position s->at, and the cache of positions before.
	 * The cache's floats, and those of workspace. NULL: this kind is not for decoding. */
	size_t (*cache)(const struct n2d_layer_config *c, size_t width, size_t room);
	size_t (*step_workspace)(const struct n2d_ctx *ctx, const struct n2d_layer_config *c, size_t width, size_t room);
	void (*step)(const struct n2d_ctx *ctx, const struct n2d_layer *l, float *y, float *cache, const float *x,
		     const struct n2d_step *s, float *ws);
	/* FLOPs of forward, and of backward alone, of unpadded input: both parts, and the mixing part. */
	double (*flops)(const struct n2d_layer_config *c, size_t B, size_t T, int backward);
	double (*mixing_flops)(const struct n2d_layer_config *c, size_t B, size_t T, int backward);
	/* Compulsory bytes: activations in and out once, weights once — once a step where steps depend on each other. */
	double (*bytes)(const struct n2d_layer_config *c, size_t B, size_t T, int backward);
};

/* A layer ready to run. */
struct n2d_layer {
	const struct n2d_layer_kind *kind;
	struct n2d_layer_config c;
	const float *params, *packed;
};

/* All kinds, NULL-terminated: self-attention, self-attention-materialised, restricted-attention,
 * rnn, lstm, gru, convolution, separable-convolution, ffn. */
extern const struct n2d_layer_kind *const n2d_layer_kinds[];
const struct n2d_layer_kind *n2d_layer_find(const char *name);

#endif
