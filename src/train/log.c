#include "train/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/peak.h"
#include "text/lines.h"

static const char log_columns[] = "schema,step,epoch,loss,nll,perplexity,rate,norm,src_tokens,trg_tokens,seconds,tokens_per_second,gflops,"
				  "percent_of_peak";
static const char valid_columns[] = "schema,step,epoch,loss,nll,perplexity,accuracy,bleu,best,seconds";

/* Sums since the last row. */
struct window {
	struct n2d_loss_sum sum;
	double norm, rate, flops, seconds;
	size_t steps, src_tokens;
};

struct n2d_train_log {
	FILE *steps, *valid, *progress; /* each may be NULL */
	char path[2][N2D_CHECKPOINT_PATH];
	struct window w;
};

/* ---- the files */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* The step of a row; UINT64_MAX: it is none, but the columns' names or damage. */
static uint64_t row_step(const char *text)
{
	const char *comma = strchr(text, ',');
	char *end;
	if (!is_digit(*text) || !comma || !is_digit(comma[1]))
		return UINT64_MAX;
	uint64_t step = strtoull(comma + 1, &end, 10);
	return *end == ',' ? step : UINT64_MAX;
}

/* Copies the rows up to `step` of a file that may not be there. */
static int keep_rows(struct n2d_out *out, const char *path, const char *columns, uint64_t step)
{
	struct n2d_lines l = {0};
	n2d_out_printf(out, "%s\n", columns);
	if (n2d_file_missing(path))
		return 0;
	if (n2d_lines_open(&l, path))
		return -1;
	int more;
	while ((more = n2d_lines_next(&l)) > 0) {
		if (l.ended && row_step(l.text) <= step)
			n2d_out_printf(out, "%s\n", l.text);
	}
	n2d_lines_close(&l);
	return more;
}

static FILE *open_rows(const char *path, const char *columns, uint64_t step)
{
	struct n2d_out out;
	if (!n2d_file_again(path)) { /* a pipe would be waited for */
		n2d_error("%s: expected a file", path);
		return NULL;
	}
	if (n2d_out_open(&out, path))
		return NULL;
	if (step && keep_rows(&out, path, columns, step)) {
		n2d_out_cancel(&out);
		return NULL;
	}
	if (!step)
		n2d_out_printf(&out, "%s\n", columns);
	if (n2d_out_commit(&out))
		return NULL;
	FILE *f = fopen(path, "a");
	if (!f)
		n2d_error("%s: %s", path, strerror(errno));
	return f;
}

int n2d_train_log_open(struct n2d_train_log **log, const char *dir, FILE *progress, uint64_t step)
{
	struct n2d_train_log *l = *log = calloc(1, sizeof *l);
	if (!l)
		return n2d_error("no memory for the log");
	l->progress = progress;
	if (!dir)
		return 0;
	snprintf(l->path[0], sizeof l->path[0], "%s/log.csv", dir);
	snprintf(l->path[1], sizeof l->path[1], "%s/valid.csv", dir);
	l->steps = open_rows(l->path[0], log_columns, step);
	l->valid = l->steps ? open_rows(l->path[1], valid_columns, step) : NULL;
	if (l->valid)
		return 0;
	n2d_train_log_close(l);
	*log = NULL;
	return -1;
}

void n2d_train_log_close(struct n2d_train_log *l)
{
	if (!l)
		return;
	if (l->steps)
		fclose(l->steps);
	if (l->valid)
		fclose(l->valid);
	free(l);
}

/* A row is there when it is written: a killed process leaves whole rows. */
static int flush(FILE *f, const char *path)
{
	return !f || (!fflush(f) && !ferror(f)) ? 0 : n2d_error("%s: %s", path, strerror(errno));
}

/* ---- what is shown */

