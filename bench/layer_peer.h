/* Layers of others on the shapes of ours: the same input, weights and gradient, the same buffers, checked against ours, in the same group of
 * samples. */
#ifndef BENCH_LAYER_PEER_H
#define BENCH_LAYER_PEER_H

#include "bench/layer_case.h"
#include "bench/options.h"

struct layer_peer {
	char name[32], version[128], isa[32]; /* isa: in its words; a case can know it better */
	int outside;                          /* another process does the work */
	void *library;
	/* Does it have the layer of this case? */
	int (*has)(const struct layer_peer *p, const struct layer_case *l);
	/* l->peer_state ready to run on the buffers of l's group, with its parameters; may set l->peer_isa. -1 and a message. */
	int (*open)(struct layer_case *l);
	/* y; and dx and what it has of gradients when training. Those in the group's dparams must be there after `gradients`. */
	void (*run)(struct layer_case *l, size_t calls, struct sample *s);
	int (*gradients)(struct layer_case *l);
	void (*close)(struct layer_case *l);
};

/* Makes a case of ours, fresh from layer_case_init, one of a peer's. */
void layer_case_peer(struct layer_case *l, const struct layer_peer *peer);

/* The peers there are, of those in the list `which` (NULL: all); returns how many. What is not there is told. -1 and a message when it was
 * named by layer_peer_path. threads: the numbers that cases have. Before threads are pinned: processes started inherit the processors. */
enum { LAYER_PEERS = 8 };
int layer_peers(const struct layer_peer **list, const char *isa, const char *which, const struct size_list *threads);
/* "NAME=FILE". -1 and a message when no peer of layers has that name. */
int layer_peer_path(const char *text);
int is_layer_peer(const char *name);
/* Ends processes that were started. */
void layer_peers_stop(void);

/* oneDNN: NULL and a message when the library cannot do it. */
struct blas;
const struct layer_peer *onednn_layers(const struct blas *b);
/* Programs of their own (served.h), as layer_peers. */
int served_layers(const struct layer_peer **list, const char *which, const struct size_list *threads);

#endif
