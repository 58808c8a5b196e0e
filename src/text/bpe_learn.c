/* Learning: words lie as chains of symbols, one character a position. A pair knows its count and where it was seen to begin, so a
 * merge visits its occurrences alone; what else changes is the pairs beside them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/size.h"
#include "text/bpe.h"
#include "text/utf8.h"

#define NONE UINT32_MAX

struct position {
	uint32_t symbol, before, after, word; /* symbol NONE: merged into a position before; neighbours NONE: the word's end */
};

struct seen { /* a pair began at this position; it may be gone */
	uint32_t at, next;
};

struct pair {
	uint64_t count, queued; /* queued: the key in the queue that counts; 0: it is not there */
	uint32_t first, last;   /* of its list of struct seen, ascending within a merge */
};

struct learner {
	const struct n2d_words *w;
	struct n2d_strings symbols, pairs;
	struct pair *pair;
	struct position *p;
	struct seen *seen;
	uint32_t seen_n, *at, *grown; /* at: the occurrences of a merge; grown: pairs that gained by it */
	size_t pair_room, at_room, grown_room, grown_n;
	struct n2d_heap queue;
};

/* ---- pairs */

static uint32_t pair_number(struct learner *l, uint32_t a, uint32_t b)
{
	uint32_t key[2] = {a, b};
	return n2d_strings_add(&l->pairs, (const char *)key, sizeof key);
}

/* Of equal counts the larger pair goes first; bytes of UTF-8 compare as code points do. */
static int pair_first(const void *what, uint32_t a, uint32_t b)
{
	const struct learner *l = what;
	size_t n;
	const uint32_t *x = (const uint32_t *)(const void *)n2d_strings_get(&l->pairs, a, &n);
	const uint32_t *y = (const uint32_t *)(const void *)n2d_strings_get(&l->pairs, b, &n);
	for (int i = 0; i < 2; i++) {
		size_t xn, yn;
		const char *xs = n2d_strings_get(&l->symbols, x[i], &xn), *ys = n2d_strings_get(&l->symbols, y[i], &yn);
		int order = memcmp(xs, ys, xn < yn ? xn : yn);
		if (order || xn != yn)
			return order ? order > 0 : xn > yn;
	}
	return 0;
}

/* Counts the pair of symbols a, b, which begins at a position. */
static int see(struct learner *l, uint32_t a, uint32_t b, uint32_t at, uint64_t count)
{
	uint32_t known = l->pairs.n, i = pair_number(l, a, b);
	if (i == N2D_NO_STRING)
		return -1;
	struct pair *pair = n2d_grow(l->pair, &l->pair_room, l->pairs.n, sizeof *pair);
	uint32_t *grown = n2d_grow(l->grown, &l->grown_room, l->grown_n + 1, sizeof *grown);
	if (pair)
		l->pair = pair;
	if (grown)
		l->grown = grown;
	if (!pair || !grown)
		return -1;
	pair += i;
	if (i == known)
		*pair = (struct pair){.first = NONE, .last = NONE};
	grown[l->grown_n++] = i;
	pair->count += count;
	l->seen[l->seen_n] = (struct seen){at, NONE};
	if (pair->first == NONE)
		pair->first = l->seen_n;
	else
		l->seen[pair->last].next = l->seen_n;
	pair->last = l->seen_n++;
	return 0;
}

/* The pair of symbols a, b is gone somewhere; it was counted before. */
static void lose(struct learner *l, uint32_t a, uint32_t b, uint64_t count)
{
	l->pair[pair_number(l, a, b)].count -= count;
}

/* Lets the queue know of pairs that gained. Those that lose are found out when they come first. */
static int queue_grown(struct learner *l)
{
	for (size_t i = 0; i < l->grown_n; i++) {
		struct pair *pair = &l->pair[l->grown[i]];
		if (pair->count > pair->queued) {
			pair->queued = pair->count;
			if (n2d_heap_push(&l->queue, (struct n2d_heap_item){pair->count, l->grown[i]}))
				return -1;
		}
	}
	l->grown_n = 0;
	return 0;
}

/* Takes the best pair out of the queue, if its count is min > 0 or more: 1. 0: there is none. */
static int best_pair(struct learner *l, uint64_t min, uint32_t *best)
{
	while (l->queue.n) {
		struct n2d_heap_item item = n2d_heap_pop(&l->queue);
		struct pair *pair = &l->pair[item.id];
		if (item.key != pair->queued)
			continue; /* one with more has been put beside it */
		pair->queued = 0;
		if (pair->count == item.key) {
			*best = item.id;
			return item.key >= min;
		}
		if (pair->count) {
			pair->queued = pair->count;
			if (n2d_heap_push(&l->queue, (struct n2d_heap_item){pair->count, item.id}))
				return -1;
		}
	}
	return 0;
}

/* ---- merging */

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static int begins_at(const struct learner *l, uint32_t at, const uint32_t pair[2])
{
	const struct position *p = &l->p[at];
	return p->symbol == pair[0] && p->after != NONE && l->p[p->after].symbol == pair[1];
}

/* Where the pair begins now, from the left, into l->at. Returns the number; (size_t)-1: no memory. */
static size_t occurrences(struct learner *l, struct pair *pair, const uint32_t symbols[2])
{
	size_t n = 0;
	for (uint32_t i = pair->first; i != NONE; i = l->seen[i].next) {
		uint32_t *at = n2d_grow(l->at, &l->at_room, n + 1, sizeof *at);
		if (!at)
			return (size_t)-1;
		l->at = at;
		if (begins_at(l, l->seen[i].at, symbols))
			at[n++] = l->seen[i].at;
	}
	if (n && symbols[0] == symbols[1]) /* "aaa": which two is decided from the left */
		qsort(l->at, n, sizeof *l->at, ascending);
	pair->first = pair->last = NONE;
	return n;
}

