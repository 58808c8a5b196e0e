/* Byte-pair encoding of words (Sennrich, Haddow and Birch 2016), with subword-nmt's files and results.
 *
 * A line is words divided by spaces; a word is a sequence of characters, the last of them marked "</w>". Learning merges the most
 * frequent pair of adjacent symbols again and again; applying repeats these merges, in this order, in the words of a
 * text, and writes a word's pieces divided by "@@ ". A codes file is the line "#version: 0.2" and a pair a line.
 *
 * Text is UTF-8 (text/utf8.h), and only ' ' divides words. At the two ends of a line ' ' and '\r' belong to no word and are kept;
 * several spaces between words become one. All other characters are characters. */
#ifndef N2D_BPE_H
#define N2D_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/rng.h"
#include "text/heap.h"
#include "text/strings.h"
#include "text/words.h"

#define N2D_BPE_SEPARATOR "@@"

/* ---- learning */

/* Writes the codes file of at most `symbols` merges of a frequency of min_frequency > 0 or more. *merges: how many there were.
 * With total, `symbols` counts characters too: those within words and those at their ends.
 * The pair of the highest count is next; of equal counts, the one whose left symbol is the larger by code point, then the
 * right. Pairs that overlap ("aaa" has two) are counted all, and merged from the left. -1 and a message: no memory. */
struct n2d_bpe_learn {
	size_t symbols, min_frequency;
	int total;
};
int n2d_bpe_learn(struct n2d_out *codes, size_t *merges, const struct n2d_words *w, const struct n2d_bpe_learn *how);

/* ---- applying */

struct n2d_bpe_options { /* all zeros: the defaults */
	const char *separator;    /* between the pieces of a word, a space after it; NULL: N2D_BPE_SEPARATOR */
	size_t merges;            /* use the first so many; 0: all */
	const char *vocabulary;   /* NULL, or a file of pieces as they are written and their counts: pieces that are not in it,
				     or come less often than the threshold, are taken apart again */
	size_t threshold;
	const char *const *glossaries; /* these strings are never taken apart, and come out as pieces of their own */
	size_t glossaries_n;
};

struct n2d_bpe_symbol {
	uint32_t split;              /* the pair it is taken apart into; N2D_NO_STRING: it cannot be */
	uint8_t inside, at_end;      /* whether it stays whole within a word, and as a word's last piece */
};

/* What was loaded is only read: any number of threads may share it, each with a worker of its own. */
struct n2d_bpe {
	struct n2d_strings symbols, pairs; /* a pair's bytes are the numbers of its two symbols; its number is its rank */
	uint32_t *merged;                  /* the symbol a pair becomes */
	struct n2d_bpe_symbol *symbol;
	char *separator; /* with the space after it */
	size_t separator_bytes, merged_room;
	struct n2d_strings glossaries; /* in their order */
};

/* -1 and a message naming file and line. */
int n2d_bpe_load(struct n2d_bpe *b, const char *path, const struct n2d_bpe_options *o);
/* From the text of a codes file, named in messages. */
int n2d_bpe_parse(struct n2d_bpe *b, const char *name, const char *text, const struct n2d_bpe_options *o);
void n2d_bpe_free(struct n2d_bpe *b);

/* One thread's memory, with the words it has met. */
struct n2d_bpe_worker {
	const struct n2d_bpe *bpe;
	char *text; /* the encoded line, not ended by a zero; until the next */
	size_t length;

	size_t room, word, piece; /* where the word and its last piece begin in text */
	struct n2d_strings words; /* met before; their encodings follow each other in known */
	char *known;
	size_t *known_end, known_room, known_end_room;
	struct n2d_bpe_node *nodes;
	size_t nodes_room;
	struct n2d_heap queue;
	struct n2d_heap_item *now, *later;
	size_t now_room, later_room;
	double dropout;
	struct n2d_rng *rng;
};

void n2d_bpe_worker_init(struct n2d_bpe_worker *w, const struct n2d_bpe *b);
void n2d_bpe_worker_free(struct n2d_bpe_worker *w);

/* Encodes a line, without its '\n', into w->text. dropout is the chance that a possible merge is left out in a step
 * (Provilkov et al. 2020), drawn from rng; 0 needs none. -1 and a message: no memory. */
int n2d_bpe_apply(struct n2d_bpe_worker *w, const char *line, size_t bytes, double dropout, struct n2d_rng *rng);

/* The text of an encoded line: takes out each separator before a space, with the space, and one at the end. to has room for
 * `bytes`, and may be line. Returns the length. Undoes n2d_bpe_apply: a word that ends in a separator (of two characters or more)
 * is written so that this is possible, its last character apart. */
size_t n2d_bpe_restore(char *to, const char *line, size_t bytes, const char *separator);

#endif
