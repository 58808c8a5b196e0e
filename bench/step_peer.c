/* PyTorch's training step beside ours: from the same weights, on the same words, and checked before it is timed. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bench/step_case.h"
#include "bench/temporary.h"
#include "model/model_file.h"
#include "op/square_sum.h"

/* Both sides compute in float32 and add in another order. A sum of 4096 products is off by some sqrt(4096) 2^-24 = 4e-6 of its size at most, and what 50
 * such operators in a row, with norms between them, leave of that in a logit is some 1e-5, with either sign. Loss is a mean over 13 target tokens or
 * more, of which 10 nats a token remain: 1e-5 / sqrt(13) / 10 = 3e-7 of it (1.5e-7 was the most of 19 batches of tiny and base). */
#define BOUND_LOSS 1e-6
/* The norm of the gradients is off by as little, but for ReLU: of some million inner values a few are so near 0 that their sign is chance
 * (bench/layer_check.c), and each that falls the other way changes the norm by 1e-5 or so (2.8e-5 was the most; our own instruction sets differ by
 * 1.5e-5). A weight of tiny that is 0.01 off changes it by 5e-4, a wrong mask or scale by 1e-2 and more. */
#define BOUND_NORM 3e-4

/* Of the mean loss of the batch's target tokens, with dropout off. */
struct result {
	double loss, norm;
};

/* ---- ours */

static int gradients(const struct step_case *s, const struct n2d_transformer *m, const struct n2d_batch *b, struct result *r)
{
	const struct n2d_ctx *ctx = s->m.c.ctx;
	const struct n2d_dropout_key none = {0};
	struct n2d_loss_sum sum;
	struct n2d_arena memory;
	if (n2d_arena_init(&memory, m->p.floats * sizeof(float)))
		return -1;
	float *grads = n2d_arena_floats(&memory, m->p.floats);
	int bad = step_gradients(grads, &sum, ctx, m, b, &none);
	if (!bad)
		*r = (struct result){sum.loss / (double)sum.tokens, sqrt(n2d_square_sum(ctx, grads, m->p.floats)) / (double)sum.tokens};
	n2d_arena_free(&memory);
	return bad;
}

/* ---- files: a directory of their own, for model files are written beside their place */

struct files {
	char directory[2048], model[2100], words[2100];
};

static int files_make(struct files *f)
{
	if (temporary_directory(f->directory, sizeof f->directory, "n2d-step"))
		return -1;
	snprintf(f->model, sizeof f->model, "%s/model.safetensors", f->directory);
	snprintf(f->words, sizeof f->words, "%s/words", f->directory);
	return 0;
}

static void files_remove(const struct files *f)
{
	unlink(f->model);
	unlink(f->words);
	rmdir(f->directory);
}

/* src, trg_in, trg_out. */
static int write_words(const char *path, const struct n2d_batch *b)
{
	FILE *f = fopen(path, "wb");
	size_t S = b->B * b->S, T = b->B * b->T;
	int bad = !f || fwrite(b->src, sizeof *b->src, S, f) != S || fwrite(b->trg_in, sizeof *b->trg_in, T, f) != T ||
		  fwrite(b->trg_out, sizeof *b->trg_out, T, f) != T;
	if (f)
		bad |= fclose(f) != 0;
	return bad ? n2d_error("cannot write %.200s", path) : 0;
}

#ifdef HAVE_MODEL_FILES
static int write_model(const char *path, const struct n2d_transformer *m) { return n2d_model_save(path, &m->c, &m->p, m->w, NULL, 0); }
#else
static int write_model(const char *path, const struct n2d_transformer *m)
{
	(void)m;
	return n2d_error("%.200s: built without model files", path);
}
#endif

