/* What a training step is timed on: random words in sentences of fixed lengths. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "bench/step_case.h"

/* Lengths of pair i: tiny, each of 13 to 16 with each; the others, 32. The same as bench/peers/torch_step.py. */
static void lengths(const char *preset, size_t i, size_t *s, size_t *t)
{
	int tiny = strcmp(preset, "tiny") == 0;
	*s = tiny ? 13 + i % 4 : 32;
	*t = tiny ? 13 + i / 4 % 4 : 32;
}

size_t step_pairs(const char *preset) { return strcmp(preset, "tiny") == 0 ? 282 : 16; }

struct n2d_shape step_shape(const char *preset, size_t pairs, double *tokens)
{
	struct n2d_shape shape = {.B = pairs};
	*tokens = 0;
	for (size_t i = 0; i < pairs; i++) {
		size_t s, t;
		lengths(preset, i, &s, &t);
		shape.S = s > shape.S ? s : shape.S;
		shape.T = t > shape.T ? t : shape.T;
		*tokens += (double)(s + t);
	}
	return shape;
}

static int32_t word(struct n2d_rng *r) { return N2D_IDS_SPECIAL + (int32_t)n2d_rng_below(r, STEP_VOCAB - N2D_IDS_SPECIAL); }

struct step_batch *step_batch_make(const char *preset, size_t pairs)
{
	double tokens;
	struct n2d_shape z = step_shape(preset, pairs, &tokens);
	struct step_batch *all = calloc(1, sizeof *all + pairs * (z.S + 2 * z.T + 2) * sizeof *all->ids);
	struct n2d_rng r;
	if (!all) {
		n2d_error("no memory for a batch of %zu pairs", pairs);
		return NULL;
	}
	int32_t *src = all->ids, *in = src + pairs * z.S, *out = in + pairs * z.T, *slen = out + pairs * z.T, *tlen = slen + pairs;
	all->b = (struct n2d_batch){pairs, z.S, z.T, src, in, out, slen, tlen, 0, 0};
	n2d_rng_init(&r, 1, 3);
	for (size_t b = 0; b < pairs; b++, src += z.S, in += z.T, out += z.T) {
		size_t s, t;
		lengths(preset, b, &s, &t);
		slen[b] = (int32_t)s;
		tlen[b] = (int32_t)t;
		all->b.src_tokens += s;
		all->b.trg_tokens += t;
		for (size_t i = 0; i < z.S; i++)
			src[i] = i < s ? word(&r) : N2D_ID_PAD;
		for (size_t i = 0; i < z.T; i++) {
			out[i] = i < t ? word(&r) : -1;
			in[i] = i == 0 ? N2D_ID_BEGIN : i < t ? out[i - 1] : N2D_ID_PAD;
		}
	}
	return all;
}
