#include "config.h"

#include "cli/train_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "text/utf8.h"

enum { TASK_LINES = 20000 };

/* ---- resuming */

static int open_checkpoint(struct n2d_session *s)
{
	char path[N2D_CHECKPOINT_PATH];
	uint64_t *steps;
	size_t n;
	if (n2d_checkpoint_list(&steps, &n, s->a->dir, 1))
		return -1;
	if (!n) {
		free(steps);
		return n2d_error("%s: no checkpoint to go on from (step-*.safetensors with its state)", s->a->dir);
	}
	int bad = n2d_checkpoint_path(path, s->a->dir, steps[n - 1], 0) || n2d_safetensors_open(&s->old_model, path) ||
		  n2d_checkpoint_path(path, s->a->dir, steps[n - 1], 1) || n2d_safetensors_open(&s->old_state, path) ||
		  n2d_checkpoint_together(&s->old_model, &s->old_state) || n2d_checkpoint_named(&s->old_state, steps[n - 1]);
	if (bad && n > 1)
		n2d_error("%s (without that file --resume goes on from step %llu)", n2d_error_text(), (unsigned long long)steps[n - 2]);
	free(steps);
	return bad ? -1 : 0;
}

/* The settings of the data, as the state keeps them: training pairs, validation pairs, a task. */
static const char *const data_keys[] = {"src", "trg", "valid-src", "valid-trg", "task"};
enum { DATA_KEYS = sizeof data_keys / sizeof *data_keys };

_Static_assert(DATA_KEYS + 2 == N2D_SESSION_STATE_KEYS, "the state's metadata are these, lines and ids");

static const char **data_field(struct n2d_data_options *d, size_t i)
{
	const char **fields[DATA_KEYS] = {&d->src, &d->trg, &d->valid_src, &d->valid_trg, &d->task};
	return fields[i];
}

/* What was given counts, the rest is the state's. A task has pairs of its own, so files take its place, and it theirs. */
static int load_data_settings(struct n2d_session *s)
{
	const struct n2d_safetensors *f = &s->old_state;
	struct n2d_data_options *d = &s->source;
	int files = d->src != NULL, task = d->task != NULL;
	if (!files && !task && d->valid_src && n2d_safetensors_text(f, "task"))
		return n2d_error("%s: the task %s has its own validation pairs: --valid-src cannot be given", f->path, n2d_safetensors_text(f, "task"));
	for (size_t i = 0; i < DATA_KEYS; i++)
		if (!*data_field(d, i) && !task && !(files && strcmp(data_keys[i], "task") == 0))
			*data_field(d, i) = n2d_safetensors_text(f, data_keys[i]);
	const char *ids = n2d_safetensors_text(f, "ids"), *lines = n2d_safetensors_text(f, "lines");
	d->ids |= ids && strcmp(ids, "yes") == 0;
	if (!d->lines && lines)
		d->lines = (size_t)strtoull(lines, NULL, 10);
	if (!d->task && (!d->src || !d->trg))
		return n2d_error("%s: names neither 'task' nor 'src' and 'trg' in its metadata: --src and --trg, or --task, must be given", f->path);
	return !d->valid_src == !d->valid_trg ? 0 : n2d_error("%s: of 'valid-src' and 'valid-trg' its metadata names one alone", f->path);
}

static int load_settings(struct n2d_session *s)
{
	for (size_t i = 0; i < n2d_train_options.count; i++) {
		const char *value = n2d_safetensors_text(&s->old_state, n2d_train_options.list[i].name);
		if (value && n2d_option_set(&s->options, &n2d_train_options.list[i], value))
			return n2d_error("%s: metadata: %s", s->old_state.path, n2d_error_text());
	}
	return load_data_settings(s);
}

/* ---- settings */

