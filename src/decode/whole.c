#include "decode/whole.h"

#include <string.h>

#include "model/plan.h"

/* Returns the floats; lays them out when base is there. */
static size_t lay(struct n2d_whole *w, float *base)
{
	struct n2d_cursor c = {base, 0};
	w->words = (int32_t *)n2d_take(&c, n2d_mul(w->room, w->width));
	w->in = (int32_t *)n2d_take(&c, n2d_mul(w->room, w->width));
	w->row_memory_len = (int32_t *)n2d_take(&c, w->width);
	w->row_len = (int32_t *)n2d_take(&c, w->width);
	w->out = n2d_take(&c, n2d_mul(w->width, w->m->c.d_model));
	return c.used;
}

size_t n2d_whole_bytes(const struct n2d_ctx *ctx, const struct n2d_transformer *m, struct n2d_pass_need *need, size_t S, size_t width,
		       size_t room)
{
	struct n2d_whole w = {.m = m, .S = S, .width = width, .room = room};
	n2d_pass_need_add(need, ctx, m, &(struct n2d_shape){width, S, room}, 1, 0);
	return n2d_mul(lay(&w, NULL), sizeof(float));
}

int n2d_whole_init(struct n2d_whole *w, const struct n2d_ctx *ctx, const struct n2d_transformer *m, const struct n2d_pass_need *need,
		   size_t bytes)
{
	*w = (struct n2d_whole){.ctx = ctx, .m = m};
	if (n2d_pass_init(&w->pass, m, need, 0))
		return -1;
	if (!n2d_arena_init(&w->arena, bytes))
		return 0;
	n2d_pass_free(&w->pass);
	return -1;
}

void n2d_whole_free(struct n2d_whole *w)
{
	n2d_pass_free(&w->pass);
	n2d_arena_free(&w->arena);
	memset(w, 0, sizeof *w);
}

void n2d_whole_start(struct n2d_whole *w, const float *memory, const int32_t *memory_len, size_t S, size_t width, size_t room)
{
	w->memory = memory;
	w->memory_len = memory_len;
	w->S = S;
	w->width = width;
	w->room = room;
	lay(w, (float *)w->arena.base);
}

/* The words so far of each row, and its sentence's memory. */
static void gather(struct n2d_whole *w, const struct n2d_step *s, const int32_t *word, const int32_t *sentence)
{
	size_t T = s->at + 1, memory = w->S * w->m->c.d_model;
	memcpy(w->words + s->at * w->width, word, s->rows * sizeof *word);
	for (size_t r = 0; r < s->rows; r++) {
		for (size_t j = 0; j < T; j++)
			w->in[r * T + j] = w->words[j * w->width + (size_t)s->slots[r * s->room + j]];
		memcpy(w->pass.source.out + r * memory, w->memory + (size_t)sentence[r] * memory, memory * sizeof *w->memory);
		w->row_memory_len[r] = w->memory_len[sentence[r]];
		w->row_len[r] = (int32_t)T;
	}
}

int n2d_whole_step(struct n2d_whole *w, const struct n2d_step *s, const int32_t *word, const int32_t *sentence)
{
	const struct n2d_transformer *m = w->m;
	size_t T = s->at + 1, D = m->c.d_model;
	struct n2d_batch b = {.B = s->rows, .S = w->S, .T = T, .src_len = w->row_memory_len, .trg_in = w->in, .trg_len = w->row_len};
	if (n2d_pass_shape(&w->pass, w->ctx, m, s->rows, w->S, T))
		return -1;
	gather(w, s, word, sentence);
	n2d_transformer_decode(w->ctx, m, &w->pass, &b, NULL);
	for (size_t r = 0; r < s->rows; r++)
		memcpy(w->out + r * D, w->pass.target.out + (r * T + s->at) * D, D * sizeof *w->out);
	return 0;
}
