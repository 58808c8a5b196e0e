/* A model ready to be used: weights, packed, with the vocabulary and the byte-pair codes that lie in its file. */
#ifndef N2D_BUNDLE_H
#define N2D_BUNDLE_H

#include "model/transformer.h"
#include "text/corpus.h"
#include "text/pieces.h"

struct n2d_bundle {
	struct n2d_transformer model;
	struct n2d_vocab vocab, src_vocab; /* src_vocab: where the source has one of its own (model.c.src_vocab) */
	struct n2d_pieces pieces; /* codes NULL: there are none */
};

/* From a model's file. vocab: a vocabulary's file in place of the model's own (joint, or the target's), or NULL. ids: words are integers, where neither is there.
 * -1 and a message naming the file: damaged, foreign, without a vocabulary, or one of another size. */
int n2d_bundle_open(struct n2d_bundle *b, const struct n2d_ctx *ctx, const char *path, const char *vocab, int ids);
const struct n2d_vocab *n2d_bundle_vocab(const struct n2d_bundle *b, enum n2d_side side);
/* How lines of a side become ids for it. */
struct n2d_coder n2d_bundle_coder(struct n2d_bundle *b, enum n2d_side side);

void n2d_bundle_close(struct n2d_bundle *b);

#endif
