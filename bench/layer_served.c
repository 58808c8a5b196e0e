/* Peers that are programs of their own: a script beside these sources that makes a layer of a file's numbers and runs it on request
 * (bench/peers/torch_layers.py has the requests). The seconds are the script's, without the way there. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench/layer_peer.h"
#include "bench/peer.h"

enum { WORKERS = 8 };
static struct served {
	const char *name, *program, *script, *kinds;
	int train;     /* backward too */
	int directory; /* the path is where the script finds its library; else it is the program's */
	const char *path;
	struct layer_peer p;
	int workers;
	struct worker { /* a process for each number of threads: PyTorch makes a pool of threads anew when told another, and they spin */
		int threads;
		struct peer process;
		int fd;
		uintptr_t cases; /* opened: each has its number */
	} worker[WORKERS];
} served[] = {
	{.name = "pytorch-best", .program = "/usr/bin/python3", .script = N2D_SRCDIR "/bench/peers/torch_layers.py", .train = 1,
	 .kinds = "self-attention,rnn,lstm,gru,convolution,separable-convolution,ffn"},
	{.name = "onnxruntime", .program = "node", .script = N2D_SRCDIR "/bench/peers/onnx_layers.js", .directory = 1,
	 .kinds = "self-attention,rnn,lstm,gru,convolution,separable-convolution,ffn"},
};
enum { SERVED = sizeof served / sizeof *served };

int served_path(const char *text)
{
	for (int i = 0; i < SERVED; i++) {
		size_t n = strlen(served[i].name);
		if (strncmp(served[i].name, text, n) == 0 && text[n] == '=' && text[n + 1]) {
			served[i].path = text + n + 1;
			return 1;
		}
	}
	return 0;
}

int is_served(const char *name)
{
	for (int i = 0; i < SERVED; i++)
		if (strcmp(served[i].name, name) == 0)
			return 1;
	return 0;
}

/* ---- the file */

static int move(const struct worker *w, int out, float *p, size_t n, off_t *at)
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

/* A line that begins with `ok`, or why not. */
static int ask(struct worker *w, const char *line)
{
	char reply[512];
	if (peer_ask(&w->process, line, reply, sizeof reply))
		return -1;
	return strcmp(reply, "ok") == 0 ? 0 : n2d_error("%s: %.200s", w->process.name, reply);
}

/* ---- as a peer */

static struct worker *worker(struct served *s, int threads)
{
	for (int i = 0; i < s->workers; i++)
		if (s->worker[i].threads == threads)
			return s->worker + i;
	return NULL;
}

static struct worker *of(const struct layer_case *l) { return worker(l->peer->library, l->c.ctx->threads); }
static size_t number(const struct layer_case *l) { return (uintptr_t)l->peer_state; }

static int has(const struct layer_peer *p, const struct layer_case *l)
{
	struct served *s = p->library;
	return in_list(s->kinds, l->kind->name) && (s->train || !l->train) && worker(s, l->c.ctx->threads);
}

static int open_case(struct layer_case *l)
{
	struct worker *w = of(l);
	struct layer_group *g = l->group;
	const struct n2d_layer_config *c = &l->shape.c;
	size_t rows = l->shape.B * l->shape.n * c->D;
	char line[256];
	off_t at = 0;
	l->peer_state = (void *)++w->cases;
	snprintf(line, sizeof line, "open %zu %s %s %zu %zu %zu %zu %zu %zu %zu %d", number(l), l->kind->name, l->train ? "train" : "forward", l->shape.B,
		 l->shape.n, c->D, c->H, c->W, c->dilation, c->F, c->causal);
	if (move(w, 1, g->x, rows, &at) || move(w, 1, g->dy, rows, &at) || move(w, 1, (float *)l->layer.params, l->params, &at))
		return -1;
	return ask(w, line);
}

