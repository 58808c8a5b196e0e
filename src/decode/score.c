#include "decode/score.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* The losses of a batch's rows to their pairs. */
static void keep(struct n2d_scores *s, const struct n2d_corpus *c, const struct n2d_batches *b, const struct n2d_batch *batch,
		 const struct n2d_pass *p)
{
	for (size_t r = 0; r < batch->B; r++) {
		size_t pair = b->row[r];
		float *token = s->token + c->start[N2D_TARGET][pair];
		const float *nll = p->row_nll + n2d_sentence_row(&p->target.s, r);
		for (int32_t j = 0; j < batch->trg_len[r]; j++) {
			token[j] = -nll[j];
			s->total[pair] += (double)token[j];
		}
	}
}

static int score_all(struct n2d_scores *s, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
		     struct n2d_batches *b, struct n2d_pass *p, float *grads)
{
	p->count_right = 1;
	for (size_t i = 0; i < b->count; i++) {
		struct n2d_batch batch;
		n2d_batches_get(b, &batch, N2D_EPOCH_SORTED, i);
		if (n2d_pass_shape(p, ctx, m, batch.B, batch.S, batch.T))
			return -1;
		n2d_transformer_forward(ctx, m, p, &batch, NULL);
		n2d_transformer_loss(ctx, m, p, &batch, &s->sum, m->c.smoothing, 1, grads, i > 0);
		if (grads)
			n2d_transformer_backward(ctx, m, p, NULL, grads, i > 0);
		keep(s, c, b, &batch, p);
	}
	return 0;
}

int n2d_score(struct n2d_scores *s, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
	      size_t batch_tokens, float *grads)
{
	struct n2d_batches b;
	struct n2d_pass p;
	struct n2d_pass_need need = {0};
	size_t most = larger(batch_tokens, larger(c->longest[N2D_SOURCE], c->longest[N2D_TARGET]));
	memset(s, 0, sizeof *s);
	if (n2d_batches_init(&b, c, most, 0, 0))
		return -1;
	int bad = -1;
	n2d_pass_need_add(&need, ctx, m, b.shape, b.count, grads != NULL);
	s->token = calloc(c->start[N2D_TARGET][c->pairs], sizeof *s->token);
	s->total = calloc(c->pairs, sizeof *s->total);
	if (!s->token || !s->total)
		n2d_error("no memory for the scores of %zu pairs", c->pairs);
	else if (!n2d_pass_init(&p, m, &need, grads != NULL)) {
		bad = score_all(s, ctx, m, c, &b, &p, grads);
		n2d_pass_free(&p);
	}
	n2d_batches_free(&b);
	if (bad)
		n2d_scores_free(s);
	return bad;
}

void n2d_scores_free(struct n2d_scores *s)
{
	free(s->token);
	free(s->total);
	memset(s, 0, sizeof *s);
}
