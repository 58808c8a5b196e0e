/* Applying: the best pair of a word is merged wherever it occurs, from the left, then the next best. A queue of the pairs by rank makes
 * this a matter of n log n; what it holds may be gone, which is seen when it comes out. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/size.h"
#include "text/bpe.h"
#include "text/utf8.h"

#define NONE UINT32_MAX

enum { KNOWN_WORD = 256, KNOWN_BYTES = 1 << 24 }; /* the longest word kept, and when all are forgotten: at some 60 MB with tables */

struct n2d_bpe_node { /* a symbol of the word, at the index of its first character */
	uint32_t symbol, at; /* N2D_NO_STRING: in no pair; the byte it starts at */
	uint32_t before, after; /* NONE: the word's end */
	uint32_t rank; /* of the pair it begins; NONE: of none, or it is merged into one before */
};

/* ---- pieces */

/* Writes a piece of the word; there is room for it. */
static void put(struct n2d_bpe_worker *w, const char *text, size_t bytes)
{
	if (w->length > w->word) {
		memcpy(w->text + w->length, w->bpe->separator, w->bpe->separator_bytes);
		w->length += w->bpe->separator_bytes;
	}
	w->piece = w->length;
	memcpy(w->text + w->length, text, bytes);
	w->length += bytes;
}

/* Writes a symbol whose text this is, taken apart as far as the vocabulary wants it. */
static void put_symbol(struct n2d_bpe_worker *w, uint32_t symbol, const char *text, size_t bytes, int at_end)
{
	const struct n2d_bpe *b = w->bpe;
	if (symbol == N2D_NO_STRING || (at_end ? b->symbol[symbol].at_end : b->symbol[symbol].inside)) {
		put(w, text, bytes);
		return;
	}
	uint32_t pair[2];
	size_t n;
	memcpy(pair, n2d_strings_get(&b->pairs, b->symbol[symbol].split, &n), sizeof pair);
	n2d_strings_get(&b->symbols, pair[0], &n);
	put_symbol(w, pair[0], text, n, 0);
	put_symbol(w, pair[1], text + n, bytes - n, at_end);
}

/* ---- merging */

static void find_pair(struct n2d_bpe_worker *w, uint32_t i)
{
	struct n2d_bpe_node *node = &w->nodes[i];
	uint32_t key[2] = {node->symbol, node->after == NONE ? N2D_NO_STRING : w->nodes[node->after].symbol};
	node->rank = NONE;
	if (key[0] != N2D_NO_STRING && key[1] != N2D_NO_STRING)
		node->rank = n2d_strings_find(&w->bpe->pairs, (const char *)key, sizeof key);
	if (node->rank != NONE) /* the smallest rank goes first, and of one rank the leftmost; a word has room for it all */
		n2d_heap_push(&w->queue, (struct n2d_heap_item){~((uint64_t)node->rank << 32 | i), i});
}

static uint32_t rank_of(struct n2d_heap_item item) { return (uint32_t)(~item.key >> 32); }

static void merge_at(struct n2d_bpe_worker *w, uint32_t i)
{
	struct n2d_bpe_node *node = &w->nodes[i], *taken = &w->nodes[node->after];
	node->symbol = w->bpe->merged[node->rank];
	node->after = taken->after;
	taken->rank = NONE;
	if (node->after != NONE)
		w->nodes[node->after].before = i;
	find_pair(w, i);
	if (node->before != NONE)
		find_pair(w, node->before);
}

/* Takes the occurrences of the best pair that are not left out into now[0 .. n); those left out go behind later[0 .. *out). */
static size_t best(struct n2d_bpe_worker *w, size_t *out)
{
	size_t n = 0;
	for (uint32_t rank = rank_of(w->queue.items[0]); w->queue.n && rank_of(w->queue.items[0]) == rank;) {
		struct n2d_heap_item item = n2d_heap_pop(&w->queue);
		if (w->nodes[item.id].rank != rank)
			continue;
		if (w->dropout > 0 && n2d_rng_uniform(w->rng) < w->dropout)
			w->later[(*out)++] = item;
		else
			w->now[n++] = item;
	}
	return n;
}

