#include "bench/csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int csv_create(struct csv_out *o, const char *path, const char *schema, const char *columns)
{
	o->schema = schema;
	o->rows = 0;
	if (n2d_out_open(&o->o, path))
		return -1;
	n2d_out_printf(&o->o, "schema,%s\n", columns);
	return 0;
}

void csv_row(struct csv_out *o, const char *format, ...)
{
	char row[4096];
	va_list ap;
	va_start(ap, format);
	vsnprintf(row, sizeof row, format, ap);
	va_end(ap);
	n2d_out_printf(&o->o, "%s,%s\n", o->schema, row);
	o->rows++;
}

int csv_finish(struct csv_out *o)
{
	if (o->rows || o->o.error)
		return n2d_out_commit(&o->o);
	csv_abandon(o);
	return n2d_error("nothing was measured: no CSV file is written");
}

void csv_abandon(struct csv_out *o) { n2d_out_cancel(&o->o); }

/* A carriage return before a newline is part of the line's end. */
static void unix_lines(char *text)
{
	char *w = text;
	for (const char *p = text; *p; p++)
		if (p[0] != '\r' || p[1] != '\n')
			*w++ = *p;
	*w = 0;
}

enum { CSV_MOST = 1 << 30 }; /* bytes: far more than any sweep writes; an endless file must end */

/* The whole file; NULL and a message. */
static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t room = 1 << 16, got = 0;
	char *text = f ? malloc(room + 1) : NULL;
	while (text && !feof(f) && !ferror(f)) {
		if (room > CSV_MOST || (got && memchr(text, 0, got < 4096 ? got : 4096)))
			break;
		got += fread(text + got, 1, room - got, f);
		if (got == room)
			text = realloc(text, (room *= 2) + 1);
	}
	int bad = !f || !text || ferror(f);
	if (bad)
		n2d_error("%s: cannot be read: %s", path, strerror(errno));
	if (f)
		fclose(f);
	if (bad) {
		free(text);
		return NULL;
	}
	text[got] = 0;
	if (room > CSV_MOST) {
		free(text);
		n2d_error("%s: expected at most %d bytes", path, CSV_MOST);
		return NULL;
	}
	if (strlen(text) == got && (!got || text[got - 1] == '\n')) {
		unix_lines(text);
		return text;
	}
	n2d_error(strlen(text) < got ? "%s: holds a zero byte, expected text" : "%s: the last line has no end: the file is cut off",
		  path);
	free(text);
	return NULL;
}

/* Cuts the field at *s out in place and moves *s behind its separator, which is returned: ',' '\n' or 0. -1: a quote is
 * left open, or text follows a closing one. */
static int field(char **s, char **out)
{
	char *p = *s, *w = p, quoted = *p == '"';
	*out = p;
	for (p += quoted; *p; p++) {
		if (quoted && *p == '"') {
			if (p[1] != '"') {
				quoted = 0;
				p++;
				if (*p && *p != ',' && *p != '\n')
					return -1;
				break;
			}
			p++;
		} else if (!quoted && (*p == ',' || *p == '\n')) {
			break;
		}
		*w++ = *p;
	}
	if (quoted)
		return -1;
	char end = *p;
	*s = p + (end != 0);
	*w = 0;
	return end;
}

/* Rows are counted first by lines: an upper bound. */
static int parse(struct csv *c)
{
	size_t lines = 1, room;
	for (const char *p = c->text; *p; p++)
		lines += *p == '\n';
	for (char *p = c->text; *p && *p != '\n'; p++)
		c->columns += *p == ',';
	c->columns++;
	room = lines * c->columns;
	c->cell = malloc(room * sizeof *c->cell);
	c->line = malloc(lines * sizeof *c->line);
	if (!c->cell || !c->line)
		return n2d_error("%s: no memory for %zu lines", c->path, lines);
	char *s = c->text;
	size_t line = 1, row = 0;
	for (; *s; line++) {
		if (*s == '\n') { /* an empty line */
			s++;
			continue;
		}
		size_t k = 0;
		int end = ',';
		while (end == ',') {
			char *f;
			end = field(&s, &f);
			if (end < 0)
				return n2d_error("%s:%zu: a quoted field is not closed", c->path, line);
			if (k < c->columns)
				c->cell[row * c->columns + k] = f;
			k++;
		}
		if (k != c->columns)
			return n2d_error("%s:%zu: %zu fields, expected %zu as in the header", c->path, line, k, c->columns);
		c->line[row++] = line;
	}
	if (row < 2)
		return n2d_error("%s:1: expected a header and at least one row", c->path);
	c->rows = row - 1;
	return 0;
}

int csv_read(struct csv *c, const char *path)
{
	memset(c, 0, sizeof *c);
	c->path = path;
	c->text = slurp(path);
	if (!c->text)
		return -1;
	if (parse(c)) {
		csv_free(c);
		return -1;
	}
	return 0;
}

void csv_free(struct csv *c)
{
	free(c->text);
	free(c->cell);
	free(c->line);
	c->text = NULL;
	c->cell = NULL;
	c->line = NULL;
}

int csv_column(const struct csv *c, const char *name)
{
	for (size_t i = 0; i < c->columns; i++)
		if (strcmp(c->cell[i], name) == 0)
			return (int)i;
	return -1;
}

int csv_columns(const struct csv *c, const char *const *name, int *column, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((column[i] = csv_column(c, name[i])) < 0)
			return n2d_error("%s:1: expected a column '%s'", c->path, name[i]);
	return 0;
}

const char *csv_text(const struct csv *c, size_t row, int column)
{
	return c->cell[(row + 1) * c->columns + (size_t)column];
}

const char *csv_text_if(const struct csv *c, size_t row, const char *name)
{
	int column = csv_column(c, name);
	return column < 0 ? "" : csv_text(c, row, column);
}

const char *csv_schema(const struct csv *c)
{
	if (strcmp(c->cell[0], "schema") != 0) {
		n2d_error("%s:1: the first column is '%s', expected 'schema'", c->path, c->cell[0]);
		return NULL;
	}
	for (size_t r = 1; r < c->rows; r++)
		if (strcmp(csv_text(c, r, 0), csv_text(c, 0, 0)) != 0) {
			n2d_error("%s:%zu: schema '%s', expected '%s' as in the rows before", c->path, c->line[r + 1],
				  csv_text(c, r, 0), csv_text(c, 0, 0));
			return NULL;
		}
	return csv_text(c, 0, 0);
}

int csv_number(const struct csv *c, size_t row, int column, double *value)
{
	const char *s = csv_text(c, row, column);
	char *end;
	*value = strtod(s, &end);
	if (end == s || *end || !isfinite(*value))
		return n2d_error("%s:%zu: column %s is '%s', expected a number", c->path, c->line[row + 1], c->cell[column], s);
	return 0;
}
