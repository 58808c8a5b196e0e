/* Peers that are programs of their own: a script beside these sources that makes a layer, or a product, of a file's numbers and runs it on
 * request (bench/peers/torch_layers.py has the requests). The seconds are the script's, without the way there. */
#ifndef BENCH_SERVED_H
#define BENCH_SERVED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/options.h"
#include "bench/peer.h"
#include "bench/sample.h"

enum { SERVED_MOST = 2, SERVED_WORKERS = 8 };
struct served {
	const char *name, *program, *script;
	const char *kinds;           /* a list: layers by name, "product" */
	int train;                   /* backward too */
	int directory;               /* the path is where the script finds its library; else it is the program's */
	const char *path;            /* as the user named it, or NULL */
	int workers;
	struct served_worker { /* a process for each number of threads: PyTorch makes a pool of threads anew when told another, and they spin */
		int threads;
		struct peer process;
		int fd;
		uintptr_t cases; /* opened: each has its number */
	} worker[SERVED_WORKERS];
};

/* kind: of those that have it; NULL: of all. */
int is_served(const char *name, const char *kind);
/* "NAME=PATH": 1 when the name is of one. */
int served_path(const char *text, const char *kind);
/* Starts those of the list `which` (NULL: all), into list[SERVED_MOST]; returns how many. What is not there is told. -1 and a message when it
 * was named by served_path. threads: the numbers that cases have. Before threads are pinned: processes started inherit the processors. */
int served_start(struct served **list, const char *which, const char *kind, const struct size_list *threads);
/* Ends the processes. */
void served_stop(void);

/* The process with so many threads, or NULL. */
struct served_worker *served_worker(struct served *s, int threads);
/* n floats to its file (out), or from there, at *at, which goes on. -1 and a message. */
int served_move(const struct served_worker *w, int out, float *p, size_t n, off_t *at);
/* A request whose answer is `ok`; -1 and why not. */
int served_ask(struct served_worker *w, const char *line);
/* Asks for so many calls of a case, or leaves it when an earlier one failed: c->why then tells. */
void served_run(struct served_worker *w, uintptr_t number, struct bench_case *c, size_t calls, struct sample *sample);
/* That it ended by itself was told. */
void served_close(struct served_worker *w, uintptr_t number);

#endif
