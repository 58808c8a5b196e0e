/* One HTML page that needs nothing else: its style lies in it, it has no script, and it forbids itself both scripts and the network. */
#ifndef BENCH_HTML_H
#define BENCH_HTML_H

#include <stddef.h>

#include "base/file.h"

struct html {
	struct n2d_out o;
};

/* -1 and a message when path cannot be written. */
int html_open(struct html *h, const char *path, const char *title);
/* Markup, with a text in place of each $, escaped: no text can become markup. */
void html(struct html *h, const char *markup, ...);
/* A text in the paper's notation: n^2 and log_k n raised and lowered. */
void html_formula(struct html *h, const char *text);
/* "<p class=command>": what makes the figure above it; may be called with several texts, put together. */
void html_command(struct html *h, const char *command);
/* A space, and what a shell reads as this one word again. */
void html_word(struct html *h, const char *word);
/* A link to the bytes of a file, which lie in the page: gzip-compressed when this is built with zlib. A browser follows links of 2 MiB
 * at most: larger files are named only. -1 and a message when it cannot be read. */
int html_download(struct html *h, const char *path, const char *name);
/* -1 and a message: then there is no page. */
int html_commit(struct html *h);
void html_cancel(struct html *h);

/* A formatted text, one of the last 32. */
const char *as_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- figures: curves over n, on a logarithmic axis. Colours are made lighter on a dark page. */

enum { CHART_LABELS = 24 };
struct chart {
	struct html *h;
	int log_y;
	double x0, x1, y0, y1;
	struct chart_label {
		double y;
		const char *colour;
		char text[32];
	} label[CHART_LABELS];
	size_t labels;
};

/* y from y0 to y1; log_y: rounded outwards to powers of ten. unit: of y. name: what the figure shows, for who cannot see it. */
void chart_open(struct chart *c, struct html *h, const char *name, const char *unit, int log_y, double x0, double x1, double y0,
		double y1);
/* style: "solid", "dashed" or "dots" (a point each). Points outside are cut off. */
void chart_curve(struct chart *c, const double *x, const double *y, size_t n, const char *colour, const char *style);
/* A ring around a point. */
void chart_ring(struct chart *c, double x, double y);
/* A name at the right end, beside y. */
void chart_name(struct chart *c, double y, const char *name, const char *colour);
void chart_close(struct chart *c);

#endif
