/* Ten steps of training of small models, one of each kind, against PyTorch in double precision: outputs, loss, every gradient, and
 * where Adam takes each parameter. tests/golden/torch/golden.py wrote the files and says what they hold. */
#include "config.h"

#include "train/step.h"
#include "tests/unit.h"

/* ---- the files */

struct record {
	char kind[12], name[96];
	size_t n;
	double *x;
};

struct golden {
	char path[512];
	struct n2d_config c;
	size_t B, S, T, warmup, steps;
	struct record *records;
	size_t n;
	int32_t *ids; /* the batch's, in one block */
	struct n2d_batch batch;
};

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);
	if (!p)
		fail_msg("no memory");
	return p;
}

/* NULL when there is none. */
static const struct record *look(const struct golden *g, const char *kind, const char *name)
{
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->records[i].kind, kind) == 0 && strcmp(g->records[i].name, name) == 0)
			return &g->records[i];
	return NULL;
}

static const double *find(const struct golden *g, const char *kind, const char *name, size_t n)
{
	const struct record *r = look(g, kind, name);
	if (!r || r->n != n)
		fail_msg("%s: there is no %s %s of %zu numbers", g->path, kind, name, n);
	return r->x;
}

static void read_option(struct golden *g, FILE *f, const char *name)
{
	char value[64];
	if (fscanf(f, "%63s", value) != 1 || n2d_config_set(&g->c, name, value))
		fail_msg("%s: option %s: %s", g->path, name, n2d_error_text());
}

static void read_size(struct golden *g, FILE *f, const char *name)
{
	const struct {
		const char *name;
		size_t *to;
	} sizes[] = {{"B", &g->B}, {"S", &g->S}, {"T", &g->T}, {"warmup", &g->warmup}, {"steps", &g->steps}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (strcmp(sizes[i].name, name) == 0 && fscanf(f, "%zu", sizes[i].to) == 1)
			return;
	fail_msg("%s: size %s", g->path, name);
}

static void read_record(struct golden *g, FILE *f, const char *kind, const char *name)
{
	struct record *r = realloc(g->records, (g->n + 1) * sizeof *r);
	if (!r)
		fail_msg("no memory");
	g->records = r;
	r += g->n++;
	snprintf(r->kind, sizeof r->kind, "%s", kind);
	snprintf(r->name, sizeof r->name, "%s", name);
	if (fscanf(f, "%zu", &r->n) != 1)
		fail_msg("%s: %s %s: no count", g->path, kind, name);
	r->x = room(r->n, sizeof *r->x);
	for (size_t i = 0; i < r->n; i++)
		if (fscanf(f, "%lf", &r->x[i]) != 1)
			fail_msg("%s: %s %s: number %zu is missing", g->path, kind, name, i);
}

static int32_t *take_ids(const struct golden *g, int32_t **at, const char *name, size_t n)
{
	const double *x = find(g, "ids", name, n);
	int32_t *ids = *at;
	for (size_t i = 0; i < n; i++)
		ids[i] = (int32_t)x[i];
	*at += n;
	return ids;
}

/* Each row's ids before the padding. */
static int32_t *take_lengths(int32_t **at, const int32_t *ids, size_t B, size_t T, size_t *sum)
{
	int32_t *len = *at;
	for (size_t b = 0; b < B; b++) {
		while ((size_t)len[b] < T && ids[b * T + (size_t)len[b]] != N2D_ID_PAD)
			len[b]++;
		*sum += (size_t)len[b];
	}
	*at += B;
	return len;
}

static void make_batch(struct golden *g)
{
	size_t B = g->B, S = g->S, T = g->T;
	struct n2d_batch b = {.B = B, .S = S, .T = T};
	int32_t *at = g->ids = room(B * (S + 2 * T + 2), sizeof *at);
	b.src = take_ids(g, &at, "src", B * S);
	b.trg_in = take_ids(g, &at, "trg_in", B * T);
	b.trg_out = take_ids(g, &at, "trg_out", B * T);
	b.src_len = take_lengths(&at, b.src, B, S, &b.src_tokens);
	b.trg_len = take_lengths(&at, b.trg_in, B, T, &b.trg_tokens);
	g->batch = b;
}

static void golden_read(struct golden *g, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char kind[12], what[96];
	memset(g, 0, sizeof *g);
	n2d_config_preset(&g->c, "base"); /* what the files do not say */
	snprintf(g->path, sizeof g->path, "%s/tests/golden/torch/%s.txt", srcdir ? srcdir : ".", name);
	FILE *f = fopen(g->path, "r");
	if (!f)
		fail_msg("%s cannot be read", g->path);
	while (fscanf(f, "%11s", kind) == 1) {
		if (*kind == '#' || fscanf(f, "%95s", what) != 1)
			(void)!fscanf(f, "%*[^\n]");
		else if (strcmp(kind, "option") == 0)
			read_option(g, f, what);
		else if (strcmp(kind, "size") == 0)
			read_size(g, f, what);
		else
			read_record(g, f, kind, what);
	}
	fclose(f);
	make_batch(g);
}

static void golden_free(struct golden *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->records[i].x);
	free(g->records);
	free(g->ids);
}

