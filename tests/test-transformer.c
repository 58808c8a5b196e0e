/* The whole model: gradients of every parameter of every kind of model, and what must not change a bit. */
#include "config.h"

#include <math.h>

#include "base/rng.h"
#include "base/size.h"
#include "layer/linear.h"
#include "layer/output.h"
#include "model/stack.h"
#include "tests/unit.h"
#include "tests/small_model.h"

static struct n2d_ctx ctx;

/* ---- models and batches */

/* GELU, because differences across a kink of ReLU tell nothing; ReLU is in the comparison with PyTorch. */
static void model_init(struct n2d_transformer *m, const char *options)
{
	small_model_init(m, &ctx, "dropout=0 activation=gelu", options, 0.1);
}

enum { B = 4, S = 7, T = 6, LONG = 2000, ROWS = LONG };

/* Sentences of random words; sentence b has slen[b] and tlen[b] tokens. */
struct sentences {
	struct n2d_batch b;
	int32_t src[ROWS], in[ROWS], out[ROWS], slen[8], tlen[8];
};

static void fill(struct sentences *s, size_t n, size_t width_s, size_t width_t, const int32_t *slen, const int32_t *tlen, uint64_t first)
{
	memset(s, 0, sizeof *s);
	s->b = (struct n2d_batch){n, width_s, width_t, s->src, s->in, s->out, s->slen, s->tlen, 0, 0};
	for (size_t b = 0; b < n; b++) {
		struct n2d_rng r;
		n2d_rng_init(&r, 7, first + b); /* a sentence's words do not depend on the batch it is in */
		s->slen[b] = slen[b];
		s->tlen[b] = tlen[b];
		s->b.src_tokens += (size_t)slen[b];
		s->b.trg_tokens += (size_t)tlen[b];
		for (size_t i = 0; i < width_s; i++)
			s->src[b * width_s + i] = i < (size_t)slen[b] ? (int32_t)(4 + n2d_rng_below(&r, 19)) : N2D_ID_PAD;
		for (size_t i = 0; i < width_t; i++) {
			int32_t word = (int32_t)(4 + n2d_rng_below(&r, 19));
			s->out[b * width_t + i] = i < (size_t)tlen[b] ? word : -1;
			if (i + 1 < width_t)
				s->in[b * width_t + i + 1] = i + 1 < (size_t)tlen[b] ? word : N2D_ID_PAD;
		}
		s->in[b * width_t] = N2D_ID_BEGIN;
	}
}

static const int32_t lengths_s[B] = {7, 1, 4, 6}, lengths_t[B] = {3, 6, 1, 5};

static void pass_init(struct n2d_pass *p, const struct n2d_transformer *m)
{
	struct n2d_pass_need need = {0};
	struct n2d_shape shapes[] = {{8, 12, 12}};
	n2d_pass_need_add(&need, &ctx, m, shapes, 1, 1);
	assert_int_equal(n2d_pass_init(p, m, &need, 1), 0);
}

static void end(struct n2d_transformer *m, struct n2d_pass *p)
{
	n2d_pass_free(p);
	n2d_transformer_free(m);
}

/* Loss of a batch; when grads is not NULL its gradients, or with add added to it. */
static double run_into(struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b, const struct n2d_dropout_key *key, float *grads,
		       int add)
{
	struct n2d_loss_sum sum = {0};
	if (n2d_pass_shape(p, &ctx, m, b->B, b->S, b->T))
		fail_msg("%s", n2d_error_text());
	n2d_transformer_forward(&ctx, m, p, b, key);
	n2d_transformer_loss(&ctx, m, p, b, &sum, 0.1, 1, grads, add);
	if (grads)
		n2d_transformer_backward(&ctx, m, p, key, grads, add);
	assert_int_equal(sum.tokens, b->trg_tokens);
	return sum.loss;
}

static double run(struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b, const struct n2d_dropout_key *key, float *grads)
{
	return run_into(m, p, b, key, grads, 0);
}

/* ---- gradients */

