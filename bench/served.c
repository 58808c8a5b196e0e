#define _GNU_SOURCE

#include "bench/served.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench/temporary.h"

static struct served served[SERVED_MOST] = {
	{.name = "pytorch-best", .program = "/usr/bin/python3", .script = N2D_SRCDIR "/bench/peers/torch_layers.py", .train = 1,
	 .kinds = "self-attention,rnn,lstm,gru,convolution,separable-convolution,ffn"},
	{.name = "onnxruntime", .program = "node", .script = N2D_SRCDIR "/bench/peers/onnx_layers.js", .directory = 1,
	 .kinds = "self-attention,rnn,lstm,gru,convolution,separable-convolution,ffn,product"},
};

static int has(const struct served *s, const char *kind) { return !kind || in_list(s->kinds, kind); }

int served_path(const char *text, const char *kind)
{
	for (int i = 0; i < SERVED_MOST; i++) {
		size_t n = strlen(served[i].name);
		if (has(served + i, kind) && strncmp(served[i].name, text, n) == 0 && text[n] == '=' && text[n + 1]) {
			served[i].path = text + n + 1;
			return 1;
		}
	}
	return 0;
}

int is_served(const char *name, const char *kind)
{
	for (int i = 0; i < SERVED_MOST; i++)
		if (has(served + i, kind) && strcmp(served[i].name, name) == 0)
			return 1;
	return 0;
}

struct served_worker *served_worker(struct served *s, int threads)
{
	for (int i = 0; i < s->workers; i++)
		if (s->worker[i].threads == threads)
			return s->worker + i;
	return NULL;
}

/* ---- requests */

int served_move(const struct served_worker *w, int out, float *p, size_t n, off_t *at)
{
	char *c = (char *)p;
	for (size_t left = n * sizeof *p; left;) {
		ssize_t done = out ? pwrite(w->fd, c, left, *at) : pread(w->fd, c, left, *at);
		if (done <= 0)
			return n2d_error("%s: cannot %s its file", w->process.name, out ? "write" : "read");
		c += done;
		left -= (size_t)done;
		*at += done;
	}
	return 0;
}

int served_ask(struct served_worker *w, const char *line)
{
	char reply[512];
	if (peer_ask(&w->process, line, reply, sizeof reply))
		return -1;
	return strcmp(reply, "ok") == 0 ? 0 : n2d_error("%s: %.200s", w->process.name, reply);
}

void served_run(struct served_worker *w, uintptr_t number, struct bench_case *c, size_t calls, struct sample *sample)
{
	char line[64], reply[512], *end;
	if (c->why[0])
		return;
	snprintf(line, sizeof line, "run %zu %zu", (size_t)number, calls);
	if (peer_ask(&w->process, line, reply, sizeof reply)) {
		snprintf(c->why, sizeof c->why, "%s", n2d_error_text());
		return;
	}
	double seconds = strtod(reply, &end);
	if (*end || !(seconds > 0))
		snprintf(c->why, sizeof c->why, "%s: %.100s", w->process.name, reply);
	sample->seconds += seconds;
}

void served_close(struct served_worker *w, uintptr_t number)
{
	char line[64];
	snprintf(line, sizeof line, "close %zu", (size_t)number);
	served_ask(w, line);
}

/* ---- starting */

/* The file loses its name once both have opened it: nothing stays behind. */
static int start(struct served *s, int threads)
{
	char file[4096], number_of[16];
	struct served_worker *w = s->worker + s->workers;
	snprintf(file, sizeof file, "%s/n2d-peer-XXXXXX", temporary_place());
	snprintf(number_of, sizeof number_of, "%d", threads);
	w->threads = threads;
	w->fd = mkostemp(file, O_CLOEXEC);
	if (w->fd < 0)
		return n2d_error("%s: no file in %s", s->name, temporary_place());
	char *argv[] = {(char *)(s->path && !s->directory ? s->path : s->program), (char *)s->script, file, number_of,
			(char *)(s->directory ? s->path : NULL), NULL};
	int bad = peer_start(&w->process, s->name, argv) || peer_greet(&w->process);
	unlink(file);
	if (bad) {
		peer_stop(&w->process);
		close(w->fd);
	}
	s->workers += !bad;
	return bad ? -1 : 0;
}

int served_start(struct served **list, const char *which, const char *kind, const struct size_list *threads)
{
	int n = 0;
	for (struct served *s = served; s < served + SERVED_MOST; s++) {
		int bad = 0;
		if (!has(s, kind) || (which && !in_list(which, s->name)))
			continue;
		for (size_t t = 0; t < threads->n && s->workers < SERVED_WORKERS && !bad; t++)
			bad = start(s, (int)threads->v[t]);
		if (bad && s->path)
			return -1;
		if (bad) {
			fprintf(stderr, "n2d-bench: no %s here: %s\n", s->name, n2d_error_text());
			continue;
		}
		fprintf(stderr, "n2d-bench: peer %s: %s, chose %s\n", s->name, s->worker->process.version, s->worker->process.isa);
		list[n++] = s;
	}
	return n;
}

void served_stop(void)
{
	for (int i = 0; i < SERVED_MOST; i++)
		for (int j = 0; j < served[i].workers; j++)
			peer_stop(&served[i].worker[j].process);
}
