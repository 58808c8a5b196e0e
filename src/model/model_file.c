#include "model/model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Fills m and the texts its values point to. Returns the number of keys. */
static size_t describe(const struct n2d_config *c, struct n2d_metadata *m, char (*text)[N2D_OPTION_TEXT])
{
	size_t n = 0;
	for (size_t i = 0; i < n2d_options.count; i++)
		if (n2d_options.list[i].kind != N2D_OPTION_BOTH) {
			m[n] = (struct n2d_metadata){n2d_options.list[i].name, n2d_option_get(c, &n2d_options.list[i], text[n])};
			n++;
		}
	return n;
}

/* values NULL: only whether they could be saved. */
static int save(const char *path, const struct n2d_config *c, const struct n2d_parameters *p, const float *values, const struct n2d_metadata *more,
		size_t keys)
{
	struct n2d_tensor *t = calloc(p->n + 1, sizeof *t);
	struct n2d_metadata *m = calloc(n2d_options.count + keys, sizeof *m);
	char(*text)[N2D_OPTION_TEXT] = calloc(n2d_options.count, sizeof *text);
	int bad = -1;
	if (t && m && text) {
		size_t n = describe(c, m, text);
		for (size_t i = 0; i < keys; i++)
			m[n++] = more[i];
		for (size_t i = 0; i < p->n; i++) {
			const struct n2d_parameter *q = &p->list[i];
			t[i] = (struct n2d_tensor){q->name, N2D_F32, q->dims, {q->shape[0], q->shape[1], q->shape[2]}, values ? values + q->offset : NULL};
		}
		bad = (values ? n2d_safetensors_write : n2d_safetensors_check)(path, t, p->n, m, n);
	} else
		n2d_error("%s: no memory for the header", path);
	free(t);
	free(m);
	free(text);
	return bad;
}

int n2d_model_save(const char *path, const struct n2d_config *c, const struct n2d_parameters *p, const float *values,
		   const struct n2d_metadata *more, size_t keys)
{
	return save(path, c, p, values, more, keys);
}

int n2d_model_check(const char *path, const struct n2d_config *c, const struct n2d_parameters *p, const struct n2d_metadata *more, size_t keys)
{
	return save(path, c, p, NULL, more, keys);
}

int n2d_model_config(struct n2d_config *c, const struct n2d_safetensors *s)
{
	static const char *const needed[] = {"vocab", "d-model", "heads"};
	memset(c, 0, sizeof *c);
	if (n2d_config_preset(c, "base"))
		return -1;
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!n2d_safetensors_text(s, needed[i]))
			return n2d_error("%s: no model of n2d: its metadata has no '%s'", s->path, needed[i]);
	for (size_t i = 0; i < n2d_options.count; i++) {
		const char *value = n2d_safetensors_text(s, n2d_options.list[i].name);
		if (value && n2d_config_set(c, n2d_options.list[i].name, value))
			return n2d_error("%s: metadata: %s", s->path, n2d_error_text());
	}
	return 0;
}

static const char *shape_text(char *to, size_t room, size_t dims, const size_t *shape)
{
	size_t n = (size_t)snprintf(to, room, "[");
	for (size_t i = 0; i < dims && n < room; i++)
		n += (size_t)snprintf(to + n, room - n, "%s%zu", i ? "," : "", shape[i]);
	if (n < room)
		snprintf(to + n, room - n, "]");
	return to;
}

int n2d_model_load(float *values, const struct n2d_parameters *p, const struct n2d_safetensors *s)
{
	char have[192], want[192];
	memset(values, 0, p->floats * sizeof *values);
	for (size_t i = 0; i < p->n; i++) {
		const struct n2d_parameter *q = &p->list[i];
		const struct n2d_tensor *t = n2d_safetensors_find(s, q->name);
		if (!t)
			return n2d_error("%s: parameter '%s' is missing", s->path, q->name);
		if (t->dtype != N2D_F32 || t->dims != q->dims || memcmp(t->shape, q->shape, q->dims * sizeof *q->shape) != 0)
			return n2d_error("%s: '%s' is %s %s, the model needs F32 %s", s->path, q->name, n2d_dtype_name(t->dtype),
					 shape_text(have, sizeof have, t->dims, t->shape),
					 shape_text(want, sizeof want, q->dims, q->shape));
		memcpy(values + q->offset, t->data, q->count * sizeof *values);
	}
	for (size_t i = 0; s->count > p->n && i < s->count; i++)
		if (!n2d_parameters_find(p, s->tensors[i].name))
			return n2d_error("%s: '%s' is no parameter of this model", s->path, s->tensors[i].name);
	return 0;
}
