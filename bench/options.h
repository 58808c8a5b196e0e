/* Reading command lines. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stddef.h>

#include "base/ctx.h"

enum { LIST_MOST = 64 };
struct size_list {
	size_t n, v[LIST_MOST];
};

/* "16,64,256", or "16..4096" (doubling), or both mixed; all >= 1, each kept once. -1 and a message naming the option. */
int parse_sizes(struct size_list *l, const char *option, const char *text);
int parse_threads(struct size_list *l, const char *text); /* the same of --threads, up to N2D_THREADS_MOST */
/* One whole number in [least, most]. */
int parse_number(size_t *v, const char *option, const char *text, size_t least, size_t most);
/* Names, "rnn,gru": -1 and a message when there is none or is_word refuses one. */
int check_list(const char *option, const char *list, int (*is_word)(const char *));
/* Is `word` in the comma-separated list? */
int in_list(const char *list, const char *word);

/* Contexts for every instruction set in `isas` ("avx2,avx512"; NULL: N2D_ISA or else all supported ones that are not
 * emulations) and every thread count, the widest set first. Returns how many, or -1 and a message. Once in a process: they stay until
 * close_contexts, because cases point to them. */
enum { CTX_MOST = 32 };
int open_contexts(const struct n2d_ctx **ctx, const char *isas, const struct size_list *threads);
void close_contexts(void);

/* What kernels and roof both take: add COMMON_OPTIONS to the long options, and call common_option for their values.
 * Returns 0, or -1 and a message; anything else is an unknown option. */
struct common_options {
	const char *isa, *csv;
	struct size_list threads;
	size_t samples;
};
#define COMMON_OPTIONS {"isa", 1, 0, 'i'}, {"threads", 1, 0, 't'}, {"samples", 1, 0, 's'}, {"csv", 1, 0, 'c'}
void common_defaults(struct common_options *o);
int common_option(struct common_options *o, int c, char **argv);

#endif
