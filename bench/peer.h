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
	char version[128], isa[32]; /* as it greeted: isa in its words */
};

/* Starts argv[0] (found by PATH). Start before threads are pinned: it inherits the processors. -1 and a message. */
int peer_start(struct peer *p, const char *name, char *const argv[]);
/* Sends `line` and a newline (NULL: nothing), and waits for a line back, without its newline. -1 and a message when the program ended. */
int peer_ask(struct peer *p, const char *line, char *reply, size_t room);
/* Waits for its greeting: "ready", version and instruction set, with tabs between them; anything else is why not. -1 and a message. */
int peer_greet(struct peer *p);
/* Closes its input and waits for its end; what it is called stays. Does nothing to one that was not started. */
void peer_stop(struct peer *p);

#endif
