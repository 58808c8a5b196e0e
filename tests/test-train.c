/* Training: going on from a checkpoint, splitting a step, what is not finite, one batch learnt by heart. */
#include "config.h"

#include <math.h>
#include <unistd.h>

#include "model/model_file.h"
#include "tests/unit.h"
#include "train/data.h"
#include "train/train.h"

static struct n2d_ctx ctx;

/* ---- a training of a small model on a task */

struct work {
	char dir[64];
	struct n2d_train_options options;
	struct n2d_data data;
	struct n2d_transformer model;
	struct n2d_training t;
};

static struct n2d_config config(size_t vocab, double dropout)
{
	struct n2d_config c = {0};
	n2d_config_preset(&c, "tiny");
	c.vocab = vocab;
	c.d_model = 32; /* more than words, else their embeddings cannot all be far from each other */
	c.d_ff = 32;
	c.heads = 2;
	c.enc_layers = c.dec_layers = 1;
	c.dropout = dropout;
	return c;
}

static void begin(struct work *w, size_t batch_tokens, size_t accumulate, double dropout)
{
	struct n2d_data_options d = {.task = "reverse", .lines = 120, .max_length = 50, .batch_tokens = batch_tokens, .seed = 3};
	memset(w, 0, sizeof *w);
	snprintf(w->dir, sizeof w->dir, "test-train-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->options = n2d_train_defaults();
	w->options.warmup = 20;
	w->options.accumulate = accumulate;
	w->options.max_steps = 20;
	w->options.log_every = 5;
	w->options.valid_every = 8;
	w->options.save_every = 10;
	if (n2d_data_open(&w->data, &d, &(struct n2d_data_known){NULL, NULL, NULL}))
		fail_msg("%s", n2d_error_text());
	struct n2d_config c = config(w->data.vocab.size, dropout);
	assert_int_equal(n2d_transformer_init(&w->model, &ctx, &c), 0);
	n2d_parameters_init(&w->model.p, w->model.w, 5);
	w->t = (struct n2d_training){.ctx = &ctx, .model = &w->model, .options = &w->options, .train = &w->data.train, .valid = &w->data.valid,
				     .dir = w->dir};
	if (n2d_train_init(&w->t))
		fail_msg("%s", n2d_error_text());
}

static int remove_name(void *arg, const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", (const char *)arg, name);
	if (name[0] != '.')
		unlink(path);
	return 0;
}

static void end(struct work *w)
{
	n2d_train_free(&w->t);
	n2d_transformer_free(&w->model);
	n2d_data_close(&w->data);
	n2d_dir_each(w->dir, remove_name, w->dir);
	rmdir(w->dir);
}

static char *file_text(const char *dir, const char *name)
{
	char path[512];
	struct n2d_map m;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	if (n2d_map_open(&m, path))
		fail_msg("%s", n2d_error_text());
	char *text = calloc(m.size + 1, 1);
	assert_non_null(text);
	memcpy(text, m.data, m.size);
	n2d_map_close(&m);
	return text;
}

/* ---- 20 steps are 10, saved and loaded, and 10 */

static void load(struct work *w, const char *dir, uint64_t step)
{
	char path[N2D_CHECKPOINT_PATH];
	struct n2d_safetensors f;
	assert_int_equal(n2d_checkpoint_path(path, dir, step, 0), 0);
	assert_int_equal(n2d_safetensors_open(&f, path), 0);
	assert_int_equal(n2d_model_load(w->model.w, &w->model.p, &f), 0);
	n2d_safetensors_close(&f);
	assert_int_equal(n2d_checkpoint_path(path, dir, step, 1), 0);
	assert_int_equal(n2d_safetensors_open(&f, path), 0);
	if (n2d_checkpoint_load(&w->t.optimiser, &w->t.at, &w->model.p, &f))
		fail_msg("%s", n2d_error_text());
	n2d_safetensors_close(&f);
	n2d_transformer_pack(&ctx, &w->model);
}

static void going_on_changes_no_bit(void **state)
{
	(void)state;
	struct work a, b;
	ctx.threads = 1; /* before memory is planned: workspace may depend on it, results do not */
	begin(&a, 100, 2, 0.3);
	assert_int_equal(n2d_train_run(&a.t), N2D_TRAIN_FINISHED);
	ctx.threads = 3;
	begin(&b, 100, 2, 0.3);
	load(&b, a.dir, 10);
	assert_int_equal(b.t.optimiser.step, 10);
	if (n2d_train_run(&b.t) != N2D_TRAIN_FINISHED)
		fail_msg("%s", n2d_error_text());
	assert_int_equal(b.t.optimiser.step, 20);
	assert_memory_equal(a.model.w, b.model.w, a.model.p.floats * sizeof(float));
	assert_memory_equal(a.t.optimiser.m, b.t.optimiser.m, a.model.p.floats * sizeof(float));
	assert_memory_equal(a.t.optimiser.v, b.t.optimiser.v, a.model.p.floats * sizeof(float));
	assert_int_equal(a.t.at.best_step, b.t.at.best_step);
	assert_true(a.t.at.trg_tokens == b.t.at.trg_tokens && a.t.at.epoch == b.t.at.epoch && a.t.at.batch == b.t.at.batch);
	end(&a);
	end(&b);
}

/* ---- checkpoints */

static void counters_come_back(void **state)
{
	(void)state;
	const struct n2d_progress at = {2, 3, 4, 5, 6, 7, 0.5, 8.25};
	struct work w;
	begin(&w, 100, 1, 0);
	w.t.optimiser.step = 9;
	w.t.optimiser.passes = 10;
	assert_int_equal(n2d_checkpoint_save(w.dir, &w.model, &w.t.optimiser, &at, NULL, 0, NULL, 0), 0);
	w.t.optimiser.step = w.t.optimiser.passes = 0;
	load(&w, w.dir, 9);
	assert_int_equal(w.t.optimiser.step, 9);
	assert_int_equal(w.t.optimiser.passes, 10);
	assert_memory_equal(&w.t.at, &at, sizeof at);
	end(&w);
}

/* Models of the newest and the best, states of the newest two. */
static void old_checkpoints_go(void **state)
{
	(void)state;
	const uint64_t kept[] = {1, 4, 5};
	struct work w;
	uint64_t *steps;
	size_t n;
	begin(&w, 100, 1, 0);
	for (w.t.optimiser.step = 1; w.t.optimiser.step <= 5; w.t.optimiser.step++)
		assert_int_equal(n2d_checkpoint_save(w.dir, &w.model, &w.t.optimiser, &w.t.at, NULL, 0, NULL, 0), 0);
	assert_int_equal(n2d_checkpoint_prune(w.dir, 5, 2, 1), 0);
	assert_int_equal(n2d_checkpoint_list(&steps, &n, w.dir, 0), 0);
	assert_int_equal(n, 3);
	assert_memory_equal(steps, kept, sizeof kept);
	free(steps);
	assert_int_equal(n2d_checkpoint_list(&steps, &n, w.dir, 1), 0);
	assert_int_equal(n, 2);
	assert_memory_equal(steps, kept + 1, 2 * sizeof *kept);
	free(steps);
	end(&w);
}

/* What the directory holds: the checkpoints that are kept, and a row for each log-every and validation. */
static void a_training_writes_what_it_says(void **state)
{
	(void)state;
	struct work w;
	uint64_t *steps;
	size_t n;
	begin(&w, 100, 1, 0.1);
	w.options.keep = 1;
	w.options.save_every = 3;
	assert_int_equal(n2d_train_run(&w.t), N2D_TRAIN_FINISHED);
	assert_int_equal(n2d_checkpoint_list(&steps, &n, w.dir, 0), 0);
	assert_true(n >= 1 && n <= 2); /* the newest, and the best */
	assert_int_equal(steps[n - 1], 20);
	if (n == 2)
		assert_int_equal(steps[0], w.t.at.best_step);
	free(steps);
	char *log = file_text(w.dir, "log.csv"), *valid = file_text(w.dir, "valid.csv");
	assert_non_null(strstr(log, "\n1,5,"));
	assert_non_null(strstr(log, "\n1,20,"));
	assert_null(strstr(log, "\n1,6,"));
	assert_non_null(strstr(valid, "\n1,8,"));
	assert_non_null(strstr(valid, "\n1,16,"));
	free(log);
	free(valid);
	end(&w);
}
/* ---- a step's gradient does not depend on how it is cut into batches */

static void step_gradient(struct work *w, struct n2d_step_report *r)
{
	struct n2d_step_options so;
	assert_int_equal(n2d_train_step_options(&so, &w->options, 32), 0);
	*r = (struct n2d_step_report){0};
	for (size_t i = 0; i < w->data.train.count; i++) {
		struct n2d_batch b;
		n2d_batches_get(&w->data.train, &b, N2D_EPOCH_SORTED, i);
		assert_int_equal(n2d_step_batch(&ctx, &w->model, &w->t.optimiser, &w->t.pass, &so, &b, 0, r), 0);
	}
}

/* The same pairs in a few batches or in many: an element of the gradient is the same sum of at most n = 120 * 51 rows' terms in another
 * order, so the two differ by at most 2 n 2^-24 times the sum of the terms' sizes. That sum is not known; here the
 * whole gradients are compared, whose terms' sizes are taken as 30 times their sums (they are sums of random signs). */
static void splitting_a_step_changes_no_gradient(void **state)
{
	(void)state;
	struct work one, many;
	struct n2d_step_report r1, rn;
	double difference = 0, size = 0;
	begin(&one, 10000, 1, 0);
	begin(&many, 60, 1, 0);
	step_gradient(&one, &r1);
	step_gradient(&many, &rn);
	assert_true(4 * one.data.train.count < many.data.train.count);
	assert_int_equal(r1.sum.tokens, rn.sum.tokens);
	for (size_t i = 0; i < one.model.p.floats; i++) {
		double a = one.t.optimiser.grads[i], b = many.t.optimiser.grads[i];
		difference += (a - b) * (a - b);
		size += a * a;
	}
	if (!(sqrt(difference) <= 2 * 120 * 51 * 0x1p-24 * 30 * sqrt(size)))
		fail_msg("gradients of size %g differ by %g", sqrt(size), sqrt(difference));
	end(&one);
	end(&many);
}

/* ---- no allocation in a step: the linker brings all calls of ours here (--wrap) */

static size_t allocations;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return allocations++, __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size) { return allocations++, __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t n) { return allocations++, __real_realloc(p, n); }

