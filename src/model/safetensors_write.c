#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "model/safetensors_format.h"

/* A copy of tensors with wider types first; the order stays otherwise. */
static const struct n2d_tensor **sorted(const struct n2d_tensor *tensors, size_t count)
{
	const struct n2d_tensor **list = calloc(count + 1, sizeof *list);
	size_t n = 0;
	for (size_t width = 8; list && width; width /= 2)
		for (size_t i = 0; i < count; i++)
			if (n2d_dtype_bytes(tensors[i].dtype) == width)
				list[n++] = &tensors[i];
	return list;
}

/* Adds value under key; takes value over. 0: done. */
static const char *add(json_t *object, const char *key, json_t *value)
{
	const char *wrong = !key || !*key ? "an empty name" : json_object_get(object, key) ? "its name comes twice" : NULL;
	if (!wrong && json_object_set_new(object, key, value)) /* takes value over, failing too */
		return "text that is not UTF-8";
	if (wrong)
		json_decref(value);
	return wrong;
}

static json_t *describe(const struct n2d_tensor *t, size_t begin, size_t end)
{
	json_t *shape = json_array();
	for (size_t i = 0; i < t->dims; i++)
		json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
	return json_pack("{s:s, s:o, s:[I, I]}", "dtype", n2d_dtype_name(t->dtype), "shape", shape, "data_offsets",
			 (json_int_t)begin, (json_int_t)end);
}

static int add_metadata(json_t *header, const char *path, const struct n2d_metadata *m, size_t keys)
{
	/* The checksum first, so that reading finds its digits at once. */
	json_t *o = json_pack("{s:s, s:s}", N2D_CRC32, N2D_CRC_ZEROS, N2D_FORMAT, N2D_FORMAT_NOW);
	add(header, N2D_METADATA, o);
	for (size_t i = 0; i < keys; i++) {
		const char *wrong = add(o, m[i].key, json_string(m[i].value));
		if (wrong)
			return n2d_error("%s: metadata '%s': %s", path, m[i].key ? m[i].key : "", wrong);
	}
	return 0;
}

static int add_tensors(json_t *header, const char *path, const struct n2d_tensor *const *list, size_t count)
{
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		size_t end = list[i]->dims > N2D_TENSOR_DIMS ? N2D_TOO_LARGE : n2d_add(at, n2d_tensor_bytes(list[i]));
		if (end > INT64_MAX)
			return n2d_error("%s: tensor '%s' is too large", path, list[i]->name);
		const char *wrong = add(header, list[i]->name, describe(list[i], at, end));
		if (wrong)
			return n2d_error("%s: tensor '%s': %s", path, list[i]->name ? list[i]->name : "", wrong);
		at = end;
	}
	return 0;
}

/* The header's bytes, filled up to a multiple of 8, and a 0 behind them; the caller frees. NULL and a message. */
static char *make_header(size_t *size, const char *path, const struct n2d_tensor *const *list, size_t count,
			 const struct n2d_metadata *metadata, size_t keys)
{
	json_t *header = json_object();
	char *text = NULL, *padded = NULL;
	if (!add_metadata(header, path, metadata, keys) && !add_tensors(header, path, list, count)) {
		text = json_dumps(header, JSON_COMPACT);
		size_t n = text ? strlen(text) : 0;
		*size = n2d_round_up(n, 8);
		if (*size > N2D_HEADER_MAX)
			n2d_error("%s: a header of %zu bytes is too large, at most %d", path, *size, N2D_HEADER_MAX);
		else if (!text || !(padded = calloc(*size + 1, 1)))
			n2d_error("%s: no memory for the header", path);
		else {
			memset(padded, ' ', *size);
			memcpy(padded, text, n);
		}
	}
	free(text);
	json_decref(header);
	return padded;
}

/* Puts the checksum of header and data into the header's digits. */
static void seal(char *header, size_t size, const struct n2d_tensor *const *list, size_t count)
{
	char digits[N2D_CRC_DIGITS + 1];
	uint32_t crc = n2d_crc32(0, (const unsigned char *)header, size);
	for (size_t i = 0; i < count; i++)
		if (n2d_tensor_bytes(list[i]))
			crc = n2d_crc32(crc, list[i]->data, n2d_tensor_bytes(list[i]));
	snprintf(digits, sizeof digits, "%08x", crc);
	memcpy(strstr(header, N2D_CRC_ZEROS), digits, N2D_CRC_DIGITS);
}

static int write_file(const char *path, const char *header, size_t size, const struct n2d_tensor *const *list, size_t count)
{
	struct n2d_out o;
	unsigned char prefix[N2D_PREFIX];
	if (n2d_out_open(&o, path))
		return -1;
	for (int i = 0; i < N2D_PREFIX; i++)
		prefix[i] = (unsigned char)((uint64_t)size >> 8 * i);
	n2d_out_write(&o, prefix, sizeof prefix);
	n2d_out_write(&o, header, size);
	for (size_t i = 0; i < count; i++)
		if (n2d_tensor_bytes(list[i]))
			n2d_out_write(&o, list[i]->data, n2d_tensor_bytes(list[i]));
	return n2d_out_commit(&o);
}

/* write 0: not the file. */
static int make(const char *path, const struct n2d_tensor *tensors, size_t count, const struct n2d_metadata *metadata, size_t keys, int write)
{
	size_t size = 0;
	const struct n2d_tensor **list = sorted(tensors, count);
	if (!list)
		return n2d_error("%s: no memory for %zu tensors", path, count);
	char *header = make_header(&size, path, list, count, metadata, keys);
	int bad = !header;
	if (header && write) {
		seal(header, size, list, count);
		bad = write_file(path, header, size, list, count);
	}
	free(header);
	free(list);
	return bad ? -1 : 0;
}

int n2d_safetensors_write(const char *path, const struct n2d_tensor *tensors, size_t count,
			  const struct n2d_metadata *metadata, size_t keys)
{
	return make(path, tensors, count, metadata, keys, 1);
}

int n2d_safetensors_check(const char *path, const struct n2d_tensor *tensors, size_t count, const struct n2d_metadata *metadata, size_t keys)
{
	return make(path, tensors, count, metadata, keys, 0);
}
