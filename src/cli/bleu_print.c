#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/error.h"
#include "cli/bleu.h"
#include "cli/cli.h"

static const char *signature(char to[N2D_BLEU_TEXT], const struct n2d_bleu_data *d, const struct n2d_bleu_args *a)
{
	size_t resamples = a->confidence ? a->confidence_n : a->paired ? a->paired_n : 0;
	return n2d_bleu_signature(to, &a->c, d->refs, resamples, a->seed, a->brief && !a->json);
}

/* "41.02", with a test "41.02 (μ = 41.00 ± 0.52)". */
static const char *score_text(char to[N2D_BLEU_TEXT], const struct n2d_bleu_args *a, double score, const struct n2d_bleu_test *test)
{
	int n = snprintf(to, N2D_BLEU_TEXT, "%.*f", (int)a->width, score);
	if (test && test->mean > 0)
		snprintf(to + n, N2D_BLEU_TEXT - (size_t)n, a->paired ? " (%.*f ± %.*f)" : " (μ = %.*f ± %.*f)", (int)a->width, test->mean,
			 (int)a->width, test->interval);
	return to;
}

static void print_line(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_counts *counts,
		       const struct n2d_bleu_test *test)
{
	char sign[N2D_BLEU_TEXT], score[N2D_BLEU_TEXT], verbose[N2D_BLEU_TEXT];
	score_text(score, a, n2d_bleu_score(&a->c, counts).score, test);
	if (a->score_only)
		printf("%s\n", score);
	else
		printf("BLEU|%s = %s %s\n", signature(sign, d, a), score, n2d_bleu_verbose(verbose, &a->c, counts));
}

/* ---- several systems */

/* "Baseline: NAME", "System 2". */
static void name_text(char *to, size_t size, const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, size_t i)
{
	const char *name = d->system[i].name;
	const char *role = a->paired && !i ? name ? "Baseline: " : "Baseline" : "";
	if (name)
		snprintf(to, size, "%s%s", role, name);
	else if (*role)
		snprintf(to, size, "%s", role);
	else
		snprintf(to, size, "System %zu", a->paired ? i : i + 1);
}

enum { NAME = 4200 }; /* a path and what stands before it */

static int print_table(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *tests)
{
	char name[NAME], score[N2D_BLEU_TEXT], sign[N2D_BLEU_TEXT];
	int wide = 6;
	for (size_t i = 0; i < d->n; i++) {
		name_text(name, sizeof name, d, a, i);
		wide = (int)strlen(name) > wide ? (int)strlen(name) : wide;
	}
	printf("%-*s  BLEU%s\n", wide, "System", tests ? " (μ ± 95% CI)" : "");
	for (size_t i = 0; i < d->n; i++) {
		name_text(name, sizeof name, d, a, i);
		printf("%-*s  %s", wide, name, score_text(score, a, n2d_bleu_score(&a->c, &d->system[i].all).score, tests ? &tests[i] : NULL));
		if (tests && i)
			printf(" (p = %.4f)%s", tests[i].p, tests[i].p > 0.05 ? "" : "*");
		printf("\n");
	}
	printf("\nBLEU|%s\n", signature(sign, d, a));
	return N2D_EXIT_OK;
}

/* ---- JSON */

#ifdef HAVE_JANSSON
/* Every "key:value" of the signature. */
static void add_signature(json_t *o, char *sign)
{
	char *save = NULL;
	for (char *key = strtok_r(sign, "|", &save); key; key = strtok_r(NULL, "|", &save)) {
		char *value = strchr(key, ':');
		*value++ = 0;
		json_object_set_new(o, key, json_string(value));
	}
}

/* The number as it is printed. */
static json_t *rounded(double x, int width)
{
	char text[N2D_BLEU_TEXT];
	snprintf(text, sizeof text, "%.*f", width, x);
	return json_real(strtod(text, NULL));
}

static json_t *json_one(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *test)
{
	char sign[N2D_BLEU_TEXT], text[N2D_BLEU_TEXT];
	const struct n2d_bleu_counts *counts = &d->system->all;
	json_t *o = json_pack("{s:s, s:o, s:s}", "name", "BLEU", "score", rounded(n2d_bleu_score(&a->c, counts).score, (int)a->width), "signature",
			      signature(sign, d, a));
	if (test && test->mean > 0) {
		snprintf(text, sizeof text, "μ = %.*f ± %.*f", (int)a->width, test->mean, (int)a->width, test->interval);
		json_object_set_new(o, "confidence_mean", rounded(test->mean, (int)a->width));
		json_object_set_new(o, "confidence_var", rounded(test->interval, (int)a->width));
		json_object_set_new(o, "confidence", json_string(text));
	}
	json_object_set_new(o, "verbose_score", json_string(n2d_bleu_verbose(text, &a->c, counts)));
	add_signature(o, sign);
	return o;
}

static json_t *json_many(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *tests)
{
	json_t *list = json_array();
	for (size_t i = 0; i < d->n; i++) {
		char name[NAME], score[N2D_BLEU_TEXT];
		name_text(name, sizeof name, d, a, i);
		score_text(score, a, n2d_bleu_score(&a->c, &d->system[i].all).score, NULL);
		json_t *value = tests ? json_pack("{s:f, s:o, s:f, s:f}", "score", tests[i].score, "p_value",
						  i ? json_real(tests[i].p) : json_null(), "mean", tests[i].mean, "ci", tests[i].interval)
				      : json_string(score);
		json_array_append_new(list, json_pack("{s:s, s:o}", "system", name, "BLEU", value));
	}
	return list;
}

static int print_json(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *tests)
{
	json_t *o = d->n > 1 ? json_many(d, a, tests) : json_one(d, a, tests);
	/* 15 digits: what was rounded in decimals is printed so again */
	size_t flags = JSON_REAL_PRECISION(15) | (d->n > 1 ? JSON_INDENT(4) | JSON_ENSURE_ASCII : JSON_INDENT(1));
	int bad = !o || json_dumpf(o, stdout, flags) || putchar('\n') < 0;
	json_decref(o);
	return bad ? N2D_EXIT_FAILED : N2D_EXIT_OK;
}
#else
static int print_json(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *tests)
{
	(void)d, (void)a, (void)tests;
	return n2d_usage("bleu", "--json: built without jansson (Debian: libjansson-dev; then ./configure again)");
}
#endif

int n2d_bleu_print(const struct n2d_bleu_data *d, const struct n2d_bleu_args *a, const struct n2d_bleu_test *tests)
{
	if (a->json && !(a->score_only && d->n == 1))
		return print_json(d, a, tests);
	if (d->n > 1)
		return print_table(d, a, tests);
	for (size_t i = 0; a->sentences && i < d->system->rows.n; i++) {
		struct n2d_bleu_counts one = n2d_bleu_rows_get(&d->system->rows, i);
		print_line(d, a, &one, NULL);
	}
	if (!a->sentences)
		print_line(d, a, &d->system->all, tests);
	return N2D_EXIT_OK;
}
