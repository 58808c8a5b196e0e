#include "train/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/safetensors_format.h"

#define NAME "step-%08" PRIu64 "%s"
#define MODEL_END ".safetensors"
#define STATE_END ".state.safetensors"

static int path_of(char path[N2D_CHECKPOINT_PATH], const char *dir, uint64_t step, const char *end)
{
	int n = snprintf(path, N2D_CHECKPOINT_PATH, "%s/" NAME, dir, step, end);
	return n < N2D_CHECKPOINT_PATH ? 0 : n2d_error("%s: the path is too long", dir);
}

int n2d_checkpoint_path(char path[N2D_CHECKPOINT_PATH], const char *dir, uint64_t step, int state)
{
	return path_of(path, dir, step, state ? STATE_END : MODEL_END);
}

/* ---- the counters as whole numbers; doubles by their bits */

enum { COUNTERS = 10 };

static uint64_t bits(double x)
{
	uint64_t b;
	memcpy(&b, &x, sizeof b);
	return b;
}

static double from_bits(uint64_t b)
{
	double x;
	memcpy(&x, &b, sizeof x);
	return x;
}

static void counters_get(uint64_t c[COUNTERS], const struct n2d_optimiser *o, const struct n2d_progress *p)
{
	uint64_t all[COUNTERS] = {o->step, o->passes, p->epoch, p->batch, p->src_tokens, p->trg_tokens, p->best_step, p->stale,
				  bits(p->best), bits(p->seconds)};
	memcpy(c, all, sizeof all);
}

static void counters_set(struct n2d_optimiser *o, struct n2d_progress *p, const uint64_t c[COUNTERS])
{
	o->step = c[0];
	o->passes = c[1];
	*p = (struct n2d_progress){c[2], c[3], c[4], c[5], c[6], c[7], from_bits(c[8]), from_bits(c[9])};
}

/* ---- writing */

/* Names "m.x" of the parameters x, in one block that *names owns. */
static int moment_names(char (**names)[128], const struct n2d_parameters *p)
{
	*names = calloc(2 * p->n + 1, sizeof **names);
	if (!*names)
		return n2d_error("no memory for the names of %zu parameters", p->n);
	for (size_t i = 0; i < p->n; i++) {
		snprintf((*names)[2 * i], sizeof **names, "m.%s", p->list[i].name);
		snprintf((*names)[2 * i + 1], sizeof **names, "v.%s", p->list[i].name);
	}
	return 0;
}

static struct n2d_tensor like(const struct n2d_parameter *q, const char *name, const float *values)
{
	return (struct n2d_tensor){name, N2D_F32, q->dims, {q->shape[0], q->shape[1], q->shape[2]}, values + q->offset};
}

/* What a model's tensor adds to the number by which its state knows it. A sum: other programs write tensors in another order. */
static uint64_t share(const struct n2d_tensor *t) { return n2d_crc32(0, t->data, n2d_tensor_bytes(t)); }

static int save_state(const char *path, const struct n2d_transformer *model, const struct n2d_optimiser *o, const struct n2d_progress *at,
		      const struct n2d_metadata *more, size_t keys)
{
	const struct n2d_parameters *p = &model->p;
	uint64_t counters[COUNTERS], weights = 0;
	char(*names)[128] = NULL;
	struct n2d_tensor *t = calloc(2 * p->n + 2, sizeof *t);
	int bad = t ? moment_names(&names, p) : n2d_error("%s: no memory for the header", path);
	counters_get(counters, o, at);
	for (size_t i = 0; !bad && i < p->n; i++) {
		t[2 * i] = like(&p->list[i], names[2 * i], o->m);
		t[2 * i + 1] = like(&p->list[i], names[2 * i + 1], o->v);
		weights += share(&(struct n2d_tensor){NULL, N2D_F32, 1, {p->list[i].count}, model->w + p->list[i].offset});
	}
	if (!bad) {
		t[2 * p->n] = (struct n2d_tensor){"counters", N2D_U64, 1, {COUNTERS}, counters};
		t[2 * p->n + 1] = (struct n2d_tensor){"weights", N2D_U64, 1, {1}, &weights};
		bad = n2d_safetensors_write(path, t, 2 * p->n + 2, more, keys);
	}
	free(names);
	free(t);
	return bad;
}

