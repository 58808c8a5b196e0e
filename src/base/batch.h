/* A batch of sentence pairs: what text makes and the model reads (paper, sections 3.1 and 5.1). */
#ifndef N2D_BATCH_H
#define N2D_BATCH_H

#include <stddef.h>
#include <stdint.h>

/* The first ids of every vocabulary: padding, beginning and end of a sentence, unknown word. */
enum { N2D_ID_PAD, N2D_ID_BEGIN, N2D_ID_END, N2D_ID_UNKNOWN, N2D_IDS_SPECIAL };

/* The most integers that texts of ids have for words: they all are entries of a vocabulary, so one wrong number must not fill the memory. */
enum { N2D_IDS_MAX = 1 << 20 };

/* Row b of src is w1 .. wn </s>, src_len = n + 1; of trg_in <s> v1 .. vm and of trg_out v1 .. vm </s>, trg_len = m + 1. So each
 * length is at least 1, S and T are their maxima, and no row is padding alone. What follows a row's length is N2D_ID_PAD in
 * src and trg_in, and -1 in trg_out: the loss leaves negative targets out. */
struct n2d_batch {
	size_t B, S, T;
	const int32_t *src;               /* [B,S] */
	const int32_t *trg_in, *trg_out;  /* [B,T] */
	const int32_t *src_len, *trg_len; /* [B] */
	size_t src_tokens, trg_tokens;    /* sums of the lengths */
};

/* Its size, which its memory depends on. */
struct n2d_shape {
	size_t B, S, T;
};

#endif