/* Pairs left out are as good as the others in the next step, which there is if anything was merged in this. */
static void merge_all(struct n2d_bpe_worker *w)
{
	for (size_t out = 0; w->queue.n;) {
		size_t n = best(w, &out);
		for (size_t i = 0; i < n; i++)
			if (w->nodes[w->now[i].id].rank == rank_of(w->now[i])) /* "aaa": the second is gone */
				merge_at(w, w->now[i].id);
		for (; n && out; out--)
			n2d_heap_push(&w->queue, w->later[out - 1]);
	}
	w->queue.n = 0;
}

/* ---- words */

/* Memory for a word of this many bytes. Its queue gets a pair a character, and two for one with each merge. */
static int make_room(struct n2d_bpe_worker *w, size_t bytes)
{
	if (bytes >= NONE / 2)
		return n2d_error("a word of %zu bytes is too long", bytes);
	struct n2d_bpe_node *nodes = n2d_grow(w->nodes, &w->nodes_room, bytes, sizeof *nodes);
	struct n2d_heap_item *queue = n2d_grow(w->queue.items, &w->queue.room, 2 * bytes, sizeof *queue);
	struct n2d_heap_item *now = n2d_grow(w->now, &w->now_room, bytes, sizeof *now);
	struct n2d_heap_item *later = n2d_grow(w->later, &w->later_room, bytes, sizeof *later);
	w->nodes = nodes ? nodes : w->nodes;
	w->queue.items = queue ? queue : w->queue.items;
	w->now = now ? now : w->now;
	w->later = later ? later : w->later;
	return nodes && queue && now && later ? 0 : -1;
}

static uint32_t symbol_of(const struct n2d_bpe *b, const char *text, size_t bytes, int at_end)
{
	char marked[8];
	if (!at_end)
		return n2d_strings_find(&b->symbols, text, bytes);
	memcpy(marked, text, bytes);
	memcpy(marked + bytes, "</w>", 4);
	return n2d_strings_find(&b->symbols, marked, bytes + 4);
}

/* Encodes a word, or what lies between glossaries in one. */
static void encode(struct n2d_bpe_worker *w, const char *text, size_t bytes)
{
	uint32_t n = 0;
	if (n2d_utf8_bytes(text) == bytes || n2d_strings_find(&w->bpe->glossaries, text, bytes) != N2D_NO_STRING) {
		put(w, text, bytes);
		return;
	}
	for (size_t at = 0, length; at < bytes; at += length, n++) {
		length = n2d_utf8_bytes(text + at);
		int at_end = at + length == bytes;
		w->nodes[n] = (struct n2d_bpe_node){symbol_of(w->bpe, text + at, length, at_end), (uint32_t)at, n ? n - 1 : NONE,
						    at_end ? NONE : n + 1, NONE};
	}
	for (uint32_t i = 0; i < n; i++)
		find_pair(w, i);
	merge_all(w);
	for (uint32_t i = 0, next; i != NONE; i = next) {
		next = w->nodes[i].after;
		size_t at = w->nodes[i].at, end = next == NONE ? bytes : w->nodes[next].at;
		put_symbol(w, w->nodes[i].symbol, text + at, end - at, next == NONE);
	}
}

static const char *find(const char *text, size_t bytes, const char *string, size_t n)
{
	for (const char *end = text + bytes; (size_t)(end - text) >= n; text++)
		if (!(text = memchr(text, *string, (size_t)(end - text) - n + 1)) || memcmp(text, string, n) == 0)
			return text;
	return NULL;
}

/* Cuts the glossaries out of the text, one after the other. */
static void encode_between(struct n2d_bpe_worker *w, uint32_t glossary, const char *text, size_t bytes)
{
	const struct n2d_strings *g = &w->bpe->glossaries;
	if (glossary == g->n) {
		if (bytes)
			encode(w, text, bytes);
		return;
	}
	size_t n, start = 0;
	const char *string = n2d_strings_get(g, glossary, &n), *found;
	while ((found = find(text + start, bytes - start, string, n))) {
		size_t at = (size_t)(found - text);
		encode_between(w, glossary + 1, text + start, at - start);
		encode_between(w, glossary + 1, found, n);
		start = at + n;
	}
	encode_between(w, glossary + 1, text + start, bytes - start);
}