static void steps_do_not_allocate(void **state)
{
	(void)state;
	struct work w;
	struct n2d_step_options so;
	ctx.threads = 1; /* they are counted here alone */
	begin(&w, 100, 1, 0.1);
	assert_true(allocations > 0 && w.data.train.count > 5);
	assert_int_equal(n2d_train_step_options(&so, &w.options, 32), 0);
	size_t before = allocations;
	for (size_t i = 0; i < 5; i++) { /* of several shapes */
		struct n2d_step_report r = {0};
		struct n2d_batch b;
		n2d_batches_get(&w.data.train, &b, 1, i);
		assert_int_equal(n2d_step_batch(&ctx, &w.model, &w.t.optimiser, &w.t.pass, &so, &b, 1, &r), 0);
		assert_int_equal(n2d_step_end(&ctx, &w.model, &w.t.optimiser, &so, &r), 0);
	}
	assert_int_equal(allocations, before);
	end(&w);
	ctx.threads = 3;
}

/* ---- what is not finite */

static void a_loss_that_is_no_number_ends_the_training(void **state)
{
	(void)state;
	struct work w;
	begin(&w, 100, 1, 0);
	w.model.w[w.model.decoder.sublayers[0].at] = NAN;
	n2d_transformer_pack(&ctx, &w.model);
	float *before = malloc(w.model.p.floats * sizeof *before);
	assert_non_null(before);
	memcpy(before, w.model.w, w.model.p.floats * sizeof *before);
	assert_int_equal(n2d_train_run(&w.t), N2D_TRAIN_FAILED);
	assert_non_null(strstr(n2d_error_text(), "step 1"));
	assert_memory_equal(before, w.model.w, w.model.p.floats * sizeof *before);
	assert_int_equal(w.t.optimiser.step, 0);
	free(before);
	end(&w);
}

