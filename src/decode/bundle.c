#include "decode/bundle.h"

#include <string.h>

#include "base/error.h"
#include "model/model_file.h"

/* The vocabulary of one or both sides, of `size` words: from a file, or the model's text, or integers. */
static int open_vocab(struct n2d_vocab *v, const struct n2d_safetensors *f, const char *key, const char *given, int ids, size_t size)
{
	const char *text = n2d_safetensors_text(f, key);
	int bad;
	if (given)
		bad = n2d_vocab_load(v, given) || (ids && n2d_vocab_take_as_ids(v, given));
	else if (ids)
		bad = n2d_vocab_of_ids(v, size);
	else
		bad = text ? n2d_vocab_parse(v, f->path, text)
			   : n2d_error("%s: the file holds no %s: one must be given (--vocab FILE, or --ids)", f->path, key);
	if (!bad && v->size != size)
		bad = n2d_error("%s: a %s of %zu words, the model %s has %zu", given ? given : f->path, key, v->size, f->path, size);
	return bad ? -1 : 0;
}

static int open_text(struct n2d_bundle *b, const struct n2d_safetensors *f, const char *vocab, int ids)
{
	const char *codes = n2d_safetensors_text(f, N2D_BPE_CODES);
	const struct n2d_config *c = &b->model.c;
	if (open_vocab(&b->vocab, f, N2D_VOCABULARY, vocab, ids, c->vocab))
		return -1;
	if (c->src_vocab && open_vocab(&b->src_vocab, f, N2D_SOURCE_VOCABULARY, NULL, ids, c->src_vocab))
		return -1;
	return codes ? n2d_pieces_parse(&b->pieces, f->path, codes) : 0;
}

static int open_model(struct n2d_bundle *b, const struct n2d_ctx *ctx, const struct n2d_safetensors *f)
{
	struct n2d_config c;
	if (n2d_model_config(&c, f) || n2d_transformer_init(&b->model, ctx, &c))
		return -1;
	if (!n2d_model_load(b->model.w, &b->model.p, f)) {
		n2d_transformer_pack(ctx, &b->model);
		return 0;
	}
	n2d_transformer_free(&b->model);
	return -1;
}

int n2d_bundle_open(struct n2d_bundle *b, const struct n2d_ctx *ctx, const char *path, const char *vocab, int ids)
{
	struct n2d_safetensors f;
	memset(b, 0, sizeof *b);
	if (n2d_safetensors_open(&f, path))
		return -1;
	int bad = open_model(b, ctx, &f);
	if (!bad && open_text(b, &f, vocab, ids)) {
		n2d_bundle_close(b);
		bad = -1;
	}
	n2d_safetensors_close(&f);
	return bad;
}

const struct n2d_vocab *n2d_bundle_vocab(const struct n2d_bundle *b, enum n2d_side side)
{
	return side == N2D_SOURCE && b->model.c.src_vocab ? &b->src_vocab : &b->vocab;
}

struct n2d_coder n2d_bundle_coder(struct n2d_bundle *b, enum n2d_side side)
{
	return (struct n2d_coder){n2d_bundle_vocab(b, side), b->pieces.codes ? n2d_pieces_edit : NULL, &b->pieces};
}

void n2d_bundle_close(struct n2d_bundle *b)
{
	n2d_pieces_free(&b->pieces);
	n2d_transformer_free(&b->model);
	n2d_vocab_free(&b->vocab);
	n2d_vocab_free(&b->src_vocab);
	memset(b, 0, sizeof *b);
}