/* The pair that begins at a position becomes the symbol `merged`. */
static int merge_at(struct learner *l, uint32_t at, const uint32_t pair[2], uint32_t merged)
{
	struct position *p = &l->p[at], *q = &l->p[p->after];
	uint64_t count = l->w->count[p->word];
	uint32_t before = p->before, after = q->after;
	lose(l, pair[0], pair[1], count);
	if (before != NONE)
		lose(l, l->p[before].symbol, pair[0], count);
	if (after != NONE)
		lose(l, pair[1], l->p[after].symbol, count);
	q->symbol = NONE;
	p->symbol = merged;
	p->after = after;
	if (after != NONE)
		l->p[after].before = at;
	if (before != NONE && see(l, l->p[before].symbol, merged, before, count))
		return -1;
	return after != NONE ? see(l, merged, l->p[after].symbol, at, count) : 0;
}

static void write_pair(struct n2d_out *codes, const struct n2d_strings *symbols, const uint32_t pair[2])
{
	for (int i = 0; i < 2; i++) {
		size_t bytes;
		const char *text = n2d_strings_get(symbols, pair[i], &bytes);
		n2d_out_write(codes, text, bytes);
		n2d_out_write(codes, i ? "\n" : " ", 1);
	}
}

static int merge(struct learner *l, struct n2d_out *codes, uint32_t best)
{
	uint32_t pair[2];
	size_t bytes;
	memcpy(pair, n2d_strings_get(&l->pairs, best, &bytes), sizeof pair);
	write_pair(codes, &l->symbols, pair);
	uint32_t merged = n2d_strings_join(&l->symbols, pair[0], pair[1]);
	size_t n = merged == N2D_NO_STRING ? (size_t)-1 : occurrences(l, &l->pair[best], pair);
	if (n == (size_t)-1)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (begins_at(l, l->at[i], pair) && merge_at(l, l->at[i], pair, merged))
			return -1;
	return queue_grown(l);
}

/* ---- the beginning */

/* The characters of word i from position `at` on; the last is marked. Returns the position behind it; NONE: no memory. */
static uint32_t lay_word(struct learner *l, uint32_t i, uint32_t at)
{
	size_t bytes, n;
	const char *c = n2d_strings_get(&l->w->words, i, &bytes), *end = c + bytes;
	uint32_t first = at;
	for (; c < end; c += n, at++) {
		char marked[8];
		n = n2d_utf8_bytes(c);
		memcpy(marked, c, n);
		memcpy(marked + n, "</w>", 4);
		uint32_t symbol = n2d_strings_add(&l->symbols, marked, c + n < end ? n : n + 4);
		if (symbol == N2D_NO_STRING)
			return NONE;
		l->p[at] = (struct position){symbol, at > first ? at - 1 : NONE, c + n < end ? at + 1 : NONE, i};
		if (at > first && see(l, l->p[at - 1].symbol, symbol, at - 1, l->w->count[i]))
			return NONE;
	}
	return at;
}

/* The characters of all words. Each merge takes one away and sees two pairs, so three times as many pairs can be seen. */
static int lay_words(struct learner *l)
{
	size_t n = 0, load = 0, bytes;
	for (uint32_t i = 0; i < l->w->words.n; i++) {
		size_t chars = 0;
		const char *word = n2d_strings_get(&l->w->words, i, &bytes);
		for (size_t k = 0; k < bytes; k += n2d_utf8_bytes(word + k))
			chars++;
		n += chars;
		load = n2d_add(load, n2d_mul(chars, l->w->count[i]));
	}
	if (n >= NONE / 3 || load == N2D_TOO_LARGE)
		return n2d_error("%zu characters in different words: too many", n);
	l->p = malloc((n + 1) * sizeof *l->p);
	l->seen = malloc((3 * n + 1) * sizeof *l->seen);
	if (!l->p || !l->seen)
		return n2d_error("no memory for words of %zu characters", n);
	for (uint32_t i = 0, at = 0; i < l->w->words.n; i++)
		if ((at = lay_word(l, i, at)) == NONE)
			return -1;
	return queue_grown(l);
}

static int learn(struct learner *l, struct n2d_out *codes, size_t *merges, const struct n2d_bpe_learn *how)
{
	if (lay_words(l))
		return -1;
	size_t most = how->symbols, characters = how->total ? l->symbols.n : 0;
	most -= characters < most ? characters : most;
	n2d_out_printf(codes, "#version: 0.2\n");
	for (*merges = 0; *merges < most; ++*merges) {
		uint32_t best;
		int more = best_pair(l, how->min_frequency, &best);
		if (more <= 0)
			return more;
		if (merge(l, codes, best))
			return -1;
	}
	return 0;
}

int n2d_bpe_learn(struct n2d_out *codes, size_t *merges, const struct n2d_words *w, const struct n2d_bpe_learn *how)
{
	struct learner l = {.w = w, .queue.first = pair_first};
	l.queue.what = &l;
	int code = learn(&l, codes, merges, how);
	n2d_strings_free(&l.symbols);
	n2d_strings_free(&l.pairs);
	n2d_heap_free(&l.queue);
	free(l.pair);
	free(l.p);
	free(l.seen);
	free(l.at);
	free(l.grown);
	return code;
}
