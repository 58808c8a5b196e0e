#include "text/ngram.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/size.h"

/* Empties all slots, and makes room for n entries at a load of at most a half. */
static int clear(struct n2d_ngrams *g, size_t n)
{
	size_t slots = g->slots ? g->slots : 64;
	while (slots / 2 < n)
		slots = n2d_mul(2, slots);
	if (slots > g->slots) {
		size_t bytes = n2d_mul(slots, sizeof *g->slot);
		struct n2d_ngram_slot *slot = bytes == N2D_TOO_LARGE ? NULL : calloc(1, bytes);
		if (!slot)
			return n2d_error("no memory for %zu n-grams", n);
		free(g->slot);
		g->slot = slot;
		g->slots = slots;
		g->epoch = 0;
	}
	if (++g->epoch == 0) { /* after 2^32 sentences every slot could be of this epoch */
		memset(g->slot, 0, g->slots * sizeof *g->slot);
		g->epoch = 1;
	}
	return 0;
}

static uint64_t mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15;
	return h ^ h >> 32;
}

static uint32_t find(struct n2d_ngrams *g, uint32_t prefix, uint32_t last, int add)
{
	size_t i = mix(mix(prefix) ^ last) & (g->slots - 1);
	for (; g->slot[i].epoch == g->epoch; i = (i + 1) & (g->slots - 1)) {
		const struct n2d_ngram *x = &g->gram[g->slot[i].entry];
		if (x->prefix == prefix && x->last == last)
			return g->slot[i].entry;
	}
	if (!add)
		return N2D_NGRAM_NONE;
	g->slot[i] = (struct n2d_ngram_slot){g->epoch, (uint32_t)g->n};
	g->gram[g->n] = (struct n2d_ngram){.prefix = prefix, .last = last, .ref = N2D_NGRAM_NONE};
	return (uint32_t)g->n++;
}

static int reserve_chain(struct n2d_ngrams *g, size_t n)
{
	uint32_t *chain = n2d_grow(g->chain, &g->chains, n, sizeof *chain);
	if (n && !chain)
		return -1;
	g->chain = chain;
	return 0;
}

static int reserve(struct n2d_ngrams *g, size_t n, size_t most)
{
	struct n2d_ngram *gram = n2d_grow(g->gram, &g->room, most, sizeof *gram);
	if (most && !gram)
		return -1;
	g->gram = gram;
	return reserve_chain(g, n) || clear(g, most) ? -1 : 0;
}

int n2d_ngrams_hyp(struct n2d_ngrams *g, const uint32_t *words, size_t n, int orders)
{
	size_t most = n2d_mul(n, (size_t)orders);
	g->n = 0;
	g->orders = orders;
	if (most >= N2D_NGRAM_NONE)
		return n2d_error("a sentence of %zu words: at most %u are counted", n, N2D_NGRAM_NONE / (unsigned)orders);
	if (reserve(g, n, most))
		return -1;
	for (size_t k = 0; k < (size_t)orders; k++) {
		g->first[k] = g->n;
		for (size_t i = 0; i + k < n; i++) {
			g->chain[i] = find(g, k ? g->chain[i] : N2D_NGRAM_NONE, words[i + k], 1);
			g->gram[g->chain[i]].hyp++;
		}
	}
	g->first[orders] = g->n;
	return 0;
}

int n2d_ngrams_ref(struct n2d_ngrams *g, const uint32_t *words, size_t n, uint32_t ref)
{
	if (reserve_chain(g, n))
		return -1;
	size_t found = 1;
	for (size_t k = 0; found && k < (size_t)g->orders; k++) {
		found = 0;
		for (size_t i = 0; i + k < n; i++) {
			if (k && g->chain[i] == N2D_NGRAM_NONE)
				continue;
			g->chain[i] = find(g, k ? g->chain[i] : N2D_NGRAM_NONE, words[i + k], 0);
			if (g->chain[i] == N2D_NGRAM_NONE)
				continue;
			struct n2d_ngram *x = &g->gram[g->chain[i]];
			x->now = x->ref == ref ? x->now + 1 : 1;
			x->ref = ref;
			x->best = x->now > x->best ? x->now : x->best;
			found++;
		}
	}
	return 0;
}

void n2d_ngrams_correct(const struct n2d_ngrams *g, uint64_t *correct)
{
	for (int k = 0; k < g->orders; k++) {
		correct[k] = 0;
		for (size_t i = g->first[k]; i < g->first[k + 1]; i++)
			correct[k] += g->gram[i].hyp < g->gram[i].best ? g->gram[i].hyp : g->gram[i].best;
	}
}

void n2d_ngrams_free(struct n2d_ngrams *g)
{
	free(g->slot);
	free(g->gram);
	free(g->chain);
	memset(g, 0, sizeof *g);
}