/* (f(w + h d) - f(w - h d)) / 2 h in the direction d = g / |g| of one parameter's gradient g. */
static double slope(struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b, float *w, const float *g, size_t n, double norm,
		    double h)
{
	double f[2];
	float *old = malloc(n * sizeof *old);
	assert_non_null(old);
	memcpy(old, w, n * sizeof *old);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < n; i++)
			w[i] = (float)(old[i] + (side ? -h : h) * g[i] / norm);
		n2d_transformer_pack(&ctx, m);
		f[side] = run(m, p, b, &(struct n2d_dropout_key){9, 4, (float)m->c.dropout}, NULL);
	}
	memcpy(w, old, n * sizeof *old);
	n2d_transformer_pack(&ctx, m);
	free(old);
	return (f[0] - f[1]) / (2 * h);
}

/* The slope along g must be |g|. Differences over h and 2 h give a slope without the h^2 term (Richardson); what is left of it, of h^4, is a
 * fifteenth of what this slope changes by from 2 h to h, and all of that change is allowed, or a quarter of the change before,
 * where this one is small by chance. The rest is the rounding of the losses, each
 * a sum in double of row losses that are right to 2^-18 of themselves (some 64 roundings of 2^-24 in a row), over h. */
static void check_gradient(struct n2d_transformer *m, struct n2d_pass *p, const struct n2d_batch *b, const struct n2d_parameter *q,
			   const float *grads, double loss, const char *what)
{
	const float *g = grads + q->offset;
	double norm = 0, best = INFINITY, miss = 0, d[3], h = 0.2, before = INFINITY;
	for (size_t i = 0; i < q->count; i++)
		norm += (double)g[i] * g[i];
	norm = sqrt(norm);
	d[0] = slope(m, p, b, m->w + q->offset, g, q->count, norm, 2 * h);
	d[1] = slope(m, p, b, m->w + q->offset, g, q->count, norm, h);
	for (int i = 0; i < 6; i++) {
		d[2] = slope(m, p, b, m->w + q->offset, g, q->count, norm, h /= 2);
		double coarse = d[1] + (d[1] - d[0]) / 3, fine = d[2] + (d[2] - d[1]) / 3, change = fabs(fine - coarse);
		double bound = (change > before / 4 ? change : before / 4) + 2 * loss * 0x1p-18 / h;
		before = change;
		if (bound < best) {
			best = bound;
			miss = fabs(fine - norm);
		}
		d[0] = d[1];
		d[1] = d[2];
	}
	if (!(best < 0.1 * norm) || !(miss <= best))
		fail_msg("%s: %s: the slope along the gradient is off by %g of %g, bound %g", what, q->name, miss, norm, best);
}

static const char *const models[] = {
	"", "norm=pre", "norm=pre final-norm=no", "final-norm=yes", "norm-kind=rms", "norm=pre norm-kind=rms", "positions=learned",
	"positions=none", "positions=rotary d-k=4 d-v=4", "activation=swiglu", "mixer=lstm", "mixer=conv", "window=2",
	"tied=output", "tied=output src-vocab=31", "tied=none output-bias=yes", "d-k=3 d-v=5", "d-k=6 d-v=2 heads=1", "enc-layers=0", "enc-layers=1 dec-layers=3",
	"dropout=0.3", "norm=pre dropout=0.3", "norm-kind=none", "norm-kind=none norm=pre layers=1 dropout=0.3", "ffn=no",
	/* with attention alone and no residual sums all rows become the same, and gradients too small to check */
	"residual=no mixer=conv", "residual=no mixer=conv dropout=0.3", "residual=no mixer=conv norm=pre ffn=no dropout=0.3",
};
enum { MODELS = sizeof models / sizeof *models };

static void every_gradient_is_the_slope(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODELS; i++) {
		struct n2d_transformer m;
		struct n2d_pass p;
		struct sentences s;
		model_init(&m, models[i]);
		pass_init(&p, &m);
		fill(&s, B, S, T, lengths_s, lengths_t, 0);
		float *grads = calloc(m.p.floats, sizeof *grads);
		assert_non_null(grads);
		double loss = run(&m, &p, &s.b, &(struct n2d_dropout_key){9, 4, (float)m.c.dropout}, grads);
		for (size_t k = 0; k < m.p.n; k++)
			check_gradient(&m, &p, &s.b, &m.p.list[k], grads, loss, models[i]);
		free(grads);
		end(&m, &p);
	}
}

