#include "decode/beam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/batch.h"
#include "base/error.h"
#include "base/size.h"

struct row {
	int32_t sentence, word;
	uint32_t parent; /* row of the step before */
	double logp;
};

struct candidate {
	double logp;
	uint32_t row; /* within the step */
	int32_t word;
};

struct search {
	const struct n2d_scorer *m;
	const struct n2d_beam_options *o;
	const size_t *longest;
	size_t B, width, room; /* rows at most, positions at most */
	size_t c;              /* candidates of a row */

	struct row *row, *next;
	size_t rows;
	int32_t *slots, *slots_next;   /* [width,room]: where a row's history lies */
	int32_t *words;                /* [room,width]: the word that a slot's row ended with at a position */
	int32_t *word, *sentence, *id; /* for the scorer */
	float *logp, *end;
	struct candidate *candidate; /* [beam c] */
	struct n2d_translation *done;
};

double n2d_beam_score(const struct n2d_beam_options *o, double logp, size_t length_with_end)
{
	double n = (double)length_with_end;
	return o->penalty == N2D_PENALTY_LENGTH ? logp / n : logp / pow((5 + n) / 6, o->alpha);
}

/* One may end and two are never taken: beam go on. */
size_t n2d_beam_candidates(const struct n2d_beam_options *o, size_t V) { return o->beam + 3 < V ? o->beam + 3 : V; }

/* ---- finished hypotheses */

/* The words before position `at` of a row: its history's, the last at the row itself. */
static int32_t *history(const struct search *s, size_t row, size_t at)
{
	int32_t *word = malloc((at + 1) * sizeof *word);
	for (size_t j = 1; word && j <= at; j++)
		word[j - 1] = s->words[j * s->width + (size_t)s->slots[row * s->room + j]];
	return word;
}

/* Keeps a finished hypothesis if it is among the best: later ones of equal score come behind. */
static int finish(struct search *s, size_t row, size_t at, double logp)
{
	struct n2d_translation *t = &s->done[s->row[row].sentence];
	struct n2d_hypothesis h = {.length = at, .logp = logp, .score = n2d_beam_score(s->o, logp, at + 1)};
	size_t i = t->count < s->o->nbest ? t->count : s->o->nbest - 1;
	if (t->count == s->o->nbest) {
		if (!(h.score > t->best[i].score))
			return 0;
		free(t->best[i].word);
	} else
		t->count++;
	for (; i > 0 && h.score > t->best[i - 1].score; i--)
		t->best[i] = t->best[i - 1];
	h.word = history(s, row, at);
	t->best[i] = h;
	return h.word ? 0 : n2d_error("no memory for a hypothesis of %zu words", at);
}

/* Can a hypothesis with this log P still overtake? Log P only falls; the best score it may get from it is that of the greatest or the least
 * length (the penalty is monotone). */
static int hopeful(const struct search *s, int32_t sentence, double logp, size_t at)
{
	const struct n2d_translation *t = &s->done[sentence];
	if (t->count < s->o->nbest)
		return 1;
	double late = n2d_beam_score(s->o, logp, s->longest[sentence] + 1), soon = n2d_beam_score(s->o, logp, at + 1);
	return (late > soon ? late : soon) > t->best[t->count - 1].score;
}

/* ---- one sentence's part of a step: rows [first, end) */

static int better(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->logp != y->logp)
		return x->logp < y->logp ? 1 : -1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->word < y->word ? -1 : 1;
}

/* All candidates of hypotheses of `at` words in order, or with only_end the ends; their number, or -1 and a message. */
static ptrdiff_t candidates(struct search *s, size_t first, size_t end, size_t at, int only_end)
{
	size_t n = 0;
	int early = at < s->o->least;
	for (size_t r = first; r < end; r++) {
		if (s->id[r * s->c] < 0)
			return n2d_error("the model gives probabilities that are not numbers");
		if (only_end)
			s->candidate[n++] = (struct candidate){s->row[r].logp + (double)s->end[r], (uint32_t)r, N2D_ID_END};
		for (size_t i = 0; i < s->c && !only_end; i++) {
			int32_t word = s->id[r * s->c + i];
			float logp = s->logp[r * s->c + i];
			if (word != N2D_ID_PAD && word != N2D_ID_BEGIN && !(early && word == N2D_ID_END) && logp > -INFINITY)
				s->candidate[n++] = (struct candidate){s->row[r].logp + (double)logp, (uint32_t)r, word};
		}
	}
	qsort(s->candidate, n, sizeof *s->candidate, better);
	return (ptrdiff_t)n;
}

/* at: words of the rows' hypotheses. Appends what goes on to s->next; returns the new number of rows there. */
static ptrdiff_t select_sentence(struct search *s, size_t first, size_t end, size_t at, size_t next)
{
	int32_t sentence = s->row[first].sentence;
	ptrdiff_t n = candidates(s, first, end, at, at >= s->longest[sentence]);
	size_t from = next;
	for (ptrdiff_t i = 0; i < n && next - from < s->o->beam; i++) {
		const struct candidate *c = &s->candidate[i];
		if (c->word != N2D_ID_END)
			s->next[next++] = (struct row){sentence, c->word, c->row, c->logp};
		else if (finish(s, c->row, at, c->logp))
			return -1;
	}
	if (n < 0)
		return -1;
	if (next > from && !hopeful(s, sentence, s->next[from].logp, at + 1)) /* the most probable of them */
		next = from;
	return (ptrdiff_t)next;
}

