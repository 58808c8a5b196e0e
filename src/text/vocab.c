#include "text/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) no_memory = 1
#include <uthash.h>

#include "base/error.h"
#include "base/file.h"
#include "text/words.h"

enum { SHOWN = 40 }; /* bytes of a token in a message */

static const char *const specials[N2D_IDS_SPECIAL] = {"<pad>", "<s>", "</s>", "<unk>"};

struct n2d_vocab_entry {
	UT_hash_handle hh;
	uint64_t count;
	int32_t id;
	uint32_t bytes;
	char token[]; /* a zero byte after it */
};

static int shown(size_t bytes) { return bytes < SHOWN ? (int)bytes : SHOWN; }

static int is_special(const char *token, size_t bytes)
{
	for (int i = 0; i < N2D_IDS_SPECIAL; i++)
		if (strlen(specials[i]) == bytes && memcmp(specials[i], token, bytes) == 0)
			return 1;
	return 0;
}

static struct n2d_vocab_entry *find(const struct n2d_vocab *v, const char *token, size_t bytes)
{
	struct n2d_vocab_entry *e = NULL;
	if (bytes <= INT32_MAX)
		HASH_FIND(hh, v->table, token, (unsigned)bytes, e);
	return e;
}

static int widen(struct n2d_vocab *v)
{
	size_t capacity = v->capacity ? 2 * v->capacity : 1024;
	struct n2d_vocab_entry **wider = realloc(v->entry, capacity * sizeof *wider);
	if (!wider)
		return -1;
	v->entry = wider;
	v->capacity = capacity;
	return 0;
}

/* A new entry with the next id; the specials stay out of the table. NULL and a message. */
static struct n2d_vocab_entry *append(struct n2d_vocab *v, const char *token, size_t bytes, int special)
{
	int no_memory = v->size == INT32_MAX || bytes > INT32_MAX || (v->size == v->capacity && widen(v));
	struct n2d_vocab_entry *e = no_memory ? NULL : calloc(1, sizeof *e + bytes + 1);
	if (e) {
		memcpy(e->token, token, bytes);
		e->bytes = (uint32_t)bytes;
		e->id = (int32_t)v->size;
		if (!special)
			HASH_ADD_KEYPTR(hh, v->table, e->token, e->bytes, e);
	}
	if (!e || no_memory) {
		free(e);
		n2d_error("a vocabulary: no memory for entry %zu, of %zu bytes", v->size + 1, bytes);
		return NULL;
	}
	return v->entry[v->size++] = e;
}

int n2d_vocab_init(struct n2d_vocab *v, int ids)
{
	*v = (struct n2d_vocab){.ids = ids};
	for (int i = 0; i < N2D_IDS_SPECIAL; i++)
		if (!append(v, specials[i], strlen(specials[i]), 1)) {
			n2d_vocab_free(v);
			return -1;
		}
	return 0;
}

void n2d_vocab_free(struct n2d_vocab *v)
{
	HASH_CLEAR(hh, v->table);
	for (size_t i = 0; i < v->size; i++)
		free(v->entry[i]);
	free(v->entry);
	memset(v, 0, sizeof *v);
}

/* The integer that a token is, without sign or leading zeros; -1 and a message. */
static long integer(const char *token, size_t bytes)
{
	long n = 0;
	size_t i = 0;
	while (i < bytes && token[i] >= '0' && token[i] <= '9' && n < N2D_IDS_MAX)
		n = 10 * n + (token[i++] - '0');
	if (i < bytes || n >= N2D_IDS_MAX || (bytes > 1 && token[0] == '0'))
		return n2d_error("'%.*s' is no id: expected a whole number from 0 to %d", shown(bytes), token, N2D_IDS_MAX - 1);
	return n;
}

/* Entries for the integers up to n. */
static int append_ids(struct n2d_vocab *v, long n)
{
	char text[24];
	while ((long)v->size - N2D_IDS_SPECIAL <= n) {
		int bytes = snprintf(text, sizeof text, "%zu", v->size - N2D_IDS_SPECIAL);
		if (!append(v, text, (size_t)bytes, 0))
			return -1;
	}
	return 0;
}

/* The entry in which a token counts. */
static struct n2d_vocab_entry *counted(struct n2d_vocab *v, const char *token, size_t bytes)
{
	if (v->ids) {
		long n = integer(token, bytes);
		return n < 0 || append_ids(v, n) ? NULL : v->entry[n + N2D_IDS_SPECIAL];
	}
	struct n2d_vocab_entry *e = find(v, token, bytes);
	if (!e && is_special(token, bytes))
		return v->entry[N2D_ID_UNKNOWN];
	return e ? e : append(v, token, bytes, 0);
}

/* What is kept and printed as text would end there. */
static int refuse_zero(const char *text, size_t bytes)
{
	return memchr(text, 0, bytes) ? n2d_error("a zero byte, which no token of a vocabulary can hold") : 0;
}

