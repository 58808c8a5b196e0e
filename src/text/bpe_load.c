/* Loading codes, vocabulary and glossaries. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "text/bpe.h"
#include "text/utf8.h"

enum { GLOSSARIES = 1000 }; /* a level of recursion each */

static const char version[] = "#version: 0.2";

static void pair_of(const struct n2d_bpe *b, uint32_t rank, uint32_t symbols[2])
{
	size_t bytes;
	memcpy(symbols, n2d_strings_get(&b->pairs, rank, &bytes), 2 * sizeof *symbols);
}

/* ---- codes */

struct codes {
	struct n2d_lines lines;
	const char *text; /* the line: where lines were ended by "\r\n", without '\r' */
	size_t bytes;
	int returns;
	size_t *last, last_room; /* the last line of a pair, by rank: it may come again */
};

static int next_line(struct codes *c)
{
	int more = n2d_lines_next(&c->lines);
	if (more <= 0 || n2d_lines_utf8(&c->lines))
		return more <= 0 ? more : -1;
	c->text = c->lines.text;
	c->bytes = c->lines.length;
	if (c->lines.number == 1)
		c->returns = c->bytes && c->text[c->bytes - 1] == '\r';
	if (c->returns && c->bytes && c->text[c->bytes - 1] == '\r')
		c->bytes--;
	return 1;
}

static int read_version(struct codes *c)
{
	int more = next_line(c);
	if (more > 0 && c->bytes == sizeof version - 1 && memcmp(c->text, version, c->bytes) == 0)
		return 0;
	return more < 0 ? -1 : n2d_error("%s:1: expected '%s', the first line of a codes file", c->lines.name, version);
}

/* The line's pair, the next rank if it is new. */
static int add_pair(struct n2d_bpe *b, struct codes *c)
{
	const char *end = c->text + c->bytes, *space = memchr(c->text, ' ', c->bytes);
	uint32_t pair[2], known = b->pairs.n, rank, *merged;
	if (!space || space == c->text || space + 1 == end || memchr(space + 1, ' ', (size_t)(end - space - 1)))
		return n2d_lines_error(&c->lines, "expected two symbols divided by one space");
	pair[0] = n2d_strings_add(&b->symbols, c->text, (size_t)(space - c->text));
	pair[1] = n2d_strings_add(&b->symbols, space + 1, (size_t)(end - space - 1));
	if (pair[0] == N2D_NO_STRING || pair[1] == N2D_NO_STRING)
		return -1;
	rank = n2d_strings_add(&b->pairs, (const char *)pair, sizeof pair);
	size_t *last = rank == N2D_NO_STRING ? NULL : n2d_grow(c->last, &c->last_room, b->pairs.n, sizeof *last);
	if (!last)
		return -1;
	c->last = last;
	last[rank] = c->lines.number;
	if (rank != known)
		return 0;
	if (!(merged = n2d_grow(b->merged, &b->merged_room, b->pairs.n, sizeof *merged)))
		return -1;
	b->merged = merged;
	merged[rank] = n2d_strings_join(&b->symbols, pair[0], pair[1]);
	return merged[rank] == N2D_NO_STRING ? -1 : 0;
}

static int read_pairs(struct n2d_bpe *b, struct codes *c, size_t merges)
{
	int more = 0, empty = 0;
	for (size_t i = 0; (!merges || i < merges) && (more = next_line(c)) > 0; i++) {
		if (c->bytes && empty)
			return n2d_lines_error(&c->lines, "there is more after an empty line");
		empty = !c->bytes;
		if (!empty && add_pair(b, c))
			return -1;
	}
	return more < 0 ? -1 : 0;
}

/* What each symbol is taken apart into, if need be: of several pairs with its text, the one whose last line is the first. */
static int find_splits(struct n2d_bpe *b, const size_t *last)
{
	b->symbol = malloc((b->symbols.n + (size_t)1) * sizeof *b->symbol);
	if (!b->symbol)
		return n2d_error("no memory for %u symbols", b->symbols.n);
	for (uint32_t i = 0; i < b->symbols.n; i++)
		b->symbol[i] = (struct n2d_bpe_symbol){N2D_NO_STRING, 1, 1};
	for (uint32_t rank = 0; rank < b->pairs.n; rank++) {
		uint32_t *split = &b->symbol[b->merged[rank]].split;
		if (*split == N2D_NO_STRING || last[rank] < last[*split])
			*split = rank;
	}
	return 0;
}

/* From the text, or if it is NULL from the file of this name. */
static int load_codes(struct n2d_bpe *b, const char *name, const char *text, size_t merges)
{
	struct codes c = {0};
	int bad = (text ? n2d_lines_text(&c.lines, name, text) : n2d_lines_open(&c.lines, name)) || read_version(&c) || read_pairs(b, &c, merges) || find_splits(b, c.last);
	n2d_lines_close(&c.lines);
	free(c.last);
	return bad ? -1 : 0;
}

/* ---- vocabulary */

static int read_vocabulary(struct n2d_strings *pieces, struct n2d_lines *l, size_t threshold)
{
	int more;
	while ((more = n2d_lines_next(l)) > 0) {
		size_t bytes;
		uint64_t count;
		const char *piece = n2d_words_entry(l, &bytes, &count);
		if (!piece || (count >= threshold && n2d_strings_add(pieces, piece, bytes) == N2D_NO_STRING))
			return -1;
	}
	if (more == 0 && !pieces->n)
		return n2d_error("%s: no piece in it has a count of %zu or more", l->name, threshold);
	return more;
}