/* With clipping and without. */
static void gradients_that_are_no_numbers_end_it_too(void **state)
{
	(void)state;
	for (int clip = 0; clip < 2; clip++) {
		struct work w;
		struct n2d_step_options so = {{N2D_SCHEDULE_INVERSE_SQRT, 0.01, 50, 0}, 0.9, 0.98, 1e-9, clip, 1};
		struct n2d_step_report r = {0};
		struct n2d_batch b;
		begin(&w, 100, 1, 0);
		n2d_batches_get(&w.data.train, &b, 1, 0);
		assert_int_equal(n2d_step_batch(&ctx, &w.model, &w.t.optimiser, &w.t.pass, &so, &b, 0, &r), 0);
		w.t.optimiser.grads[w.model.p.floats - 1] = INFINITY;
		assert_int_equal(n2d_step_end(&ctx, &w.model, &w.t.optimiser, &so, &r), -1);
		assert_non_null(strstr(n2d_error_text(), "step 1: the norm of the gradients is inf"));
		assert_int_equal(w.t.optimiser.step, 0);
		end(&w);
	}
}

/* Finite weights may be worth nothing: too large to multiply, or for the squares of a norm. */
static void a_model_that_cannot_go_on_is_found(void **state)
{
	(void)state;
	struct work w;
	struct n2d_step_options so;
	struct n2d_batch b;
	begin(&w, 100, 1, 0.1);
	assert_int_equal(n2d_train_step_options(&so, &w.options, 32), 0);
	n2d_batches_get(&w.data.train, &b, 1, 0);
	size_t bytes = w.model.p.floats * sizeof *w.model.w;
	float *before = malloc(bytes);
	assert_non_null(before);
	memcpy(before, w.model.w, bytes);
	assert_int_equal(n2d_step_try(&ctx, &w.model, &w.t.optimiser, &w.t.pass, &so, &b), 0);
	assert_true(w.t.optimiser.step == 0 && w.t.optimiser.passes == 0);
	assert_memory_equal(before, w.model.w, bytes);
	static const struct {
		float value;
		const char *said;
	} bad[] = {{1e30f, "the squares of the weights it leaves add up to inf"}, {1e17f, "with the weights it leaves the "}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		for (size_t j = 0; j < w.model.p.n; j++) {
			const struct n2d_parameter *q = &w.model.p.list[j];
			for (size_t k = 0; strstr(q->name, "linear") && k < q->count; k++)
				w.model.w[q->offset + k] = k % 3 ? bad[i].value : -bad[i].value;
		}
		n2d_transformer_pack(&ctx, &w.model);
		assert_int_equal(n2d_step_try(&ctx, &w.model, &w.t.optimiser, &w.t.pass, &so, &b), -1);
		if (!strstr(n2d_error_text(), bad[i].said))
			fail_msg("%g: '%s'", (double)bad[i].value, n2d_error_text());
		assert_true(w.t.optimiser.passes == 0);
	}
	free(before);
	end(&w);
}