/* ---- what is left out of a model is not there */

/* The decoder's result, when its last sublayer gives 0 whatever it reads. */
static const float *without_the_last(struct n2d_transformer *m, struct n2d_pass *p, struct sentences *s, const char *options)
{
	model_init(m, options);
	pass_init(p, m);
	fill(s, B, S, T, lengths_s, lengths_t, 0);
	for (size_t i = 0; i < m->p.n; i++)
		if (strncmp(m->p.list[i].name, "decoder.layers.1.linear", 23) == 0)
			memset(m->w + m->p.list[i].offset, 0, m->p.list[i].count * sizeof(float));
	n2d_transformer_pack(&ctx, m);
	run(m, p, &s->b, NULL, NULL);
	return p->target.out;
}

static void parts_left_out_are_not_there(void **state)
{
	(void)state;
	struct n2d_transformer m;
	struct n2d_pass p;
	struct sentences s;
	float before[ROWS * 12] = {0};
	const float *out = without_the_last(&m, &p, &s, "residual=no norm-kind=none");
	const size_t size = p.target.rows * 12 * sizeof *before;
	assert_memory_equal(out, before, size);
	end(&m, &p);
	/* With the residual sum and no norm that sublayer changes nothing: the result is what it read. */
	out = without_the_last(&m, &p, &s, "norm-kind=none");
	assert_memory_not_equal(out, before, size);
	memcpy(before, p.target.nodes[m.decoder.n - 1].y, size);
	assert_memory_equal(out, before, size);
	end(&m, &p);
	/* With a norm and no residual sum every row is the norm of 0: its bias. */
	out = without_the_last(&m, &p, &s, "residual=no");
	for (size_t i = 0; i < p.target.rows; i++)
		assert_memory_equal(out + i * 12, m.w + m.decoder.nodes[m.decoder.n].beta, 12 * sizeof *out);
	end(&m, &p);
	without_the_last(&m, &p, &s, "ffn=no");
	assert_int_equal(m.encoder.n, 2);
	assert_int_equal(m.decoder.n, 4);
	for (size_t i = 0; i < m.p.n; i++)
		assert_null(strstr(m.p.list[i].name, "linear"));
	end(&m, &p);
}

/* ---- what must not change a bit */

static void threads_change_no_bit(void **state)
{
	(void)state;
	const struct n2d_dropout_key key = {9, 4, 0.3f};
	for (size_t i = 0; i < MODELS; i++) {
		struct n2d_transformer m;
		struct n2d_pass p;
		struct sentences s;
		model_init(&m, models[i]);
		pass_init(&p, &m);
		fill(&s, B, S, T, lengths_s, lengths_t, 0);
		float *first = NULL;
		for (int threads = 1; threads <= 3; threads++) {
			float *grads = calloc(m.p.floats, sizeof *grads);
			assert_non_null(grads);
			ctx.threads = threads;
			run(&m, &p, &s.b, &key, grads);
			if (first)
				assert_memory_equal(first, grads, m.p.floats * sizeof *grads);
			if (first)
				free(grads);
			else
				first = grads;
		}
		free(first);
		ctx.threads = 3;
		end(&m, &p);
	}
}

/* The gradients of a step's first batch are written, whatever was there: the bits of adding them to zeros. The next batch's are added. */
static void first_gradients_are_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODELS; i++) {
		struct n2d_transformer m;
		struct n2d_pass p;
		struct sentences s;
		model_init(&m, models[i]);
		pass_init(&p, &m);
		fill(&s, B, S, T, lengths_s, lengths_t, 0);
		float *added = calloc(m.p.floats, sizeof *added), *written = malloc(m.p.floats * sizeof *written);
		assert_true(added && written);
		for (size_t k = 0; k < m.p.floats; k++)
			written[k] = NAN;
		for (int batch = 0; batch < 2; batch++) {
			run_into(&m, &p, &s.b, NULL, added, 1);
			run_into(&m, &p, &s.b, NULL, written, batch > 0);
			for (size_t k = 0; k < m.p.n; k++) {
				const struct n2d_parameter *q = &m.p.list[k];
				if (memcmp(added + q->offset, written + q->offset, q->count * sizeof(float)) != 0)
					fail_msg("%s: %s: batch %d: written gradients are not those added to 0", models[i], q->name, batch);
			}
		}
		free(added), free(written);
		end(&m, &p);
	}
}

