#include "text/bleu.h"

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "text/ngram.h"

static const struct {
	const char *name;
	int valued;
	double value;
} smooths[] = {
	[N2D_SMOOTH_EXP] = {"exp", 0, 0},
	[N2D_SMOOTH_FLOOR] = {"floor", 1, 0.1},
	[N2D_SMOOTH_ADD_K] = {"add-k", 1, 1},
	[N2D_SMOOTH_NONE] = {"none", 0, 0},
};

struct n2d_bleu_config n2d_bleu_defaults(void)
{
	return (struct n2d_bleu_config){.rules.kind = N2D_TOKENIZE_13A, .smooth = N2D_SMOOTH_EXP, .orders = 4};
}

int n2d_bleu_smooth_find(const char *name)
{
	for (int i = 0; i < (int)(sizeof smooths / sizeof *smooths); i++)
		if (strcmp(name, smooths[i].name) == 0)
			return i;
	return n2d_error("smoothing '%s' must be one of exp|floor|add-k|none", name);
}

double n2d_bleu_smooth_value(enum n2d_bleu_smooth smooth) { return smooths[smooth].value; }

/* ---- counts */

int n2d_bleu_open(struct n2d_bleu *b, const struct n2d_bleu_config *c)
{
	memset(b, 0, sizeof *b);
	if (c->orders < 1 || c->orders > N2D_BLEU_ORDERS)
		return n2d_error("BLEU: a longest n-gram of %d words: must be from 1 to %d", c->orders, N2D_BLEU_ORDERS);
	if (smooths[c->smooth].valued && !(c->value >= 0 && c->value <= N2D_SMOOTH_MOST))
		return n2d_error("BLEU: smoothing %s by %g: must be from 0 to %g", smooths[c->smooth].name, c->value, N2D_SMOOTH_MOST);
	if (n2d_tokens_open(&b->tokens, &c->rules))
		return -1;
	b->c = *c;
	b->ngrams = calloc(1, sizeof *b->ngrams);
	return b->ngrams ? 0 : n2d_error("BLEU: no memory");
}

void n2d_bleu_close(struct n2d_bleu *b)
{
	n2d_tokens_close(&b->tokens);
	n2d_strings_free(&b->words);
	if (b->ngrams)
		n2d_ngrams_free(b->ngrams);
	free(b->ngrams);
	free(b->ids);
	memset(b, 0, sizeof *b);
}

/* The first half of a sentence's counts. */
static int count_hyp(struct n2d_bleu *b, struct n2d_bleu_counts *counts, struct n2d_ids hyp)
{
	memset(counts, 0, sizeof *counts);
	counts->hyp_length = hyp.length;
	for (size_t k = 0; k < (size_t)b->c.orders && k < hyp.length; k++)
		counts->total[k] = hyp.length - k;
	return n2d_ngrams_hyp(b->ngrams, (const uint32_t *)hyp.at, hyp.length, b->c.orders);
}

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

/* Reference i: its n-grams, and its length when it is the closest so far. */
static int count_ref(struct n2d_bleu *b, struct n2d_bleu_counts *counts, struct n2d_ids ref, size_t i)
{
	uint64_t now = distance(ref.length, counts->hyp_length), best = distance(counts->ref_length, counts->hyp_length);
	if (!i || now < best || (now == best && ref.length < counts->ref_length))
		counts->ref_length = ref.length;
	return n2d_ngrams_ref(b->ngrams, (const uint32_t *)ref.at, ref.length, (uint32_t)i);
}

static int references(size_t n)
{
	return n && n < N2D_NGRAM_NONE ? 0 : n2d_error("BLEU: %zu references: must be from 1 to %u", n, N2D_NGRAM_NONE - 1);
}

int n2d_bleu_count_ids(struct n2d_bleu *b, struct n2d_bleu_counts *counts, struct n2d_ids hyp, const struct n2d_ids *refs, size_t n)
{
	if (references(n) || count_hyp(b, counts, hyp))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (count_ref(b, counts, refs[i], i))
			return -1;
	n2d_ngrams_correct(b->ngrams, counts->correct);
	return 0;
}

/* The words of a sentence as numbers in b->ids; those that no hypothesis has are N2D_NO_STRING. */
static int number(struct n2d_bleu *b, struct n2d_ids *ids, struct n2d_text sentence, int hypothesis)
{
	struct n2d_tokens *t = &b->tokens;
	if (n2d_tokenize(t, sentence))
		return -1;
	int32_t *to = n2d_grow(b->ids, &b->room, t->n, sizeof *to);
	if (t->n && !to)
		return -1;
	b->ids = to;
	for (size_t i = 0; i < t->n; i++) {
		struct n2d_text w = t->word[i];
		uint32_t n = hypothesis ? n2d_strings_add(&b->words, w.at, w.length) : n2d_strings_find(&b->words, w.at, w.length);
		if (hypothesis && n == N2D_NO_STRING)
			return -1;
		to[i] = (int32_t)n;
	}
	*ids = (struct n2d_ids){to, t->n};
	return 0;
}

