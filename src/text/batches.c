#include "text/batches.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/size.h"

/* Streams of the generator: 2^62 and on, one an epoch (others begin at 0 and at 2^63). */
#define SHUFFLE_STREAM ((uint64_t)1 << 62)

/* Cuts lie between pieces of at most this part of a batch, so that finding them takes time linear in the corpus. */
enum { PIECES = 64, BATCH_COST = 10 /* a batch more costs batch_tokens / 10 */ };

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

struct key {
	uint64_t longer, difference;
	uint32_t pair;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->longer != y->longer)
		return x->longer < y->longer ? -1 : 1;
	if (x->difference != y->difference)
		return x->difference < y->difference ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* Forth and back: of odd lengths the differences descend, so that neighbours of different length are alike too. */
static int sort(struct n2d_batches *b)
{
	const struct n2d_corpus *c = b->corpus;
	struct key *key = calloc(c->pairs, sizeof *key);
	if (!key)
		return -1;
	for (size_t i = 0; i < c->pairs; i++) {
		size_t s = n2d_corpus_length(c, N2D_SOURCE, i), t = n2d_corpus_length(c, N2D_TARGET, i), longer = most(s, t);
		key[i] = (struct key){longer, longer % 2 ? longer + t - s : longer + s - t, (uint32_t)i};
	}
	qsort(key, c->pairs, sizeof *key, by_key);
	for (size_t i = 0; i < c->pairs; i++)
		b->sorted[i] = key[i].pair;
	free(key);
	return 0;
}

/* Sorted pairs that stay together, from start on, and the cheapest batches of all pairs before them. */
struct piece {
	uint64_t cost;
	uint32_t start, from; /* from: the piece that the last of these batches begins with */
	uint32_t S, T;
};

/* The pieces, one more at the end; their number. */
static size_t split(const struct n2d_batches *b, struct piece *piece, size_t positions, size_t most_pairs)
{
	const struct n2d_corpus *c = b->corpus;
	size_t n = 0;
	for (size_t i = 0; i < c->pairs; i++) {
		uint32_t s = (uint32_t)n2d_corpus_length(c, N2D_SOURCE, b->sorted[i]);
		uint32_t t = (uint32_t)n2d_corpus_length(c, N2D_TARGET, b->sorted[i]);
		struct piece *last = &piece[n ? n - 1 : 0];
		size_t B = i + 1 - last->start;
		if (!n || B > most_pairs || B * most(most(s, last->S), most(t, last->T)) > positions)
			piece[n++] = (struct piece){.start = (uint32_t)i, .S = s, .T = t};
		else
			*last = (struct piece){0, last->start, 0, (uint32_t)most(s, last->S), (uint32_t)most(t, last->T)};
	}
	piece[n] = (struct piece){.start = (uint32_t)c->pairs};
	return n;
}

/* Batches end before piece n. The cheapest one that does, after the cheapest batches before it. */
static void end_batch(struct piece *piece, size_t n, size_t batch_tokens, size_t most_pairs)
{
	size_t S = 0, T = 0;
	piece[n].cost = UINT64_MAX;
	for (size_t i = n; i-- > 0;) {
		S = most(S, piece[i].S);
		T = most(T, piece[i].T);
		size_t B = piece[n].start - piece[i].start;
		if (B > most_pairs || B * most(S, T) > batch_tokens)
			break;
		uint64_t cost = piece[i].cost + B * (S + T) + batch_tokens / BATCH_COST;
		if (cost <= piece[n].cost) { /* of equal ones, the larger batch */
			piece[n].cost = cost;
			piece[n].from = (uint32_t)i;
		}
	}
}

/* Notes the batches that lead to piece n, and their shapes. */
static int note(struct n2d_batches *b, const struct piece *piece, size_t n)
{
	for (size_t i = n; i; i = piece[i].from)
		b->count++;
	b->shape = calloc(b->count, sizeof *b->shape);
	b->start = calloc(b->count + 1, sizeof *b->start);
	b->turn = calloc(b->count, sizeof *b->turn);
	if (!b->shape || !b->start || !b->turn)
		return -1;
	b->start[b->count] = piece[n].start;
	for (size_t k = b->count; k-- > 0;) {
		struct n2d_shape *shape = &b->shape[k];
		for (size_t i = n; i-- > piece[n].from;) {
			shape->S = most(shape->S, piece[i].S);
			shape->T = most(shape->T, piece[i].T);
		}
		n = piece[n].from;
		b->start[k] = piece[n].start;
		shape->B = b->start[k + 1] - b->start[k];
		b->src_padded += shape->B * shape->S;
		b->trg_padded += shape->B * shape->T;
	}
	return 0;
}

static int cut(struct n2d_batches *b, size_t batch_tokens, size_t most_pairs)
{
	struct piece *piece = calloc(b->corpus->pairs + 1, sizeof *piece);
	if (!piece)
		return -1;
	size_t n = split(b, piece, batch_tokens / PIECES, most_pairs);
	piece[0].cost = 0;
	for (size_t i = 1; i <= n; i++)
		end_batch(piece, i, batch_tokens, most_pairs);
	int bad = note(b, piece, n);
	free(piece);
	return bad;
}