int n2d_checkpoint_save(const char *dir, const struct n2d_transformer *m, const struct n2d_optimiser *o, const struct n2d_progress *p,
			const struct n2d_metadata *model, size_t model_keys, const struct n2d_metadata *state, size_t state_keys)
{
	char path[N2D_CHECKPOINT_PATH];
	if (n2d_checkpoint_path(path, dir, o->step, 1) || save_state(path, m, o, p, state, state_keys))
		return -1;
	if (n2d_checkpoint_path(path, dir, o->step, 0))
		return -1;
	return n2d_model_save(path, &m->c, &m->p, m->w, model, model_keys);
}

/* ---- which are there */

/* The step in a name like step-00001200END; other than 0: another name. */
static int step_of(const char *name, const char *end, uint64_t *step)
{
	char right[64];
	if (sscanf(name, "step-%" SCNu64, step) != 1)
		return -1;
	snprintf(right, sizeof right, NAME, *step, end); /* "step--5" and "step-5" would be read as steps too */
	return strcmp(name, right);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

struct found {
	const char *dir, *end;
	uint64_t *steps;
	size_t count, room;
};

static int find(void *arg, const char *name)
{
	struct found *f = arg;
	uint64_t step;
	if (step_of(name, f->end, &step))
		return 0;
	if (f->count == f->room) {
		size_t room = 2 * f->room + 16;
		uint64_t *more = realloc(f->steps, room * sizeof *more);
		if (!more)
			return n2d_error("%s: no memory for the list of checkpoints", f->dir);
		f->steps = more;
		f->room = room;
	}
	f->steps[f->count++] = step;
	return 0;
}

/* The steps of all files with this ending. */
static int list(uint64_t **steps, size_t *count, const char *dir, const char *end)
{
	struct found f = {.dir = dir, .end = end};
	if (n2d_dir_each(dir, find, &f)) {
		free(f.steps);
		return -1;
	}
	if (f.count)
		qsort(f.steps, f.count, sizeof *f.steps, ascending);
	*steps = f.steps;
	*count = f.count;
	return 0;
}

/* Keeps of a[*n] what is in b[m] too; both ascend. */
static void intersect(uint64_t *a, size_t *n, const uint64_t *b, size_t m)
{
	size_t kept = 0;
	for (size_t i = 0, j = 0; i < *n; i++) {
		while (j < m && b[j] < a[i])
			j++;
		if (j < m && b[j] == a[i])
			a[kept++] = a[i];
	}
	*n = kept;
}

int n2d_checkpoint_list(uint64_t **steps, size_t *count, const char *dir, int state)
{
	uint64_t *states;
	size_t n;
	if (list(steps, count, dir, MODEL_END))
		return -1;
	if (!state)
		return 0;
	if (list(&states, &n, dir, STATE_END)) {
		free(*steps);
		return -1;
	}
	intersect(*steps, count, states, n);
	free(states);
	return 0;
}

uint64_t n2d_checkpoint_newest(const char *dir)
{
	uint64_t *steps, newest;
	size_t n;
	if (n2d_checkpoint_list(&steps, &n, dir, 1))
		return 0;
	newest = n ? steps[n - 1] : 0;
	free(steps);
	return newest;
}

static int is_in(const uint64_t *steps, size_t n, uint64_t step)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i] == step)
			return 1;
	return 0;
}

/* Removes all files with this ending up to step `last` but those of kept[n] and of step `also`. */
static int remove_but(const char *dir, const char *end, uint64_t last, const uint64_t *kept, size_t n, uint64_t also)
{
	uint64_t *steps;
	size_t count;
	int bad = list(&steps, &count, dir, end);
	for (size_t i = 0; !bad && i < count; i++) {
		char path[N2D_CHECKPOINT_PATH];
		if (steps[i] > last || steps[i] == also || is_in(kept, n, steps[i]))
			continue;
		bad = path_of(path, dir, steps[i], end);
		if (!bad && remove(path) && errno != ENOENT)
			bad = n2d_error("%s: %s", path, strerror(errno));
	}
	free(steps);
	return bad;
}

