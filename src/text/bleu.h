/* BLEU (Papineni et al. 2002), with the numbers and the signature of sacreBLEU 2.
 *
 *	score = BP exp(1/N sum_n log p_n),  p_n = 100 correct_n / total_n,  BP = min(1, exp(1 - ref_length / hyp_length))
 *
 * over n-grams of orders 1..N: correct_n counts an n-gram of the hypothesis as often as the reference that holds it most,
 * ref_length is that of the closest reference, of two the shorter. Counts are summed over the sentences before they are divided.
 *
 *	struct n2d_bleu b;
 *	struct n2d_bleu_config c = n2d_bleu_defaults();
 *	struct n2d_bleu_counts all = {0}, one;
 *	if (n2d_bleu_open(&b, &c))
 *		return -1;
 *	for each sentence: n2d_bleu_count(&b, &one, hyp, refs, 1) or n2d_bleu_count_ids(...), then n2d_bleu_add(&all, &one)
 *	struct n2d_bleu_score s = n2d_bleu_score(&c, &all);
 *	n2d_bleu_close(&b); */
#ifndef N2D_BLEU_H
#define N2D_BLEU_H

#include <stddef.h>
#include <stdint.h>

#include "text/strings.h"
#include "text/tokenize.h"

enum { N2D_BLEU_ORDERS = 16, N2D_BLEU_TEXT = 256 };
#define N2D_SMOOTH_MOST 1e9

/* What an order without a match counts as (Chen and Cherry 2014): exp halves 1/2, 1/4, ... a match from one such order to the next;
 * floor `value` matches; add-k adds `value` to matches and total of all orders but the first; none 0. */
enum n2d_bleu_smooth { N2D_SMOOTH_EXP, N2D_SMOOTH_FLOOR, N2D_SMOOTH_ADD_K, N2D_SMOOTH_NONE };

struct n2d_bleu_config {
	struct n2d_tokenize_rules rules;
	enum n2d_bleu_smooth smooth;
	double value;        /* of floor and add-k, 0 to N2D_SMOOTH_MOST */
	int orders;          /* N, 1 to N2D_BLEU_ORDERS */
	int effective_order; /* N ends with the last order the hypothesis is long enough for; meant for single sentences */
};

struct n2d_bleu_counts {
	uint64_t hyp_length, ref_length, correct[N2D_BLEU_ORDERS], total[N2D_BLEU_ORDERS];
};

struct n2d_bleu_score {
	double score, precision[N2D_BLEU_ORDERS], bp, ratio; /* score and precisions from 0 to 100 */
};

struct n2d_bleu {
	struct n2d_bleu_config c;
	struct n2d_tokens tokens;
	struct n2d_strings words; /* of all hypotheses so far */
	struct n2d_ngrams *ngrams;
	int32_t *ids; /* [room] */
	size_t room;
};

/* 13a, exp, orders 1 to 4. */
struct n2d_bleu_config n2d_bleu_defaults(void);

/* The smoothing of this name; -1 and a message with the list. Its usual value: floor 0.1, add-k 1. */
int n2d_bleu_smooth_find(const char *name);
double n2d_bleu_smooth_value(enum n2d_bleu_smooth smooth);

/* -1 and a message: a value out of its range, utf8proc is needed and not there (n2d_tokens_open), no memory. */
int n2d_bleu_open(struct n2d_bleu *b, const struct n2d_bleu_config *c);
void n2d_bleu_close(struct n2d_bleu *b);

/* The counts of one sentence against n > 0 references. -1 and a message: no UTF-8, no memory. */
int n2d_bleu_count(struct n2d_bleu *b, struct n2d_bleu_counts *counts, struct n2d_text hyp, const struct n2d_text *refs, size_t n);

/* The same of words that are numbers already, such as a model's; the configuration's tokenizer is not used. */
struct n2d_ids {
	const int32_t *at;
	size_t length;
};
int n2d_bleu_count_ids(struct n2d_bleu *b, struct n2d_bleu_counts *counts, struct n2d_ids hyp, const struct n2d_ids *refs, size_t n);

/* *sum += *counts, all orders. */
void n2d_bleu_add(struct n2d_bleu_counts *sum, const struct n2d_bleu_counts *counts);

struct n2d_bleu_score n2d_bleu_score(const struct n2d_bleu_config *c, const struct n2d_bleu_counts *counts);

/* "71.0/47.5/34.3/24.5 (BP = 0.999 ratio = 0.999 hyp_len = 12090 ref_len = 12103)". Returns to. */
const char *n2d_bleu_verbose(char to[N2D_BLEU_TEXT], const struct n2d_bleu_config *c, const struct n2d_bleu_counts *counts);

/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:n2d-0.1.0": what a score was made with. Split hyphens are "tok:13a-atat".
 * resamples 0: there are none, else "|bs:1000|seed:12345" follows nrefs. With `brief` the names are sacreBLEU's short ones. Returns to. */
const char *n2d_bleu_signature(char to[N2D_BLEU_TEXT], const struct n2d_bleu_config *c, size_t refs, size_t resamples, uint64_t seed,
			       int brief);

#endif
