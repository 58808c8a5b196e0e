#include "train/data.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "text/lines.h"

enum { TASK_VALID_LINES = 1000 };

/* ---- the vocabulary */

/* Counts the words of a file, or their pieces. */
static int count(struct n2d_data *d, const char *path)
{
	struct n2d_lines l;
	int more;
	if (!d->pieces.codes)
		return n2d_vocab_count_file(&d->vocab, path);
	if (n2d_lines_open(&l, path))
		return -1;
	while ((more = n2d_lines_next(&l)) > 0) {
		const char *text = l.text;
		size_t bytes = l.length;
		if (n2d_lines_utf8(&l) || n2d_pieces_edit(&d->pieces, &text, &bytes) ||
		    (n2d_vocab_count(&d->vocab, text, bytes) && n2d_lines_error(&l, "%s", n2d_error_text()))) {
			more = -1;
			break;
		}
	}
	n2d_lines_close(&l);
	return more;
}

/* A text without a vocabulary is read for it first, and then for its pairs. */
static int twice(const char *path)
{
	return n2d_file_again(path)
		       ? 0
		       : n2d_error("%s: cannot be read twice, for its words and for its pairs: a vocabulary must be given (--vocab)", path);
}

/* One that is there already: the text of a model, called `name`, or a file. */
static int given(struct n2d_vocab *v, const char *name, const char *known, const char *path, int ids)
{
	if (known ? n2d_vocab_parse(v, name, known) : n2d_vocab_load(v, path))
		return -1;
	return ids ? n2d_vocab_take_as_ids(v, known ? name : path) : 0;
}

static int vocabulary(struct n2d_data *d, const struct n2d_data_options *o, const struct n2d_task_config *task, const char *known)
{
	if (known || o->vocab)
		return given(&d->vocab, "the vocabulary of the model", known, o->vocab, o->ids);
	if (task)
		return n2d_vocab_of_task(&d->vocab, task);
	if ((!d->separate && twice(o->src)) || twice(o->trg) || n2d_vocab_init(&d->vocab, o->ids))
		return -1;
	if ((d->separate || !count(d, o->src)) && !count(d, o->trg) && (o->ids || !n2d_vocab_order(&d->vocab, 1, 0)))
		return 0;
	n2d_vocab_free(&d->vocab);
	return -1;
}

static int source_vocabulary(struct n2d_data *d, const struct n2d_data_options *o, const char *known)
{
	d->separate = known || o->src_vocab;
	return d->separate ? given(&d->src_vocab, "the source's vocabulary of the model", known, o->src_vocab, o->ids) : 0;
}

/* Codes, then the vocabularies, which may be of pieces. */
static int text(struct n2d_data *d, const struct n2d_data_options *o, const struct n2d_task_config *task, const struct n2d_data_known *known)
{
	if (known->codes ? n2d_pieces_parse(&d->pieces, "the codes of the model", known->codes) : o->bpe ? n2d_pieces_load(&d->pieces, o->bpe) : 0)
		return -1;
	return source_vocabulary(d, o, known->src_vocab) || vocabulary(d, o, task, known->vocab) ? -1 : 0;
}

/* ---- pairs and batches */

static int fill(struct n2d_corpus *c, const char *src, const char *trg, const struct n2d_task_config *task, size_t lines)
{
	const char *const path[N2D_SIDES] = {src, trg};
	return task ? n2d_corpus_task(c, task, lines) : n2d_corpus_read(c, path);
}

/* A batch and a learned table of positions end: told now, by the line, and not hours later by the first validation. */
static int check_lengths(const struct n2d_corpus *c, const struct n2d_data_options *o, const char *const name[N2D_SIDES])
{
	if (n2d_corpus_check(c, name, o->batch_tokens - 1, "--batch-tokens less the end; --max-tokens leaves longer ones out"))
		return -1;
	return o->positions ? n2d_corpus_check(c, name, o->positions - 1,
					       "learned positions, --max-length, less the end; --max-tokens leaves longer ones out")
			    : 0;
}

static int pairs(struct n2d_corpus *c, struct n2d_batches *b, struct n2d_data *d, const struct n2d_data_options *o,
		 const char *src, const char *trg, const struct n2d_task_config *task, size_t lines)
{
	struct n2d_coder target = {&d->vocab, d->pieces.codes ? n2d_pieces_edit : NULL, &d->pieces}, source = target;
	if (d->separate)
		source.vocab = &d->src_vocab;
	if (n2d_corpus_init(c, &source, &target, o->max_length))
		return -1;
	c->keeps = c == &d->valid_pairs; /* BLEU's references */
	const char *const name[N2D_SIDES] = {task ? o->task : src, task ? o->task : trg};
	if (fill(c, src, trg, task, lines) || check_lengths(c, o, name) || n2d_batches_init(b, c, o->batch_tokens, 0, o->seed)) {
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

static void free_text(struct n2d_data *d)
{
	n2d_vocab_free(&d->vocab);
	n2d_vocab_free(&d->src_vocab);
	n2d_pieces_free(&d->pieces);
}

int n2d_data_open(struct n2d_data *d, const struct n2d_data_options *o, const struct n2d_data_known *known)
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
	if (!text(d, o, o->task ? &task : NULL, known) && !open_all(d, o, o->task ? &task : NULL))
		return 0;
	free_text(d);
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
	free_text(d);
	memset(d, 0, sizeof *d);
}