/* ---- the same initial weights, exact in float */

static void initial(const struct n2d_parameter *p, float *w)
{
	size_t length = strlen(p->name);
	int norm = strstr(p->name, ".norm") && strcmp(p->name + length - 7, ".weight") == 0;
	uint32_t x = 2166136261;
	for (const char *s = p->name; *s; s++)
		x = (x ^ (unsigned char)*s) * 16777619;
	for (size_t i = 0; i < p->count; i++) {
		x = 1664525 * x + 1013904223;
		float u = (float)(x >> 16) * 0x1p-16f - 0.5f;
		w[i] = p->dims > 1 ? u : norm ? 1 + u / 2 : u / 2;
	}
}

/* ---- comparison
 *
 * 1e-5 of the largest element of the array; no float32 computation can promise it element by element, because sums cancel. PyTorch in
 * float32 is off by up to 4e-7 (outputs), 2e-7 (losses) and 1.2e-6 (gradients) in this measure, as the files say. The bound leaves room
 * for sums in another order; a wrong mask, factor or missing term is a thousand times larger. */
#define SHARE 1e-5

static double largest(const double *x, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(x[i]));
	return most;
}

/* x[rows,width]; what is wanted has padding, which is not compared. */
static void compare_rows(const char *where, const struct golden *g, const char *name, const float *x, const struct n2d_sentences *s, size_t width)
{
	const double *want = find(g, "output", name, g->B * s->T * width);
	double bound = SHARE * largest(want, g->B * s->T * width);
	for (size_t b = 0; b < g->B; b++)
		for (size_t i = 0; i < (size_t)s->len[b] * width; i++)
			UNIT_NEAR(where, name, i, x[n2d_sentence_row(s, b) * width + i], want[b * s->T * width + i], bound);
}

static void compare_outputs(const char *where, const struct golden *g, const struct n2d_pass *p)
{
	size_t D = g->c.d_model;
	compare_rows(where, g, "encoder", p->source.out, &p->source.s, D);
	compare_rows(where, g, "decoder", p->target.out, &p->target.s, D);
	compare_rows(where, g, "nll", p->row_nll, &p->target.s, 1);
}

/* grads: of the loss summed over tokens. Every parameter has its record, and every record its parameter. */
static void compare_gradients(const char *where, const struct golden *g, const struct n2d_parameters *p, const float *grads, double tokens)
{
	size_t records = 0;
	for (size_t i = 0; i < g->n; i++)
		records += strcmp(g->records[i].kind, "gradient") == 0;
	assert_int_equal(records, p->n);
	for (size_t i = 0; i < p->n; i++) {
		const struct n2d_parameter *t = &p->list[i];
		const double *want = find(g, "gradient", t->name, t->count);
		double bound = SHARE * largest(want, t->count);
		for (size_t k = 0; k < t->count; k++)
			UNIT_NEAR(where, t->name, k, grads[t->offset + k] / tokens, want[k], bound);
	}
}

static void compare_value(const char *where, const struct golden *g, const char *name, size_t step, double x)
{
	double want = find(g, "value", name, g->steps + 1)[step];
	UNIT_NEAR(where, name, step, x, want, SHARE * fabs(want));
}

/* ---- where Adam goes
 *
 * A step moves a parameter by rate m/(s + eps), m = sum a_i g_i and s^2 = sum c_i g_i^2 the corrected means of the gradients so far,
 * sum a_i = sum c_i = 1. Gradients off by d at most move m by d, s (a norm) by d, so m/s by (1 + |m/s|) d/s; and |m/s| <=
 * sqrt(sum a_i^2 / c_i), which is at most 1.03 in the first ten steps with 0.9 and 0.98. So the step is off by rate 2.06 min(1, d/s).
 * d is the gradients' own bound: where a gradient is 0 but for rounding (biases of keys) Adam's direction is a matter of chance, and
 * here it is free. */
#define ADAM 2.06

struct drift {
	double *bound, *top; /* of each parameter's way; the largest gradient so far of each tensor */
};

static void drift_add(struct drift *d, const struct n2d_parameters *p, const struct n2d_optimiser *o, const struct n2d_step_options *s,
		      const struct n2d_step_report *report)
{
	double correction = 1 - pow(s->beta2, (double)o->step), tokens = (double)report->sum.tokens;
	for (size_t i = 0; i < p->n; i++) {
		const struct n2d_parameter *t = &p->list[i];
		for (size_t k = t->offset; k < t->offset + t->count; k++)
			d->top[i] = fmax(d->top[i], fabs(o->grads[k]) / tokens);
		for (size_t k = t->offset; k < t->offset + t->count; k++) {
			double root = sqrt(o->v[k] / correction) + s->eps;
			d->bound[k] += report->rate * ADAM * fmin(1, SHARE * d->top[i] / root);
		}
	}
}

