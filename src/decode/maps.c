#include "decode/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "layer/cross_attention.h"
#include "model/stack.h"

/* ---- which sublayers have weights */

static int has_weights(const struct n2d_sublayer *s)
{
	return s->kind == N2D_SUBLAYER_CROSS || (s->kind == N2D_SUBLAYER_MIXER && s->layer.kind->weights);
}

/* Of sublayer i. */
static struct n2d_attention_map map_of(const struct n2d_stack *stack, size_t i, int decoder, size_t S, size_t T)
{
	const struct n2d_sublayer *s = &stack->sublayers[i];
	size_t per = decoder ? 3 : 2;
	enum n2d_map_kind kind = s->kind == N2D_SUBLAYER_CROSS ? N2D_MAP_CROSS : decoder ? N2D_MAP_DECODER : N2D_MAP_ENCODER;
	size_t queries = kind == N2D_MAP_ENCODER ? S : T, keys = kind == N2D_MAP_DECODER ? T : S;
	return (struct n2d_attention_map){kind, i / per, stack->n / per, s->layer.c.H, queries, keys, NULL};
}

/* A map, where it lies and the sublayer that it belongs to. */
struct place {
	struct n2d_attention_map *map;
	const struct n2d_stack *stack;
	size_t sublayer;
};

/* Fills maps->map and *place, kind after kind; their number, and the bytes of the weights. place NULL: only counts. */
static size_t list(struct n2d_maps *maps, struct place *place, const struct n2d_transformer *m, size_t S, size_t T, size_t *bytes)
{
	size_t n = 0;
	*bytes = 0;
	for (int kind = 0; kind < N2D_MAP_KINDS; kind++) {
		int decoder = kind != N2D_MAP_ENCODER;
		const struct n2d_stack *s = decoder ? &m->decoder : &m->encoder;
		for (size_t i = 0; i < s->n; i++) {
			struct n2d_attention_map map = map_of(s, i, decoder, S, T);
			if ((int)map.kind != kind || !has_weights(&s->sublayers[i]))
				continue;
			if (place) {
				maps->map[n] = map;
				place[n] = (struct place){&maps->map[n], s, i};
			}
			*bytes = n2d_add(*bytes, n2d_mul(n2d_floats(map.H, map.Tq, map.Tk), sizeof(float)));
			n++;
		}
	}
	return n;
}

/* ---- their weights, of what a forward pass kept */

static void weigh(const struct n2d_ctx *ctx, const struct place *p, const struct n2d_pass *pass, float *P)
{
	const struct n2d_activations *source = &pass->source, *target = &pass->target;
	const struct n2d_sublayer *s = &p->stack->sublayers[p->sublayer];
	const struct n2d_activations *side = p->map->kind == N2D_MAP_ENCODER ? source : target;
	const float *saved = side->saved[p->sublayer];
	if (s->kind == N2D_SUBLAYER_CROSS)
		n2d_cross_attention_weights(ctx, &s->layer, P, saved, &target->s, &source->s);
	else
		s->layer.kind->weights(ctx, &s->layer, P, saved, &side->s);
	p->map->P = P;
}

static struct n2d_pass_need pass_need(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t S, size_t T)
{
	const struct n2d_shape shape = {1, S, T};
	struct n2d_pass_need need = {0};
	n2d_pass_need_add(&need, ctx, m, &shape, 1, 1); /* as for training: what backward needs is what is looked at here */
	return need;
}

/* Of infinite or NaN parameters there is nothing to be seen, and a picture would not tell. */
static int check_numbers(const struct n2d_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++) {
		const struct n2d_attention_map *m = &maps->map[i];
		for (size_t k = 0; k < m->H * m->Tq * m->Tk; k++)
			if (!isfinite(m->P[k]))
				return n2d_error("the model gives attention weights that are not numbers");
	}
	return 0;
}

/* The pair through the model, and the weights into maps->memory. */
static int forward(struct n2d_maps *maps, const struct place *place, const struct n2d_ctx *ctx, const struct n2d_transformer *m,
		   const struct n2d_batch *b)
{
	const struct n2d_pass_need need = pass_need(ctx, m, b->S, b->T);
	struct n2d_pass pass;
	if (n2d_pass_init(&pass, m, &need, 1))
		return -1;
	int bad = n2d_pass_shape(&pass, ctx, m, 1, b->S, b->T);
	if (!bad)
		n2d_transformer_forward(ctx, m, &pass, b, NULL);
	for (size_t i = 0; i < maps->n && !bad; i++)
		weigh(ctx, &place[i], &pass, n2d_arena_floats(&maps->memory, place[i].map->H * place[i].map->Tq * place[i].map->Tk));
	n2d_pass_free(&pass);
	return bad || check_numbers(maps) ? -1 : 0;
}

int n2d_maps_fit(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t S, size_t T)
{
	struct n2d_arena both;
	size_t bytes;
	list(NULL, NULL, m, S, T, &bytes);
	if (n2d_arena_init(&both, n2d_add(bytes, pass_need(ctx, m, S, T).bytes)))
		return -1;
	n2d_arena_free(&both);
	return 0;
}

int n2d_maps_make(struct n2d_maps *maps, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const int32_t *src, size_t S,
		  const int32_t *trg, size_t T)
{
	const int32_t src_len = (int32_t)S, trg_len = (int32_t)T;
	size_t bytes;
	memset(maps, 0, sizeof *maps);
	maps->n = list(maps, NULL, m, S, T, &bytes);
	maps->map = calloc(maps->n + 1, sizeof *maps->map);
	maps->in = calloc(T, sizeof *maps->in);
	struct place *place = calloc(maps->n + 1, sizeof *place);
	int bad = maps->map && maps->in && place ? 0 : n2d_error("no memory for %zu maps", maps->n);
	if (!bad) {
		const struct n2d_batch b = {1, S, T, src, maps->in, trg, &src_len, &trg_len, S, T};
		list(maps, place, m, S, T, &bytes);
		maps->in[0] = N2D_ID_BEGIN;
		memcpy(maps->in + 1, trg, (T - 1) * sizeof *trg);
		bad = n2d_maps_fit(ctx, m, S, T) || n2d_arena_init(&maps->memory, bytes) || forward(maps, place, ctx, m, &b);
	}
	free(place);
	if (bad)
		n2d_maps_free(maps);
	return bad ? -1 : 0;
}

void n2d_maps_free(struct n2d_maps *maps)
{
	n2d_arena_free(&maps->memory);
	free(maps->map);
	free(maps->in);
	memset(maps, 0, sizeof *maps);
}