/* ---- one batch is learnt by heart: to the entropy of the smoothed targets, which no model can go below */

static void one_batch_is_learnt_by_heart(void **state)
{
	(void)state;
	struct work w;
	struct n2d_step_options so = {{N2D_SCHEDULE_INVERSE_SQRT, 0.01, 50, 0}, 0.9, 0.98, 1e-9, 1, 1};
	struct n2d_step_report r;
	struct n2d_batch b;
	begin(&w, 100, 1, 0);
	n2d_batches_get(&w.data.train, &b, 1, 0);
	double V = (double)w.data.vocab.size, e = w.model.c.smoothing, p = 1 - e + e / V;
	double entropy = -p * log(p) - (V - 1) * e / V * log(e / V), mean = INFINITY;
	for (int i = 0; i < 2000 && !(mean < 1.01 * entropy); i++) {
		r = (struct n2d_step_report){0};
		assert_int_equal(n2d_step_batch(&ctx, &w.model, &w.t.optimiser, &w.t.pass, &so, &b, 1, &r), 0);
		assert_int_equal(n2d_step_end(&ctx, &w.model, &w.t.optimiser, &so, &r), 0);
		mean = r.sum.loss / (double)r.sum.tokens;
		assert_true(mean >= entropy * (1 - 1e-6));
	}
	if (!(mean < 1.01 * entropy))
		fail_msg("loss %g after 2000 steps; the entropy is %g", mean, entropy);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(going_on_changes_no_bit), cmocka_unit_test(counters_come_back), cmocka_unit_test(old_checkpoints_go),
		cmocka_unit_test(a_training_writes_what_it_says),
		cmocka_unit_test(splitting_a_step_changes_no_gradient), cmocka_unit_test(steps_do_not_allocate), cmocka_unit_test(a_loss_that_is_no_number_ends_the_training),
		cmocka_unit_test(gradients_that_are_no_numbers_end_it_too), cmocka_unit_test(a_model_that_cannot_go_on_is_found),
		cmocka_unit_test(one_batch_is_learnt_by_heart),
	};
	if (n2d_ctx_init(&ctx, NULL, 3)) {
		fprintf(stderr, "%s\n", n2d_error_text());
		return 1;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	n2d_ctx_free(&ctx);
	return failed;
}
