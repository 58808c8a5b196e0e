/* Layers of programs of their own. */
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "bench/layer_peer.h"
#include "bench/served.h"

static struct served_worker *of(const struct layer_case *l) { return served_worker(l->peer->library, l->c.ctx->threads); }
static uintptr_t number(const struct layer_case *l) { return (uintptr_t)l->peer_state; }

static int has(const struct layer_peer *p, const struct layer_case *l)
{
	struct served *s = p->library;
	return in_list(s->kinds, l->kind->name) && (s->train || !l->train) && served_worker(s, l->c.ctx->threads);
}

static int open_case(struct layer_case *l)
{
	struct served_worker *w = of(l);
	struct layer_group *g = l->group;
	const struct n2d_layer_config *c = &l->shape.c;
	size_t rows = l->shape.B * l->shape.n * c->D;
	char line[256];
	off_t at = 0;
	l->peer_state = (void *)++w->cases;
	snprintf(line, sizeof line, "open %zu %s %s %zu %zu %zu %zu %zu %zu %zu %d", (size_t)number(l), l->kind->name, l->train ? "train" : "forward",
		 l->shape.B, l->shape.n, c->D, c->H, c->W, c->dilation, c->F, c->causal);
	if (served_move(w, 1, g->x, rows, &at) || served_move(w, 1, g->dy, rows, &at) ||
	    served_move(w, 1, (float *)l->layer.params, l->params, &at))
		return -1;
	return served_ask(w, line);
}

static void run(struct layer_case *l, size_t calls, struct sample *sample) { served_run(of(l), number(l), &l->c, calls, sample); }

static int gradients(struct layer_case *l)
{
	struct served_worker *w = of(l);
	struct layer_group *g = l->group;
	size_t rows = l->shape.B * l->shape.n * l->shape.c.D;
	char line[64];
	off_t at = 0;
	if (l->c.why[0])
		return n2d_error("%.150s", l->c.why);
	snprintf(line, sizeof line, "results %zu", (size_t)number(l));
	if (served_ask(w, line) || served_move(w, 0, g->y, rows, &at))
		return -1;
	return l->train ? served_move(w, 0, g->dx, rows, &at) || served_move(w, 0, g->dparams, l->params, &at) : 0;
}

static void close_case(struct layer_case *l) { served_close(of(l), number(l)); }

int served_layers(const struct layer_peer **list, const char *which, const struct size_list *threads)
{
	static struct layer_peer peer[SERVED_MOST];
	struct served *s[SERVED_MOST];
	int n = served_start(s, which, NULL, threads);
	for (int i = 0; i < n; i++) {
		struct layer_peer *p = peer + i;
		*p = (struct layer_peer){.outside = 1, .library = s[i], .has = has, .open = open_case, .run = run, .gradients = gradients,
					 .close = close_case};
		snprintf(p->name, sizeof p->name, "%s", s[i]->name);
		snprintf(p->version, sizeof p->version, "%s", s[i]->worker->process.version);
		snprintf(p->isa, sizeof p->isa, "%s", s[i]->worker->process.isa);
		list[i] = p;
	}
	return n;
}
