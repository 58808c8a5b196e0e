#include "text/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

struct n2d_strings_slot {
	uint32_t hash, next; /* next: the string's number + 1; 0: free */
};

/* Eight bytes at a time: a multiplication spreads them upwards, the shift brings them down again. */
static uint32_t hash_of(const char *text, size_t bytes)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t h = bytes * odd, eight;
	for (; bytes >= 8; text += 8, bytes -= 8) {
		memcpy(&eight, text, 8);
		h = (h ^ eight) * odd;
		h ^= h >> 32;
	}
	eight = 0;
	for (size_t i = 0; i < bytes; i++)
		eight = eight << 8 | (unsigned char)text[i];
	h = (h ^ eight) * odd;
	h ^= h >> 29;
	h *= odd;
	return (uint32_t)(h >> 32);
}

/* The slot of the string, or the free one where it belongs. */
static struct n2d_strings_slot *slot_of(const struct n2d_strings *s, const char *text, size_t bytes, uint32_t hash)
{
	for (size_t i = hash & (s->slots_n - 1);; i = (i + 1) & (s->slots_n - 1)) {
		struct n2d_strings_slot *slot = &s->slots[i];
		size_t n;
		if (!slot->next)
			return slot;
		if (slot->hash == hash) {
			const char *there = n2d_strings_get(s, slot->next - 1, &n);
			if (n == bytes && memcmp(there, text, n) == 0)
				return slot;
		}
	}
}

uint32_t n2d_strings_find(const struct n2d_strings *s, const char *text, size_t bytes)
{
	if (!s->n)
		return N2D_NO_STRING;
	return slot_of(s, text, bytes, hash_of(text, bytes))->next - 1; /* 0 - 1 is N2D_NO_STRING */
}

/* At most half of the slots are taken. */
static int widen(struct n2d_strings *s)
{
	size_t wide = s->slots_n ? 2 * s->slots_n : 64;
	struct n2d_strings_slot *old = s->slots, *slots = calloc(wide, sizeof *slots);
	if (!slots)
		return n2d_error("no memory for %zu strings", wide / 2);
	for (size_t i = 0; i < s->slots_n; i++)
		if (old[i].next) {
			size_t k = old[i].hash & (wide - 1);
			while (slots[k].next)
				k = (k + 1) & (wide - 1);
			slots[k] = old[i];
		}
	free(old);
	s->slots = slots;
	s->slots_n = wide;
	return 0;
}

/* Appends the string itself. */
static int append(struct n2d_strings *s, const char *text, size_t bytes)
{
	size_t used = s->n ? s->end[s->n - 1] : 0;
	char *all = n2d_grow(s->bytes, &s->bytes_room, used + bytes + 1, 1); /* + 1: also for an empty one */
	if (!all)
		return -1;
	s->bytes = all;
	size_t *end = n2d_grow(s->end, &s->end_room, (size_t)s->n + 1, sizeof *end);
	if (!end)
		return -1;
	s->end = end;
	memmove(s->bytes + used, text, bytes); /* it may lie there already: n2d_strings_join */
	s->end[s->n] = used + bytes;
	return 0;
}

uint32_t n2d_strings_add(struct n2d_strings *s, const char *text, size_t bytes)
{
	uint32_t hash = hash_of(text, bytes);
	if (2 * ((size_t)s->n + 1) > s->slots_n && widen(s))
		return N2D_NO_STRING;
	struct n2d_strings_slot *slot = slot_of(s, text, bytes, hash);
	if (slot->next)
		return slot->next - 1;
	if (s->n >= N2D_NO_STRING - 1) {
		n2d_error("more than %u strings", N2D_NO_STRING - 1);
		return N2D_NO_STRING;
	}
	if (append(s, text, bytes))
		return N2D_NO_STRING;
	*slot = (struct n2d_strings_slot){hash, ++s->n};
	return s->n - 1;
}

uint32_t n2d_strings_join(struct n2d_strings *s, uint32_t i, uint32_t j)
{
	size_t a, b, used = s->end[s->n - 1];
	n2d_strings_get(s, i, &a);
	n2d_strings_get(s, j, &b);
	char *all = n2d_grow(s->bytes, &s->bytes_room, used + a + b + 1, 1);
	if (!all)
		return N2D_NO_STRING;
	s->bytes = all;
	memcpy(all + used, n2d_strings_get(s, i, &a), a);
	memcpy(all + used + a, n2d_strings_get(s, j, &b), b);
	return n2d_strings_add(s, all + used, a + b);
}

void n2d_strings_clear(struct n2d_strings *s)
{
	s->n = 0;
	if (s->slots_n)
		memset(s->slots, 0, s->slots_n * sizeof *s->slots);
}

void n2d_strings_free(struct n2d_strings *s)
{
	free(s->bytes);
	free(s->end);
	free(s->slots);
	memset(s, 0, sizeof *s);
}