static void run(struct layer_case *l, size_t calls, struct sample *sample)
{
	struct worker *w = of(l);
	char line[64], reply[512], *end;
	if (l->c.why[0])
		return;
	snprintf(line, sizeof line, "run %zu %zu", number(l), calls);
	if (peer_ask(&w->process, line, reply, sizeof reply)) {
		snprintf(l->c.why, sizeof l->c.why, "%s", n2d_error_text());
		return;
	}
	double seconds = strtod(reply, &end);
	if (*end || !(seconds > 0))
		snprintf(l->c.why, sizeof l->c.why, "%s: %.100s", w->process.name, reply);
	sample->seconds += seconds;
}

static int gradients(struct layer_case *l)
{
	struct worker *w = of(l);
	struct layer_group *g = l->group;
	size_t rows = l->shape.B * l->shape.n * l->shape.c.D;
	char line[64];
	off_t at = 0;
	if (l->c.why[0])
		return n2d_error("%.150s", l->c.why);
	snprintf(line, sizeof line, "results %zu", number(l));
	if (ask(w, line) || move(w, 0, g->y, rows, &at))
		return -1;
	return l->train ? move(w, 0, g->dx, rows, &at) || move(w, 0, g->dparams, l->params, &at) : 0;
}

/* That it ended by itself was told. */
static void close_case(struct layer_case *l)
{
	char line[64];
	snprintf(line, sizeof line, "close %zu", number(l));
	ask(of(l), line);
}

/* ---- starting */

/* Its greeting: "ready", version, instruction set; or why not. */
static int greet(struct served *s, struct worker *w)
{
	char line[512], *version, *isa;
	if (peer_ask(&w->process, NULL, line, sizeof line))
		return -1;
	version = strchr(line, '\t');
	isa = version ? strchr(version + 1, '\t') : NULL;
	if (strncmp(line, "ready", 5) != 0 || !isa)
		return n2d_error("%s: %.300s", s->name, line);
	*isa = 0;
	s->p = (struct layer_peer){.outside = 1, .library = s, .has = has, .open = open_case, .run = run, .gradients = gradients, .close = close_case};
	snprintf(s->p.name, sizeof s->p.name, "%s", s->name);
	snprintf(s->p.version, sizeof s->p.version, "%s", version + 1);
	snprintf(s->p.isa, sizeof s->p.isa, "%s", isa + 1);
	return 0;
}

/* The file loses its name once both have opened it: nothing stays behind. */
static int start(struct served *s, int threads)
{
	const char *tmp = getenv("TMPDIR");
	char file[4096], number_of[16];
	struct worker *w = s->worker + s->workers;
	snprintf(file, sizeof file, "%s/n2d-peer-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	snprintf(number_of, sizeof number_of, "%d", threads);
	w->threads = threads;
	w->fd = mkostemp(file, O_CLOEXEC);
	if (w->fd < 0)
		return n2d_error("%s: no file in %s", s->name, tmp && *tmp ? tmp : "/tmp");
	char *argv[] = {(char *)(s->path && !s->directory ? s->path : s->program), (char *)s->script, file, number_of,
			(char *)(s->directory ? s->path : NULL), NULL};
	int bad = peer_start(&w->process, s->name, argv) || greet(s, w);
	unlink(file);
	if (bad) {
		peer_stop(&w->process);
		close(w->fd);
	}
	s->workers += !bad;
	return bad ? -1 : 0;
}

int served_peers(const struct layer_peer **list, const char *which, const struct size_list *threads)
{
	int n = 0;
	for (struct served *s = served; s < served + SERVED; s++) {
		int bad = 0;
		if (which && !in_list(which, s->name))
			continue;
		for (size_t t = 0; t < threads->n && s->workers < WORKERS && !bad; t++)
			bad = start(s, (int)threads->v[t]);
		if (bad && s->path)
			return -1;
		if (bad) {
			fprintf(stderr, "n2d-bench: no %s here: %s\n", s->name, n2d_error_text());
			continue;
		}
		fprintf(stderr, "n2d-bench: peer %s: %s, chose %s\n", s->name, s->p.version, s->p.isa);
		list[n++] = &s->p;
	}
	return n;
}

void served_stop(void)
{
	for (int i = 0; i < SERVED; i++)
		for (int j = 0; j < served[i].workers; j++)
			peer_stop(&served[i].worker[j].process);
}
