#include "train/step.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/trace.h"
#include "op/adam.h"
#include "op/square_sum.h"

int n2d_optimiser_init(struct n2d_optimiser *o, const struct n2d_transformer *m)
{
	size_t n = m->p.floats;
	memset(o, 0, sizeof *o);
	if (n2d_arena_init(&o->memory, n2d_mul(n2d_mul(3, n), sizeof(float))))
		return -1;
	o->m = n2d_arena_floats(&o->memory, n);
	o->v = n2d_arena_floats(&o->memory, n);
	o->grads = n2d_arena_floats(&o->memory, n);
	return 0;
}

void n2d_optimiser_free(struct n2d_optimiser *o)
{
	n2d_arena_free(&o->memory);
	memset(o, 0, sizeof *o);
}

int n2d_step_batch(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_optimiser *o, struct n2d_pass *p,
		   const struct n2d_step_options *options, const struct n2d_batch *b, struct n2d_step_report *report)
{
	struct n2d_dropout_key key = {options->seed, o->passes, (float)m->c.dropout};
	if (n2d_pass_shape(p, ctx, m, b->B, b->S, b->T))
		return -1;
	n2d_transformer_forward(ctx, m, p, b, &key);
	int add = report->sentences > 0;
	n2d_transformer_loss(ctx, m, p, b, &report->sum, m->c.smoothing, 1, o->grads, add);
	n2d_transformer_backward(ctx, m, p, &key, o->grads, add);
	o->passes++;
	report->src_tokens += b->src_tokens;
	report->sentences += b->B;
	return 0;
}

/* The gradients are of the sum of the loss: Adam divides them by the tokens, and clips them, for which their norm must be known before. */
static void update(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, const struct n2d_step_options *options,
		   struct n2d_step_report *report, double scale)
{
	struct n2d_adam a = {report->rate, options->beta1, options->beta2, options->eps, scale, o->step + 1};
	double squares;
	if (options->clip > 0) {
		report->norm = scale * sqrt(n2d_square_sum(ctx, o->grads, m->p.floats));
		a.gscale *= report->norm > options->clip ? options->clip / report->norm : 1;
	}
	n2d_adam(ctx, &a, m->w, o->m, o->v, o->grads, m->p.floats, options->clip > 0 ? NULL : &squares);
	if (!(options->clip > 0))
		report->norm = scale * sqrt(squares);
	n2d_transformer_pack(ctx, m);
}

int n2d_step_end(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, const struct n2d_step_options *options,
		 struct n2d_step_report *report)
{
	n2d_trace_where(ctx, "optimiser");
	double scale = report->sum.tokens ? 1 / (double)report->sum.tokens : 0;
	report->rate = n2d_schedule_rate(&options->schedule, o->step + 1);
	if (!isfinite(report->sum.loss))
		return n2d_error("step %llu: the loss is %g", (unsigned long long)o->step + 1, report->sum.loss);
	update(ctx, m, o, options, report, scale);
	if (!isfinite(report->norm))
		return n2d_error("step %llu: the norm of the gradients is %g", (unsigned long long)o->step + 1, report->norm);
	o->step++;
	return 0;
}

int n2d_step_try(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_optimiser *o, struct n2d_pass *p,
		 const struct n2d_step_options *options, const struct n2d_batch *b)
{
	struct n2d_step_report r = {0};
	uint64_t passes = o->passes;
	int bad = n2d_step_batch(ctx, m, o, p, options, b, &r);
	o->passes = passes;
	if (bad)
		return -1;
	double squares = n2d_square_sum(ctx, m->w, m->p.floats), norm = sqrt(n2d_square_sum(ctx, o->grads, m->p.floats));
	if (!isfinite(squares))
		return n2d_error("step %llu: the squares of the weights it leaves add up to %g", (unsigned long long)o->step, squares);
	if (!isfinite(r.sum.loss))
		return n2d_error("step %llu: with the weights it leaves the loss of the next batch is %g", (unsigned long long)o->step, r.sum.loss);
	if (!isfinite(norm))
		return n2d_error("step %llu: with the weights it leaves the norm of the next batch's gradients is %g", (unsigned long long)o->step, norm);
	return 0;
}
