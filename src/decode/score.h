/* Teacher-forced log-probabilities of sentence pairs. */
#ifndef N2D_SCORE_H
#define N2D_SCORE_H

#include "model/transformer.h"
#include "text/batches.h"

struct n2d_scores {
	/* Of pair i and its target's token j, the end among them: log P, nats, at token[start[i] + j]; start is the corpus'. */
	float *token;
	double *total;           /* [pairs]: their sums */
	struct n2d_loss_sum sum; /* of all pairs, with the model's smoothing */
};

/* All pairs, without dropout, in batches of at most batch_tokens padded tokens a side or of the longest sentence. grads (the layout of
 * the model's parameters, or NULL) += the gradients of sum.loss. -1 and a message. */
int n2d_score(struct n2d_scores *s, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_corpus *c,
	      size_t batch_tokens, float *grads);
void n2d_scores_free(struct n2d_scores *s);

#endif
