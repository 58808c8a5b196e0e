/* The attention weights of one sentence pair in all layers of a model (paper, figures 3 to 5). */
#ifndef N2D_MAPS_H
#define N2D_MAPS_H

#include "base/arena.h"
#include "model/transformer.h"

enum n2d_map_kind { N2D_MAP_ENCODER, N2D_MAP_DECODER, N2D_MAP_CROSS, N2D_MAP_KINDS };

/* Row i of a head: how much position i (query) takes from each position (key). Rows sum to 1; a key that a mask hides has 0. */
struct n2d_attention_map {
	enum n2d_map_kind kind;
	size_t layer, layers; /* from 0; of this kind */
	size_t H, Tq, Tk;
	const float *P; /* [H,Tq,Tk] */
};

struct n2d_maps {
	size_t n;
	struct n2d_attention_map *map; /* the encoder's layers, the decoder's, the decoder's over the encoder's output */
	int32_t *in;         /* [T]: the decoder's input, N2D_ID_BEGIN and the target without its end */
	struct n2d_arena memory;
};

/* Whether there is memory for the maps of a source of S tokens and a target of T: to be asked before anything that takes long. -1 and a message:
 * there is not. */
int n2d_maps_fit(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t S, size_t T);

/* src[S], trg[T]: ids, each with N2D_ID_END at its end. A mixer that is no attention has no maps. -1 and a message: no memory, too
 * long for a learned position table, or weights that are not numbers; then nothing is left to free. */
int n2d_maps_make(struct n2d_maps *maps, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const int32_t *src, size_t S,
		  const int32_t *trg, size_t T);
void n2d_maps_free(struct n2d_maps *maps);

#endif