/* Each sentence alone, without padding, and in the batch, and with more padding: its rows' losses and its gradient's reach. */
static void padding_changes_no_bit(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODELS; i++) {
		struct n2d_transformer m;
		struct n2d_pass p, q;
		struct sentences s, one;
		model_init(&m, models[i]);
		pass_init(&p, &m);
		pass_init(&q, &m);
		for (size_t more = 0; more <= 5; more += 5) {
			fill(&s, B, S + more, T + more, lengths_s, lengths_t, 0);
			run(&m, &p, &s.b, NULL, NULL);
			for (size_t b = 0; b < B; b++) {
				fill(&one, 1, (size_t)lengths_s[b], (size_t)lengths_t[b], lengths_s + b, lengths_t + b, b);
				run(&m, &q, &one.b, NULL, NULL);
				assert_memory_equal(q.row_nll, p.row_nll + n2d_sentence_row(&p.target.s, b), (size_t)lengths_t[b] * sizeof(float));
			}
		}
		n2d_pass_free(&p);
		n2d_pass_free(&q);
		n2d_transformer_free(&m);
	}
}

/* Another word at t changes no output before t (its input stands at t + 1), and the output at t. */
static void outputs_do_not_see_later_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < MODELS; i++) {
		struct n2d_transformer m;
		struct n2d_pass p;
		struct sentences s;
		const int32_t all_s[1] = {S}, all_t[1] = {T};
		float before[ROWS];
		size_t D;
		model_init(&m, models[i]);
		pass_init(&p, &m);
		D = m.c.d_model;
		for (size_t t = 1; t < T; t++) {
			fill(&s, 1, S, T, all_s, all_t, 0);
			run(&m, &p, &s.b, NULL, NULL);
			memcpy(before, p.target.out, T * D * sizeof *before);
			s.in[t] = s.in[t] == 4 ? 5 : 4;
			run(&m, &p, &s.b, NULL, NULL);
			assert_memory_equal(before, p.target.out, t * D * sizeof *before);
			assert_memory_not_equal(before + t * D, p.target.out + t * D, D * sizeof *before);
		}
		end(&m, &p);
	}
}

/* ---- unusual batches */

/* Of a batch of b sentences, of which the last b - 1 have no words that count. */
static float *gradients(struct n2d_transformer *m, struct n2d_pass *p, size_t b, const int32_t *slen, const int32_t *tlen, float *nll)
{
	struct sentences s;
	float *grads = calloc(m->p.floats, sizeof *grads);
	assert_non_null(grads);
	fill(&s, b, b > 1 || !*slen ? S : (size_t)*slen, b > 1 ? T : (size_t)*tlen, slen, tlen, 0);
	assert_true(isfinite(run(m, p, &s.b, NULL, grads)));
	memcpy(nll, p->row_nll, (size_t)*tlen * sizeof *nll);
	return grads;
}

/* Sentences without a target add nothing, whatever their source; one without a source has the bits it has alone. Gradients are the same
 * sums, of at most n = 4 * 7 rows' terms, with zeros between them, so in another order: they differ by at most 2 n 2^-24 times the sizes
 * of the terms, taken as 30 times their sums (they are sums of random signs). */
