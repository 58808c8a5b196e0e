/* Options: fields of a struct that are set from text. One table describes them; command lines, help texts and the metadata of
 * files come from it. */
#ifndef N2D_OPTION_H
#define N2D_OPTION_H

#include <stddef.h>

enum n2d_option_kind {
	N2D_OPTION_CHOICE, /* one of the names in `choices`, divided by '|'; an int, the name's index */
	N2D_OPTION_SIZE,   /* a whole number from min to max; a size_t */
	N2D_OPTION_REAL,   /* a number from min to below max; a double */
	N2D_OPTION_BOTH,   /* sets two size_t that lie side by side and have options of their own; has no value itself */
};

struct n2d_option {
	const char *name; /* "d-model", on command lines "--d-model" */
	enum n2d_option_kind kind;
	size_t offset;       /* in the struct */
	const char *choices; /* also what 0 of a size is called, as "auto"; NULL: a number only. Where 0 reads as something else ("--max-steps 0"), min is 1 */
	double min, max;
	const char *help;
};

struct n2d_option_table {
	const struct n2d_option *list;
	size_t count;
};

/* NULL when there is none of this name. */
const struct n2d_option *n2d_option_find(const struct n2d_option_table *t, const char *name);

/* Sets an option of the struct at `to` from text. -1 and a message naming the option and what was expected. */
int n2d_option_set(void *to, const struct n2d_option *o, const char *value);

/* The option's value as text that n2d_option_set takes, in buffer (also returned): reading back gives the same bits. */
enum { N2D_OPTION_TEXT = 32 };
const char *n2d_option_get(const void *from, const struct n2d_option *o, char buffer[N2D_OPTION_TEXT]);

#endif
