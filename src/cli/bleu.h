/* n2d bleu in three parts: the arguments (bleu.c), reading (bleu_read.c), printing (bleu_print.c). */
#ifndef N2D_CLI_BLEU_H
#define N2D_CLI_BLEU_H

#include "text/bleu.h"
#include "text/resample.h"

struct n2d_bleu_args {
	struct n2d_bleu_config c;
	const char **refs, **inputs; /* [n_refs], [n_inputs]; no inputs: systems from standard input, divided by tabs */
	size_t n_refs, n_inputs, columns; /* columns: references in a file, divided by tabs */
	size_t width, orders, confidence_n, paired_n, seed;
	int valued, sentences, confidence, paired, score_only, brief, json, quiet;
};

struct n2d_bleu_system {
	const char *name; /* NULL: of standard input */
	struct n2d_bleu_rows rows; /* where sentences are told or drawn, else none */
	struct n2d_bleu_counts all;
	size_t spaced; /* lines that end in " ." */
};

struct n2d_bleu_data {
	struct n2d_bleu_system *system;
	size_t n, refs;
};

/* Reads all files side by side. -1 and a message. */
int n2d_bleu_read(struct n2d_bleu_data *d, const struct n2d_bleu_args *a);
void n2d_bleu_data_free(struct n2d_bleu_data *d);

/* What sacreBLEU prints; tests are those of the systems, or NULL when none were asked for. An exit code. */
int n2d_bleu_print(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *tests);

#endif
