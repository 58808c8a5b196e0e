/* What the CSV files say: medians of the clean samples, and path lengths. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <stddef.h>

enum { NAME_MOST = 48 };

/* One layer on one shape. */
struct point {
	char layer[NAME_MOST], isa[16], pass[16];
	int threads;
	double batch, n, d;
	double seconds, mixing_seconds, limit_seconds, memory_bytes;
	double peak, flops; /* multiply-add FLOP/s measured beside it, those of one call; NAN: not told */
	double percent; /* of the limit; NAN: there is none */
	int beaten;     /* it is more than the peak beside it, which then was disturbed: so there is no limit */
	double *sample, *mixing; /* the clean ones; the disturbed ones when there are no others */
	size_t samples, dirty;   /* dirty of them are disturbed */
	size_t disturbed;        /* and so many of all there were */
	size_t file;             /* the first that has it: samples, limit and memory of one run belong together */
};

struct path_point {
	char layer[NAME_MOST];
	double n, sequential, layers, path, perturbed;
};

struct results {
	struct point *point;
	size_t points, files;
	struct path_point *path;
	size_t paths;
	char names[300]; /* of all files that were read, for messages */
};

/* Adds a file of schema layers/1, of it the points that no file before had, or paths/1; others that the benchmark writes (roof/1, kernels/1) are read and passed over.
 * -1 and a message with file, line and what was expected. */
int results_read(struct results *r, const char *file);
/* Those files, or when there are none what `make bench` writes under results/local/. */
int results_read_all(struct results *r, char **file, int files);
void results_free(struct results *r);
/* Has it fewer clean samples than were wanted? */
int results_disturbed(const struct point *p);

/* The points of one line of a diagram. */
struct choice {
	const char *isa, *pass;
	int threads;
};
/* The first instruction set of the file, one thread (or the fewest there are), forward, where not asked for otherwise.
 * -1 and a message when nothing fits; asked: pass is of an option --pass. */
int results_choose(struct choice *c, const struct results *r, const char *isa, int threads, const char *pass, int asked);

enum { SERIES_MOST = 64 };
struct series {
	size_t n;
	double at; /* the other size, fixed */
	const struct point *p[SERIES_MOST];
};
/* A layer's points over n at the width (or over d at the length) for which there are most, ascending. */
void results_over_n(struct series *s, const struct results *r, const struct choice *c, const char *layer);
void results_over_d(struct series *s, const struct results *r, const struct choice *c, const char *layer);
/* Seconds of a series over n, at this n: a straight line between its points on log axes; NAN outside. */
double results_at(const struct series *s, double n);
/* Every point of the layer. */
size_t results_all(const struct point **p, size_t most, const struct results *r, const struct choice *c, const char *layer);
/* The layers there are, in the order of n2d_layer_kinds. */
size_t results_layers(const char **name, size_t most, const struct results *r, const struct choice *c);

#endif
