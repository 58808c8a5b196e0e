#include "bench/layer_peer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench/blas.h"
#include "bench/served.h"

int is_layer_peer(const char *name) { return strcmp(name, "onednn") == 0 || is_served(name, NULL); }

int layer_peer_path(const char *text)
{
	if (served_path(text, NULL) || blas_path(text, "onednn"))
		return 0;
	return n2d_error("--peer-path: '%s', expected NAME=FILE with onednn, pytorch-best or onnxruntime for NAME", text);
}

void layer_peers_stop(void) { served_stop(); }

int layer_peers(const struct layer_peer **list, const char *isa, const char *which, const struct size_list *threads)
{
	const struct blas *b;
	int n = 0, found = !which || in_list(which, "onednn") ? blas_load(&b, isa, "onednn") : 0;
	if (found > 0 && (list[n] = onednn_layers(b)))
		n++;
	else if (found > 0)
		fprintf(stderr, "n2d-bench: %s\n", n2d_error_text());
	int more = found < 0 ? -1 : served_layers(list + n, which, threads);
	return more < 0 ? -1 : n + more;
}

static int open_peer(struct bench_case *c)
{
	struct layer_case *l = c->arg;
	if (l->ours(c) || l->peer->open(l))
		return -1;
	l->memory_bytes = NAN; /* ours */
	if (!layer_check_peer(l))
		return 0;
	l->peer->close(l);
	return -1;
}

static void run_peer(struct bench_case *c, size_t calls, struct sample *s)
{
	struct layer_case *l = c->arg;
	l->peer->run(l, calls, s);
}

static void close_peer(struct bench_case *c)
{
	struct layer_case *l = c->arg;
	l->peer->close(l);
}

void layer_case_peer(struct layer_case *l, const struct layer_peer *peer)
{
	l->peer = peer;
	l->ours = l->c.open; /* weights, and that ours are right: peers are held against them */
	l->c.open = open_peer;
	l->c.run = run_peer;
	l->c.parts = NULL;
	l->c.close = close_peer;
	l->c.outside = peer->outside;
	snprintf(l->peer_isa, sizeof l->peer_isa, "%s", peer->isa);
	snprintf(l->c.id, sizeof l->c.id, "%s@%s/%s/%s,n=%zu,d=%zu,B=%zu,threads=%d", l->kind->name, peer->name, l->c.ctx->k->isa,
		 l->train ? "train" : "forward", l->shape.n, l->shape.c.D, l->shape.B, l->c.ctx->threads);
}
