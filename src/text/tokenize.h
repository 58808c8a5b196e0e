/* The words of a sentence, as BLEU counts them: the tokenizers of sacreBLEU 2.
 *
 *	13a    mteval-v13a: entities (&quot; &amp; &lt; &gt;) are read, "<skipped>" is left out, ASCII symbols stand alone; a period or
 *	       comma does unless digits are on both sides of it, a dash when it follows a digit
 *	intl   mteval-v14's international tokenization: punctuation (Unicode's P) stands alone unless numbers (N) are on both
 *	       sides, symbols (S) always. At the ends of the sentence is what a number would do: "2019." stays whole
 *	char   every character is a word
 *	none   words are what white space divides
 *
 * White space always divides, and is never in a word: that of Unicode, U+001C to U+001F, U+0085 and U+00A0 too.
 * Runs of punctuation come out as the original's regular expressions leave them, which replace from left to right. */
#ifndef N2D_TOKENIZE_H
#define N2D_TOKENIZE_H

#include <stddef.h>

enum n2d_tokenizer { N2D_TOKENIZE_13A, N2D_TOKENIZE_INTL, N2D_TOKENIZE_CHAR, N2D_TOKENIZE_NONE };

struct n2d_tokenize_rules {
	enum n2d_tokenizer kind;
	int lowercase;     /* first to lower case (text/lower.h) */
	int split_hyphens; /* then "rich-text" to "rich ##AT##-##AT## text", as the paper's evaluation did */
};

/* UTF-8 that is not ended by a zero byte. */
struct n2d_text {
	const char *at;
	size_t length;
};

struct n2d_tokens {
	struct n2d_text *word; /* the words, until the next n2d_tokenize */
	size_t n;

	struct n2d_tokenize_rules rules;
	unsigned char ascii[128], edge; /* classes: of characters, and of what stands before and after the sentence */
	char *text;
	size_t words, bytes; /* room for them */
};

/* The tokenizer of this name; -1 and a message with the list. */
int n2d_tokenizer_find(const char *name);
const char *n2d_tokenizer_name(enum n2d_tokenizer kind);

/* -1 and a message when the build is without utf8proc, which intl and lowercase need. */
int n2d_tokens_open(struct n2d_tokens *t, const struct n2d_tokenize_rules *rules);
void n2d_tokens_close(struct n2d_tokens *t);

/* Divides one sentence (which holds no '\n'). -1 and a message when it is no UTF-8 or there is no memory. */
int n2d_tokenize(struct n2d_tokens *t, struct n2d_text sentence);

#endif
