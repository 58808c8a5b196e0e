#include "train/train.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/peak.h"
#include "train/log.h"

int n2d_train_init(struct n2d_training *t)
{
	struct n2d_pass_need need = {0};
	n2d_pass_need_add(&need, t->ctx, t->model, t->train->shape, t->train->count, 1);
	if (t->valid) /* laid out as for training */
		n2d_pass_need_add(&need, t->ctx, t->model, t->valid->shape, t->valid->count, 1);
	if (n2d_optimiser_init(&t->optimiser, t->model))
		return -1;
	if (n2d_pass_init(&t->pass, t->model, &need, 1)) {
		n2d_optimiser_free(&t->optimiser);
		return -1;
	}
	n2d_arena_touch(&t->optimiser.memory);
	n2d_arena_touch(&t->pass.memory);
	n2d_transformer_pack(t->ctx, t->model);
	t->peak = n2d_peak_flops(t->ctx);
	return 0;
}

void n2d_train_free(struct n2d_training *t)
{
	n2d_train_log_close(t->log);
	n2d_pass_free(&t->pass);
	n2d_optimiser_free(&t->optimiser);
	t->log = NULL;
}

int n2d_train_validate(struct n2d_training *t, struct n2d_batches *data, struct n2d_loss_sum *sum)
{
	memset(sum, 0, sizeof *sum);
	for (size_t i = 0; i < data->count; i++) {
		struct n2d_batch b;
		n2d_batches_get(data, &b, N2D_EPOCH_SORTED, i);
		if (n2d_pass_shape(&t->pass, t->ctx, t->model, b.B, b.S, b.T))
			return -1;
		n2d_transformer_forward(t->ctx, t->model, &t->pass, &b, NULL);
		n2d_transformer_loss(t->ctx, t->model, &t->pass, &b, sum, t->model->c.smoothing, 0, NULL, 0);
	}
	return 0;
}

/* ---- one step: `accumulate` batches, fewer at the end of an epoch */

static int is_last(const struct n2d_training *t, size_t i) { return i + 1 == t->options->accumulate || t->at.batch + 1 == t->train->count; }

static int step(struct n2d_training *t, const struct n2d_step_options *so, struct n2d_step_report *r, double *flops)
{
	*flops = 0;
	*r = (struct n2d_step_report){0};
	for (size_t i = 0; i < t->options->accumulate && t->at.batch < t->train->count; i++, t->at.batch++) {
		struct n2d_batch b;
		n2d_batches_get(t->train, &b, t->at.epoch + 1, t->at.batch);
		if (n2d_step_batch(t->ctx, t->model, &t->optimiser, &t->pass, so, &b, is_last(t, i), r))
			return -1;
		*flops += n2d_transformer_flops(t->model, b.B, b.S, b.T, 1);
	}
	if (n2d_step_end(t->ctx, t->model, &t->optimiser, so, r))
		return -1;
	t->at.src_tokens += r->src_tokens;
	t->at.trg_tokens += r->sum.tokens;
	return 0;
}

/* ---- validation, checkpoints */

static int validate(struct n2d_training *t)
{
	struct n2d_loss_sum sum;
	if (!t->valid)
		return 0;
	if (n2d_train_validate(t, t->valid, &sum))
		return -1;
	double loss = sum.loss / (double)sum.tokens;
	if (!isfinite(loss))
		return n2d_error("step %llu: the validation loss is %g", (unsigned long long)t->optimiser.step, loss);
	t->validated = t->optimiser.step;
	int best = !t->at.best_step || loss < t->at.best;
	t->at.stale = best ? 0 : t->at.stale + 1;
	if (best) {
		t->at.best = loss;
		t->at.best_step = t->optimiser.step;
	}
	double bleu = t->bleu ? t->bleu(t->bleu_arg) : -1;
	return t->bleu && bleu < 0 ? -1 : n2d_train_log_validation(t->log, t, &sum, bleu, best);
}