/* The weight itself is rounded once a step, by half an ulp: 2^-24 of its size. The file has six digits. */
static void compare_ways(const char *where, const struct golden *g, const struct n2d_transformer *m, const float *start,
			 const struct drift *d)
{
	for (size_t i = 0; i < m->p.n; i++) {
		const struct n2d_parameter *t = &m->p.list[i];
		const double *want = find(g, "after", t->name, t->count);
		for (size_t k = 0; k < t->count; k++) {
			double w = m->w[t->offset + k], from = start[t->offset + k];
			double rounding = (double)g->steps * 0x1p-24 * fmax(fabs(w), fabs(from));
			UNIT_NEAR(where, t->name, k, w - from, want[k], d->bound[t->offset + k] + rounding + 5e-6 * fabs(want[k]));
		}
	}
}

/* ---- the training */

struct run {
	struct n2d_transformer m;
	struct n2d_pass pass;
	struct n2d_optimiser o;
	struct n2d_step_options options;
	struct drift drift;
	float *start;
};

static void run_init(struct run *r, const struct n2d_ctx *ctx, const struct golden *g)
{
	const struct n2d_shape shape = {g->B, g->S, g->T};
	struct n2d_pass_need need = {0};
	memset(r, 0, sizeof *r);
	r->options = (struct n2d_step_options){.beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
	if (n2d_transformer_init(&r->m, ctx, &g->c) || n2d_optimiser_init(&r->o, &r->m))
		fail_msg("%s: %s", g->path, n2d_error_text());
	n2d_pass_need_add(&need, ctx, &r->m, &shape, 1, 1);
	if (n2d_pass_init(&r->pass, &r->m, &need, 1) ||
	    n2d_schedule_make(&r->options.schedule, "paper", 1, g->warmup, g->c.d_model))
		fail_msg("%s: %s", g->path, n2d_error_text());
	for (size_t i = 0; i < r->m.p.n; i++)
		initial(&r->m.p.list[i], r->m.w + r->m.p.list[i].offset);
	r->start = room(r->m.p.floats, sizeof *r->start);
	memcpy(r->start, r->m.w, r->m.p.floats * sizeof *r->start);
	r->drift = (struct drift){room(r->m.p.floats, sizeof(double)), room(r->m.p.n, sizeof(double))};
	n2d_transformer_pack(ctx, &r->m);
}

static void run_free(struct run *r)
{
	free(r->start);
	free(r->drift.bound);
	free(r->drift.top);
	n2d_optimiser_free(&r->o);
	n2d_pass_free(&r->pass);
	n2d_transformer_free(&r->m);
}

static void train(const struct n2d_ctx *ctx, const struct golden *g, const char *where)
{
	struct run r;
	run_init(&r, ctx, g);
	for (size_t step = 0; step <= g->steps; step++) {
		struct n2d_step_report report = {0};
		if (n2d_step_batch(ctx, &r.m, &r.o, &r.pass, &r.options, &g->batch, step < g->steps, &report))
			fail_msg("%s: %s", where, n2d_error_text());
		double tokens = (double)report.sum.tokens;
		assert_int_equal(report.sum.tokens, g->batch.trg_tokens);
		compare_value(where, g, "loss", step, report.sum.loss / tokens);
		compare_value(where, g, "nll", step, report.sum.nll / tokens);
		if (step == 0) {
			compare_outputs(where, g, &r.pass);
			compare_gradients(where, g, &r.m.p, r.o.grads, tokens);
		}
		if (step == g->steps)
			break;
		if (n2d_step_end(ctx, &r.m, &r.o, &r.options, &report))
			fail_msg("%s: %s", where, n2d_error_text());
		drift_add(&r.drift, &r.m.p, &r.o, &r.options, &report);
	}
	compare_ways(where, g, &r.m, r.start, &r.drift);
	run_free(&r);
}

static void like_pytorch(void **state)
{
	const char *name = *state;
	struct golden g;
	struct n2d_ctx ctx;
	golden_read(&g, name);
	UNIT_EACH_ISA(ctx, 1) { /* a second thread would wait longer than these models compute */
		char where[64];
		snprintf(where, sizeof where, "%s, %s", name, ctx.k->isa);
		train(&ctx, &g, where);
	}
	golden_free(&g);
}

#define MODEL(name) {name, like_pytorch, NULL, NULL, (void *)name}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MODEL("post"), MODEL("pre"), MODEL("paper"), MODEL("gelu"), MODEL("rms"), MODEL("swiglu"), MODEL("lstm"), MODEL("conv"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