int n2d_session_settle(struct n2d_session *s)
{
	struct n2d_train_args *a = s->a;
	s->options = n2d_train_defaults();
	s->source = a->data;
	if (a->resume ? open_checkpoint(s) || load_settings(s) : a->init && n2d_safetensors_open(&s->old_model, a->init))
		return n2d_usage("train", "%s", n2d_error_text());
	if (n2d_given_apply(&a->train, &s->options))
		return n2d_usage("train", "%s", n2d_error_text());
	if (!s->source.lines)
		s->source.lines = TASK_LINES;
	if (s->options.patience && !s->source.task && !s->source.valid_src)
		return n2d_usage("train", "--patience counts validations: --valid-src and --valid-trg must be given");
	for (size_t i = 0; a->resume && i < n2d_options.count; i++)
		if (a->model.preset || a->model.given.value[i])
			return n2d_usage("train", "--resume goes on with the model in %s: model options cannot be given", a->dir);
	if (a->resume ? n2d_model_config(&s->config, &s->old_model) : n2d_model_args_set(&s->config, &a->model))
		return n2d_usage("train", "%s", n2d_error_text());
	s->source.max_length = s->options.max_length;
	s->source.batch_tokens = s->options.batch_tokens;
	s->source.seed = s->options.seed;
	if (s->config.positions == N2D_POSITIONS_LEARNED)
		s->source.positions = s->config.max_length;
	if (n2d_ctx_init(&s->ctx, a->isa, (int)a->threads))
		return n2d_usage("train", "%s", n2d_error_text());
	s->has_ctx = 1;
	return 0;
}

/* ---- data and model */

/* Row i of an embedding must be of the word that the data call i. */
static int same_words(const struct n2d_safetensors *f, const char *key, const struct n2d_vocab *given, const char *option)
{
	const char *text = n2d_safetensors_text(f, key), *x = "", *y = "";
	struct n2d_vocab v;
	if (!text)
		return 0;
	if (n2d_vocab_parse(&v, f->path, text))
		return -1;
	int32_t i = 0, n = (int32_t)(v.size < given->size ? v.size : given->size);
	for (; i < n; i++)
		if (strcmp(x = n2d_vocab_token(&v, i, NULL), y = n2d_vocab_token(given, i, NULL)) != 0)
			break;
	int bad = i < n ? n2d_error("%s: its word %d is '%s', and '%s' in %s", f->path, (int)i, x, y, option) : 0;
	n2d_vocab_free(&v);
	return bad;
}

static int load_weights(struct n2d_session *s)
{
	if (!s->a->resume && !s->a->init) {
		n2d_parameters_init(&s->model.p, s->model.w, s->options.seed);
		return 0;
	}
	const struct n2d_safetensors *f = &s->old_model;
	if (n2d_model_load(s->model.w, &s->model.p, f) || same_words(f, N2D_VOCABULARY, &s->data.vocab, "--vocab"))
		return -1;
	return s->data.separate ? same_words(f, N2D_SOURCE_VOCABULARY, &s->data.src_vocab, "--src-vocab") : 0;
}

static int open_data(struct n2d_session *s)
{
	const struct n2d_safetensors *old = s->a->resume || s->a->init ? &s->old_model : NULL;
	const struct n2d_data_known known = {
		old && !s->source.vocab ? n2d_safetensors_text(old, N2D_VOCABULARY) : NULL,
		old && !s->source.src_vocab ? n2d_safetensors_text(old, N2D_SOURCE_VOCABULARY) : NULL,
		old && !s->source.bpe ? n2d_safetensors_text(old, N2D_BPE_CODES) : NULL,
	};
	if (n2d_data_open(&s->data, &s->source, &known))
		return -1;
	s->has_data = 1;
	s->vocabulary = n2d_vocab_text(&s->data.vocab);
	s->src_vocabulary = s->data.separate ? n2d_vocab_text(&s->data.src_vocab) : NULL;
	if (!s->vocabulary || (s->data.separate && !s->src_vocabulary))
		return -1;
	size_t words = s->data.vocab.size, src_words = s->data.separate ? s->data.src_vocab.size : 0;
	if (s->a->resume && (s->config.vocab != words || s->config.src_vocab != src_words))
		return n2d_error("%s: the model has %zu words, its vocabulary %zu (of the source's own %zu and %zu)", s->old_model.path, s->config.vocab, words,
				 s->config.src_vocab, src_words);
	s->config.vocab = words;
	s->config.src_vocab = src_words;
	return 0;
}