static void sides_may_be_empty(void **state)
{
	(void)state;
	static const int32_t lengths[][2][B] = {
		{{7, 0, 0, 0}, {3, 0, 0, 0}}, {{1, 0, 0, 0}, {1, 0, 0, 0}}, {{0, 7, 0, 1}, {3, 0, 0, 0}}, {{0, 0, 7, 0}, {1, 0, 0, 0}}};
	for (size_t i = 0; i < MODELS; i++) {
		struct n2d_transformer m;
		struct n2d_pass p;
		model_init(&m, models[i]);
		pass_init(&p, &m);
		for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
			float nll[2][T], *all = gradients(&m, &p, B, lengths[k][0], lengths[k][1], nll[0]);
			float *alone = gradients(&m, &p, 1, lengths[k][0], lengths[k][1], nll[1]);
			double difference = 0, size = 0;
			assert_memory_equal(nll[0], nll[1], (size_t)lengths[k][1][0] * sizeof(float));
			for (size_t j = 0; j < m.p.floats; j++) {
				difference += ((double)all[j] - alone[j]) * ((double)all[j] - alone[j]);
				size += (double)alone[j] * alone[j];
			}
			if (!(sqrt(difference) <= 2 * B * S * 0x1p-24 * 30 * sqrt(size)))
				fail_msg("%s, lengths %zu: gradients of size %g differ by %g", models[i], k, sqrt(size), sqrt(difference));
			free(all), free(alone);
		}
		end(&m, &p);
	}
}

/* What is longer than any table that a model keeps: finite, and its beginning as without the rest. */
static void sentences_may_be_long(void **state)
{
	(void)state;
	static const char *const kinds[] = {"max-length=10", "positions=rotary d-k=4 d-v=4", "positions=none window=2"};
	static const int32_t all[1] = {LONG}, some[1] = {50};
	static struct sentences s;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct n2d_transformer m;
		struct n2d_pass p;
		struct n2d_pass_need need = {0};
		float before[50];
		model_init(&m, kinds[i]);
		n2d_pass_need_add(&need, &ctx, &m, &(struct n2d_shape){1, LONG, LONG}, 1, 1);
		assert_int_equal(n2d_pass_init(&p, &m, &need, 1), 0);
		fill(&s, 1, LONG, 50, all, some, 0);
		run(&m, &p, &s.b, NULL, NULL);
		memcpy(before, p.row_nll, sizeof before);
		fill(&s, 1, LONG, LONG, all, all, 0);
		float *grads = calloc(m.p.floats, sizeof *grads);
		assert_non_null(grads);
		assert_true(isfinite(run(&m, &p, &s.b, NULL, grads)));
		for (size_t k = 0; k < m.p.floats; k++)
			assert_true(isfinite(grads[k]));
		assert_memory_equal(before, p.row_nll, sizeof before);
		free(grads);
		end(&m, &p);
	}
}

/* A NaN in one sentence's way (an embedding only it uses) leaves the others' losses alone. */
static void a_nan_stays_in_its_sentence(void **state)
{
	(void)state;
	struct n2d_transformer m;
	struct n2d_pass p;
	struct sentences s;
	float before[ROWS];
	model_init(&m, "vocab=24 tied=none");
	pass_init(&p, &m);
	fill(&s, B, S, T, lengths_s, lengths_t, 0);
	s.src[3] = 23;
	run(&m, &p, &s.b, NULL, NULL);
	memcpy(before, p.row_nll, sizeof(float) * p.target.rows);
	m.w[m.src_embed + 23 * m.c.d_model] = NAN;
	run(&m, &p, &s.b, NULL, NULL);
	assert_true(isnan(p.row_nll[0]));
	size_t second = n2d_sentence_row(&p.target.s, 1);
	assert_memory_equal(before + second, p.row_nll + second, sizeof(float) * (p.target.rows - second));
	end(&m, &p);
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	struct n2d_transformer m;
	struct n2d_pass p;
	model_init(&m, "positions=learned max-length=10");
	pass_init(&p, &m);
	assert_int_equal(n2d_pass_shape(&p, &ctx, &m, 8, 10, 10), 0);
	assert_int_equal(n2d_pass_shape(&p, &ctx, &m, 1, 11, 3), -1);
	assert_non_null(strstr(n2d_error_text(), "11 tokens"));
	assert_int_equal(n2d_pass_shape(&p, &ctx, &m, 100000, 10, 10), -1);
	assert_int_equal(n2d_pass_bytes(&ctx, &m, (size_t)1 << 40, (size_t)1 << 20, 10, 1), N2D_TOO_LARGE);
	end(&m, &p);
}

/* ---- the output's rows in chunks */

