#include "text/tokenize.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_UTF8PROC
#include <utf8proc.h>

#include "text/lower.h"
#endif

#include "base/error.h"
#include "base/grow.h"
#include "base/size.h"
#include "text/utf8.h"

/* What a character does. All tokenizers are one automaton over these: none has letters alone, char symbols alone. */
enum class {
	LETTER, /* goes on with the word */
	SPACE,
	NUMBER, /* a letter that punctuation looks at */
	MARK,   /* punctuation */
	DASH,   /* a letter, but alone after a number */
	SYMBOL, /* stands alone */
};

static const char *const names[] = {"13a", "intl", "char", "none"};

int n2d_tokenizer_find(const char *name)
{
	for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return n2d_error("tokenizer '%s' must be one of 13a|intl|char|none", name);
}

const char *n2d_tokenizer_name(enum n2d_tokenizer kind) { return names[kind]; }

/* ---- classes */

static int is_space(uint32_t c)
{
	return (c >= 9 && c <= 13) || (c >= 0x1c && c <= ' ') || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	       c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static enum class class_13a(uint32_t c)
{
	if (c >= '0' && c <= '9')
		return NUMBER;
	if (c == '.' || c == ',')
		return MARK;
	if (c == '-')
		return DASH;
	int apart = (c > ' ' && c <= '&') || (c >= '(' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
		    (c >= '{' && c <= '~'); /* all ASCII symbols but the apostrophe */
	return apart ? SYMBOL : LETTER;
}

static enum class class_intl(uint32_t c)
{
#ifdef HAVE_UTF8PROC
	switch (*utf8proc_category_string((utf8proc_int32_t)c)) {
	case 'N': return NUMBER;
	case 'P': return MARK;
	case 'S': return SYMBOL;
	default: break;
	}
#else
	(void)c; /* n2d_tokens_open has refused */
#endif
	return LETTER;
}

static enum class class_of(enum n2d_tokenizer kind, uint32_t c)
{
	if (is_space(c))
		return SPACE;
	switch (kind) {
	case N2D_TOKENIZE_13A: return class_13a(c);
	case N2D_TOKENIZE_INTL: return class_intl(c);
	case N2D_TOKENIZE_CHAR: return SYMBOL;
	default: return LETTER;
	}
}

/* The class of the character at s. */
static enum class class_at(const struct n2d_tokens *t, const char *s)
{
	unsigned char c = (unsigned char)*s;
	return c < 0x80 ? (enum class)t->ascii[c] : class_of(t->rules.kind, n2d_utf8_code(s));
}

int n2d_tokens_open(struct n2d_tokens *t, const struct n2d_tokenize_rules *rules)
{
	memset(t, 0, sizeof *t);
#ifndef HAVE_UTF8PROC
	if (rules->kind == N2D_TOKENIZE_INTL || rules->lowercase)
		return n2d_error("%s: built without utf8proc (Debian: libutf8proc-dev; then ./configure again)",
				 rules->lowercase ? "lower case" : "tokenizer intl");
#endif
	t->rules = *rules;
	t->edge = rules->kind == N2D_TOKENIZE_INTL ? NUMBER : SPACE;
	for (uint32_t c = 0; c < 128; c++)
		t->ascii[c] = (unsigned char)class_of(rules->kind, c);
	return 0;
}

void n2d_tokens_close(struct n2d_tokens *t)
{
	free(t->word);
	free(t->text);
	memset(t, 0, sizeof *t);
}

/* ---- the text, before it is divided */

/* Replaces every `what` in text[0..n) from left to right; `by` is not longer. Returns the new length. */
static size_t replace(char *text, size_t n, const char *what, const char *by)
{
	size_t to = 0, length = strlen(what), shorter = strlen(by);
	const char *from = text, *end = text + n;
	for (const char *hit = from; (hit = memchr(hit, *what, (size_t)(end - hit)));) {
		if ((size_t)(end - hit) < length || memcmp(hit, what, length) != 0) {
			hit++;
			continue;
		}
		size_t before = (size_t)(hit - from);
		memmove(text + to, from, before);
		memcpy(text + to + before, by, shorter);
		to += before + shorter;
		from = hit += length;
	}
	memmove(text + to, from, (size_t)(end - from));
	return to + (size_t)(end - from);
}

/* Each kind is read once, one after the other: "&amp;lt;" ends as "<", "&amp;quot;" as "&quot;". */
static size_t read_entities(char *text, size_t n)
{
	n = replace(text, n, "<skipped>", "");
	if (memchr(text, '&', n)) {
		n = replace(text, n, "&quot;", "\"");
		n = replace(text, n, "&amp;", "&");
		n = replace(text, n, "&lt;", "<");
		n = replace(text, n, "&gt;", ">");
	}
	return n;
}

/* The length without the white space at the end. */
static size_t trim(const struct n2d_tokens *t, size_t n)
{
	while (n) {
		size_t last = n2d_utf8_before(t->text, n);
		if (class_at(t, t->text + last) != SPACE)
			break;
		n = last;
	}
	return n;
}

/* ---- words */

static void push(struct n2d_tokens *t, const char *from, const char *to) { t->word[t->n++] = (struct n2d_text){from, (size_t)(to - from)}; }

/* A word: with split_hyphens a hyphen between two bytes becomes a word of its own; the byte after it is not the one
 * before the next ("a-b-c" is divided once). The paper's evaluation worked on bytes, so does this. */
static void word(struct n2d_tokens *t, const char *from, const char *to)
{
	static const char hyphen[] = "##AT##-##AT##";
	if (from == to)
		return;
	for (const char *s = from + 1; t->rules.split_hyphens && s + 1 < to; s++)
		if (*s == '-') {
			push(t, from, s);
			push(t, hyphen, hyphen + sizeof hyphen - 1);
			from = s + 1;
			s += 2;
		}
	push(t, from, to);
}

/* A run of punctuation at s, after a character of class before; `start` of the word it may go on with. Moves *s behind
 * the run; returns the start of the word that goes on there.
 *
 * The original replaces pairs: first (not a number, mark), then (mark, not a number), each mark once. Of a run of several
 * the marks come apart; what stays is a single one between numbers, and the last one of a run whose pairs leave it over. */
static const char *marks(struct n2d_tokens *t, const char **s, const char *end, const char *start, enum class before)
{
	const char *at = *s, *last = at;
	size_t n = 0;
	for (; at < end && class_at(t, at) == MARK; at += n2d_utf8_bytes(at), n++)
		last = at;
	enum class after = at < end ? class_at(t, at) : (enum class)t->edge;
	int left_over = after == NUMBER && (n % 2 == 1) == (before == NUMBER);
	const char *first = *s;
	*s = at;
	if (n == 1 && before == NUMBER && left_over)
		return start;
	word(t, start, first);
	for (const char *next; first < at; first = next) {
		next = first + n2d_utf8_bytes(first);
		if (first == last && left_over)
			return first;
		push(t, first, next);
	}
	return at;
}

static void divide(struct n2d_tokens *t, const char *s, const char *end)
{
	const char *start = s;
	enum class before = (enum class)t->edge;
	while (s < end) {
		enum class c = class_at(t, s);
		const char *next = s + n2d_utf8_bytes(s);
		if (c == MARK)
			start = marks(t, &s, end, start, before);
		else if (c == SPACE || c == SYMBOL || (c == DASH && before == NUMBER)) {
			word(t, start, s);
			if (c != SPACE)
				push(t, s, next);
			s = start = next;
		} else
			s = next;
		before = c;
	}
	word(t, start, end);
}

/* Room for n > 0 bytes and as many words: no rule makes more, "a-b" is three. */
static int reserve(struct n2d_tokens *t, size_t n)
{
	char *text = n2d_grow(t->text, &t->bytes, n, 1);
	if (!text)
		return -1;
	t->text = text;
	struct n2d_text *word = n2d_grow(t->word, &t->words, n, sizeof *word);
	if (!word)
		return -1;
	t->word = word;
	return 0;
}

int n2d_tokenize(struct n2d_tokens *t, struct n2d_text sentence)
{
	size_t n = sentence.length, valid = n2d_utf8_valid(sentence.at, n);
	t->n = 0;
	if (valid < n)
		return n2d_error("no UTF-8: byte %zu of the sentence is %#x", valid + 1, (unsigned char)sentence.at[valid]);
	if (!n)
		return 0;
	if (reserve(t, n2d_add(n, n / 2))) /* n2d_lower_room */
		return -1;
#ifdef HAVE_UTF8PROC
	if (t->rules.lowercase)
		n = n2d_lower(t->text, sentence.at, n);
	else
#endif
		memcpy(t->text, sentence.at, n);
	n = trim(t, n);
	if (t->rules.kind == N2D_TOKENIZE_13A)
		n = read_entities(t->text, n);
	divide(t, t->text, t->text + n);
	return 0;
}
