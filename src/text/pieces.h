/* Byte-pair encoding between a text and a corpus: what a model's file carries beside its vocabulary. */
#ifndef N2D_PIECES_H
#define N2D_PIECES_H

#include "text/bpe.h"
#include "text/vocab.h"

struct n2d_pieces {
	char *codes; /* the text of the codes file; NULL: none, words are what they are */
	struct n2d_bpe bpe;
	struct n2d_bpe_worker worker;
};

/* From a codes file, and from its text. -1 and a message. All zeros are no pieces. */
int n2d_pieces_load(struct n2d_pieces *p, const char *path);
int n2d_pieces_parse(struct n2d_pieces *p, const char *name, const char *text);
void n2d_pieces_free(struct n2d_pieces *p);

/* The edit of a coder (text/corpus.h); pieces: a struct n2d_pieces. The text holds until the next. */
int n2d_pieces_edit(void *pieces, const char **text, size_t *bytes);

/* The words of ids, divided by a space, pieces put together again. To be freed, not ended by a zero; NULL and a message. */
char *n2d_pieces_text(const struct n2d_pieces *p, const struct n2d_vocab *v, const int32_t *id, size_t n, size_t *bytes);

#endif
