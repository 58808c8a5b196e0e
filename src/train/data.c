#include "train/data.h"

#include <string.h>

#include "base/error.h"

enum { TASK_VALID_LINES = 1000 };

/* ---- the vocabulary */

static int vocabulary(struct n2d_vocab *v, const struct n2d_data_options *o, const struct n2d_task_config *task)
{
	if (o->vocab)
		return n2d_vocab_load(v, o->vocab);
	if (task)
		return n2d_vocab_of_task(v, task);
	if (n2d_vocab_init(v, o->ids))
		return -1;
	if (!n2d_vocab_count_file(v, o->src) && !n2d_vocab_count_file(v, o->trg) && !n2d_vocab_order(v, 1, 0))
		return 0;
	n2d_vocab_free(v);
	return -1;
}

/* ---- pairs and batches */

static int fill(struct n2d_corpus *c, const char *src, const char *trg, const struct n2d_task_config *task, size_t lines)
{
	const char *const path[N2D_SIDES] = {src, trg};
	return task ? n2d_corpus_task(c, task, lines) : n2d_corpus_read(c, path);
}

static int pairs(struct n2d_corpus *c, struct n2d_batches *b, const struct n2d_data *d, const struct n2d_data_options *o,
		 const char *src, const char *trg, const struct n2d_task_config *task, size_t lines)
{
	struct n2d_coder coder = {.vocab = &d->vocab};
	if (n2d_corpus_init(c, &coder, &coder, o->max_length))
		return -1;
	if (fill(c, src, trg, task, lines) || n2d_batches_init(b, c, o->batch_tokens, o->seed)) {
		n2d_corpus_free(c);
		return -1;
	}
	return 0;
}

static int open_all(struct n2d_data *d, const struct n2d_data_options *o, struct n2d_task_config *task)
{
	if (pairs(&d->train_pairs, &d->train, d, o, o->src, o->trg, task, o->lines))
		return -1;
	d->has_valid = task || o->valid_src;
	if (task) {
		task->split = N2D_SPLIT_VALID;
		task->seed = 1; /* the same whatever the training's */
	}
	if (!d->has_valid || !pairs(&d->valid_pairs, &d->valid, d, o, o->valid_src, o->valid_trg, task, TASK_VALID_LINES))
		return 0;
	n2d_batches_free(&d->train);
	n2d_corpus_free(&d->train_pairs);
	return -1;
}

int n2d_data_open(struct n2d_data *d, const struct n2d_data_options *o, const char *known)
{
	struct n2d_task_config task;
	int kind = o->task ? n2d_task_find(o->task) : 0;
	memset(d, 0, sizeof *d);
	if (kind < 0)
		return -1;
	if (o->task) {
		task = n2d_task_defaults((enum n2d_task_kind)kind);
		task.seed = o->seed;
		task.ids = o->ids;
	}
	if (known ? n2d_vocab_parse(&d->vocab, "the vocabulary of the model", known) : vocabulary(&d->vocab, o, o->task ? &task : NULL))
		return -1;
	if (!open_all(d, o, o->task ? &task : NULL))
		return 0;
	n2d_vocab_free(&d->vocab);
	return -1;
}

void n2d_data_close(struct n2d_data *d)
{
	if (d->has_valid) {
		n2d_batches_free(&d->valid);
		n2d_corpus_free(&d->valid_pairs);
	}
	n2d_batches_free(&d->train);
	n2d_corpus_free(&d->train_pairs);
	n2d_vocab_free(&d->vocab);
	memset(d, 0, sizeof *d);
}