/* 3725 as "1:02:05". */
static const char *clock_text(char to[32], double seconds)
{
	if (!(seconds >= 0 && seconds < 3.6e7))
		return "?";
	unsigned long s = (unsigned long)(seconds + 0.5);
	if (s >= 3600)
		snprintf(to, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(to, 32, "%lu:%02lu", s / 60, s % 60);
	return to;
}

/* Steps of the whole training, as far as its options tell; 0: they do not. */
static double all_steps(const struct n2d_training *t)
{
	const struct n2d_train_options *o = t->options;
	double by_epochs = (double)o->max_epochs * (double)((t->train->count + o->accumulate - 1) / o->accumulate);
	double by_steps = (double)o->max_steps;
	return !by_epochs || (by_steps && by_steps < by_epochs) ? by_steps : by_epochs;
}

static void show(const struct n2d_train_log *l, const struct n2d_training *t)
{
	const struct window *w = &l->w;
	double tokens = (double)w->sum.tokens, n = (double)w->steps, left = all_steps(t) - (double)t->optimiser.step;
	double gflops = w->flops / w->seconds / 1e9, epoch = (double)t->at.epoch + (double)t->at.batch / (double)t->train->count;
	char clock[32];
	fprintf(l->progress,
		"step %-6" PRIu64 " epoch %-6.2f loss %-7.4f ppl %-8.2f lr %-9.3g norm %-7.3g %.0f+%.0f tokens/s  %.0f GFLOP/s (%.0f %%)  left %s\n",
		t->optimiser.step, epoch, w->sum.loss / tokens, exp(w->sum.nll / tokens), w->rate, w->norm / n,
		(double)w->src_tokens / w->seconds, tokens / w->seconds, gflops, 100e9 * gflops / t->peak,
		left >= 0 && all_steps(t) ? clock_text(clock, left * w->seconds / n) : "?");
	fflush(l->progress);
}

void n2d_train_log_step(struct n2d_train_log *l, const struct n2d_step_report *r, double flops, double seconds)
{
	struct window *w = &l->w;
	w->sum.loss += r->sum.loss;
	w->sum.nll += r->sum.nll;
	w->sum.tokens += r->sum.tokens;
	w->src_tokens += r->src_tokens;
	w->norm += r->norm;
	w->rate = r->rate;
	w->flops += flops;
	w->seconds += seconds;
	w->steps++;
}

int n2d_train_log_row(struct n2d_train_log *l, struct n2d_training *t)
{
	struct window *w = &l->w;
	if (!w->steps)
		return 0;
	if (w->flops > w->seconds * t->peak) /* faster than the peak: that was taken while other work had the processors */
		t->peak = fmax(t->peak, n2d_peak_flops(t->ctx));
	double tokens = (double)w->sum.tokens, n = (double)w->steps;
	if (l->progress)
		show(l, t);
	if (l->steps)
		fprintf(l->steps, "1,%" PRIu64 ",%" PRIu64 ",%.6g,%.6g,%.6g,%.6g,%.6g,%zu,%zu,%.6g,%.6g,%.6g,%.4g\n", t->optimiser.step,
			t->at.epoch + 1, w->sum.loss / tokens, w->sum.nll / tokens, exp(w->sum.nll / tokens), w->rate, w->norm / n,
			w->src_tokens, w->sum.tokens, t->at.seconds, ((double)w->src_tokens + tokens) / w->seconds,
			w->flops / w->seconds / 1e9, 100 * w->flops / w->seconds / t->peak);
	memset(w, 0, sizeof *w);
	return flush(l->steps, l->path[0]);
}

int n2d_train_log_validation(struct n2d_train_log *l, const struct n2d_training *t, const struct n2d_loss_sum *sum, double bleu, int best)
{
	double tokens = (double)sum->tokens, nll = sum->nll / tokens, right = 100 * (double)sum->right / tokens;
	char text[32] = "";
	if (bleu >= 0)
		snprintf(text, sizeof text, "%.2f", bleu);
	if (l->progress) {
		fprintf(l->progress, "step %-6" PRIu64 " validation   loss %-7.4f ppl %-8.2f accuracy %.1f %%%s%s%s\n", t->optimiser.step,
			sum->loss / tokens, exp(nll), right, *text ? "  bleu " : "", text, best ? "  (best so far)" : "");
		fflush(l->progress);
	}
	if (l->valid)
		fprintf(l->valid, "1,%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.6g,%.4f,%s,%d,%.6g\n", t->optimiser.step, t->at.epoch, sum->loss / tokens,
			nll, exp(nll), right, text, best, t->at.seconds);
	return flush(l->valid, l->path[1]);
}
