#include "text/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/batch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/size.h"
#include "text/numbers.h"

static const char *const kinds[] = {"copy", "reverse", "sort", "numbers"};
static const char *const splits[] = {"train", "valid", "test"};

static int find(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

int n2d_task_find(const char *name)
{
	int i = find(kinds, sizeof kinds / sizeof *kinds, name);
	return i < 0 ? n2d_error("task '%s' must be one of copy|reverse|sort|numbers", name) : i;
}

int n2d_split_find(const char *name)
{
	int i = find(splits, sizeof splits / sizeof *splits, name);
	return i < 0 ? n2d_error("split '%s' must be one of train|valid|test", name) : i;
}

struct n2d_task_config n2d_task_defaults(enum n2d_task_kind kind)
{
	return (struct n2d_task_config){
		.kind = kind, .seed = 1, .min_length = 1, .max_length = kind == N2D_TASK_NUMBERS ? N2D_TASK_DIGITS : 20,
		.vocab = N2D_TASK_LETTERS,
	};
}

/* FNV-1a over the symbols' bytes; its low bits are weak, so a Philox round mixes them. */
static enum n2d_split split_of(const uint32_t *symbols, size_t n)
{
	uint64_t h = 0xcbf29ce484222325;
	for (size_t i = 0; i < n; i++)
		for (int b = 0; b < 32; b += 8)
			h = (h ^ (symbols[i] >> b & 255)) * 0x100000001b3;
	uint32_t out[4];
	n2d_philox(out, (uint32_t[4]){(uint32_t)h, (uint32_t)(h >> 32), 0, 0}, (uint32_t[2]){0, 0});
	uint32_t of20 = out[0] % 20;
	return of20 == 0 ? N2D_SPLIT_TEST : of20 == 1 ? N2D_SPLIT_VALID : N2D_SPLIT_TRAIN;
}

static int check(const struct n2d_task_config *c)
{
	size_t most = c->kind == N2D_TASK_NUMBERS ? N2D_TASK_DIGITS : N2D_TASK_LENGTH_MAX;
	if (c->min_length < 1 || c->min_length > c->max_length || c->max_length > most)
		return n2d_error("%s: lengths from %zu to %zu: must be in order and from 1 to %zu", kinds[c->kind], c->min_length,
				 c->max_length, most);
	if (c->kind == N2D_TASK_NUMBERS)
		return c->ids ? n2d_error("numbers: are characters, not ids") : 0;
	if (!c->vocab || c->vocab > (c->ids ? N2D_IDS_MAX : N2D_TASK_LETTERS))
		return n2d_error("%s: a vocabulary of %u: must be from 1 to %d letters or to %d ids", kinds[c->kind], c->vocab, N2D_TASK_LETTERS, N2D_IDS_MAX);
	return 0;
}

/* A pass begins: every number of the split, in new order. */
static void deal(struct n2d_task *t)
{
	for (size_t d = t->c.min_length; d <= t->c.max_length; d++) {
		n2d_rng_shuffle(&t->rng, t->symbols + t->start[d], t->start[d + 1] - t->start[d]);
		t->next[d] = t->start[d];
	}
}

/* Collects the split's numbers of each number of digits. */
static int collect(struct n2d_task *t)
{
	size_t n = 0, d = 1;
	uint32_t limit = 10; /* numbers of d digits are below it; 0 has one */
	for (uint32_t i = 0; i < N2D_NUMBER_LIMIT; i++) {
		if (i == limit) {
			t->start[++d] = n;
			limit *= 10;
		}
		if (d >= t->c.min_length && d <= t->c.max_length && split_of(&i, 1) == t->c.split)
			t->symbols[n++] = i;
	}
	t->start[N2D_TASK_DIGITS + 1] = n;
	if (!n)
		return n2d_error("numbers: none of %zu to %zu digits is in the split %s", t->c.min_length, t->c.max_length,
				 splits[t->c.split]);
	deal(t);
	return 0;
}

int n2d_task_open(struct n2d_task *t, const struct n2d_task_config *c)
{
	memset(t, 0, sizeof *t);
	if (check(c))
		return -1;
	int numbers = c->kind == N2D_TASK_NUMBERS;
	size_t room = numbers ? 2 * N2D_NUMBER_TEXT : c->max_length * sizeof "4294967295";
	t->c = *c;
	t->symbols = malloc((numbers ? N2D_NUMBER_LIMIT : c->max_length) * sizeof *t->symbols);
	t->source = t->text[0] = malloc(room);
	t->target = t->text[1] = malloc(room);
	/* Its own stream for each task and split. */
	n2d_rng_init(&t->rng, c->seed, (uint64_t)c->kind << 8 | (uint64_t)c->split);
	int bad = !t->symbols || !t->text[0] || !t->text[1];
	if (bad)
		n2d_error("%s: no memory for lines of %zu symbols", kinds[c->kind], c->max_length);
	else if (numbers)
		bad = collect(t);
	if (bad)
		n2d_task_close(t);
	return bad ? -1 : 0;
}

void n2d_task_close(struct n2d_task *t)
{
	free(t->symbols);
	free(t->text[0]);
	free(t->text[1]);
	memset(t, 0, sizeof *t);
}

static void write_symbols(const struct n2d_task *t, char *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			*to++ = ' ';
		if (t->c.ids)
			to += sprintf(to, "%u", t->symbols[i]);
		else
			*to++ = (char)('a' + t->symbols[i]);
	}
	*to = 0;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static int next_sequence(struct n2d_task *t)
{
	size_t n;
	int tries = 10000; /* of 20 sequences one is of the rarest splits: by chance these fail once in 10^200 */
	do {
		if (!tries--)
			return n2d_error("%s: no sequence of the split %s found: too few symbols or lengths", kinds[t->c.kind],
					 splits[t->c.split]);
		n = t->c.min_length + n2d_rng_below(&t->rng, (uint32_t)(t->c.max_length - t->c.min_length + 1));
		for (size_t i = 0; i < n; i++)
			t->symbols[i] = n2d_rng_below(&t->rng, t->c.vocab);
	} while (split_of(t->symbols, n) != t->c.split);
	write_symbols(t, t->text[0], n);
	if (t->c.kind == N2D_TASK_SORT)
		qsort(t->symbols, n, sizeof *t->symbols, by_size);
	for (size_t i = 0; t->c.kind == N2D_TASK_REVERSE && i < n / 2; i++) {
		uint32_t swap = t->symbols[i];
		t->symbols[i] = t->symbols[n - 1 - i];
		t->symbols[n - 1 - i] = swap;
	}
	write_symbols(t, t->text[1], n);
	return 0;
}

/* The characters of text (UTF-8) divided by spaces, a space as "_". */
static void divide(char *to, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (i && (text[i] & 0xc0) != 0x80)
			*to++ = ' ';
		*to++ = text[i] == ' ' ? '_' : text[i];
	}
	*to = 0;
}