static int equally_long(const struct n2d_corpus *c, uint32_t x, uint32_t y)
{
	return n2d_corpus_length(c, N2D_SOURCE, x) == n2d_corpus_length(c, N2D_SOURCE, y) &&
	       n2d_corpus_length(c, N2D_TARGET, x) == n2d_corpus_length(c, N2D_TARGET, y);
}

static void begin_epoch(struct n2d_batches *b, uint64_t epoch)
{
	struct n2d_rng r;
	size_t pairs = b->corpus->pairs;
	n2d_rng_init(&r, b->seed, SHUFFLE_STREAM + epoch);
	memcpy(b->order, b->sorted, pairs * sizeof *b->order);
	for (size_t i = 0; i < b->count; i++)
		b->turn[i] = (uint32_t)i;
	b->epoch = epoch;
	if (epoch == N2D_EPOCH_SORTED)
		return;
	for (size_t i = 0, end; i < pairs; i = end) {
		for (end = i + 1; end < pairs && equally_long(b->corpus, b->sorted[i], b->sorted[end]); end++)
			;
		n2d_rng_shuffle(&r, b->order + i, end - i);
	}
	n2d_rng_shuffle(&r, b->turn, b->count);
}

static size_t block_size(struct n2d_shape s) { return s.B * (s.S + 2 * s.T + 2); }

int n2d_batches_init(struct n2d_batches *b, const struct n2d_corpus *c, size_t batch_tokens, size_t most_pairs, uint64_t seed)
{
	size_t longest = most(c->longest[N2D_SOURCE], c->longest[N2D_TARGET]), size = 0;
	*b = (struct n2d_batches){.corpus = c, .seed = seed};
	if (!c->pairs)
		return n2d_error("no sentences to make batches of");
	if (longest > batch_tokens)
		return n2d_error("a sentence has %zu tokens, its end among them, and a batch only %zu: longer batches must be allowed "
				 "(--batch-tokens), or long sentences left out (--max-tokens)", longest, batch_tokens);
	size_t all = n2d_mul(c->pairs, longest);
	if (all > SIZE_MAX / 16) /* costs stay below 4 all + batch_tokens / 5, which then fits */
		return n2d_error("%zu sentences of up to %zu tokens are too many", c->pairs, longest);
	b->sorted = calloc(c->pairs, sizeof *b->sorted);
	b->order = calloc(c->pairs, sizeof *b->order);
	int bad = !b->sorted || !b->order || sort(b) || cut(b, batch_tokens, most_pairs ? most_pairs : c->pairs);
	for (size_t i = 0; i < b->count && !bad; i++)
		size = most(size, block_size(b->shape[i]));
	bad = bad || !(b->block = calloc(size, sizeof *b->block));
	if (!bad)
		begin_epoch(b, N2D_EPOCH_SORTED);
	else
		n2d_batches_free(b);
	return bad ? n2d_error("no memory for batches of %zu sentences", c->pairs) : 0;
}

void n2d_batches_free(struct n2d_batches *b)
{
	free(b->shape);
	free(b->sorted);
	free(b->order);
	free(b->start);
	free(b->turn);
	free(b->block);
	memset(b, 0, sizeof *b);
}

/* Row b of the batch: n tokens and then padding up to width. */
static void fill(int32_t *row, const int32_t *id, size_t n, size_t width, int32_t padding)
{
	memcpy(row, id, n * sizeof *row);
	for (size_t i = n; i < width; i++)
		row[i] = padding;
}

void n2d_batches_get(struct n2d_batches *b, struct n2d_batch *batch, uint64_t epoch, size_t i)
{
	const struct n2d_corpus *c = b->corpus;
	if (epoch != b->epoch)
		begin_epoch(b, epoch);
	size_t k = b->turn[i], B = b->shape[k].B, S = b->shape[k].S, T = b->shape[k].T, trg_tokens = 0, src_tokens = 0;
	int32_t *src = b->block, *in = src + B * S, *out = in + B * T, *src_len = out + B * T, *trg_len = src_len + B;
	b->row = b->order + b->start[k];
	for (size_t r = 0; r < B; r++) {
		size_t pair = b->row[r], s = n2d_corpus_length(c, N2D_SOURCE, pair), t = n2d_corpus_length(c, N2D_TARGET, pair);
		fill(src + r * S, c->id[N2D_SOURCE] + c->start[N2D_SOURCE][pair], s, S, N2D_ID_PAD);
		if (t) { /* not with sources alone */
			const int32_t *target = c->id[N2D_TARGET] + c->start[N2D_TARGET][pair];
			in[r * T] = N2D_ID_BEGIN;
			fill(in + r * T + 1, target, t - 1, T - 1, N2D_ID_PAD);
			fill(out + r * T, target, t, T, -1);
		}
		src_len[r] = (int32_t)s;
		trg_len[r] = (int32_t)t;
		src_tokens += s;
		trg_tokens += t;
	}
	*batch = (struct n2d_batch){.B = B, .S = S, .T = T, .src = src, .trg_in = in, .trg_out = out, .src_len = src_len,
				    .trg_len = trg_len, .src_tokens = src_tokens, .trg_tokens = trg_tokens};
}

double n2d_batches_padding(const struct n2d_batches *b)
{
	const struct n2d_corpus *c = b->corpus;
	double tokens = (double)(c->start[N2D_SOURCE][c->pairs] + c->start[N2D_TARGET][c->pairs]);
	return 1 - tokens / ((double)b->src_padded + (double)b->trg_padded);
}