/* The bytes of a symbol's text when it ends a word; 0 when it does not. */
static size_t end_of_word(const struct n2d_bpe *b, uint32_t symbol)
{
	size_t n;
	const char *text = n2d_strings_get(&b->symbols, symbol, &n);
	return n > 4 && memcmp(text + n - 4, "</w>", 4) == 0 ? n - 4 : 0;
}

/* A symbol that can be taken apart stays whole where it is written as a piece of the vocabulary. */
static int mark_symbols(struct n2d_bpe *b, const struct n2d_strings *pieces)
{
	size_t room = 0, n, mark = b->separator_bytes - 1;
	char *piece = NULL;
	for (uint32_t i = 0; i < b->symbols.n; i++) {
		const char *text = n2d_strings_get(&b->symbols, i, &n);
		uint32_t pair[2];
		if (b->symbol[i].split == N2D_NO_STRING)
			continue;
		char *wider = n2d_grow(piece, &room, n + mark, 1);
		if (!wider) {
			free(piece);
			return -1;
		}
		piece = wider;
		memcpy(piece, text, n);
		memcpy(piece + n, b->separator, mark);
		b->symbol[i].inside = n2d_strings_find(pieces, piece, n + mark) != N2D_NO_STRING;
		pair_of(b, b->symbol[i].split, pair);
		if (end_of_word(b, i) && end_of_word(b, pair[1])) /* else a piece would hold a part of "</w>" */
			b->symbol[i].at_end = n2d_strings_find(pieces, text, end_of_word(b, i)) != N2D_NO_STRING;
	}
	free(piece);
	return 0;
}

static int load_vocabulary(struct n2d_bpe *b, const char *path, size_t threshold)
{
	struct n2d_strings pieces = {0};
	struct n2d_lines l;
	int bad = n2d_lines_open(&l, path) || read_vocabulary(&pieces, &l, threshold) || mark_symbols(b, &pieces);
	n2d_lines_close(&l);
	n2d_strings_free(&pieces);
	return bad ? -1 : 0;
}

/* ---- glossaries */

/* subword-nmt takes regular expressions. What is more than a string in one is refused rather than taken for another thing; a
 * backslash before punctuation says that a string is meant. */
static int add_glossary(struct n2d_bpe *b, const char *text)
{
	size_t n = 0, all = strlen(text), mark = b->separator_bytes - 1;
	char *plain = malloc(all + 1);
	int bad = !plain || !*text || n2d_utf8_valid(text, all) < all || strpbrk(text, " \n");
	for (const char *c = text; !bad && *c; c++) {
		if (*c == '\\' && c[1] && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c[1]))
			c++;
		else if (strchr(".^$*+?{[|()\\", *c))
			bad = 1;
		plain[n++] = *c;
	}
	if (bad)
		n2d_error("glossary '%s': expected a string without spaces; a backslash must go before each of .^$*+?{[|()\\", text);
	else if (n >= mark && memcmp(plain + n - mark, b->separator, mark) == 0)
		bad = n2d_error("glossary '%s' ends in the separator", text);
	else
		bad = n2d_strings_add(&b->glossaries, plain, n) == N2D_NO_STRING;
	free(plain);
	return bad ? -1 : 0;
}

static int set_separator(struct n2d_bpe *b, const char *separator)
{
	size_t n = strlen(separator);
	if (!n || strpbrk(separator, " \r\n") || n2d_utf8_valid(separator, n) < n)
		return n2d_error("separator '%s': expected characters without spaces", separator);
	if (!(b->separator = malloc(n + 2)))
		return n2d_error("no memory for the separator");
	memcpy(b->separator, separator, n);
	memcpy(b->separator + n, " ", 2);
	b->separator_bytes = n + 1;
	return 0;
}

static int load(struct n2d_bpe *b, const char *name, const char *text, const struct n2d_bpe_options *o)
{
	memset(b, 0, sizeof *b);
	int bad = set_separator(b, o->separator ? o->separator : N2D_BPE_SEPARATOR) || load_codes(b, name, text, o->merges) ||
		  (o->vocabulary && load_vocabulary(b, o->vocabulary, o->threshold));
	if (!bad && o->glossaries_n > GLOSSARIES)
		bad = n2d_error("%zu glossaries: at most %d", o->glossaries_n, GLOSSARIES);
	for (size_t i = 0; !bad && i < o->glossaries_n; i++)
		bad = add_glossary(b, o->glossaries[i]);
	if (bad)
		n2d_bpe_free(b);
	return bad ? -1 : 0;
}

int n2d_bpe_load(struct n2d_bpe *b, const char *path, const struct n2d_bpe_options *o) { return load(b, path, NULL, o); }

int n2d_bpe_parse(struct n2d_bpe *b, const char *name, const char *text, const struct n2d_bpe_options *o) { return load(b, name, text, o); }

void n2d_bpe_free(struct n2d_bpe *b)
{
	n2d_strings_free(&b->symbols);
	n2d_strings_free(&b->pairs);
	n2d_strings_free(&b->glossaries);
	free(b->merged);
	free(b->symbol);
	free(b->separator);
	memset(b, 0, sizeof *b);
}