/* ---- steps */

static int score(struct search *s, size_t at)
{
	struct n2d_step step = {.rows = s->rows, .at = at, .width = s->width, .room = s->room, .slots = s->slots};
	for (size_t r = 0; r < s->rows; r++) {
		s->word[r] = s->row[r].word;
		s->sentence[r] = s->row[r].sentence;
	}
	return s->m->step(s->m->arg, &step, s->word, s->sentence, s->c, s->logp, s->id, s->end);
}

/* The rows of the next step, with their histories. */
static void descend(struct search *s, size_t rows, size_t at)
{
	for (size_t r = 0; r < rows; r++) {
		int32_t *slots = s->slots_next + r * s->room;
		memcpy(slots, s->slots + s->next[r].parent * s->room, (at + 1) * sizeof *slots);
		slots[at + 1] = (int32_t)r;
		s->words[(at + 1) * s->width + r] = s->next[r].word;
	}
	struct row *row = s->row;
	int32_t *slots = s->slots;
	s->row = s->next;
	s->slots = s->slots_next;
	s->next = row;
	s->slots_next = slots;
	s->rows = rows;
}

static int run(struct search *s)
{
	s->rows = s->B;
	for (size_t b = 0; b < s->B; b++) {
		s->row[b] = (struct row){(int32_t)b, N2D_ID_BEGIN, 0, 0};
		s->slots[b * s->room] = (int32_t)b;
	}
	for (size_t at = 0; s->rows; at++) {
		ptrdiff_t next = 0;
		if (score(s, at))
			return -1;
		for (size_t first = 0, end; first < s->rows && next >= 0; first = end) {
			for (end = first; end < s->rows && s->row[end].sentence == s->row[first].sentence; end++)
				;
			next = select_sentence(s, first, end, at, (size_t)next);
		}
		if (next < 0)
			return -1;
		descend(s, (size_t)next, at);
	}
	return 0;
}

/* ---- memory */

static void *block(size_t a, size_t b, size_t size)
{
	size_t bytes = n2d_mul(n2d_mul(a, b), size);
	return bytes == N2D_TOO_LARGE ? NULL : malloc(bytes + 1);
}

static int allocate(struct search *s)
{
	size_t W = s->width;
	s->row = block(W, 1, sizeof *s->row);
	s->next = block(W, 1, sizeof *s->next);
	s->slots = block(W, s->room, sizeof *s->slots);
	s->slots_next = block(W, s->room, sizeof *s->slots);
	s->words = block(W, s->room, sizeof *s->words);
	s->word = block(W, 1, sizeof *s->word);
	s->sentence = block(W, 1, sizeof *s->sentence);
	s->id = block(W, s->c, sizeof *s->id);
	s->logp = block(W, s->c, sizeof *s->logp);
	s->end = block(W, 1, sizeof *s->end);
	s->candidate = block(s->o->beam, s->c, sizeof *s->candidate);
	int bad = !s->row || !s->next || !s->slots || !s->slots_next || !s->words || !s->word || !s->sentence || !s->id || !s->logp || !s->end ||
		  !s->candidate;
	for (size_t b = 0; b < s->B && !bad; b++)
		bad = !(s->done[b].best = calloc(s->o->nbest, sizeof *s->done[b].best));
	return bad ? n2d_error("no memory to search %zu sentences with a beam of %zu", s->B, s->o->beam) : 0;
}

static void release(struct search *s)
{
	void *all[] = {s->row, s->next, s->slots, s->slots_next, s->words, s->word, s->sentence, s->id, s->logp, s->end, s->candidate};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

int n2d_beam_search(struct n2d_translation *translations, const struct n2d_scorer *m, const struct n2d_beam_options *o, const size_t *longest,
		    size_t B)
{
	struct search s = {.m = m, .o = o, .longest = longest, .B = B, .width = n2d_mul(B, o->beam), .done = translations};
	for (size_t b = 0; b < B; b++)
		s.room = longest[b] + 1 > s.room ? longest[b] + 1 : s.room;
	s.c = n2d_beam_candidates(o, m->V);
	memset(translations, 0, B * sizeof *translations);
	int bad = allocate(&s) || run(&s);
	release(&s);
	if (bad)
		n2d_translations_free(translations, B);
	return bad ? -1 : 0;
}

void n2d_translations_free(struct n2d_translation *translations, size_t B)
{
	for (size_t b = 0; b < B; b++) {
		for (size_t i = 0; translations[b].best && i < translations[b].count; i++)
			free(translations[b].best[i].word);
		free(translations[b].best);
	}
	memset(translations, 0, B * sizeof *translations);
}