int n2d_vocab_count(struct n2d_vocab *v, const char *text, size_t bytes)
{
	text = n2d_words_trim(text, &bytes);
	const char *token, *end = text + bytes;
	if (refuse_zero(text, bytes))
		return -1;
	for (size_t n; (token = n2d_words_next(&text, end, &n));) {
		struct n2d_vocab_entry *e = counted(v, token, n);
		if (!e)
			return -1;
		e->count++;
	}
	return 0;
}

int n2d_vocab_count_file(struct n2d_vocab *v, const char *path)
{
	struct n2d_lines l;
	int more;
	if (n2d_lines_open(&l, path))
		return -1;
	while ((more = n2d_lines_next(&l)) > 0)
		if (n2d_lines_utf8(&l) || (n2d_vocab_count(v, l.text, l.length) && n2d_lines_error(&l, "%s", n2d_error_text()))) {
			more = -1;
			break;
		}
	n2d_lines_close(&l);
	return more;
}

static int by_count(const void *a, const void *b)
{
	const struct n2d_vocab_entry *x = *(struct n2d_vocab_entry *const *)a, *y = *(struct n2d_vocab_entry *const *)b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	int order = memcmp(x->token, y->token, x->bytes < y->bytes ? x->bytes : y->bytes);
	return order ? order : x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

int n2d_vocab_order(struct n2d_vocab *v, uint64_t min_count, size_t max_size)
{
	if (max_size && max_size < N2D_IDS_SPECIAL)
		return n2d_error("a vocabulary of at most %zu entries: must be at least the %d specials", max_size, N2D_IDS_SPECIAL);
	qsort(v->entry + N2D_IDS_SPECIAL, v->size - N2D_IDS_SPECIAL, sizeof *v->entry, by_count);
	for (size_t i = N2D_IDS_SPECIAL; i < v->size; i++)
		v->entry[i]->id = (int32_t)i;
	while (v->size > N2D_IDS_SPECIAL && ((max_size && v->size > max_size) || v->entry[v->size - 1]->count < min_count)) {
		struct n2d_vocab_entry *last = v->entry[--v->size];
		v->entry[N2D_ID_UNKNOWN]->count += last->count;
		HASH_DEL(v->table, last);
		free(last);
	}
	return 0;
}

/* Letters of the alphabet; of numbers, what ten thousand of them are written with. */
static int append_task(struct n2d_vocab *v, const struct n2d_task_config *c)
{
	if (c->kind != N2D_TASK_NUMBERS) {
		for (uint32_t i = 0; i < c->vocab; i++)
			if (!append(v, (char[]){(char)('a' + i)}, 1, 0))
				return -1;
		return 0;
	}
	struct n2d_task t;
	struct n2d_task_config all = n2d_task_defaults(N2D_TASK_NUMBERS);
	if (n2d_task_open(&t, &all))
		return -1;
	int bad = 0;
	for (int i = 0; i < 10000 && !bad; i++)
		bad = n2d_task_next(&t) || n2d_vocab_count(v, t.source, strlen(t.source)) ||
		      n2d_vocab_count(v, t.target, strlen(t.target));
	n2d_task_close(&t);
	return bad ? -1 : n2d_vocab_order(v, 0, 0);
}

int n2d_vocab_of_task(struct n2d_vocab *v, const struct n2d_task_config *c)
{
	if (c->kind != N2D_TASK_NUMBERS && c->vocab > (c->ids ? N2D_IDS_MAX : N2D_TASK_LETTERS))
		return n2d_error("a task's vocabulary of %u: must be at most %d letters or %d ids", c->vocab, N2D_TASK_LETTERS, N2D_IDS_MAX);
	if (n2d_vocab_init(v, c->ids))
		return -1;
	if (c->ids ? append_ids(v, (long)c->vocab - 1) : append_task(v, c)) {
		n2d_vocab_free(v);
		return -1;
	}
	return 0;
}

/* One line of a file. */
static int load_line(struct n2d_vocab *v, const struct n2d_lines *l)
{
	if (n2d_lines_utf8(l))
		return -1;
	if (refuse_zero(l->text, l->length))
		return n2d_lines_error(l, "%s", n2d_error_text());
	const char *space = memchr(l->text, ' ', l->length), *digit = space ? space + 1 : NULL, *end = l->text + l->length;
	size_t bytes = space ? (size_t)(space - l->text) : l->length;
	uint64_t count = 0;
	int bad = !digit || digit == end;
	for (; !bad && digit < end; digit++)
		bad = *digit < '0' || *digit > '9' || __builtin_mul_overflow(count, 10, &count) ||
		      __builtin_add_overflow(count, (uint64_t)(*digit - '0'), &count);
	if (l->number <= N2D_IDS_SPECIAL &&
	    !(bytes == strlen(specials[l->number - 1]) && memcmp(l->text, specials[l->number - 1], bytes) == 0))
		return n2d_lines_error(l, "expected the special %s first, then the count: a vocabulary begins with <pad>, <s>, </s>, <unk>",
				       specials[l->number - 1]);
	if (bad || !bytes)
		return n2d_lines_error(l, "expected a token, one space and its count");
	if (l->number > N2D_IDS_SPECIAL && (is_special(l->text, bytes) || find(v, l->text, bytes)))
		return n2d_lines_error(l, "the token '%.*s' comes a second time", shown(bytes), l->text);
	if (l->number > N2D_IDS_SPECIAL && !append(v, l->text, bytes, 0))
		return n2d_lines_error(l, "%s", n2d_error_text());
	v->entry[l->number - 1]->count = count;
	return 0;
}

/* Takes over the open reader. */
static int load(struct n2d_vocab *v, struct n2d_lines *l)
{
	int more = n2d_vocab_init(v, 0);
	if (more) {
		n2d_lines_close(l);
		return -1;
	}
	while ((more = n2d_lines_next(l)) > 0 && !(more = load_line(v, l)))
		;
	if (!more && l->number < N2D_IDS_SPECIAL)
		more = n2d_error("%s: ends after %zu lines: a vocabulary begins with <pad>, <s>, </s>, <unk>", l->name, l->number);
	n2d_lines_close(l);
	if (more)
		n2d_vocab_free(v);
	return more;
}

int n2d_vocab_load(struct n2d_vocab *v, const char *path)
{
	struct n2d_lines l;
	return n2d_lines_open(&l, path) ? -1 : load(v, &l);
}

int n2d_vocab_parse(struct n2d_vocab *v, const char *name, const char *text)
{
	struct n2d_lines l;
	return n2d_lines_text(&l, name, text) ? -1 : load(v, &l);
}

char *n2d_vocab_text(const struct n2d_vocab *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	for (size_t i = 0; f && i < v->size; i++) {
		fwrite(v->entry[i]->token, 1, v->entry[i]->bytes, f);
		fprintf(f, " %llu\n", (unsigned long long)v->entry[i]->count);
	}
	if (f && !fclose(f))
		return text;
	n2d_error("no memory for the text of a vocabulary of %zu entries", v->size);
	return NULL;
}

int n2d_vocab_save(const struct n2d_vocab *v, const char *path)
{
	struct n2d_out o;
	char *text = n2d_vocab_text(v);
	if (!text)
		return -1;
	if (n2d_out_open(&o, path)) {
		free(text);
		return -1;
	}
	n2d_out_write(&o, text, strlen(text));
	free(text);
	return n2d_out_commit(&o);
}

int32_t n2d_vocab_id(const struct n2d_vocab *v, const char *token, size_t bytes)
{
	const struct n2d_vocab_entry *e = find(v, token, bytes);
	return e ? e->id : N2D_ID_UNKNOWN;
}

const char *n2d_vocab_token(const struct n2d_vocab *v, int32_t id, size_t *bytes)
{
	if (bytes)
		*bytes = v->entry[id]->bytes;
	return v->entry[id]->token;
}

uint64_t n2d_vocab_frequency(const struct n2d_vocab *v, int32_t id) { return v->entry[id]->count; }

ptrdiff_t n2d_vocab_encode(const struct n2d_vocab *v, int32_t *id, const char *text, size_t bytes)
{
	text = n2d_words_trim(text, &bytes);
	const char *token, *end = text + bytes;
	ptrdiff_t n = 0;
	if (refuse_zero(text, bytes))
		return -1;
	for (size_t length; (token = n2d_words_next(&text, end, &length)); n++) {
		id[n] = n2d_vocab_id(v, token, length);
		if (v->ids && id[n] == N2D_ID_UNKNOWN)
			return n2d_error("'%.*s' is no id: expected a whole number below %zu", shown(length), token,
					 v->size - N2D_IDS_SPECIAL);
	}
	return n;
}

int n2d_vocab_of_ids(struct n2d_vocab *v, size_t size)
{
	if (size <= N2D_IDS_SPECIAL || size - N2D_IDS_SPECIAL > N2D_IDS_MAX)
		return n2d_error("a vocabulary of %zu integers and specials: must be %d to %d", size, N2D_IDS_SPECIAL + 1,
				 N2D_IDS_MAX + N2D_IDS_SPECIAL);
	if (n2d_vocab_init(v, 1))
		return -1;
	if (!append_ids(v, (long)(size - N2D_IDS_SPECIAL) - 1))
		return 0;
	n2d_vocab_free(v);
	return -1;
}

int n2d_vocab_take_as_ids(struct n2d_vocab *v, const char *name)
{
	for (size_t i = N2D_IDS_SPECIAL; i < v->size; i++)
		if (integer(v->entry[i]->token, v->entry[i]->bytes) != (long)(i - N2D_IDS_SPECIAL))
			return n2d_error("%s:%zu: '%.*s': with --ids the entries are the integers in their order, here %zu", name, i + 1,
					 shown(v->entry[i]->bytes), v->entry[i]->token, i - N2D_IDS_SPECIAL);
	v->ids = 1;
	return 0;
}
