/* n2d train: a model from parallel text. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/peak.h"
#include "cli/cli.h"
#include "cli/model_options.h"
#include "decode/valid_bleu.h"
#include "text/utf8.h"
#include "train/data.h"
#include "train/profile.h"
#include "train/train.h"

enum { TRAIN_OPTION = 2000, TASK_LINES = 20000 };

struct args {
	struct n2d_model_args model;
	struct n2d_given train;
	struct n2d_data_options data;
	const char *dir, *init, *isa;
	long threads;
	int resume, quiet, profile;
};

static void help(void)
{
	struct n2d_train_options defaults = n2d_train_defaults();
	printf("usage: n2d train --src FILE --trg FILE -o DIR [options]\n"
	       "       n2d train --task NAME -o DIR [options]\n"
	       "       n2d train --resume -o DIR [options]\n\n"
	       "Trains an encoder-decoder. DIR receives checkpoints, log.csv and valid.csv. Ctrl-C ends after the step, saves, and says how to\n"
	       "go on; going on gives the bits that an uninterrupted training gives.\n\n"
	       "  --src FILE, --trg FILE   training pairs: line i of one and of the other; words divided by spaces; plain or gzip\n"
	       "  --valid-src FILE, --valid-trg FILE   validation pairs\n"
	       "  --vocab FILE             vocabulary (n2d vocab); otherwise the words of the training pairs\n"
	       "  --src-vocab FILE         a vocabulary of the source's own (with --tied output or none); --vocab is then the target's\n"
	       "  --bpe FILE               byte-pair codes (n2d bpe learn): lines go through them first; the model keeps them\n"
	       "  --ids                    words are integers from 0 on\n"
	       "  --task NAME              copy, reverse, sort or numbers (n2d make-data) in place of files\n"
	       "  --lines N                pairs of a task's epoch (20000)\n"
	       "  -o, --output DIR         where to write\n"
	       "  --resume                 go on from the newest checkpoint in DIR, with its settings; others given count\n"
	       "  --init FILE              start from the weights of a model, with its vocabulary and codes where none are given\n"
	       "  --threads N              (all processors)\n"
	       "  --isa NAME               instruction set (the best)\n"
	       "  --profile                at the end, a table of where the time went, by operator\n"
	       "  -q, --quiet              no progress\n\n"
	       "training (default)\n");
	n2d_table_help(&n2d_train_options, &defaults, NULL, NULL);
	printf("\nmodel (default)\n");
	n2d_model_help("vocab");
}

static int option(struct args *a, int c, char **argv)
{
	switch (c) {
	case 's': a->data.src = optarg; return 0;
	case 't': a->data.trg = optarg; return 0;
	case 'S': a->data.valid_src = optarg; return 0;
	case 'T': a->data.valid_trg = optarg; return 0;
	case 'v': a->data.vocab = optarg; return 0;
	case 'V': a->data.src_vocab = optarg; return 0;
	case 'i': a->data.ids = 1; return 0;
	case 'B': a->data.bpe = optarg; return 0;
	case 'k': a->data.task = optarg; return 0;
	case 'o': a->dir = optarg; return 0;
	case 'r': a->resume = 1; return 0;
	case 'I': a->init = optarg; return 0;
	case 'x': a->isa = optarg; return 0;
	case 'q': a->quiet = 1; return 0;
	case 'P': a->profile = 1; return 0;
	case 'n': {
		long n = n2d_number("train", "--lines", optarg, 1, 1000000000);
		a->data.lines = (size_t)n;
		return n < 0 ? N2D_EXIT_USAGE : 0;
	}
	case 'p': a->threads = n2d_number("train", "--threads", optarg, 1, N2D_THREADS_MOST); return a->threads < 0 ? N2D_EXIT_USAGE : 0;
	default:
		if (n2d_given_keep(&a->train, c, optarg) || n2d_model_option(&a->model, c, optarg))
			return 0;
		return n2d_bad_option(argv, c);
	}
}

/* 0, or an exit code; -1: help was asked for. */
static int parse(struct args *a, int argc, char **argv)
{
	static const struct option own[] = {
		{"src", 1, 0, 's'}, {"trg", 1, 0, 't'}, {"valid-src", 1, 0, 'S'}, {"valid-trg", 1, 0, 'T'}, {"vocab", 1, 0, 'v'}, {"src-vocab", 1, 0, 'V'},
		{"ids", 0, 0, 'i'}, {"bpe", 1, 0, 'B'}, {"task", 1, 0, 'k'}, {"lines", 1, 0, 'n'}, {"output", 1, 0, 'o'}, {"resume", 0, 0, 'r'},
		{"init", 1, 0, 'I'}, {"threads", 1, 0, 'p'}, {"isa", 1, 0, 'x'}, {"quiet", 0, 0, 'q'}, {"profile", 0, 0, 'P'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct option longs[2 * N2D_TABLE_OPTIONS_MAX];
	int code = 0;
	*a = (struct args){.train = {.table = &n2d_train_options, .first = TRAIN_OPTION}};
	n2d_model_args_init(&a->model);
	n2d_given_longs(n2d_model_longs(longs, own, &a->model), &a->train);
	opterr = 0;
	for (int c; !code && (c = getopt_long(argc, argv, ":ho:q", longs, NULL)) != -1;) {
		if (c == 'h') {
			help();
			return -1;
		}
		code = option(a, c, argv);
	}
	if (!code && optind < argc)
		return n2d_usage("train", "unexpected argument '%s'; see n2d train --help", argv[optind]);
	return code;
}

static int check(const struct args *a)
{
	const struct n2d_data_options *d = &a->data;
	if (!a->dir)
		return n2d_usage("train", "-o DIR must be given: where checkpoints go");
	if (!d->src != !d->trg || (!d->task && !d->src && !a->resume))
		return n2d_usage("train", "--src and --trg, or --task, must be given; see n2d train --help");
	if (d->task && (d->src || d->trg || d->valid_src || d->valid_trg || d->vocab || d->src_vocab || d->bpe))
		return n2d_usage("train", "--task %s has its own text and vocabulary: no files beside it", d->task);
	if (!d->valid_src != !d->valid_trg)
		return n2d_usage("train", "--valid-src and --valid-trg go together");
	if (a->resume && a->init)
		return n2d_usage("train", "--init and --resume: one of them says where to start");
	if (a->resume && (d->vocab || d->src_vocab || d->bpe))
		return n2d_usage("train", "--resume goes on with the %s of the model in %s: --%s cannot be given", d->bpe ? "codes" : "vocabulary", a->dir,
				 d->bpe ? "bpe" : d->vocab ? "vocab" : "src-vocab");
	return 0;
}

static volatile sig_atomic_t caught;

static int stop(void) { return caught; }

/* The first time the step is finished; a second time ends at once. */
static void on_signal(int sig)
{
	caught = sig;
	signal(sig, SIG_DFL);
}

/* ---- a training being put together; what is zero is not there yet */

struct session {
	struct args *a;
	struct n2d_train_options options;
	struct n2d_config config;
	struct n2d_data_options source; /* a->data, and on resuming what the state says where nothing was given */
	struct n2d_ctx ctx;
	struct n2d_safetensors old_model, old_state;
	struct n2d_data data;
	struct n2d_transformer model;
	struct n2d_training training;
	struct n2d_profile profile;
	struct n2d_valid_bleu bleu;
	char *vocabulary, *src_vocabulary;
	int has_ctx, has_data, has_model, has_training, has_dir, dir_lock;
};

static void close_all(struct session *s)
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

/* Files and settings that cannot be used: bad input. */
static int bad_input(void) { return n2d_usage("train", "%s", n2d_error_text()); }

static int failed(void)
{
	fprintf(stderr, "n2d train: %s\n", n2d_error_text());
	return N2D_EXIT_FAILED;
}

/* ---- resuming */

static int open_checkpoint(struct session *s)
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
		  n2d_checkpoint_path(path, s->a->dir, steps[n - 1], 1) || n2d_safetensors_open(&s->old_state, path);
	if (bad && n > 1) {
		snprintf(path, sizeof path, "%s", n2d_error_text());
		n2d_error("%s (without that file --resume goes on from step %llu)", path, (unsigned long long)steps[n - 2]);
	}
	free(steps);
	return bad ? -1 : 0;
}

/* The settings of the data, as the state keeps them: training pairs, validation pairs, a task. */
static const char *const data_keys[] = {"src", "trg", "valid-src", "valid-trg", "task"};
enum { DATA_KEYS = sizeof data_keys / sizeof *data_keys, DATA_METADATA = DATA_KEYS + 2, MODEL_METADATA = 3 };

static const char **data_field(struct n2d_data_options *d, size_t i)
{
	const char **fields[DATA_KEYS] = {&d->src, &d->trg, &d->valid_src, &d->valid_trg, &d->task};
	return fields[i];
}

/* What was given counts, the rest is the state's. A task has pairs of its own, so files take its place, and it theirs. */
static int load_data_settings(struct session *s)
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
	return 0;
}