static int encode_word(struct n2d_bpe_worker *w, const char *word, size_t bytes)
{
	const struct n2d_bpe *b = w->bpe;
	size_t mark = b->separator_bytes - 1;
	if (make_room(w, bytes))
		return -1;
	w->word = w->length;
	encode_between(w, 0, word, bytes);
	size_t piece = w->length - w->piece; /* the last one must not look as if another followed */
	if (piece >= mark && memcmp(w->text + w->length - mark, b->separator, mark) == 0) {
		size_t last = 1;
		while (last < piece && ((unsigned char)w->text[w->length - last] & 0xc0) == 0x80)
			last++;
		if (last < piece && last < mark) {
			w->length -= last;
			put(w, word + bytes - last, last);
		}
	}
	return 0;
}

/* Keeps how the word was just encoded. */
static int remember(struct n2d_bpe_worker *w, const char *word, size_t bytes)
{
	size_t used = w->words.n ? w->known_end[w->words.n - 1] : 0, n = w->length - w->word;
	if (used > KNOWN_BYTES) {
		n2d_strings_clear(&w->words);
		used = 0;
	}
	size_t *end = n2d_grow(w->known_end, &w->known_end_room, (size_t)w->words.n + 1, sizeof *end);
	char *known = n2d_grow(w->known, &w->known_room, used + n, 1);
	w->known_end = end ? end : w->known_end;
	w->known = known ? known : w->known;
	uint32_t i = end && known ? n2d_strings_add(&w->words, word, bytes) : N2D_NO_STRING;
	if (i == N2D_NO_STRING)
		return -1;
	memcpy(known + used, w->text + w->word, n);
	end[i] = used + n;
	return 0;
}

static int apply_word(struct n2d_bpe_worker *w, const char *word, size_t bytes)
{
	int keep = w->dropout <= 0 && bytes <= KNOWN_WORD;
	uint32_t i = keep ? n2d_strings_find(&w->words, word, bytes) : N2D_NO_STRING;
	if (i == N2D_NO_STRING)
		return encode_word(w, word, bytes) || (keep && remember(w, word, bytes)) ? -1 : 0;
	size_t start = i ? w->known_end[i - 1] : 0, n = w->known_end[i] - start;
	memcpy(w->text + w->length, w->known + start, n);
	w->length += n;
	return 0;
}

/* ---- lines */

static void copy(struct n2d_bpe_worker *w, const char *text, size_t bytes)
{
	memcpy(w->text + w->length, text, bytes);
	w->length += bytes;
}

int n2d_bpe_apply(struct n2d_bpe_worker *w, const char *line, size_t bytes, double dropout, struct n2d_rng *rng)
{
	/* At most every byte is a piece, and a separator follows each. */
	char *text = n2d_grow(w->text, &w->room, n2d_mul(n2d_add(bytes, 1), w->bpe->separator_bytes + 1), 1);
	size_t n = bytes;
	const char *at = n2d_words_trim(line, &n), *end = at + n, *word;
	if (!text)
		return -1;
	w->text = text;
	w->length = 0;
	w->dropout = dropout;
	w->rng = rng;
	size_t before = n ? (size_t)(at - line) : bytes;
	copy(w, line, before);
	while ((word = n2d_words_next(&at, end, &n))) {
		if (w->length > before)
			copy(w, " ", 1);
		if (apply_word(w, word, n))
			return -1;
	}
	copy(w, end, before < bytes ? (size_t)(line + bytes - end) : 0);
	return 0;
}

size_t n2d_bpe_restore(char *to, const char *line, size_t bytes, const char *separator)
{
	size_t n = 0, mark = strlen(separator);
	for (size_t i = 0; i < bytes;)
		if (bytes - i >= mark && memcmp(line + i, separator, mark) == 0 && (i + mark == bytes || line[i + mark] == ' '))
			i += mark + (i + mark < bytes);
		else
			to[n++] = line[i++];
	return n;
}

void n2d_bpe_worker_init(struct n2d_bpe_worker *w, const struct n2d_bpe *b)
{
	memset(w, 0, sizeof *w);
	w->bpe = b;
}

void n2d_bpe_worker_free(struct n2d_bpe_worker *w)
{
	free(w->text);
	n2d_strings_free(&w->words);
	free(w->known);
	free(w->known_end);
	free(w->nodes);
	n2d_heap_free(&w->queue);
	free(w->now);
	free(w->later);
	memset(w, 0, sizeof *w);
}
