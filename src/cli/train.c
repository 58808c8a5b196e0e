/* n2d train: a model from parallel text. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/peak.h"
#include "base/stop.h"
#include "cli/cli.h"
#include "cli/train_session.h"

enum { TRAIN_OPTION = 2000 };

static void help(void)
{
	struct n2d_train_options defaults = n2d_train_defaults();
	printf("usage: n2d train --src FILE --trg FILE -o DIR [options]\n"
	       "       n2d train --task NAME -o DIR [options]\n"
	       "       n2d train --resume -o DIR [options]\n\n"
	       "Trains an encoder-decoder. DIR receives checkpoints, log.csv and valid.csv. Ctrl-C, SIGTERM and SIGHUP\n"
	       "end it after the step (a second time: at once); it saves, and says how to go on. Going on gives the bits that an uninterrupted training gives.\n\n"
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
	       "  --profile                at the end, a table of where the steps' time went, by operator; the update of the weights\n"
	       "                           by itself then, which otherwise runs beside products when nothing is clipped\n"
	       "  -q, --quiet              no progress\n\n"
	       "training (default)\n");
	n2d_table_help(&n2d_train_options, &defaults, NULL, NULL);
	printf("\nmodel (default)\n");
	n2d_model_help("vocab");
}

static int option(struct n2d_train_args *a, int c, char **argv)
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
static int parse(struct n2d_train_args *a, int argc, char **argv)
{
	static const struct option own[] = {
		{"src", 1, 0, 's'}, {"trg", 1, 0, 't'}, {"valid-src", 1, 0, 'S'}, {"valid-trg", 1, 0, 'T'}, {"vocab", 1, 0, 'v'}, {"src-vocab", 1, 0, 'V'},
		{"ids", 0, 0, 'i'}, {"bpe", 1, 0, 'B'}, {"task", 1, 0, 'k'}, {"lines", 1, 0, 'n'}, {"output", 1, 0, 'o'}, {"resume", 0, 0, 'r'},
		{"init", 1, 0, 'I'}, {"threads", 1, 0, 'p'}, {"isa", 1, 0, 'x'}, {"quiet", 0, 0, 'q'}, {"profile", 0, 0, 'P'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0},
	};
	struct option longs[2 * N2D_TABLE_OPTIONS_MAX];
	int code = 0;
	*a = (struct n2d_train_args){.train = {.table = &n2d_train_options, .first = TRAIN_OPTION}};
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

static int check(const struct n2d_train_args *a)
{
	const struct n2d_data_options *d = &a->data;
	if (!a->dir)
		return n2d_usage("train", "-o DIR must be given: where checkpoints go");
	if (d->task && (d->src || d->trg || d->valid_src || d->valid_trg || d->vocab || d->src_vocab || d->bpe))
		return n2d_usage("train", "--task %s has its own text and vocabulary: no files beside it", d->task);
	if (!d->src != !d->trg || (!d->task && !d->src && !a->resume))
		return n2d_usage("train", "--src and --trg, or --task, must be given; see n2d train --help");
	if (!d->valid_src != !d->valid_trg)
		return n2d_usage("train", "--valid-src and --valid-trg go together");
	if (a->resume && a->init)
		return n2d_usage("train", "--init and --resume: one of them says where to start");
	if (a->resume && (d->vocab || d->src_vocab || d->bpe))
		return n2d_usage("train", "--resume goes on with the %s of the model in %s: --%s cannot be given", d->bpe ? "codes" : "vocabulary", a->dir,
				 d->bpe ? "bpe" : d->vocab ? "vocab" : "src-vocab");
	return 0;
}

static int stop(void) { return n2d_stop; }

/* Files and settings that cannot be used: bad input. */
static int bad_input(void) { return n2d_usage("train", "%s", n2d_error_text()); }

static int failed(void)
{
	fprintf(stderr, "n2d train: %s\n", n2d_error_text());
	return N2D_EXIT_FAILED;
}

/* ---- reports */

/* Pairs that are left out are told whatever is asked for: a loss over others than one thinks is a wrong one. */
static void tell_left_out(const char *which, const struct n2d_corpus *c)
{
	if (c->left_out)
		fprintf(stderr, "n2d train: %s: %zu pair%s longer than %zu token%s left out (--max-tokens)\n", which, c->left_out, n2d_plural(c->left_out),
			c->max_length, n2d_plural(c->max_length));
}

