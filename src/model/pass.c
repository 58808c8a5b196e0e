/* The activation plan: every array of a pass, laid out before the pass. One function takes the arrays in turn, first without
 * memory, which gives the size, then with. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "layer/output.h"
#include "model/plan.h"
#include "model/stack.h"
#include "op/position.h"

struct set {
	float *t, *y, *mean, *rstd;
};

static struct set take_set(struct n2d_cursor *c, size_t rows, size_t D, int sum, int normed)
{
	return (struct set){
		sum ? n2d_take(c, n2d_mul(rows, D)) : NULL, normed ? n2d_take(c, n2d_mul(rows, D)) : NULL, normed ? n2d_take(c, rows) : NULL,
		normed ? n2d_take(c, rows) : NULL,
	};
}

void n2d_plan_nodes(struct n2d_cursor *c, struct n2d_activations *side, const struct n2d_stack *s, size_t rows, size_t D, int keep)
{
	struct set turn[2];
	side->embedded = n2d_take(c, n2d_mul(rows, D));
	for (int i = 0; i < 2 && !keep; i++)
		turn[i] = take_set(c, rows, D, 1, 1);
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct n2d_node *n = &side->nodes[i];
		int normed = s->nodes[i].gamma != N2D_NOWHERE, sum = i > 0 && i <= s->n;
		struct set own = keep ? take_set(c, rows, D, sum, normed) : turn[i % 2];
		n->t = i == 0 ? side->embedded : sum ? own.t : side->nodes[s->n].y;
		n->y = normed ? own.y : n->t;
		n->mean = own.mean;
		n->rstd = own.rstd;
		side->out = n->y;
	}
}

/* S: of the other side, for cross-attention. There is room for the padding, whether or not a batch is laid out with it. */
static void lay_side(struct n2d_cursor *c, struct n2d_activations *side, const struct n2d_transformer *m, const struct n2d_stack *s, size_t B,
		     size_t T, size_t S, int train)
{
	side->at = (int32_t *)n2d_take(c, n2d_add(B, 1));
	side->position = (int32_t *)n2d_take(c, n2d_mul(B, T));
	side->id = (int32_t *)n2d_take(c, n2d_mul(B, T));
	n2d_plan_nodes(c, side, s, n2d_mul(B, T), m->c.d_model, train);
	for (size_t i = 0; i < s->n; i++)
		side->saved[i] = train ? n2d_take(c, n2d_sublayer_saved(&s->sublayers[i], B, T, S)) : NULL;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t workspace(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t T, int train)
{
	size_t most = n2d_output_workspace(n2d_mul(B, T), m->c.d_model, m->c.vocab);
	most = larger(most, n2d_stack_workspace(ctx, m, &m->encoder, B, S, 0, train));
	return larger(most, n2d_stack_workspace(ctx, m, &m->decoder, B, T, S, train));
}

/* Returns the floats; lays them out when base is there. */
static size_t lay(struct n2d_pass *p, float *base, const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S,
		  size_t T, int train)
{
	struct n2d_cursor c = {base, 0};
	size_t D = m->c.d_model, longest = n2d_mul(B, larger(S, T));
	lay_side(&c, &p->source, m, &m->encoder, B, S, 0, train);
	lay_side(&c, &p->target, m, &m->decoder, B, T, S, train);
	p->row_nll = n2d_take(&c, n2d_mul(B, T));
	p->row_target = (int32_t *)n2d_take(&c, n2d_mul(B, T));
	for (int i = 0; i < (train ? 3 : 1); i++)
		p->grad[i] = n2d_take(&c, n2d_mul(longest, D));
	p->dmemory = train ? n2d_take(&c, n2d_mul(n2d_mul(B, S), D)) : NULL;
	p->ws = n2d_take(&c, workspace(ctx, m, B, S, T, train));
	p->B = B;
	p->S = S;
	p->T = T;
	return c.used;
}

/* The arrays of pointers. */
static int sides_init(struct n2d_pass *p, const struct n2d_transformer *m)
{
	p->source.nodes = calloc(m->encoder.n_nodes, sizeof *p->source.nodes);
	p->target.nodes = calloc(m->decoder.n_nodes, sizeof *p->target.nodes);
	p->source.saved = calloc(m->encoder.n + 1, sizeof *p->source.saved);
	p->target.saved = calloc(m->decoder.n + 1, sizeof *p->target.saved);
	if (p->source.nodes && p->target.nodes && p->source.saved && p->target.saved)
		return 0;
	return n2d_error("no memory for the plan of a pass");
}

size_t n2d_pass_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t T, int train)
{
	struct n2d_pass p = {0};
	size_t floats = sides_init(&p, m) ? N2D_TOO_LARGE : lay(&p, NULL, ctx, m, B, S, T, train);
	n2d_pass_free(&p);
	return n2d_mul(floats, sizeof(float));
}

void n2d_pass_need_add(struct n2d_pass_need *need, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_shape *shapes,
		       size_t count, int train)
{
	for (size_t i = 0; i < count; i++) {
		const struct n2d_shape *s = &shapes[i];
		need->bytes = larger(need->bytes, n2d_pass_bytes(ctx, m, s->B, s->S, s->T, train));
		need->longest = larger(need->longest, larger(s->S, s->T));
	}
}

int n2d_pass_init(struct n2d_pass *p, const struct n2d_transformer *m, const struct n2d_pass_need *need, int train)
{
	size_t table = n2d_floats(need->longest, m->c.d_model, 1);
	memset(p, 0, sizeof *p);
	p->train = train;
	if (sides_init(p, m) || n2d_arena_init(&p->memory, n2d_add(need->bytes, n2d_mul(table, sizeof(float))))) {
		n2d_pass_free(p);
		return -1;
	}
	p->positions = n2d_arena_floats(&p->memory, table);
	p->positions_rows = need->longest;
	if (m->c.positions == N2D_POSITIONS_SINUSOIDAL)
		n2d_position_sinusoidal(p->positions, 0, need->longest, m->c.d_model);
	return 0;
}

void n2d_pass_free(struct n2d_pass *p)
{
	free(p->source.nodes);
	free(p->target.nodes);
	free(p->source.saved);
	free(p->target.saved);
	n2d_arena_free(&p->memory);
	memset(p, 0, sizeof *p);
}

int n2d_pass_shape(struct n2d_pass *p, const struct n2d_ctx *ctx, const struct n2d_transformer *m, size_t B, size_t S, size_t T)
{
	size_t longest = larger(S, T), bytes = n2d_mul(lay(p, NULL, ctx, m, B, S, T, p->train), sizeof(float));
	if (m->c.positions == N2D_POSITIONS_LEARNED && longest > m->c.max_length)
		return n2d_error("a sentence of %zu tokens is longer than the learned position table (max-length %zu)", longest,
				 m->c.max_length);
	if (longest > p->positions_rows || bytes > p->memory.size - p->memory.used)
		return n2d_error("a batch of %zu x (%zu + %zu) tokens needs %zu bytes of activations; there are %zu, for %zu positions", B, S,
				 T, bytes, p->memory.size - p->memory.used, p->positions_rows);
	lay(p, (float *)(p->memory.base + p->memory.used), ctx, m, B, S, T, p->train);
	return 0;
}
