#include "text/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/size.h"
#include "text/lines.h"

int n2d_corpus_init(struct n2d_corpus *c, const struct n2d_coder *source, const struct n2d_coder *target, size_t max_length)
{
	*c = (struct n2d_corpus){.max_length = max_length};
	c->coder[N2D_SOURCE] = *source;
	if (target)
		c->coder[N2D_TARGET] = *target;
	for (int side = 0; side < N2D_SIDES; side++)
		if (!(c->start[side] = calloc(1, sizeof **c->start))) {
			n2d_corpus_free(c);
			return n2d_error("no memory for a corpus");
		}
	return 0;
}

void n2d_corpus_free(struct n2d_corpus *c)
{
	for (int side = 0; side < N2D_SIDES; side++) {
		free(c->id[side]);
		free(c->start[side]);
	}
	n2d_strings_free(&c->texts);
	free(c->text);
	memset(c, 0, sizeof *c);
}

void n2d_corpus_clear(struct n2d_corpus *c)
{
	c->pairs = c->left_out = c->with_unknown = 0;
	memset(c->longest, 0, sizeof c->longest);
	memset(c->unknown, 0, sizeof c->unknown);
	n2d_strings_clear(&c->texts);
}

/* *p with room for n elements; -1 and a message. */
static int resize(void *p, size_t n, size_t size)
{
	void *new = realloc(*(void **)p, n2d_mul(n, size));
	if (!new)
		return n2d_error("no memory for a corpus of %zu tokens or sentences", n);
	*(void **)p = new;
	return 0;
}

/* Room for another pair's starts. */
static int widen(struct n2d_corpus *c)
{
	if (c->pairs < c->capacity)
		return 0;
	if (c->pairs >= UINT32_MAX)
		return n2d_error("a corpus of more than %u pairs is too large", UINT32_MAX);
	size_t capacity = c->capacity ? 2 * c->capacity : 1024;
	for (int side = 0; side < N2D_SIDES; side++)
		if (resize(&c->start[side], capacity + 1, sizeof **c->start))
			return -1;
	c->capacity = capacity;
	return 0;
}

/* Keeps the target of the pair behind the last. */
static int keep(struct n2d_corpus *c, const char *text, size_t bytes)
{
	uint32_t *number = n2d_grow(c->text, &c->text_room, c->pairs + 1, sizeof *number);
	if (!number)
		return -1;
	c->text = number;
	number[c->pairs] = n2d_strings_add(&c->texts, text, bytes);
	return number[c->pairs] == N2D_NO_STRING ? -1 : 0;
}

/* Writes a sentence behind the last pair: its length with the end, 0 and a message when it cannot be. */
static size_t put(struct n2d_corpus *c, int side, const char *text, size_t bytes)
{
	const struct n2d_coder *coder = &c->coder[side];
	if (side == N2D_TARGET && c->keeps && keep(c, text, bytes))
		return 0;
	if (coder->edit && coder->edit(coder->editor, &text, &bytes))
		return 0;
	size_t at = c->start[side][c->pairs], room = n2d_add(at, n2d_vocab_room(bytes) + 1);
	if (room > c->room[side]) {
		if (resize(&c->id[side], n2d_mul(room, 2), sizeof **c->id))
			return 0;
		c->room[side] = 2 * room;
	}
	ptrdiff_t n = n2d_vocab_encode(coder->vocab, c->id[side] + at, text, bytes);
	if (n >= INT32_MAX)
		n2d_error("a sentence of %td tokens is too long", n);
	if (n < 0 || n >= INT32_MAX)
		return 0;
	c->id[side][at + (size_t)n] = N2D_ID_END;
	return (size_t)n + 1;
}

/* The pair that lies behind the last becomes one, unless it is too long. */
static void accept(struct n2d_corpus *c, const size_t length[N2D_SIDES])
{
	if (c->max_length && (length[0] > c->max_length + 1 || length[1] > c->max_length + 1)) {
		c->left_out++;
		return;
	}
	size_t unknown = 0;
	for (int side = 0; side < N2D_SIDES; side++) {
		size_t at = c->start[side][c->pairs], before = c->unknown[side];
		c->start[side][c->pairs + 1] = at + length[side];
		if (length[side] > c->longest[side]) {
			c->longest[side] = length[side];
			c->longest_line[side] = c->pairs + c->left_out + 1;
		}
		for (size_t i = 0; i < length[side]; i++)
			c->unknown[side] += c->id[side][at + i] == N2D_ID_UNKNOWN;
		unknown += c->unknown[side] - before;
	}
	c->with_unknown += unknown > 0;
	c->pairs++;
}