/* The training's own settings as metadata of the state. */
static size_t describe(const struct n2d_train_options *o, struct n2d_metadata *m, char (*text)[N2D_OPTION_TEXT])
{
	for (size_t i = 0; i < n2d_train_options.count; i++) {
		const struct n2d_option *option = &n2d_train_options.list[i];
		m[i] = (struct n2d_metadata){option->name, n2d_option_get(o, option, text[i])};
	}
	return n2d_train_options.count;
}

enum { OPTIONS_MOST = 64 };

/* Checkpoints before this one may go when it is there: so it must be one that can go on. The batch is the next step's, to the dropout. */
static int try(struct n2d_training *t, const struct n2d_step_options *so)
{
	struct n2d_batch b;
	n2d_batches_get(t->train, &b, t->at.epoch + 1, t->at.batch);
	return n2d_step_try(t->ctx, t->model, &t->optimiser, &t->pass, so, &b);
}

static int save(struct n2d_training *t, const struct n2d_step_options *so)
{
	struct n2d_metadata m[OPTIONS_MOST];
	char text[OPTIONS_MOST][N2D_OPTION_TEXT];
	if (!t->dir)
		return 0;
	if (try(t, so))
		return -1;
	size_t n = describe(t->options, m, text);
	for (size_t i = 0; i < t->state_keys && n < OPTIONS_MOST; i++)
		m[n++] = t->state[i];
	if (n2d_checkpoint_save(t->dir, t->model, &t->optimiser, &t->at, t->metadata, t->keys, m, n))
		return -1;
	return n2d_checkpoint_prune(t->dir, t->optimiser.step, t->options->keep, t->at.best_step);
}

/* ---- the loop */

static int due(uint64_t step, size_t every, int epoch_ended) { return every ? step % every == 0 : epoch_ended; }

const char *n2d_train_finished(const struct n2d_training *t)
{
	const struct n2d_train_options *o = t->options;
	if (o->max_steps && t->optimiser.step >= o->max_steps)
		return "--max-steps";
	if (o->max_epochs && t->at.epoch >= o->max_epochs)
		return "--max-epochs";
	return o->patience && t->at.stale >= o->patience ? "--patience" : NULL;
}

/* A step and what is due after it. *saved: the checkpoint is of this step. */
static int advance(struct n2d_training *t, const struct n2d_step_options *so, int *saved)
{
	struct n2d_step_report r;
	double flops, start = n2d_now();
	if (t->profile)
		n2d_profile_start(t->profile);
	int bad = step(t, so, &r, &flops);
	if (t->profile)
		n2d_profile_stop(t->profile);
	if (bad)
		return -1;
	double seconds = n2d_now() - start;
	int epoch_ended = t->at.batch == t->train->count;
	t->at.seconds += seconds;
	if (epoch_ended) {
		t->at.epoch++;
		t->at.batch = 0;
	}
	uint64_t n = t->optimiser.step;
	n2d_train_log_step(t->log, &r, flops, seconds);
	if ((n % t->options->log_every == 0 || n2d_train_finished(t)) && n2d_train_log_row(t->log, t))
		return -1;
	if (due(n, t->options->valid_every, epoch_ended) && validate(t))
		return -1;
	*saved = due(n, t->options->save_every, epoch_ended) || t->at.best_step == n;
	return *saved ? save(t, so) : 0;
}

enum n2d_train_end n2d_train_run(struct n2d_training *t)
{
	struct n2d_step_options so;
	int saved = 1;
	if (t->at.batch >= t->train->count) { /* goes on with fewer batches an epoch: this one has none left */
		t->at.epoch++;
		t->at.batch = 0;
	}
	if (n2d_train_step_options(&so, t->options, t->model->c.d_model))
		return N2D_TRAIN_FAILED;
	if (n2d_train_log_open(&t->log, t->dir, t->progress, t->optimiser.step))
		return N2D_TRAIN_FAILED;
	while (!n2d_train_finished(t) && !(t->stop && t->stop()))
		if (advance(t, &so, &saved))
			return N2D_TRAIN_FAILED;
	if ((!saved && save(t, &so)) || n2d_train_log_row(t->log, t)) /* patience ends it after the last row */
		return N2D_TRAIN_FAILED;
	return n2d_train_finished(t) ? N2D_TRAIN_FINISHED : N2D_TRAIN_STOPPED;
}
