/* The decoder without caches: for each word it runs over all words before it. What caches of keys and values are held against. */
#ifndef N2D_WHOLE_H
#define N2D_WHOLE_H

#include "model/transformer.h"

struct n2d_whole {
	const struct n2d_ctx *ctx;
	const struct n2d_transformer *m;
	struct n2d_pass pass;
	const float *memory;
	const int32_t *memory_len;
	size_t S, width, room;
	int32_t *words, *in, *row_memory_len, *row_len; /* [room,width]: the word of a slot at a position; [width,room]; [width] each */
	float *out;                                     /* [width,D] */
	struct n2d_arena arena;
};

/* Bytes beside the pass, and what is added to its need, for memories of length S, width rows and room positions. */
size_t n2d_whole_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass_need *need, size_t S, size_t width,
		       size_t room);

/* -1 and a message. */
int n2d_whole_init(struct n2d_whole *w, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_pass_need *need,
		   size_t bytes);
void n2d_whole_free(struct n2d_whole *w);

/* As n2d_decoder_start, memory_len[B] and B of it not looked at before the steps. The sizes must have been counted at init. */
void n2d_whole_start(struct n2d_whole *w, const float *memory, const int32_t *memory_len, size_t S, size_t width, size_t room);

/* As n2d_decoder_step: w->out[rows,D], the same bits. -1 and a message: more positions than a learned table has. */
int n2d_whole_step(struct n2d_whole *w, const struct n2d_step *s, const int32_t *word, const int32_t *sentence);

#endif