int n2d_bleu_count(struct n2d_bleu *b, struct n2d_bleu_counts *counts, struct n2d_text hyp, const struct n2d_text *refs, size_t n)
{
	struct n2d_ids ids;
	if (references(n) || number(b, &ids, hyp, 1) || count_hyp(b, counts, ids))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (number(b, &ids, refs[i], 0) || count_ref(b, counts, ids, i))
			return -1;
	n2d_ngrams_correct(b->ngrams, counts->correct);
	return 0;
}

void n2d_bleu_add(struct n2d_bleu_counts *sum, const struct n2d_bleu_counts *counts)
{
	sum->hyp_length += counts->hyp_length;
	sum->ref_length += counts->ref_length;
	for (int k = 0; k < N2D_BLEU_ORDERS; k++) {
		sum->correct[k] += counts->correct[k];
		sum->total[k] += counts->total[k];
	}
}

/* ---- the score */

/* Fills the precisions and returns the number of orders that are averaged. */
static int precisions(double *precision, const struct n2d_bleu_config *c, const struct n2d_bleu_counts *counts)
{
	int orders = c->orders;
	double smaller = 1;
	for (int k = 0; k < c->orders; k++) {
		double more = c->smooth == N2D_SMOOTH_ADD_K && k ? c->value : 0;
		double correct = (double)counts->correct[k] + more, total = (double)counts->total[k] + more;
		if (total == 0)
			break;
		if (c->effective_order)
			orders = k + 1;
		if (correct != 0)
			precision[k] = 100 * correct / total;
		else if (c->smooth == N2D_SMOOTH_EXP)
			precision[k] = 100 / ((smaller *= 2) * total);
		else if (c->smooth == N2D_SMOOTH_FLOOR)
			precision[k] = 100 * c->value / total;
	}
	return orders;
}

struct n2d_bleu_score n2d_bleu_score(const struct n2d_bleu_config *c, const struct n2d_bleu_counts *counts)
{
	struct n2d_bleu_score s = {.bp = 1};
	double hyp = (double)counts->hyp_length, ref = (double)counts->ref_length, sum = 0;
	uint64_t matches = 0;
	if (hyp < ref)
		s.bp = hyp > 0 ? exp(1 - ref / hyp) : 0;
	s.ratio = ref > 0 ? hyp / ref : 0;
	for (int k = 0; k < c->orders; k++)
		matches |= counts->correct[k];
	if (!matches) /* smoothing would give a score to what has nothing right */
		return s;
	int orders = precisions(s.precision, c, counts);
	for (int k = 0; k < orders; k++)
		sum += log(s.precision[k]); /* of 0: the score is 0 */
	s.score = s.bp * exp(sum / orders);
	return s;
}

const char *n2d_bleu_verbose(char to[N2D_BLEU_TEXT], const struct n2d_bleu_config *c, const struct n2d_bleu_counts *counts)
{
	struct n2d_bleu_score s = n2d_bleu_score(c, counts);
	int n = 0;
	for (int k = 0; k < c->orders; k++)
		n += snprintf(to + n, N2D_BLEU_TEXT - (size_t)n, "%s%.1f", k ? "/" : "", s.precision[k]);
	snprintf(to + n, N2D_BLEU_TEXT - (size_t)n, " (BP = %.3f ratio = %.3f hyp_len = %llu ref_len = %llu)", s.bp, s.ratio,
		 (unsigned long long)counts->hyp_length, (unsigned long long)counts->ref_length);
	return to;
}

const char *n2d_bleu_signature(char to[N2D_BLEU_TEXT], const struct n2d_bleu_config *c, size_t refs, size_t resamples, uint64_t seed,
			       int brief)
{
	static const char *const names[2][7] = {{"nrefs", "bs", "seed", "case", "eff", "tok", "smooth"}, {"#", "bs", "rs", "c", "e", "tok", "s"}};
	const char *const *name = names[brief != 0];
	char drawn[64] = "", value[32] = "";
	if (resamples)
		snprintf(drawn, sizeof drawn, "%s:%zu|%s:%llu|", name[1], resamples, name[2], (unsigned long long)seed);
	if (smooths[c->smooth].valued)
		snprintf(value, sizeof value, "[%.2f]", c->value);
	snprintf(to, N2D_BLEU_TEXT, "%s:%zu|%s%s:%s|%s:%s|%s:%s%s|%s:%s%s|%s:n2d-%s", name[0], refs, drawn, name[3],
		 c->rules.lowercase ? "lc" : "mixed", name[4], c->effective_order ? "yes" : "no", name[5], n2d_tokenizer_name(c->rules.kind),
		 c->rules.split_hyphens ? "-atat" : "", name[6], smooths[c->smooth].name, value, brief ? "v" : "version", PACKAGE_VERSION);
	return to;
}
