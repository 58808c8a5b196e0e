#include "bench/options.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/threads.h"

static const size_t SIZE_MOST = (size_t)1 << 40;

static int number(const char **s, size_t *v)
{
	char *end;
	if (!isdigit((unsigned char)**s))
		return -1;
	unsigned long long x = strtoull(*s, &end, 10);
	if (x > SIZE_MOST)
		return -1;
	*s = end;
	*v = (size_t)x;
	return 0;
}

static int has_size(const struct size_list *l, size_t v)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == v)
			return 1;
	return 0;
}

/* 1: a number is none, or out of its range, and the caller says what was expected; -1 and a message. */
static int parse_list(struct size_list *l, const char *option, const char *text, size_t most)
{
	const char *s = text;
	l->n = 0;
	for (;;) {
		size_t a, b;
		if (number(&s, &a) || a < 1 || a > most)
			return 1;
		b = a;
		if (strncmp(s, "..", 2) == 0) {
			s += 2;
			if (number(&s, &b) || b < a || b > most)
				return 1;
		}
		for (; a <= b; a *= 2) {
			if (has_size(l, a))
				continue;
			if (l->n == LIST_MOST)
				return n2d_error("%s: '%s', expected at most %d sizes", option, text, LIST_MOST);
			l->v[l->n++] = a;
		}
		if (!*s)
			return 0;
		if (*s++ != ',')
			return 1;
	}
}

int parse_sizes(struct size_list *l, const char *option, const char *text)
{
	int bad = parse_list(l, option, text, SIZE_MOST);
	return bad > 0 ? n2d_error("%s: '%s', expected sizes from 1 to %zu, as in 16,64 or 16..4096", option, text, SIZE_MOST) : bad;
}

int parse_threads(struct size_list *l, const char *text)
{
	int bad = parse_list(l, "--threads", text, N2D_THREADS_MOST);
	return bad > 0 ? n2d_error("--threads: '%s', expected numbers of threads from 1 to %d, as in 1,2 or 1..8", text, N2D_THREADS_MOST) : bad;
}

int parse_number(size_t *v, const char *option, const char *text, size_t least, size_t most)
{
	const char *s = text;
	if (number(&s, v) || *s || *v < least || *v > most)
		return n2d_error("%s: '%s', expected a number from %zu to %zu", option, text, least, most);
	return 0;
}

int in_list(const char *list, const char *word)
{
	size_t len = strlen(word);
	for (const char *s = list; s; s = strchr(s, ','), s = s ? s + 1 : s)
		if (strncmp(s, word, len) == 0 && (s[len] == ',' || !s[len]))
			return 1;
	return 0;
}

int check_list(const char *option, const char *list, int (*is_word)(const char *))
{
	char word[64];
	if (!*list)
		return n2d_error("%s: '', expected names", option);
	for (const char *s = list; *s;) {
		size_t len = strcspn(s, ",");
		snprintf(word, sizeof word, "%.*s", (int)len, s);
		if (!is_word(word))
			return n2d_error("%s: unknown '%s'", option, word);
		s += len + (s[len] == ',');
	}
	return 0;
}

/* Every word of the list must be a usable instruction set: n2d_ctx_init tells what is wrong, and with what: a name that is
 * all of N2D_ISA it takes from there. */
static int check_names(const char *isas, int from_environment)
{
	char word[32];
	if (isas && !*isas)
		return n2d_error("--isa: '', expected names of instruction sets");
	for (const char *s = isas; s && *s;) {
		size_t len = strcspn(s, ",");
		struct n2d_ctx ctx;
		snprintf(word, sizeof word, "%.*s", (int)len, s);
		if (n2d_ctx_init(&ctx, from_environment && strcmp(word, isas) == 0 ? NULL : word, 1))
			return -1;
		n2d_ctx_free(&ctx);
		s += len + (s[len] == ',');
	}
	return 0;
}

static struct {
	struct n2d_ctx ctx[CTX_MOST];
	int n;
} opened;

void close_contexts(void)
{
	while (opened.n)
		n2d_ctx_free(opened.ctx + --opened.n);
}

int open_contexts(const struct n2d_ctx **ctx, const char *isas, const struct size_list *threads)
{
	const char *env = getenv("N2D_ISA");
	size_t rows;
	int from_environment = !isas && env && *env;
	if (from_environment)
		isas = env;
	if (check_names(isas, from_environment))
		return -1;
	const struct n2d_isa *isa = n2d_isa_all(&rows);
	for (size_t i = rows; i-- > 0;) { /* the widest first */
		if (!isa[i].k || !isa[i].supported || (isas ? !in_list(isas, isa[i].name) : isa[i].rank < 0))
			continue;
		for (size_t t = 0; t < threads->n; t++) {
			if (opened.n == CTX_MOST)
				return n2d_error("--isa, --threads: expected at most %d pairs of the two", CTX_MOST);
			if (n2d_ctx_init(opened.ctx + opened.n, isa[i].name, threads->v[t] < INT_MAX ? (int)threads->v[t] : INT_MAX))
				return -1;
			opened.n++;
		}
	}
	*ctx = opened.ctx;
	return opened.n;
}

void common_defaults(struct common_options *o)
{
	size_t all = (size_t)n2d_threads_default();
	*o = (struct common_options){.threads = {all > 1 ? 2 : 1, {1, all}}, .samples = 10};
}

int common_option(struct common_options *o, int c, char **argv)
{
	switch (c) {
	case 'i': o->isa = optarg; return 0;
	case 't': return parse_threads(&o->threads, optarg);
	case 's': return parse_number(&o->samples, "--samples", optarg, 1, 100000);
	case 'c': return n2d_out_try(o->csv = optarg);
	default: return n2d_error("unknown option or missing value: %s", argv[optind - 1]);
	}
}