/* Keeps the newest `keep` of the steps up to `step` that n2d_checkpoint_list tells; for the rest as remove_but. */
static int remove_older(const char *dir, int state, uint64_t step, uint64_t last, size_t keep, uint64_t also)
{
	uint64_t *steps;
	size_t n;
	if (n2d_checkpoint_list(&steps, &n, dir, state))
		return -1;
	while (n && steps[n - 1] > step)
		n--;
	size_t kept = keep < n ? keep : n;
	int bad = remove_but(dir, state ? STATE_END : MODEL_END, last, steps + n - kept, kept, also);
	free(steps);
	return bad;
}

/* A state without its model is what an end between the two left, a model without its state what somebody took away: neither may count, however high its
 * step. */
int n2d_checkpoint_prune(const char *dir, uint64_t step, size_t keep, uint64_t best)
{
	int bad = remove_older(dir, 0, step, step, keep, best) || remove_older(dir, 1, step, UINT64_MAX, 2, 0);
	return bad || remove_but(dir, MODEL_END N2D_OUT_TEMPORARY, UINT64_MAX, NULL, 0, 0) ||
	       remove_but(dir, STATE_END N2D_OUT_TEMPORARY, UINT64_MAX, NULL, 0, 0) ? -1 : 0;
}

/* ---- reading */

static int load_moment(float *to, const struct n2d_parameter *q, const struct n2d_safetensors *s, char kind)
{
	char name[128];
	snprintf(name, sizeof name, "%c.%s", kind, q->name);
	const struct n2d_tensor *t = n2d_safetensors_find(s, name);
	if (!t)
		return n2d_error("%s: '%s' is missing: no state of this model's training", s->path, name);
	if (t->dtype != N2D_F32 || t->dims != q->dims || memcmp(t->shape, q->shape, q->dims * sizeof *q->shape) != 0)
		return n2d_error("%s: '%s' has another shape or type than the model's parameter", s->path, name);
	memcpy(to + q->offset, t->data, q->count * sizeof *to);
	return 0;
}

/* COUNTERS numbers, or NULL and a message. */
static const uint64_t *counters_of(const struct n2d_safetensors *s)
{
	const struct n2d_tensor *c = n2d_safetensors_find(s, "counters");
	if (c && c->dtype == N2D_U64 && n2d_tensor_count(c) == COUNTERS)
		return c->data;
	n2d_error("%s: no state of a training: 'counters' is missing or of another size", s->path);
	return NULL;
}

int n2d_checkpoint_named(const struct n2d_safetensors *state, uint64_t step)
{
	const uint64_t *c = counters_of(state);
	if (!c || *c == step)
		return c ? 0 : -1;
	return n2d_error("%s: the state of step %" PRIu64 ", while its name says %" PRIu64, state->path, *c, step);
}

int n2d_checkpoint_load(struct n2d_optimiser *o, struct n2d_progress *p, const struct n2d_parameters *parameters,
			const struct n2d_safetensors *s)
{
	const uint64_t *c = counters_of(s);
	if (!c)
		return -1;
	for (size_t i = 0; i < parameters->n; i++)
		if (load_moment(o->m, &parameters->list[i], s, 'm') || load_moment(o->v, &parameters->list[i], s, 'v'))
			return -1;
	counters_set(o, p, c);
	return 0;
}

int n2d_checkpoint_together(const struct n2d_safetensors *model, const struct n2d_safetensors *state)
{
	const struct n2d_tensor *t = n2d_safetensors_find(state, "weights");
	uint64_t weights = 0;
	if (!t)
		return 0;
	for (size_t i = 0; i < model->count; i++)
		weights += share(&model->tensors[i]);
	if (t->dtype == N2D_U64 && n2d_tensor_count(t) == 1 && memcmp(t->data, &weights, sizeof weights) == 0)
		return 0;
	return n2d_error("%s: the state of another model than %s", state->path, model->path);
}
