#include "train/optimiser.h"

#include <string.h>

#include "base/size.h"
#include "base/threads.h"
#include "op/pointwise.h"

static void all_to_do(struct n2d_optimiser *o, const struct n2d_transformer *m)
{
	o->chunks = n2d_chunks(m->p.floats, N2D_CHUNK);
	o->sublayers = m->encoder.n + m->decoder.n;
}

int n2d_optimiser_init(struct n2d_optimiser *o, const struct n2d_transformer *m)
{
	size_t n = m->p.floats;
	memset(o, 0, sizeof *o);
	all_to_do(o, m);
	if (n2d_arena_init(&o->memory, n2d_mul(n2d_add(n2d_mul(3, n), n2d_floats(o->chunks, 1, 1)), sizeof(float))))
		return -1;
	o->m = n2d_arena_floats(&o->memory, n);
	o->v = n2d_arena_floats(&o->memory, n);
	o->grads = n2d_arena_floats(&o->memory, n);
	o->squares = n2d_arena_floats(&o->memory, o->chunks);
	return 0;
}

void n2d_optimiser_free(struct n2d_optimiser *o)
{
	n2d_arena_free(&o->memory);
	memset(o, 0, sizeof *o);
}

static struct n2d_adam_arrays arrays(const struct n2d_update *u, size_t n)
{
	const struct n2d_optimiser *o = u->o;
	return (struct n2d_adam_arrays){u->m->w, o->m, o->v, o->grads, u->squares ? o->squares : NULL, n};
}

/* ---- beside */

/* The last sublayer to be packed, where Adam is through with it. */
static int to_pack(const struct n2d_update *u)
{
	const struct n2d_optimiser *o = u->o;
	return o->sublayers && n2d_transformer_sublayer(u->m, o->sublayers - 1)->at >= o->chunks * N2D_CHUNK;
}

/* The last chunk, where its gradients have come. */
static int to_update(const struct n2d_update *u) { return u->o->chunks && (u->o->chunks - 1) * N2D_CHUNK >= u->pass->final; }

static int waits(void *arg) { return to_pack(arg) || to_update(arg); }

/* What Adam has just written is packed while it is in the cache. */
static void piece(void *arg)
{
	const struct n2d_update *u = arg;
	struct n2d_adam_arrays x = arrays(u, u->m->p.floats);
	if (to_pack(u))
		n2d_transformer_pack_sublayer(u->ctx, u->m, --u->o->sublayers);
	else
		n2d_adam_chunk(u->ctx, &u->adam, &x, --u->o->chunks);
}

struct n2d_beside n2d_optimiser_beside(struct n2d_update *u) { return (struct n2d_beside){waits, piece, u}; }

/* ---- the rest */

double n2d_optimiser_finish(const struct n2d_update *u)
{
	struct n2d_optimiser *o = u->o;
	size_t left = o->chunks * N2D_CHUNK, n = u->m->p.floats, chunks = n2d_chunks(n, N2D_CHUNK);
	struct n2d_adam_arrays x = arrays(u, left < n ? left : n);
	n2d_adam(u->ctx, &u->adam, &x);
	n2d_transformer_pack_first(u->ctx, u->m, o->sublayers);
	all_to_do(o, u->m);
	double sum = 0;
	for (size_t i = 0; u->squares && i < chunks; i++)
		sum += o->squares[i];
	return sum;
}
