/* Another program that does the same work on request: a line to its standard input, a line back. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct peer {
	const char *name; /* for messages */
	pid_t pid;        /* 0: not started */
	FILE *to, *from;
};

/* Starts argv[0] (found by PATH). Start before threads are pinned: it inherits the processors. -1 and a message. */
int peer_start(struct peer *p, const char *name, char *const argv[]);
/* Sends `line` and a newline (NULL: nothing), and waits for a line back, without its newline. -1 and a message when the program ended. */
int peer_ask(struct peer *p, const char *line, char *reply, size_t room);
/* Closes its input and waits for its end; the name stays. Does nothing to one that was not started. */
void peer_stop(struct peer *p);

#endif