static int load_settings(struct session *s)
{
	for (size_t i = 0; i < n2d_train_options.count; i++) {
		const char *value = n2d_safetensors_text(&s->old_state, n2d_train_options.list[i].name);
		if (value && n2d_option_set(&s->options, &n2d_train_options.list[i], value))
			return -1;
	}
	return load_data_settings(s);
}

/* ---- settings */

static int settle(struct session *s)
{
	struct args *a = s->a;
	s->options = n2d_train_defaults();
	s->source = a->data;
	if (a->resume ? open_checkpoint(s) || load_settings(s) : a->init && n2d_safetensors_open(&s->old_model, a->init))
		return bad_input();
	if (n2d_given_apply(&a->train, &s->options))
		return bad_input();
	if (!s->source.lines)
		s->source.lines = TASK_LINES;
	if (s->options.patience && !s->source.task && !s->source.valid_src)
		return n2d_usage("train", "--patience counts validations: --valid-src and --valid-trg must be given");
	for (size_t i = 0; a->resume && i < n2d_options.count; i++)
		if (a->model.preset || a->model.given.value[i])
			return n2d_usage("train", "--resume goes on with the model in %s: model options cannot be given", a->dir);
	if (a->resume ? n2d_model_config(&s->config, &s->old_model) : n2d_model_args_set(&s->config, &a->model))
		return bad_input();
	s->source.max_length = s->options.max_length;
	s->source.batch_tokens = s->options.batch_tokens;
	s->source.seed = s->options.seed;
	if (n2d_ctx_init(&s->ctx, a->isa, (int)a->threads))
		return bad_input();
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

static int load_weights(struct session *s)
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

static int open_data(struct session *s)
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

static int open_model(struct session *s)
{
	if (n2d_config_check(&s->config))
		return n2d_error_dashed();
	if (n2d_transformer_init(&s->model, &s->ctx, &s->config))
		return -1;
	s->has_model = 1;
	return load_weights(s);
}

/* A fresh training would mix its files with an older one's. */
static int refuse_used_dir(const struct session *s)
{
	uint64_t *steps;
	size_t n;
	if (s->a->resume || n2d_checkpoint_list(&steps, &n, s->a->dir, 0)) /* not there yet */
		return 0;
	free(steps);
	return n ? n2d_error("%s: there are checkpoints already; --resume goes on from them, another -o starts anew", s->a->dir) : 0;
}

/* Only from now on nobody else can put checkpoints there. */
static int take_dir(struct session *s)
{
	if (n2d_dir_make(s->a->dir) || (s->dir_lock = n2d_dir_lock(s->a->dir)) < 0)
		return -1;
	s->has_dir = 1;
	return refuse_used_dir(s);
}

/* A checkpoint's metadata name the training's files. */
static int check_paths(struct session *s)
{
	for (size_t i = 0; i < DATA_KEYS; i++) {
		const char *path = *data_field(&s->source, i);
		if (path && n2d_utf8_valid(path, strlen(path)) != strlen(path))
			return n2d_error("--%s %s: a path that is not UTF-8, which no checkpoint can name", data_keys[i], path);
	}
	return 0;
}

/* ---- reports */

/* Pairs that are left out are told whatever is asked for: a loss over others than one thinks is a wrong one. */
static void tell_left_out(const char *which, const struct n2d_corpus *c)
{
	if (c->left_out)
		fprintf(stderr, "n2d train: %s: %zu pairs longer than %zu tokens left out (--max-tokens)\n", which, c->left_out, c->max_length);
}

static void introduce(const struct session *s)
{
	const struct n2d_data *d = &s->data;
	const struct n2d_corpus *c = &d->train_pairs, *v = &d->valid_pairs;
	tell_left_out("training", c);
	if (d->has_valid)
		tell_left_out("validation", v);
	if (s->a->quiet)
		return;
	fprintf(stderr, "%zu pairs, %zu + %zu tokens, %zu words; %zu batches an epoch, padding %.1f %%\n", c->pairs, c->start[N2D_SOURCE][c->pairs],
		c->start[N2D_TARGET][c->pairs], d->vocab.size + d->src_vocab.size, d->train.count, 100 * n2d_batches_padding(&d->train));
	if (c->unknown[N2D_SOURCE] + c->unknown[N2D_TARGET])
		fprintf(stderr, "unknown words: %zu + %zu\n", c->unknown[N2D_SOURCE], c->unknown[N2D_TARGET]);
	if (d->has_valid)
		fprintf(stderr, "validation: %zu pairs, unknown words: %zu + %zu\n", v->pairs, v->unknown[N2D_SOURCE], v->unknown[N2D_TARGET]);
	fprintf(stderr, "%.2f M parameters, %.0f MiB for them and Adam, %.0f MiB of activations; %s, %d threads, peak %.0f GFLOP/s\n",
		1e-6 * (double)s->model.p.count, (double)(s->model.memory.size + s->training.optimiser.memory.size) / (1 << 20),
		(double)s->training.pass.memory.size / (1 << 20), s->ctx.k->isa, s->ctx.threads, s->training.peak / 1e9);
}

static int conclude(const struct session *s, enum n2d_train_end end)
{
	const struct n2d_training *t = &s->training;
	if (end == N2D_TRAIN_FAILED) {
		failed();
		if (!s->a->quiet)
			fprintf(stderr, "n2d train: the checkpoints in %s stay as they were; --resume goes on from the newest\n", s->a->dir);
		return N2D_EXIT_FAILED;
	}
	if (!s->a->quiet) {
		fprintf(stderr, "%s after step %llu, %.0f s in steps, %.0f MiB of memory at most", end == N2D_TRAIN_STOPPED ? "stopped" : "finished",
			(unsigned long long)t->optimiser.step, t->at.seconds, (double)n2d_memory_peak() / (1 << 20));
		if (t->at.best_step)
			fprintf(stderr, "; lowest validation loss %.4f at step %llu", t->at.best, (unsigned long long)t->at.best_step);
		fprintf(stderr, "\n");
		if (end == N2D_TRAIN_STOPPED)
			fprintf(stderr, "go on with: n2d train --resume -o %s\n", s->a->dir);
	}
	return end == N2D_TRAIN_STOPPED ? 128 + caught : N2D_EXIT_OK; /* as a shell tells it of a program that a signal ended */
}

/* ---- the command */

static int run(struct session *s)
{
	struct n2d_training *t = &s->training;
	struct n2d_metadata model[MODEL_METADATA] = {{N2D_VOCABULARY, s->vocabulary}}, data[DATA_METADATA];
	char lines[32];
	size_t n = 0, keys = 1;
	if (s->src_vocabulary)
		model[keys++] = (struct n2d_metadata){N2D_SOURCE_VOCABULARY, s->src_vocabulary};
	if (s->data.pieces.codes)
		model[keys++] = (struct n2d_metadata){N2D_BPE_CODES, s->data.pieces.codes};
	for (size_t i = 0; i < DATA_KEYS; i++)
		if (*data_field(&s->source, i))
			data[n++] = (struct n2d_metadata){data_keys[i], *data_field(&s->source, i)};
	snprintf(lines, sizeof lines, "%zu", s->source.lines);
	data[n++] = (struct n2d_metadata){"lines", lines};
	data[n++] = (struct n2d_metadata){"ids", s->source.ids ? "yes" : "no"};
	*t = (struct n2d_training){
		.ctx = &s->ctx, .model = &s->model, .options = &s->options, .train = &s->data.train,
		.valid = s->data.has_valid ? &s->data.valid : NULL, .dir = s->a->dir, .metadata = model, .keys = keys, .state = data, .state_keys = n,
		.progress = s->a->quiet ? NULL : stderr, .stop = stop,
	};
	if (n2d_train_init(t))
		return failed();
	s->has_training = 1;
	if (t->valid && s->options.valid_bleu) {
		s->bleu = (struct n2d_valid_bleu){&s->ctx, &s->model, &s->data.valid_pairs, &s->data.vocab, &s->data.pieces, s->options.valid_bleu};
		t->bleu = n2d_valid_bleu;
		t->bleu_arg = &s->bleu;
	}
	if (s->a->resume && n2d_checkpoint_load(&t->optimiser, &t->at, &s->model.p, &s->old_state))
		return bad_input();
	introduce(s);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (s->a->profile) {
		n2d_profile_start(&s->profile);
		s->ctx.trace = &s->profile.trace;
	}
	enum n2d_train_end end = n2d_train_run(t);
	if (s->a->profile) {
		s->ctx.trace = NULL;
		n2d_profile_stop(&s->profile);
		n2d_profile_print(&s->profile, stdout, t->peak, n2d_peak_bandwidth(&s->ctx));
	}
	return conclude(s, end);
}

int n2d_cmd_train(int argc, char **argv)
{
	struct args a;
	struct session s = {.a = &a};
	struct n2d_step_options so;
	int code = parse(&a, argc, argv);
	if (code)
		return code < 0 ? N2D_EXIT_OK : code;
	if ((code = check(&a)) || (code = settle(&s)))
		;
	else if (n2d_train_step_options(&so, &s.options, s.config.d_model) || refuse_used_dir(&s) || check_paths(&s) || open_data(&s) ||
		 open_model(&s) || take_dir(&s))
		code = bad_input();
	else
		code = run(&s);
	close_all(&s);
	return code;
}
