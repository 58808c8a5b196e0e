/* At which lengths of which layers: a list for the notes under tables and figures. */
#ifndef BENCH_WHERE_H
#define BENCH_WHERE_H

#include <stddef.h>

enum { WHERE_MOST = 480 };
struct where {
	char text[WHERE_MOST]; /* "rnn at n = 16, 32; lstm at n = 64", and so many more; "": there are none */
	const char *layer;     /* the last one */
	size_t untold;
};
/* A layer's lengths follow each other. remark: behind the length, or "". layer is kept. */
void where_add(struct where *w, const char *layer, double n, const char *remark);
/* After the last one: tells in the text how many did not fit. */
void where_end(struct where *w);

#endif