static int write_files(const struct step_case *s, const struct files *f, struct result *ours)
{
	struct n2d_config config = {.vocab = STEP_VOCAB};
	struct n2d_transformer m;
	struct step_batch *batch = step_batch_make(s->preset, s->pairs);
	if (!batch || n2d_config_preset(&config, s->preset) || n2d_transformer_init(&m, s->m.c.ctx, &config)) {
		free(batch);
		return -1;
	}
	n2d_parameters_init(&m.p, m.w, 1);
	n2d_transformer_pack(s->m.c.ctx, &m);
	int bad = gradients(s, &m, &batch->b, ours) || write_model(f->model, &m) || write_words(f->words, &batch->b);
	n2d_transformer_free(&m);
	free(batch);
	return bad ? -1 : 0;
}

/* ---- theirs */

/* NaN is not. */
static int same(double a, double b, double bound) { return fabs(a - b) <= bound * fabs(b); }

static int check(struct step_case *s, const struct files *f)
{
	struct result ours, its;
	char line[sizeof f->model + sizeof f->words + 100], reply[512];
	if (write_files(s, f, &ours) || step_case_fits(s))
		return -1;
	snprintf(line, sizeof line, "open\t%s\t%s\t%zu\t%zu\t%zu", f->model, f->words, s->shape.B, s->shape.S, s->shape.T);
	if (peer_ask(&s->peer, line, reply, sizeof reply))
		return -1;
	if (sscanf(reply, "ok\t%lf\t%lf", &its.loss, &its.norm) != 2)
		return n2d_error("%s: %.120s", s->program, reply);
	if (same(its.loss, ours.loss, BOUND_LOSS) && same(its.norm, ours.norm, BOUND_NORM))
		return 0;
	return n2d_error("differs from ours: loss %.8g for %.8g, norm of the gradients %.8g for %.8g (allowed: %g and %g of it)", its.loss,
			 ours.loss, its.norm, ours.norm, BOUND_LOSS, BOUND_NORM);
}

static int step(struct peer *p)
{
	char reply[256], *end;
	if (peer_ask(p, "step", reply, sizeof reply))
		return -1;
	double seconds = strtod(reply, &end);
	return end != reply && !*end && seconds > 0 ? 0 : n2d_error("%s: %.120s", p->name, reply);
}

static void run(struct bench_case *c, size_t calls, struct sample *sample)
{
	struct step_case *s = c->arg;
	(void)sample;
	while (calls-- && !c->why[0])
		if (step(&s->peer))
			snprintf(c->why, sizeof c->why, "%s", n2d_error_text());
}

/* The check, then two steps that warm it up. */
static int greeted(struct step_case *s)
{
	struct files f;
	if (peer_greet(&s->peer) || step_case_fits(s) || files_make(&f))
		return -1;
	int bad = check(s, &f);
	files_remove(&f);
	return bad || step(&s->peer) || step(&s->peer) ? -1 : 0;
}

static int open_peer(struct bench_case *c)
{
	struct step_case *s = c->arg;
	if (!s->peer.pid)
		return n2d_error("%s", c->why[0] ? c->why : "not started");
	if (!greeted(s))
		return 0;
	peer_stop(&s->peer);
	return -1;
}

static void close_peer(struct bench_case *c) { peer_stop(&((struct step_case *)c->arg)->peer); }

void step_case_peer(struct step_case *s, const struct n2d_ctx *ctx, const char *preset, size_t pairs, int threads, int best)
{
	*s = (struct step_case){.m = {.c = {.ctx = ctx, .arg = s, .open = open_peer, .run = run, .close = close_peer, .outside = 1}, .threads = threads},
				.program = best ? "pytorch-best" : "pytorch"};
	s->peer.name = s->program;
	step_case_plan(s, preset, pairs);
}

void step_case_start(struct model_case *m)
{
	struct step_case *s = (struct step_case *)m;
	char threads[16], script[] = N2D_SRCDIR "/bench/peers/torch_step.py";
	char *argv[] = {"/usr/bin/python3", script, "--serve", "--threads", threads, strcmp(s->program, "pytorch-best") == 0 ? "--best" : NULL, NULL};
	if (!s->peer.name)
		return;
	snprintf(threads, sizeof threads, "%d", s->m.threads);
	if (peer_start(&s->peer, s->program, argv))
		fprintf(stderr, "n2d-bench: %s\n", n2d_error_text());
}
