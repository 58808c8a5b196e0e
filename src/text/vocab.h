/* A vocabulary: the tokens of a text and their ids.
 *
 * A text is UTF-8, a sentence a line, its tokens (words, pieces of words, characters) divided by spaces. Ids 0 to 3 are
 * N2D_ID_PAD <pad>, N2D_ID_BEGIN <s>, N2D_ID_END </s> and N2D_ID_UNKNOWN <unk> (base/batch.h). A text's own token of such a
 * spelling is an unknown word like any other: it never ends a sentence.
 *
 * The file has a line `token count` an id, in the order of the ids, the four specials first. The count of <unk> is that of the
 * tokens left out, of the other three it is 0. n2d_vocab_order puts the most frequent tokens first and equally frequent ones in
 * the order of their code points, but a file may have any order. */
#ifndef N2D_VOCAB_H
#define N2D_VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/batch.h"
#include "text/task.h"

struct n2d_vocab_entry;

struct n2d_vocab {
	size_t size; /* ids are 0 .. size - 1, the specials among them */
	int ids;     /* tokens are the integers from 0 on, n has the id n + N2D_IDS_SPECIAL: others are errors, not unknown */

	struct n2d_vocab_entry **entry, *table; /* by id; by token, without the specials */
	size_t capacity;
};

/* The specials alone. Every failure here and below gives -1 and a message; of the vocabulary only n2d_vocab_free is then left
 * to call. */
int n2d_vocab_init(struct n2d_vocab *v, int ids);
void n2d_vocab_free(struct n2d_vocab *v);

/* Counts the tokens of a line, new ones at the end. With ids, every integer up to the largest becomes an entry. A zero byte is refused (-1 and a
 * message), here and by all that take text: no file could keep the token. */
int n2d_vocab_count(struct n2d_vocab *v, const char *text, size_t bytes);

/* Counts the lines of a file (text/lines.h). The message names file and line: invalid UTF-8, with ids what is no integer. */
int n2d_vocab_count_file(struct n2d_vocab *v, const char *path);

/* Gives the final ids: by count and code points, without tokens that came less than min_count times, at most max_size
 * entries with the specials (0: any number). */
int n2d_vocab_order(struct n2d_vocab *v, uint64_t min_count, size_t max_size);

/* The vocabulary of all texts of a task, both sides in one, whatever seed, split and lengths. */
int n2d_vocab_of_task(struct n2d_vocab *v, const struct n2d_task_config *c);

/* The specials and the integers 0 .. size - N2D_IDS_SPECIAL - 1. */
int n2d_vocab_of_ids(struct n2d_vocab *v, size_t size);

/* Messages of load name file and line: a special that is missing, a token that is empty or comes twice, a bad count. */
int n2d_vocab_load(struct n2d_vocab *v, const char *path);
int n2d_vocab_save(const struct n2d_vocab *v, const char *path);

/* Sets ids of one that was loaded, when its entries are what n2d_vocab_of_ids gives; else the message names `name` and the line. */
int n2d_vocab_take_as_ids(struct n2d_vocab *v, const char *name);

/* The same from and to a text in memory, named in messages. The text is to be freed; NULL and a message. */
int n2d_vocab_parse(struct n2d_vocab *v, const char *name, const char *text);
char *n2d_vocab_text(const struct n2d_vocab *v);

/* N2D_ID_UNKNOWN when it is not there. */
int32_t n2d_vocab_id(const struct n2d_vocab *v, const char *token, size_t bytes);

/* The token of an id below size, a zero byte after it; *bytes (may be NULL) its length. */
const char *n2d_vocab_token(const struct n2d_vocab *v, int32_t id, size_t *bytes);
uint64_t n2d_vocab_frequency(const struct n2d_vocab *v, int32_t id);

/* The most tokens that a line of so many bytes can have. */
static inline size_t n2d_vocab_room(size_t bytes) { return bytes / 2 + 1; }

/* Writes the ids of a line's tokens to id[n2d_vocab_room(bytes)]; their number, or -1 and a message: a zero byte, or with ids the
 * token that is no entry. */
ptrdiff_t n2d_vocab_encode(const struct n2d_vocab *v, int32_t *id, const char *text, size_t bytes);

#endif
