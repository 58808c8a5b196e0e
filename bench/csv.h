/* Tidy CSV: a header line, one row a sample, first column `schema`. Columns are described in results/SCHEMA.md. */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H

#include <stddef.h>

#include "base/file.h"

/* Writing. The file appears whole or not at all (base/file.h). */
struct csv_out {
	struct n2d_out o;
	const char *schema;
	size_t rows;
};
/* columns: the header without `schema`. -1 and a message. */
int csv_create(struct csv_out *o, const char *path, const char *schema, const char *columns);
/* A row; the text starts after `schema,`. Texts that may hold commas go in quotes. */
void csv_row(struct csv_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* -1 and a message when anything went wrong since csv_create, or there was no row: then there is no file, or the old one. */
int csv_finish(struct csv_out *o);
void csv_abandon(struct csv_out *o);

/* Reading. */
struct csv {
	const char *path;
	size_t columns, rows;
	char *text, **cell; /* cell[(row + 1) * columns + column]; the header is row -1 */
	size_t *line;       /* of each row in the file */
};
/* -1 and a message "file:line: what was expected". Every line must be ended, else the file was cut off. */
int csv_read(struct csv *c, const char *path);
void csv_free(struct csv *c);
/* -1 when there is none. */
int csv_column(const struct csv *c, const char *name);
/* Several; -1 and a message when one is missing. */
int csv_columns(const struct csv *c, const char *const *name, int *column, size_t n);
/* The schema of all rows, NULL and a message when they differ or the first column is not `schema`. */
const char *csv_schema(const struct csv *c);
const char *csv_text(const struct csv *c, size_t row, int column);
/* "" in a file without the column. */
const char *csv_text_if(const struct csv *c, size_t row, const char *name);
/* A finite number, or -1 and a message. */
int csv_number(const struct csv *c, size_t row, int column, double *value);

#endif