static int open_model(struct n2d_session *s)
{
	if (n2d_config_check(&s->config))
		return n2d_error_dashed();
	if (n2d_transformer_init(&s->model, &s->ctx, &s->config))
		return -1;
	s->has_model = 1;
	return load_weights(s);
}

/* A fresh training would mix its files with an older one's. */
static int refuse_used_dir(const struct n2d_session *s)
{
	uint64_t *steps;
	size_t n;
	if (s->a->resume || n2d_file_missing(s->a->dir))
		return 0;
	if (n2d_checkpoint_list(&steps, &n, s->a->dir, 0))
		return -1;
	free(steps);
	return n ? n2d_error("%s: there are checkpoints already; --resume goes on from them, another -o starts anew", s->a->dir) : 0;
}

/* Only from now on nobody else can put checkpoints there. */
static int take_dir(struct n2d_session *s)
{
	if (n2d_dir_make(s->a->dir) || (s->dir_lock = n2d_dir_lock(s->a->dir)) < 0)
		return -1;
	s->has_dir = 1;
	return refuse_used_dir(s);
}

/* A checkpoint's metadata name the training's files. */
static int check_paths(struct n2d_session *s)
{
	for (size_t i = 0; i < DATA_KEYS; i++) {
		const char *path = *data_field(&s->source, i);
		if (path && n2d_utf8_valid(path, strlen(path)) != strlen(path))
			return n2d_error("--%s %s: a path that is not UTF-8, which no checkpoint can name", data_keys[i], path);
	}
	return 0;
}

/* ---- what the files say beside weights and moments */

static int describe(struct n2d_session *s)
{
	s->metadata[s->keys++] = (struct n2d_metadata){N2D_VOCABULARY, s->vocabulary};
	if (s->src_vocabulary)
		s->metadata[s->keys++] = (struct n2d_metadata){N2D_SOURCE_VOCABULARY, s->src_vocabulary};
	if (s->data.pieces.codes)
		s->metadata[s->keys++] = (struct n2d_metadata){N2D_BPE_CODES, s->data.pieces.codes};
	for (size_t i = 0; i < DATA_KEYS; i++)
		if (*data_field(&s->source, i))
			s->state[s->state_keys++] = (struct n2d_metadata){data_keys[i], *data_field(&s->source, i)};
	snprintf(s->lines, sizeof s->lines, "%zu", s->source.lines);
	s->state[s->state_keys++] = (struct n2d_metadata){"lines", s->lines};
	s->state[s->state_keys++] = (struct n2d_metadata){"ids", s->source.ids ? "yes" : "no"};
	if (!n2d_model_check(s->a->dir, &s->config, &s->model.p, s->metadata, s->keys))
		return 0;
	return n2d_error("%s (vocabulary and codes are part of a checkpoint's)", n2d_error_text());
}

int n2d_session_open(struct n2d_session *s)
{
	struct n2d_step_options so;
	if (n2d_train_step_options(&so, &s->options, s->config.d_model) || refuse_used_dir(s) || check_paths(s) || open_data(s) || open_model(s) ||
	    describe(s) || take_dir(s))
		return -1;
	return 0;
}

void n2d_session_close(struct n2d_session *s)
{
	if (s->has_training)
		n2d_train_free(&s->training);
	if (s->has_model)
		n2d_transformer_free(&s->model);
	if (s->has_data)
		n2d_data_close(&s->data);
	if (s->has_ctx)
		n2d_ctx_free(&s->ctx);
	if (s->has_dir)
		close(s->dir_lock);
	n2d_safetensors_close(&s->old_model);
	n2d_safetensors_close(&s->old_state);
	free(s->vocabulary);
	free(s->src_vocabulary);
}
