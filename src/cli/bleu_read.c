#include "cli/bleu.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/lines.h"

/* A file of one text, or of several divided by tabs. */
struct stream {
	struct n2d_lines lines;
	struct n2d_text *field; /* of the current line, [fields] */
	size_t fields;
	int exact, more; /* exact: the last field holds no tab; more: there was a line */
};

struct reader {
	struct stream *stream; /* the references', then the systems' */
	size_t n, refs;
	int rows; /* are wanted of each line, beside the sum */
	struct n2d_text *ref; /* of the current line, [d->refs] */
	struct n2d_bleu bleu;
};

static size_t trimmed(const char *text, size_t n)
{
	while (n && strchr(" \t\r\v\f", text[n - 1]) && text[n - 1])
		n--;
	return n;
}

static size_t count_fields(const struct n2d_lines *l)
{
	size_t n = 1, length = trimmed(l->text, l->length);
	for (size_t i = 0; i < length; i++)
		n += l->text[i] == '\t';
	return n;
}

static int divide(struct stream *s)
{
	const char *at = s->lines.text, *end = at + s->lines.length, *tab = NULL;
	size_t i = 0;
	for (; i + 1 < s->fields && (tab = memchr(at, '\t', (size_t)(end - at))); i++, at = tab + 1)
		s->field[i] = (struct n2d_text){at, (size_t)(tab - at)};
	s->field[i] = (struct n2d_text){at, trimmed(at, (size_t)(end - at))};
	if (i + 1 < s->fields || (s->exact && memchr(at, '\t', s->field[i].length)))
		return n2d_lines_error(&s->lines, "texts divided by tabs: %zu, expected %zu, as %s", count_fields(&s->lines), s->fields,
				       s->exact ? "in line 1" : "--num-refs says");
	return 0;
}

/* fields 0: as many as the first line has. */
static int stream_open(struct stream *s, const char *path, size_t fields)
{
	if (n2d_lines_open(&s->lines, path) || (s->more = n2d_lines_next(&s->lines)) < 0)
		return -1;
	s->exact = !fields;
	s->fields = fields ? fields : s->more ? count_fields(&s->lines) : 1;
	s->field = calloc(s->fields, sizeof *s->field);
	return s->field ? 0 : n2d_error("%s: no memory for %zu texts", path, s->fields);
}

/* Says which file has another number of lines than the first. */
static int unequal(struct reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		while (r->stream[i].more > 0)
			if ((r->stream[i].more = n2d_lines_next(&r->stream[i].lines)) < 0)
				return -1;
	const struct n2d_lines *first = &r->stream->lines;
	for (size_t i = 1; i < r->n; i++) {
		const struct n2d_lines *l = &r->stream[i].lines;
		if (l->number != first->number)
			return n2d_error("%s has %zu line%s and %s %zu: expected as many", first->name, first->number, n2d_plural(first->number), l->name, l->number);
	}
	return n2d_error("%s: no lines", first->name);
}

/* 1: a line of each file; 0: all have ended. */
static int next(struct reader *r, int first)
{
	size_t ended = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct stream *s = &r->stream[i];
		if (!first && (s->more = n2d_lines_next(&s->lines)) < 0)
			return -1;
		ended += !s->more;
	}
	if (ended && (first || ended < r->n))
		return unequal(r);
	for (size_t i = 0; !ended && i < r->n; i++)
		if (n2d_lines_utf8(&r->stream[i].lines) || divide(&r->stream[i]))
			return -1;
	return !ended;
}

/* The current line of each system against the references. */
static int count(struct reader *r, struct n2d_bleu_data *d)
{
	struct n2d_text *ref = r->ref;
	size_t system = 0;
	for (size_t i = 0; i < r->refs; i++)
		for (size_t k = 0; k < r->stream[i].fields; k++)
			*ref++ = r->stream[i].field[k];
	for (size_t i = r->refs; i < r->n; i++)
		for (size_t k = 0; k < r->stream[i].fields; k++, system++) {
			struct n2d_bleu_system *s = &d->system[system];
			struct n2d_text hyp = r->stream[i].field[k];
			struct n2d_bleu_counts one;
			if (n2d_bleu_count(&r->bleu, &one, hyp, r->ref, d->refs) || (r->rows && n2d_bleu_rows_add(&s->rows, &one)))
				return -1;
			n2d_bleu_add(&s->all, &one);
			s->spaced += hyp.length > 1 && memcmp(hyp.at + hyp.length - 2, " .", 2) == 0;
		}
	return 0;
}

static int open_all(struct reader *r, struct n2d_bleu_data *d, const struct n2d_bleu_args *a)
{
	size_t inputs = a->n_inputs ? a->n_inputs : 1;
	r->stream = calloc(a->n_refs + inputs, sizeof *r->stream);
	if (!r->stream)
		return n2d_error("no memory for %zu files", a->n_refs + inputs);
	for (; r->n < a->n_refs; r->n++)
		if (stream_open(&r->stream[r->n], a->refs[r->n], a->columns))
			return -1;
	r->refs = r->n;
	for (size_t i = 0; i < inputs; i++, r->n++) {
		if (stream_open(&r->stream[r->n], a->n_inputs ? a->inputs[i] : "-", a->n_inputs ? 1 : 0))
			return -1;
		d->n += r->stream[r->n].fields;
	}
	d->refs = a->n_refs * a->columns;
	r->ref = calloc(d->refs, sizeof *r->ref);
	d->system = calloc(d->n, sizeof *d->system);
	if (!r->ref || !d->system)
		return n2d_error("no memory for %zu references and %zu systems", d->refs, d->n);
	for (size_t i = 0; i < d->n; i++) {
		d->system[i].name = a->n_inputs ? a->inputs[i] : NULL;
		d->system[i].rows.orders = a->c.orders;
	}
	return 0;
}

int n2d_bleu_read(struct n2d_bleu_data *d, const struct n2d_bleu_args *a)
{
	struct reader r = {.rows = a->sentences || a->confidence || a->paired};
	memset(d, 0, sizeof *d);
	if (n2d_bleu_open(&r.bleu, &a->c))
		return -1;
	int more = open_all(&r, d, a) ? -1 : next(&r, 1);
	while (more > 0)
		more = count(&r, d) ? -1 : next(&r, 0);
	for (size_t i = 0; i < a->n_refs + (a->n_inputs ? a->n_inputs : 1) && r.stream; i++) {
		n2d_lines_close(&r.stream[i].lines);
		free(r.stream[i].field);
	}
	free(r.stream);
	free(r.ref);
	n2d_bleu_close(&r.bleu);
	return more;
}

void n2d_bleu_data_free(struct n2d_bleu_data *d)
{
	for (size_t i = 0; d->system && i < d->n; i++)
		n2d_bleu_rows_free(&d->system[i].rows);
	free(d->system);
	memset(d, 0, sizeof *d);
}