static int has_target(const struct n2d_corpus *c) { return c->coder[N2D_TARGET].vocab != NULL; }

int n2d_corpus_add(struct n2d_corpus *c, const char *const text[N2D_SIDES], const size_t bytes[N2D_SIDES])
{
	size_t length[N2D_SIDES] = {0, 0};
	if (widen(c))
		return -1;
	for (int side = 0; side <= has_target(c); side++)
		if (!(length[side] = put(c, side, text[side], bytes[side])))
			return -1;
	accept(c, length);
	return 0;
}

/* Gives back what was kept for more pairs. */
static void trim(struct n2d_corpus *c)
{
	for (int side = 0; side < N2D_SIDES; side++) {
		size_t tokens = c->start[side][c->pairs];
		if (tokens && !resize(&c->id[side], tokens, sizeof **c->id))
			c->room[side] = tokens;
		resize(&c->start[side], c->pairs + 1, sizeof **c->start);
	}
	c->capacity = c->pairs;
}

/* The next line of both sides: 1, 0 at the end of both, -1 and a message. */
static int next_pair(struct n2d_lines l[N2D_SIDES], int sides)
{
	int more[N2D_SIDES];
	for (int side = 0; side < sides; side++)
		if ((more[side] = n2d_lines_next(&l[side])) < 0 || (more[side] && n2d_lines_utf8(&l[side])))
			return -1;
	if (sides == 1 || more[0] == more[1])
		return more[0];
	const struct n2d_lines *ended = &l[more[0]], *on = &l[!more[0]];
	return n2d_lines_error(on, "'%s' ends after %zu line%s: source and target must have as many lines", ended->name, ended->number,
			       n2d_plural(ended->number));
}

static int read_pairs(struct n2d_corpus *c, struct n2d_lines l[N2D_SIDES])
{
	int more, sides = 1 + has_target(c);
	while ((more = next_pair(l, sides)) > 0) {
		size_t length[N2D_SIDES] = {0, 0};
		if (widen(c))
			return n2d_lines_error(&l[0], "%s", n2d_error_text());
		for (int side = 0; side < sides; side++)
			if (!(length[side] = put(c, side, l[side].text, l[side].length)))
				return n2d_lines_error(&l[side], "%s", n2d_error_text());
		accept(c, length);
	}
	if (more < 0)
		return -1;
	if (!c->pairs && !c->left_out)
		return n2d_error("%s: is empty: expected a sentence a line", l[0].name);
	if (!c->pairs)
		return n2d_error("%s: none of %zu line%s has at most %zu token%s on either side (--max-tokens)", l[0].name, c->left_out, n2d_plural(c->left_out),
				 c->max_length, n2d_plural(c->max_length));
	trim(c);
	return 0;
}

int n2d_corpus_read(struct n2d_corpus *c, const char *const path[N2D_SIDES])
{
	struct n2d_lines l[N2D_SIDES] = {{0}, {0}};
	if (has_target(c) && strcmp(path[0], "-") == 0 && strcmp(path[1], "-") == 0)
		return n2d_error("source and target cannot both be standard input");
	int bad = n2d_lines_open(&l[0], path[0]) || (has_target(c) && n2d_lines_open(&l[1], path[1])) || read_pairs(c, l);
	n2d_lines_close(&l[0]);
	n2d_lines_close(&l[1]);
	return bad ? -1 : 0;
}

int n2d_corpus_task(struct n2d_corpus *c, const struct n2d_task_config *task, size_t pairs)
{
	struct n2d_task t;
	if (n2d_task_open(&t, task))
		return -1;
	int bad = 0;
	for (size_t i = 0; i < pairs && !bad; i++)
		bad = n2d_task_next(&t) || n2d_corpus_add(c, (const char *const[]){t.source, t.target},
							  (const size_t[]){strlen(t.source), strlen(t.target)});
	n2d_task_close(&t);
	if (!bad && !c->pairs && pairs)
		bad = n2d_error("the task: none of %zu pairs has at most %zu tokens on either side (--max-tokens)", pairs, c->max_length);
	if (!bad)
		trim(c);
	return bad;
}

int n2d_corpus_check(const struct n2d_corpus *c, const char *const name[N2D_SIDES], size_t most, const char *limit)
{
	for (int side = 0; side < N2D_SIDES; side++)
		if (c->longest[side] > n2d_add(most, 1))
			return n2d_error("%s:%zu: %zu tokens: expected at most %zu (%s)", name[side], c->longest_line[side],
					 c->longest[side] - 1, most, limit);
	return 0;
}