static void introduce(const struct n2d_session *s)
{
	const struct n2d_data *d = &s->data;
	const struct n2d_corpus *c = &d->train_pairs, *v = &d->valid_pairs;
	tell_left_out("training", c);
	if (d->has_valid)
		tell_left_out("validation", v);
	if (s->a->quiet)
		return;
	if (s->a->resume)
		fprintf(stderr, "goes on from step %" PRIu64 " of %s\n", s->training.optimiser.step, s->a->dir);
	fprintf(stderr, "%zu pair%s, %zu + %zu tokens, %zu words; %zu batch%s an epoch, padding %.1f %%\n", c->pairs, n2d_plural(c->pairs),
		c->start[N2D_SOURCE][c->pairs], c->start[N2D_TARGET][c->pairs], d->vocab.size + d->src_vocab.size, d->train.count,
		d->train.count == 1 ? "" : "es", 100 * n2d_batches_padding(&d->train));
	if (c->unknown[N2D_SOURCE] + c->unknown[N2D_TARGET])
		fprintf(stderr, "unknown words: %zu + %zu\n", c->unknown[N2D_SOURCE], c->unknown[N2D_TARGET]);
	if (d->has_valid)
		fprintf(stderr, "validation: %zu pair%s, unknown words: %zu + %zu\n", v->pairs, n2d_plural(v->pairs), v->unknown[N2D_SOURCE], v->unknown[N2D_TARGET]);
	fprintf(stderr, "%.2f M parameters, %.0f MiB for them and Adam, %.0f MiB of activations; %s, %d thread%s, peak %.0f GFLOP/s\n",
		1e-6 * (double)s->model.p.count, (double)(s->model.memory.size + s->training.optimiser.memory.size) / (1 << 20),
		(double)s->training.pass.memory.size / (1 << 20), s->ctx.k->isa, s->ctx.threads, n2d_plural((size_t)s->ctx.threads),
		s->training.peak / 1e9);
}

/* first: the step it began after. */
static int conclude(const struct n2d_session *s, enum n2d_train_end end, uint64_t first)
{
	const struct n2d_training *t = &s->training;
	if (end == N2D_TRAIN_FAILED) {
		failed();
		uint64_t newest = n2d_checkpoint_newest(s->a->dir);
		if (!s->a->quiet && newest)
			fprintf(stderr, "n2d train: the checkpoints in %s stay as they were; --resume goes on from step %" PRIu64 "\n", s->a->dir, newest);
		return N2D_EXIT_FAILED;
	}
	if (!s->a->quiet && end == N2D_TRAIN_FINISHED && t->optimiser.step == first)
		fprintf(stderr, "nothing left to do: step %" PRIu64 " was the last by its %s; a larger one goes on\n", first, n2d_train_finished(t));
	else if (!s->a->quiet) {
		fprintf(stderr, "%s after step %llu, %.0f s in steps, %.0f MiB of memory at most", end == N2D_TRAIN_STOPPED ? "stopped" : "finished",
			(unsigned long long)t->optimiser.step, t->at.seconds, (double)n2d_memory_peak() / (1 << 20));
		if (t->at.best_step)
			fprintf(stderr, "; lowest validation loss %.4f at step %llu", t->at.best, (unsigned long long)t->at.best_step);
		int unseen = t->valid && t->validated != t->optimiser.step && t->optimiser.step > first; /* of an earlier run's last step nothing is known */
		fprintf(stderr, unseen ? "; this step was not validated (--valid-every)\n" : "\n");
		if (end == N2D_TRAIN_STOPPED && n2d_checkpoint_newest(s->a->dir))
			fprintf(stderr, "go on with: n2d train --resume -o '%s'\n", s->a->dir);
		else if (end == N2D_TRAIN_STOPPED)
			fprintf(stderr, "there is nothing to go on from: the same command starts anew\n");
	}
	return end == N2D_TRAIN_STOPPED ? 128 + n2d_stop : N2D_EXIT_OK; /* as a shell tells it of a program that a signal ended */
}

/* ---- the command */

static int run(struct n2d_session *s)
{
	struct n2d_training *t = &s->training;
	*t = (struct n2d_training){
		.ctx = &s->ctx, .model = &s->model, .options = &s->options, .train = &s->data.train,
		.valid = s->data.has_valid ? &s->data.valid : NULL, .dir = s->a->dir, .metadata = s->metadata, .keys = s->keys, .state = s->state, .state_keys = s->state_keys,
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
	n2d_stop_catch(s->a->quiet ? NULL : "\nn2d train: ending after this step, which is kept; a second time ends at once\n");
	introduce(s);
	if (s->a->profile) {
		n2d_profile_init(&s->profile);
		s->ctx.trace = &s->profile.trace;
		t->profile = &s->profile;
	}
	uint64_t first = t->optimiser.step;
	enum n2d_train_end end = n2d_train_run(t);
	if (s->a->profile) {
		s->ctx.trace = NULL;
		printf("profile of %zu step%s together\n", s->profile.spans, n2d_plural(s->profile.spans));
		n2d_profile_print(&s->profile, stdout, t->peak, n2d_peak_bandwidth(&s->ctx));
	}
	return conclude(s, end, first);
}

int n2d_cmd_train(int argc, char **argv)
{
	struct n2d_train_args a;
	struct n2d_session s = {.a = &a};
	int code = parse(&a, argc, argv);
	if (code)
		return code < 0 ? N2D_EXIT_OK : code;
	if (!(code = check(&a)) && !(code = n2d_session_settle(&s)))
		code = n2d_session_open(&s) ? bad_input() : run(&s);
	n2d_session_close(&s);
	return code;
}
