/* Parallel text made here: tasks whose right answer is known.
 *
 *	copy, reverse, sort   sequences of symbols, equally likely, their length too. Letters ("c a b") or, with ids, integers
 *	                      from 0 on ("2 0 1"): one sequence a line, symbols divided by one space
 *	numbers               English number words to German ones, 0 to 999,999. Characters are divided by spaces, a space itself is "_":
 *	                      "o n e _ h u n d r e d" and "e i n h u n d e r t". Each number comes once before any comes twice,
 *	                      and the numbers of digits take turns at random, so that the few short ones are all there
 *
 * A line belongs to one split: of 20 sources 18 are train's, one valid's and one test's, by a hash of the source that
 * depends on nothing else. So what is held out was never trained on, whatever the seeds. */
#ifndef N2D_TASK_H
#define N2D_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

enum n2d_task_kind { N2D_TASK_COPY, N2D_TASK_REVERSE, N2D_TASK_SORT, N2D_TASK_NUMBERS };
enum n2d_split { N2D_SPLIT_TRAIN, N2D_SPLIT_VALID, N2D_SPLIT_TEST };
enum { N2D_TASK_DIGITS = 6, N2D_TASK_LETTERS = 26, N2D_TASK_LENGTH_MAX = 1000000 };

struct n2d_task_config {
	enum n2d_task_kind kind;
	enum n2d_split split;
	uint64_t seed;
	size_t min_length, max_length; /* symbols; of numbers: digits, 1 to 6 */
	uint32_t vocab;                /* symbols; not used by numbers */
	int ids;
};

struct n2d_task {
	struct n2d_task_config c;
	const char *source, *target; /* the line, until the next */

	struct n2d_rng rng;
	char *text[2];
	uint32_t *symbols;                              /* a sequence; of numbers: those of the split, by digits */
	size_t start[N2D_TASK_DIGITS + 2], next[N2D_TASK_DIGITS + 1]; /* class d: symbols[start[d] .. start[d + 1]) */
};

/* The task or split of this name; -1 and a message with the list. */
int n2d_task_find(const char *name);
int n2d_split_find(const char *name);

/* "copy" has 1 to 20 letters, "numbers" 1 to 6 digits. */
struct n2d_task_config n2d_task_defaults(enum n2d_task_kind kind);

/* -1 and a message naming the setting: lengths out of order, letters beyond 26 or ids beyond N2D_IDS_MAX, no number of the split. */
int n2d_task_open(struct n2d_task *t, const struct n2d_task_config *c);
void n2d_task_close(struct n2d_task *t);

/* The next line. -1 and a message when no sequence of the split is found: there are too few of such length. */
int n2d_task_next(struct n2d_task *t);

/* Whether n2d_task_write could open its files, which are not made. -1 and a message. */
int n2d_task_writable(const char *prefix, const char *source, const char *target);

/* Writes `lines` lines to PREFIX.source and PREFIX.target, each file whole or not at all. -1 and a message. */
int n2d_task_write(const struct n2d_task_config *c, size_t lines, const char *prefix, const char *source, const char *target);

#endif
