#include "layer/output.h"

#include <string.h>

#include "base/size.h"
#include "layer/linear.h"

/* Rows a chunk: their logits take CHUNK_BYTES at most, so that they are still in the last cache when they are read again; but
 * not fewer than LEAST rows, below which reading and writing the weights' gradient, once a chunk, takes longer than computing it. All as large as each other. */
enum { CHUNK_BYTES = 12 << 20, LEAST = 128 };

static size_t most_rows(size_t n, size_t V)
{
	size_t rows = CHUNK_BYTES / sizeof(float) / (V ? V : 1);
	rows = rows < LEAST ? LEAST : rows;
	return rows < n ? rows : n;
}

/* More of n rows may be fewer a chunk: room is made for most_rows, so that what suffices for n suffices for less. */
static size_t chunk_rows(size_t n, size_t V)
{
	size_t most = most_rows(n, V), chunks = most ? n / most + (n % most != 0) : 1;
	return n / chunks + (n % chunks != 0);
}

size_t n2d_output_workspace(size_t n, size_t D, size_t V)
{
	size_t m = most_rows(n, V);
	return n2d_add(n2d_add(n2d_floats(m, V, 1), n2d_mul(2, n2d_floats(m, D, 1))), n2d_mul(3, n2d_floats(m, 1, 1)));
}

/* The rows that count of [first, end): x and dx where they lie when all count, else gathered. */
struct chunk {
	size_t first, end, rows, most;
	const float *x;
	float *dx;
	float *z, *gathered, *dgathered, *loss, *nll; /* in the workspace */
	int32_t *target;
};

static struct chunk before_first(const struct n2d_output *o, float *ws)
{
	size_t m = chunk_rows(o->n, o->V), column = n2d_floats(m, 1, 1);
	float *x = ws + n2d_floats(m, o->V, 1), *dx = x + n2d_floats(m, o->D, 1), *loss = dx + n2d_floats(m, o->D, 1);
	return (struct chunk){.most = m, .z = ws, .gathered = x, .dgathered = dx, .loss = loss, .nll = loss + column,
			      .target = (int32_t *)(loss + 2 * column)};
}

static void gather(const struct chunk *c, const struct n2d_output *o, const float *x)
{
	float *to = c->gathered;
	for (size_t i = c->first; i < c->end; i++)
		if (o->target[i] >= 0) {
			memcpy(to, x + i * o->D, o->D * sizeof *x);
			to += o->D;
		}
}

/* With the padding behind them. 0 when there is no row left. */
static int next(struct chunk *c, const struct n2d_output *o, const float *x, float *dx)
{
	c->first = c->end;
	for (c->rows = 0; c->end < o->n && (c->rows < c->most || o->target[c->end] < 0); c->end++)
		if (o->target[c->end] >= 0)
			c->target[c->rows++] = o->target[c->end];
	if (c->rows == c->end - c->first) {
		c->x = x + c->first * o->D;
		c->dx = dx ? dx + c->first * o->D : NULL;
	} else {
		gather(c, o, x);
		c->x = c->gathered;
		c->dx = c->dgathered;
	}
	return c->end > c->first;
}

/* Puts a chunk's rows, `width` wide, back in their places, with 0 in the padding. */
static void scatter(const struct chunk *c, const struct n2d_output *o, float *to, const float *from, size_t width)
{
	for (size_t i = c->first; to && i < c->end; i++) {
		if (o->target[i] < 0) {
			memset(to + i * width, 0, width * sizeof *to);
			continue;
		}
		memcpy(to + i * width, from, width * sizeof *to);
		from += width;
	}
}

void n2d_output_loss(const struct n2d_ctx *ctx, const struct n2d_output *o, struct n2d_loss_sum *sum, float *nll, float *dx,
		     float *dw, float *dbias, int add, const float *x, float *ws)
{
	size_t D = o->D, V = o->V;
	for (struct chunk c = before_first(o, ws); next(&c, o, x, dx);) {
		n2d_linear_fwd(ctx, c.z, c.x, o->packed, o->bias, 0, c.rows, D, V, D, V);
		if (o->count_right)
			n2d_xent_right(ctx, sum, c.loss, c.z, c.target, c.rows, V, V);
		n2d_xent(ctx, sum, c.z, c.loss, c.nll, c.z, c.target, o->eps, o->weight, c.rows, V, V);
		scatter(&c, o, nll, c.nll, 1);
		if (!dx)
			continue;
		n2d_linear_bwd(ctx, c.dx, 0, c.z, o->packed, c.rows, D, V, D, V);
		if (c.dx == c.dgathered)
			scatter(&c, o, dx, c.dx, D);
		n2d_linear_weights(ctx, dw, dbias, add, c.z, c.x, c.rows, D, V, D, V);
		add = 1;
	}
	if (dx && !add) /* no row at all */
		n2d_linear_weights(ctx, dw, dbias, 0, NULL, NULL, 0, D, V, D, V);
}

double n2d_output_flops(size_t n, size_t D, size_t V, int backward)
{
	return (backward ? 6.0 : 2.0) * (double)n * (double)D * (double)V;
}
