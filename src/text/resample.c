#include "text/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/rng.h"
#include "base/size.h"
#include "base/threads.h"

static size_t width(const struct n2d_bleu_rows *r) { return 2 + 2 * (size_t)r->orders; }

int n2d_bleu_rows_add(struct n2d_bleu_rows *r, const struct n2d_bleu_counts *counts)
{
	uint32_t *row = n2d_grow(r->row, &r->room, r->n + 1, width(r) * sizeof *row);
	if (!row)
		return -1;
	r->row = row;
	uint32_t *x = r->row + r->n++ * width(r);
	*x++ = (uint32_t)counts->hyp_length; /* sentences of 2^32 words are refused before */
	*x++ = (uint32_t)counts->ref_length;
	for (int k = 0; k < r->orders; k++, x++) {
		x[0] = (uint32_t)counts->correct[k];
		x[r->orders] = (uint32_t)counts->total[k];
	}
	return 0;
}

/* Sums of rows as counts. */
static struct n2d_bleu_counts unpack(const uint64_t *x, int orders)
{
	struct n2d_bleu_counts c = {.hyp_length = x[0], .ref_length = x[1]};
	memcpy(c.correct, x + 2, (size_t)orders * sizeof *x);
	memcpy(c.total, x + 2 + orders, (size_t)orders * sizeof *x);
	return c;
}

enum { WIDEST = 2 + 2 * N2D_BLEU_ORDERS };

static void add_row(uint64_t *sum, const uint32_t *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += row[i];
}

struct n2d_bleu_counts n2d_bleu_rows_get(const struct n2d_bleu_rows *r, size_t i)
{
	uint64_t sum[WIDEST] = {0};
	add_row(sum, r->row + i * width(r), width(r));
	return unpack(sum, r->orders);
}

void n2d_bleu_rows_free(struct n2d_bleu_rows *r)
{
	free(r->row);
	memset(r, 0, sizeof *r);
}

/* ---- resamples */

struct job {
	const struct n2d_bleu_config *c;
	const struct n2d_bleu_rows *systems;
	size_t n, resamples;
	uint64_t seed;
	double *score; /* [n, resamples] */
};

static void draw(void *arg, size_t r, int thread)
{
	const struct job *j = arg;
	size_t sentences = j->systems->n, w = width(j->systems);
	(void)thread;
	for (size_t s = 0; s < j->n; s++) {
		uint64_t sum[WIDEST] = {0};
		struct n2d_rng rng;
		n2d_rng_init(&rng, j->seed, r);
		for (size_t i = 0; i < sentences; i++)
			add_row(sum, j->systems[s].row + n2d_rng_below(&rng, (uint32_t)sentences) * w, w);
		struct n2d_bleu_counts counts = unpack(sum, j->systems->orders);
		j->score[s * j->resamples + r] = n2d_bleu_score(j->c, &counts).score;
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double mean(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* score[n] against base[n], whose systems differ by `difference`. scratch[n]. */
static double p_value(const double *score, const double *base, double difference, double *scratch, size_t n)
{
	size_t more = 0;
	for (size_t r = 0; r < n; r++)
		scratch[r] = fabs(score[r] - base[r]);
	double center = mean(scratch, n);
	for (size_t r = 0; r < n; r++)
		more += scratch[r] - center > difference;
	return (double)(more + 1) / (double)(n + 1);
}

static double whole(const struct n2d_bleu_config *c, const struct n2d_bleu_rows *r)
{
	struct n2d_bleu_counts all = {0};
	for (size_t i = 0; i < r->n; i++) {
		struct n2d_bleu_counts one = n2d_bleu_rows_get(r, i);
		n2d_bleu_add(&all, &one);
	}
	return n2d_bleu_score(c, &all).score;
}

int n2d_bleu_resample(const struct n2d_ctx *ctx, struct n2d_bleu_test *tests, const struct n2d_bleu_config *c,
		      const struct n2d_bleu_rows *systems, size_t n, size_t resamples, uint64_t seed)
{
	for (size_t s = 0; s < n; s++)
		if (systems[s].n != systems->n || !systems->n || systems->n > UINT32_MAX)
			return n2d_error("resampling: system %zu has %zu sentences, system 1 %zu: expected as many, from 1 to %u", s + 1,
					 systems[s].n, systems->n, UINT32_MAX);
	size_t bytes = n2d_mul(n2d_mul(n2d_add(n, 1), resamples), sizeof(double));
	double *score = bytes == N2D_TOO_LARGE ? NULL : malloc(bytes), *scratch = score ? score + n * resamples : NULL;
	if (!score)
		return n2d_error("resampling: no memory for %zu resamples of %zu systems", resamples, n);
	struct job j = {c, systems, n, resamples, seed, score};
	n2d_parallel(ctx, resamples, draw, &j);
	for (size_t s = 0; s < n; s++) {
		double *own = score + s * resamples;
		tests[s].score = whole(c, &systems[s]);
		tests[s].p = s ? p_value(own, score, fabs(tests[s].score - tests->score), scratch, resamples) : 1;
	}
	for (size_t s = 0; s < n; s++) { /* sorted only when no pair is needed any more */
		double *own = score + s * resamples;
		tests[s].mean = mean(own, resamples);
		qsort(own, resamples, sizeof *own, by_size);
		tests[s].interval = (own[resamples - resamples / 40 - 1] - own[resamples / 40]) / 2;
	}
	free(score);
	return 0;
}
