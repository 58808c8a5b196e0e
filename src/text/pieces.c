#include "text/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "text/lines.h"

int n2d_pieces_parse(struct n2d_pieces *p, const char *name, const char *text)
{
	struct n2d_bpe_options o = {0};
	size_t n = strlen(text) + 1;
	memset(p, 0, sizeof *p);
	if (n2d_bpe_parse(&p->bpe, name, text, &o))
		return -1;
	p->codes = malloc(n);
	if (!p->codes) {
		n2d_bpe_free(&p->bpe);
		return n2d_error("%s: no memory for %zu bytes of codes", name, n);
	}
	memcpy(p->codes, text, n);
	n2d_bpe_worker_init(&p->worker, &p->bpe);
	return 0;
}

int n2d_pieces_load(struct n2d_pieces *p, const char *path)
{
	struct n2d_lines l;
	char *text = NULL;
	size_t bytes;
	int more = 0;
	memset(p, 0, sizeof *p);
	if (n2d_lines_open(&l, path))
		return -1;
	FILE *f = open_memstream(&text, &bytes);
	while (f && (more = n2d_lines_next(&l)) > 0) {
		fwrite(l.text, 1, l.length, f);
		if (l.ended)
			fputc('\n', f);
	}
	n2d_lines_close(&l);
	if (!f || fclose(f))
		more = n2d_error("%s: no memory for codes", path);
	else if (!more)
		more = memchr(text, 0, bytes) ? n2d_error("%s: there are zero bytes in it: no codes file", path) : n2d_pieces_parse(p, path, text);
	free(text);
	return more;
}

void n2d_pieces_free(struct n2d_pieces *p)
{
	if (p->codes) {
		n2d_bpe_worker_free(&p->worker);
		n2d_bpe_free(&p->bpe);
	}
	free(p->codes);
	memset(p, 0, sizeof *p);
}

int n2d_pieces_edit(void *pieces, const char **text, size_t *bytes)
{
	struct n2d_pieces *p = pieces;
	if (n2d_bpe_apply(&p->worker, *text, *bytes, 0, NULL))
		return -1;
	*text = p->worker.text;
	*bytes = p->worker.length;
	return 0;
}

char *n2d_pieces_text(const struct n2d_pieces *p, const struct n2d_vocab *v, const int32_t *id, size_t n, size_t *bytes)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, bytes);
	for (size_t i = 0; f && i < n; i++)
		fprintf(f, "%s%s", i ? " " : "", n2d_vocab_token(v, id[i], NULL));
	if (!f || fclose(f)) {
		n2d_error("no memory for a line of %zu words", n);
		return NULL;
	}
	if (p->codes)
		*bytes = n2d_bpe_restore(text, text, *bytes, N2D_BPE_SEPARATOR);
	return text;
}
