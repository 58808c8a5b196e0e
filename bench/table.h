/* Table 1 as measured, worked out from the results. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdio.h>

#include "bench/fit.h"
#include "bench/results.h"
#include "bench/stats.h"
#include "bench/where.h"

/* How a count grows with n: the simplest of constant, a + b log2 n, a + b n that describes it best. */
struct growth {
	enum { GROWTH_NONE, GROWTH_CONSTANT, GROWTH_LOG, GROWTH_LINEAR } kind; /* NONE: no data, or never */
	double a, b;
};
struct growth growth_of(const double *n, const double *v, size_t points);
void growth_text(const struct growth *g, char *text, size_t size);

struct table_row {
	const char *layer;
	const char *complexity, *sequential, *path; /* as stated; NULL: not in Table 1 */
	/* Exponents of n and d: of the mixing part and of the whole layer; n == 0: not measured. */
	struct stat_line n_mixing, n_whole, d_mixing, d_whole;
	struct fit fit;
	double at_d, at_n; /* where n, d were swept */
	double n_from, n_to; /* the lengths at at_d: so many */
	size_t lengths;
	struct growth sequential_found, path_found, dilated_found, perturbed_found;
	int disturbed; /* a point over n has fewer clean samples than were wanted */
	struct stat_summary percent; /* of the limit, over the lengths of at least SLOPE_SPAN of the longest at which there is one */
};

struct table_pair {
	const char *a, *b; /* a is cheaper at short lengths */
	double from, to;                               /* the lengths both were measured at */
	size_t lengths;
	struct table_ties {
		size_t n;    /* at so many of the lengths neither is cheaper; at all: there is no n* */
		double last; /* the longest at which one is */
	} ties, mixing_ties;
	double bracket[2];                             /* of n, the measured lengths that it lies between */
	double n, predicted, mixing, mixing_predicted; /* n*; INFINITY: a stays cheaper; NAN: unclear, mixing not measured, or too few lengths to predict from */
};

/* Slopes are taken over the largest part of the sweep: from the longest down to a sixteenth of it. Below, overheads that do
 * not grow hide the exponent. */
#define SLOPE_SPAN 16

enum { ROWS_MOST = 16, PAIRS_MOST = ROWS_MOST * ROWS_MOST / 2 };
struct table {
	struct choice choice;
	size_t rows, pairs;
	int paths; /* path lengths were read */
	double n_from, n_to; /* of all rows */
	double peak_low, peak_high; /* FLOP/s, of all measurements beside the layers; 0: none */
	struct where disturbed; /* fewer clean samples than wanted, and where there is none */
	struct where beaten; /* faster than the peak beside it, which was disturbed: no per cent of it is shown */
	struct table_row row[ROWS_MOST];
	struct table_pair pair[PAIRS_MOST];
};

/* Times closer than this are one, and those closer than the samples of both lie to their medians. */
#define TABLE_TIE 0.03

/* A peak that moved by more than a tenth is worth a word. */
#define PEAK_STEADY 1.1

/* Fits over the measured lengths say something about lengths so many times as large at most. */
enum { TABLE_FAR = 16 };

void table_make(struct table *t, const struct results *r, const struct choice *c);
/* What a figure of the per cents up to `top` cannot show: those beyond, with their value, and those that have no limit. */
void table_hidden(struct where *w, const struct table *t, const struct results *r, double top);
#define TABLE_HIDDEN_NOTE "per cents beyond the frame, and without a number what has no limit, since the peak beside it was disturbed"
/* Does the fit rest on more lengths than it has coefficients? Then it is drawn, between the first and the last of them, and crossings are predicted from it. */
int table_fit_shown(const struct table_row *r);
void table_text(const struct table *t, FILE *f);
void table_markdown(const struct table *t, FILE *f);
void table_csv(const struct table *t, FILE *f);
/* The last part of these: who overtakes whom. */
void table_pairs_text(const struct table *t, FILE *f);
void table_pairs_markdown(const struct table *t, FILE *f);

/* The same as cells: a row's as Markdown has them; a pair's n* measured, predicted, of the mixing part measured, predicted. */
enum { TABLE_CELLS = 13, TABLE_CELL = 40 };
#define TABLE_NO_PATHS "sequential, path and layers: not measured, no file of n2d-bench paths was given"
extern const char table_notes[], table_pair_note[]; /* of the columns, of rows and of pairs */
void table_cells(const struct table_row *r, char c[TABLE_CELLS][TABLE_CELL]);
void table_pair_cells(const struct table_pair *p, char c[4][TABLE_CELL]);
/* Does one overtake the other somewhere, by measurement or by the fits? */
int table_crosses(const struct table_pair *p);
/* Shown as more than 100 %. */
int table_beyond(double percent);
/* They change places more than once. */
int table_unclear(const struct table_pair *p);
/* At no measured length is one cheaper. */
int table_tied(const struct table_pair *p);
/* What the fits predict of the whole, and whether something else was measured. */
void table_predicted(const struct table_pair *p, char text[TABLE_CELL]);
int table_contradicted(const struct table_pair *p);

#endif
