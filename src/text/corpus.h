/* A parallel text as ids: pairs of a source and a target sentence, or sources alone.
 *
 * Each sentence ends with N2D_ID_END, which is not in the text; so an empty line is a sentence too, of one token. Pairs with more
 * than max_length tokens on a side, ends not counted, are left out, and counted. */
#ifndef N2D_CORPUS_H
#define N2D_CORPUS_H

#include <stddef.h>
#include <stdint.h>

#include "text/strings.h"
#include "text/task.h"
#include "text/vocab.h"

enum n2d_side { N2D_SOURCE, N2D_TARGET, N2D_SIDES };

/* How the lines of a side become ids. */
struct n2d_coder {
	const struct n2d_vocab *vocab;
	/* Changes a line before its tokens are taken (byte-pair encoding); NULL: as it is. -1 and a message. */
	int (*edit)(void *editor, const char **text, size_t *bytes);
	void *editor;
};

struct n2d_corpus {
	size_t pairs, left_out;
	/* Sentence i of a side is id[start[i]] .. id[start[i + 1] - 1]; of sources alone the target's are empty. */
	int32_t *id[N2D_SIDES];
	size_t *start[N2D_SIDES];       /* [pairs + 1] */
	size_t longest[N2D_SIDES];      /* tokens of the longest sentence, its end among them */
	size_t longest_line[N2D_SIDES]; /* its line, or pair, as they were read, from 1 */
	size_t unknown[N2D_SIDES];      /* tokens that are N2D_ID_UNKNOWN */
	size_t with_unknown;            /* pairs that have one, on either side */

	int keeps;                      /* set before any pair comes: the targets' text is kept too, as it was read */
	struct n2d_strings texts;
	uint32_t *text; /* [pairs]: the target's number in texts */

	struct n2d_coder coder[N2D_SIDES];
	size_t max_length, capacity, room[N2D_SIDES], text_room;
};

/* An empty one; max_length 0: no limit. target NULL: sources alone. Every failure here and below gives -1 and a message; of the
 * corpus only n2d_corpus_free is then left to call. */
int n2d_corpus_init(struct n2d_corpus *c, const struct n2d_coder *source, const struct n2d_coder *target, size_t max_length);
void n2d_corpus_free(struct n2d_corpus *c);

/* Appends a pair, unless it is too long. text[N2D_TARGET] is not looked at with sources alone. */
int n2d_corpus_add(struct n2d_corpus *c, const char *const text[N2D_SIDES], const size_t bytes[N2D_SIDES]);

/* Takes all pairs out; the memory stays. */
void n2d_corpus_clear(struct n2d_corpus *c);

/* Reads two files whose line i is one pair (text/lines.h). Messages name file and line: different numbers of lines, invalid UTF-8,
 * no line at all, or that all pairs are too long. path[N2D_TARGET] is not looked at with sources alone. */
int n2d_corpus_read(struct n2d_corpus *c, const char *const path[N2D_SIDES]);

/* The next `pairs` lines of a task. */
int n2d_corpus_task(struct n2d_corpus *c, const struct n2d_task_config *task, size_t pairs);

/* -1 and a message naming file, line and `limit` when a sentence has more than `most` tokens, its end not counted. */
int n2d_corpus_check(const struct n2d_corpus *c, const char *const name[N2D_SIDES], size_t most, const char *limit);

static inline size_t n2d_corpus_length(const struct n2d_corpus *c, enum n2d_side side, size_t pair)
{
	return c->start[side][pair + 1] - c->start[side][pair];
}

/* A target's line before its coder's edit, of a corpus that keeps them; not ended by a zero. */
static inline const char *n2d_corpus_text(const struct n2d_corpus *c, size_t pair, size_t *bytes)
{
	return n2d_strings_get(&c->texts, c->text[pair], bytes);
}

#endif
