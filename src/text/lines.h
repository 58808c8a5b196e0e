/* The lines of a text: a plain file, one compressed with gzip (told by its content), or standard input.
 *
 *	struct n2d_lines l;
 *	if (n2d_lines_open(&l, path))
 *		return -1;
 *	while ((more = n2d_lines_next(&l)) > 0)
 *		... l.text, l.length, l.number ...
 *	n2d_lines_close(&l);
 *
 * Only '\n' ends a line: "\r", U+0085, U+2028 and zero bytes are part of it. What follows the last '\n' is a line if
 * there is anything. Of a stream (a pipe, a terminal) a line is given as soon as it has come. A line of N2D_LINE_MAX bytes is an error: what has
 * no lines and no end, as /dev/zero, must not fill the memory. */
#ifndef N2D_LINES_H
#define N2D_LINES_H

#include <stddef.h>

enum { N2D_LINE_MAX = 1 << 28 };

struct n2d_lines {
	const char *text;      /* the line without its '\n', a zero byte after it; until the next n2d_lines_next */
	size_t length, number; /* bytes of it; 1 for the first line, 0 before */
	int ended;             /* whether '\n' was there: only the last line can be without */
	const char *name;      /* the path, for messages */

	int fd;
	char *buffer;                /* [start, end) has come and is not given yet */
	size_t start, end, capacity; /* one byte of it is kept for the zero */
	struct n2d_gunzip *gz;       /* NULL: plain */
};

/* Opens path, "-" for standard input; the string must live as long as the reader. -1 and a message naming it. */
int n2d_lines_open(struct n2d_lines *l, const char *path);

/* The lines of a text in memory, which is copied; name, for messages, must live as long as the reader. -1 and a message. */
int n2d_lines_text(struct n2d_lines *l, const char *name, const char *text);

/* 1: the next line; 0: there is none; -1 and a message naming file and line: it cannot be read, or the compressed data are
 * damaged or cut off. */
int n2d_lines_next(struct n2d_lines *l);

/* Whether the next line may have to be waited for: time to pass on what was made of the others. */
static inline int n2d_lines_waits(const struct n2d_lines *l) { return l->start == l->end; }

/* Does nothing to one that is closed, failed to open, or all zeros. */
void n2d_lines_close(struct n2d_lines *l);

/* The message "NAME:NUMBER: ..." about the current line. Returns -1. */
int n2d_lines_error(const struct n2d_lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* -1 and a message naming the first wrong byte when the current line is no UTF-8. */
int n2d_lines_utf8(const struct n2d_lines *l);

#endif
