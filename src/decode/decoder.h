/* The decoder one position at a time, with caches of what positions before left (paper, section 3.1: auto-regressive). */
#ifndef N2D_DECODER_H
#define N2D_DECODER_H

#include "model/transformer.h"

struct n2d_decoder {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *m;
	size_t B, S, width, room; /* sentences, their length; hypotheses and positions at most */
	const int32_t *memory_len;
	struct n2d_activations side;
	float **cache; /* of each sublayer: its positions, or the memory's keys and values */
	float *branch, *position, *ws;
	struct n2d_arena memory;
};

/* Bytes for memories of B x S, width rows, room positions; N2D_TOO_LARGE passes. */
size_t n2d_decoder_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t width, size_t room);

/* Room for `bytes`. -1 and a message. */
int n2d_decoder_init(struct n2d_decoder *d, const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t bytes);
void n2d_decoder_free(struct n2d_decoder *d);

/* A new batch: memory[B,S,D], the encoder's output, which the caller keeps until its last step. -1 and a message: what was asked for at
 * init is too little, or room is more than a learned position table has. No allocation. */
int n2d_decoder_start(struct n2d_decoder *d, const float *memory, const int32_t *memory_len, size_t B, size_t S, size_t width, size_t room);

/* d->side.out[rows,D], the decoder's result after the words word[rows] at position s->at < room, rows of sentence[rows]. */
void n2d_decoder_step(struct n2d_decoder *d, const struct n2d_step *s, const int32_t *word, const int32_t *sentence);

#endif
