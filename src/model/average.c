#include "model/average.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_file.h"

static const char *const texts[] = {N2D_VOCABULARY, N2D_SOURCE_VOCABULARY, N2D_BPE_CODES};
enum { TEXTS = sizeof texts / sizeof *texts };


struct work {
	struct n2d_config c;
	struct n2d_parameters p;
	float *values;
	double *sum;
	char *text[TEXTS]; /* the first model's, NULL where it has none */
};

static int same_options(const struct n2d_config *a, const struct n2d_config *b, const char *path, const char *first)
{
	for (size_t i = 0; i < n2d_options.count; i++) {
		const struct n2d_option *o = &n2d_options.list[i];
		char x[N2D_OPTION_TEXT], y[N2D_OPTION_TEXT];
		if (o->kind != N2D_OPTION_BOTH && strcmp(n2d_option_get(a, o, x), n2d_option_get(b, o, y)) != 0)
			return n2d_error("%s: %s is %s, but %s in %s", path, o->name, y, x, first);
	}
	return 0;
}

static int begin(struct work *w, const struct n2d_safetensors *f)
{
	int full = 0;
	if (n2d_model_config(&w->c, f) || n2d_parameters_list(&w->p, &w->c))
		return -1;
	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = n2d_safetensors_text(f, texts[i]);
		full |= text && !(w->text[i] = strdup(text));
	}
	w->values = malloc(w->p.floats * sizeof *w->values);
	w->sum = malloc(w->p.floats * sizeof *w->sum);
	if (!w->values || !w->sum || full)
		return n2d_error("%s: no memory for the sums of %zu parameters", f->path, w->p.count);
	for (size_t i = 0; i < w->p.floats; i++)
		w->sum[i] = -0.0; /* to which -0 can be added and stay */
	return 0;
}

static int add(struct work *w, const struct n2d_safetensors *f, const char *first)
{
	struct n2d_config c;
	for (size_t i = 0; i < TEXTS; i++) { /* one row of an embedding would be two words' */
		const char *text = n2d_safetensors_text(f, texts[i]);
		if (text && w->text[i] && strcmp(text, w->text[i]) != 0)
			return n2d_error("%s: its %s is not that of %s", f->path, texts[i], first);
	}
	if (n2d_model_config(&c, f) || same_options(&w->c, &c, f->path, first) || n2d_model_load(w->values, &w->p, f))
		return -1;
	for (size_t i = 0; i < w->p.floats; i++)
		w->sum[i] += (double)w->values[i];
	return 0;
}

static int write_mean(struct work *w, const char *out, size_t count, const struct n2d_safetensors *last)
{
	struct n2d_metadata more[TEXTS];
	size_t n = 0;
	for (size_t i = 0; i < TEXTS; i++)
		if (n2d_safetensors_text(last, texts[i]))
			more[n++] = (struct n2d_metadata){texts[i], n2d_safetensors_text(last, texts[i])};
	for (size_t i = 0; i < w->p.floats; i++)
		w->values[i] = (float)(w->sum[i] / (double)count);
	return n2d_model_save(out, &w->c, &w->p, w->values, more, n);
}

int n2d_average(const char *out, const char *const *paths, size_t count)
{
	struct work w = {0};
	int code = N2D_EXIT_OK;
	for (size_t i = 0; !code && i < count; i++) {
		struct n2d_safetensors f;
		if (n2d_safetensors_open(&f, paths[i])) {
			code = N2D_EXIT_USAGE;
			break;
		}
		if ((i == 0 && begin(&w, &f)) || add(&w, &f, paths[0]))
			code = N2D_EXIT_USAGE;
		else if (i + 1 == count && write_mean(&w, out, count, &f))
			code = N2D_EXIT_FAILED;
		n2d_safetensors_close(&f);
	}
	n2d_parameters_free(&w.p);
	free(w.values);
	free(w.sum);
	for (size_t i = 0; i < TEXTS; i++)
		free(w.text[i]);
	return code;
}
