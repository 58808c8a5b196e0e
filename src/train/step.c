#include "train/step.h"

#include <math.h>

#include "base/error.h"
#include "base/threads.h"
#include "base/trace.h"
#include "op/square_sum.h"

/* Adam divides the gradients, which are of the sum of the loss, by the tokens. Its first part may be done before the norm that clips them is known, if nothing is clipped. */
static struct n2d_update update_of(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, const struct n2d_pass *p,
				   const struct n2d_step_options *options, const struct n2d_step_report *report)
{
	double scale = report->sum.tokens ? 1 / (double)report->sum.tokens : 0;
	double rate = n2d_schedule_rate(&options->schedule, o->step + 1);
	struct n2d_adam adam = {rate, options->beta1, options->beta2, options->eps, scale, o->step + 1};
	return (struct n2d_update){ctx, m, o, p, adam, !(options->clip > 0)};
}

int n2d_step_batch(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, struct n2d_pass *p,
		   const struct n2d_step_options *options, const struct n2d_batch *b, int last, struct n2d_step_report *report)
{
	struct n2d_dropout_key key = {options->seed, o->passes, (float)m->c.dropout};
	if (n2d_pass_shape(p, ctx, m, b->B, b->S, b->T))
		return -1;
	n2d_transformer_forward(ctx, m, p, b, &key);
	int add = report->sentences > 0;
	n2d_transformer_loss(ctx, m, p, b, &report->sum, m->c.smoothing, 1, o->grads, add);
	struct n2d_update update = update_of(ctx, m, o, p, options, report);
	struct n2d_beside beside = n2d_optimiser_beside(&update);
	struct n2d_ctx with = *ctx;
	if (last && update.squares && isfinite(report->sum.loss) && !ctx->trace)
		with.beside = &beside;
	n2d_transformer_backward(&with, m, p, &key, o->grads, add);
	o->passes++;
	report->src_tokens += b->src_tokens;
	report->sentences += b->B;
	return 0;
}

int n2d_step_end(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, const struct n2d_step_options *options,
		 struct n2d_step_report *report)
{
	struct n2d_update update = update_of(ctx, m, o, NULL, options, report);
	double scale = update.adam.gscale;
	n2d_trace_where(ctx, "optimiser");
	report->rate = update.adam.lr;
	if (!isfinite(report->sum.loss))
		return n2d_error("step %llu: the loss is %g", (unsigned long long)o->step + 1, report->sum.loss);
	if (options->clip > 0) {
		report->norm = scale * sqrt(n2d_square_sum(ctx, o->grads, m->p.floats));
		update.adam.gscale *= report->norm > options->clip ? options->clip / report->norm : 1;
	}
	double squares = n2d_optimiser_finish(&update);
	if (update.squares)
		report->norm = scale * sqrt(squares);
	if (!isfinite(report->norm))
		return n2d_error("step %llu: the norm of the gradients is %g", (unsigned long long)o->step + 1, report->norm);
	o->step++;
	return 0;
}

int n2d_step_try(const struct n2d_ctx *ctx, struct n2d_transformer *m, struct n2d_optimiser *o, struct n2d_pass *p,
		 const struct n2d_step_options *options, const struct n2d_batch *b)
{
	struct n2d_step_report r = {0};
	uint64_t passes = o->passes;
	int bad = n2d_step_batch(ctx, m, o, p, options, b, 0, &r);
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