static void next_number(struct n2d_task *t)
{
	char text[N2D_NUMBER_TEXT];
	size_t open[N2D_TASK_DIGITS], n = 0; /* numbers of digits of which some are left */
	for (int again = 0; !n; again = 1) {
		if (again)
			deal(t);
		for (size_t d = t->c.min_length; d <= t->c.max_length; d++)
			if (t->next[d] < t->start[d + 1])
				open[n++] = d;
	}
	size_t d = open[n2d_rng_below(&t->rng, (uint32_t)n)];
	uint32_t number = t->symbols[t->next[d]++];
	n2d_number_english(text, number);
	divide(t->text[0], text);
	n2d_number_german(text, number);
	divide(t->text[1], text);
}

int n2d_task_next(struct n2d_task *t)
{
	if (t->c.kind != N2D_TASK_NUMBERS)
		return next_sequence(t);
	next_number(t);
	return 0;
}

/* PREFIX.SUFFIX, opened; o NULL: tried. */
static int open_out(struct n2d_out *o, const char *prefix, const char *suffix)
{
	size_t n = strlen(prefix) + strlen(suffix) + 2;
	char *path = malloc(n);
	if (!path)
		return n2d_error("no memory for the name %s.%s", prefix, suffix);
	snprintf(path, n, "%s.%s", prefix, suffix);
	int bad = o ? n2d_out_open(o, path) : n2d_out_try(path);
	free(path);
	return bad;
}

int n2d_task_writable(const char *prefix, const char *source, const char *target)
{
	return open_out(NULL, prefix, source) || open_out(NULL, prefix, target) ? -1 : 0;
}

static int write_lines(struct n2d_task *t, size_t lines, struct n2d_out out[2])
{
	for (size_t i = 0; i < lines; i++) {
		if (n2d_task_next(t))
			return -1;
		n2d_out_printf(&out[0], "%s\n", t->source);
		n2d_out_printf(&out[1], "%s\n", t->target);
	}
	return 0;
}

int n2d_task_write(const struct n2d_task_config *c, size_t lines, const char *prefix, const char *source, const char *target)
{
	struct n2d_task t;
	struct n2d_out out[2] = {{0}, {0}};
	if (strcmp(source, target) == 0)
		return n2d_error("source and target would both be %s.%s", prefix, source);
	if (n2d_task_open(&t, c))
		return -1;
	int bad = open_out(&out[0], prefix, source) || open_out(&out[1], prefix, target) || write_lines(&t, lines, out) ||
		  n2d_out_commit(&out[0]) || n2d_out_commit(&out[1]);
	n2d_out_cancel(&out[0]); /* what is committed or was never opened stays as it is */
	n2d_out_cancel(&out[1]);
	n2d_task_close(&t);
	return bad ? -1 : 0;
}