enum { OUT_ROWS = 628, OUT_D = 8, OUT_V = 10000, OUT_PART = 100 }; /* chunks have 314 rows at most */

struct output_run {
	float *packed, *ws, nll[OUT_ROWS], dx[OUT_ROWS * OUT_D], *dw;
	size_t ws_floats;
};

static float *random_floats(size_t n, uint64_t seed)
{
	struct n2d_rng r;
	float *x = malloc(n * sizeof *x);
	assert_non_null(x);
	n2d_rng_init(&r, seed, 0);
	for (size_t i = 0; i < n; i++)
		x[i] = n2d_rng_normal(&r);
	return x;
}

/* `part` rows a call, in a workspace that was made for `planned` and has as much behind it again, which must stay what it is. */
static void output_run(struct output_run *o, size_t part, size_t planned, const float *x, const int32_t *target)
{
	struct n2d_loss_sum sum = {0};
	o->ws_floats = n2d_output_workspace(planned, OUT_D, OUT_V);
	o->ws = aligned_alloc(64, 2 * o->ws_floats * sizeof *o->ws);
	o->dw = malloc((size_t)OUT_V * OUT_D * sizeof *o->dw);
	assert_true(o->ws && o->dw);
	for (size_t i = 0; i < 2 * o->ws_floats; i++)
		o->ws[i] = 0.5f;
	for (size_t r = 0; r < OUT_ROWS; r += part) {
		struct n2d_output out = {r + part < OUT_ROWS ? part : OUT_ROWS - r, OUT_D, OUT_V, target + r, 0.1f, 1, o->packed, NULL, 1};
		n2d_output_loss(&ctx, &out, &sum, o->nll + r, o->dx + r * OUT_D, o->dw, NULL, r > 0, x + r * OUT_D, o->ws);
	}
	for (size_t i = o->ws_floats; i < 2 * o->ws_floats; i++)
		if (o->ws[i] != 0.5f)
			fail_msg("%zu rows a call write beyond the workspace of %zu rows", part, planned);
	free(o->ws);
}

static void chunks_of_the_output_change_no_bit(void **state)
{
	(void)state;
	struct output_run whole, parts;
	float *w = random_floats((size_t)OUT_V * OUT_D, 1), *x = random_floats(OUT_ROWS * OUT_D, 2);
	int32_t target[OUT_ROWS];
	for (size_t i = 0; i < OUT_ROWS; i++)
		target[i] = i % 50 == 7 ? -1 : (int32_t)(i * 37 % OUT_V);
	size_t packed = n2d_linear_packed(&ctx, OUT_D, OUT_V);
	whole.packed = parts.packed = aligned_alloc(64, packed * sizeof(float));
	assert_non_null(whole.packed);
	n2d_linear_pack(&ctx, whole.packed, w, OUT_D, OUT_V);
	output_run(&whole, OUT_ROWS, OUT_ROWS + 1, x, target); /* two chunks, in the room of three smaller ones */
	output_run(&parts, OUT_PART, OUT_PART, x, target);
	assert_memory_equal(whole.nll, parts.nll, sizeof whole.nll);
	assert_memory_equal(whole.dx, parts.dx, sizeof whole.dx);
	assert_memory_equal(whole.dw, parts.dw, (size_t)OUT_V * OUT_D * sizeof(float));
	free(whole.dw), free(parts.dw), free(whole.packed), free(w), free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gradient_is_the_slope), cmocka_unit_test(parts_left_out_are_not_there),
		cmocka_unit_test(threads_change_no_bit), cmocka_unit_test(first_gradients_are_written),
		cmocka_unit_test(padding_changes_no_bit), cmocka_unit_test(outputs_do_not_see_later_words),
		cmocka_unit_test(sides_may_be_empty), cmocka_unit_test(sentences_may_be_long),
		cmocka_unit_test(a_nan_stays_in_its_sentence), cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(chunks_of_the_output_change_no_bit),
	};
	if (n2d_ctx_init(&ctx, NULL, 3)) {
		fprintf(stderr, "%s\n", n2d_error_text());
		return 1;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	n2d_ctx_free(&ctx);
	return failed;
}
