#include "decode/bundle.h"

#include <string.h>

#include "base/error.h"
#include "model/model_file.h"

static int open_vocab(struct n2d_bundle *b, const struct n2d_safetensors *f, const char *vocab, int ids)
{
	const char *text = n2d_safetensors_text(f, N2D_VOCABULARY);
	if (vocab)
		return n2d_vocab_load(&b->vocab, vocab);
	if (text && !ids)
		return n2d_vocab_parse(&b->vocab, f->path, text);
	if (ids)
		return n2d_vocab_of_ids(&b->vocab, b->model.c.vocab);
	return n2d_error("%s: the file holds no vocabulary: one must be given (--vocab FILE, or --ids)", f->path);
}

static int open_text(struct n2d_bundle *b, const struct n2d_safetensors *f, const char *vocab, int ids)
{
	const char *codes = n2d_safetensors_text(f, N2D_BPE_CODES);
	if (open_vocab(b, f, vocab, ids))
		return -1;
	if (!codes || !n2d_pieces_parse(&b->pieces, f->path, codes))
		return 0;
	n2d_vocab_free(&b->vocab);
	return -1;
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
		n2d_transformer_free(&b->model);
		bad = -1;
	}
	n2d_safetensors_close(&f);
	if (bad || b->vocab.size == b->model.c.vocab)
		return bad;
	n2d_error("%s: a vocabulary of %zu words, the model %s has %zu", vocab ? vocab : path, b->vocab.size, path, b->model.c.vocab);
	n2d_bundle_close(b);
	return -1;
}

struct n2d_coder n2d_bundle_coder(struct n2d_bundle *b)
{
	return (struct n2d_coder){&b->vocab, b->pieces.codes ? n2d_pieces_edit : NULL, &b->pieces};
}

void n2d_bundle_close(struct n2d_bundle *b)
{
	n2d_pieces_free(&b->pieces);
	n2d_transformer_free(&b->model);
	n2d_vocab_free(&b->vocab);
	memset(b, 0, sizeof *b);
}
