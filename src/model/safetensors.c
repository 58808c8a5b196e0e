/* Reading and checking; safetensors_write.c writes. */
#include "model/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "model/safetensors_format.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error tensors are used where they lie in the file, which is little-endian
#endif

static const struct {
	const char *name;
	size_t bytes;
} dtypes[] = {[N2D_F32] = {"F32", 4}, [N2D_I64] = {"I64", 8}, [N2D_U64] = {"U64", 8}, [N2D_U8] = {"U8", 1}};

const char *n2d_dtype_name(enum n2d_dtype dtype) { return dtypes[dtype].name; }

size_t n2d_dtype_bytes(enum n2d_dtype dtype) { return dtypes[dtype].bytes; }

size_t n2d_tensor_count(const struct n2d_tensor *t)
{
	size_t n = 1;
	for (size_t i = 0; i < t->dims; i++)
		n = n2d_mul(n, t->shape[i]);
	return n;
}

size_t n2d_tensor_bytes(const struct n2d_tensor *t) { return n2d_mul(n2d_tensor_count(t), dtypes[t->dtype].bytes); }

/* A tensor and the place the header gives it. */
struct entry {
	struct n2d_tensor t;
	uint64_t begin, end;
};

static int whole_number(const json_t *j, uint64_t *n)
{
	if (!json_is_integer(j) || json_integer_value(j) < 0)
		return 0;
	*n = (uint64_t)json_integer_value(j);
	return 1;
}

static int read_dtype(const char *path, struct n2d_tensor *t, const json_t *j)
{
	const char *dtype = json_string_value(j);
	for (size_t i = 0; dtype && i < sizeof dtypes / sizeof *dtypes; i++)
		if (strcmp(dtype, dtypes[i].name) == 0) {
			t->dtype = (enum n2d_dtype)i;
			return 0;
		}
	return n2d_error("%s: tensor '%s': dtype must be F32, I64, U64 or U8, not %s", path, t->name, dtype ? dtype : "missing");
}

static int read_shape(const char *path, struct n2d_tensor *t, const json_t *j)
{
	if (!json_is_array(j) || json_array_size(j) > N2D_TENSOR_DIMS)
		return n2d_error("%s: tensor '%s': shape must be a list of at most %d sizes", path, t->name, N2D_TENSOR_DIMS);
	t->dims = json_array_size(j);
	for (size_t i = 0; i < t->dims; i++) {
		uint64_t n;
		if (!whole_number(json_array_get(j, i), &n))
			return n2d_error("%s: tensor '%s': shape[%zu] is not a whole number", path, t->name, i);
		t->shape[i] = n;
	}
	return 0;
}

static int read_entry(const char *path, struct entry *e, const char *name, const json_t *j)
{
	e->t.name = name;
	if (!json_is_object(j) || json_object_size(j) != 3)
		return n2d_error("%s: tensor '%s': must have dtype, shape and data_offsets, and nothing else", path, name);
	if (read_dtype(path, &e->t, json_object_get(j, "dtype")) || read_shape(path, &e->t, json_object_get(j, "shape")))
		return -1;
	const json_t *o = json_object_get(j, "data_offsets");
	if (json_array_size(o) != 2 || !whole_number(json_array_get(o, 0), &e->begin) ||
	    !whole_number(json_array_get(o, 1), &e->end) || e->begin > e->end)
		return n2d_error("%s: tensor '%s': data_offsets must be [begin, end] with begin <= end", path, name);
	if (n2d_tensor_bytes(&e->t) != e->end - e->begin)
		return n2d_error("%s: tensor '%s': its shape needs %zu bytes, data_offsets give it %zu", path, name,
				 n2d_tensor_bytes(&e->t), (size_t)(e->end - e->begin));
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* The sorted entries cover [0, size) without holes and overlaps, each aligned to its type. */
static int check_places(const char *path, const struct entry *e, size_t n, size_t size)
{
	uint64_t at = 0;
	for (size_t i = 0; i < n; i++) {
		if (e[i].begin != at)
			return n2d_error("%s: tensor '%s' starts at byte %zu of the data, the one before it ends at %zu", path,
					 e[i].t.name, (size_t)e[i].begin, (size_t)at);
		at = e[i].end;
		if (at > size)
			return n2d_error("%s: truncated: tensor '%s' ends at byte %zu of the data, the file at %zu", path, e[i].t.name,
					 (size_t)at, size);
		if (e[i].begin % dtypes[e[i].t.dtype].bytes)
			return n2d_error("%s: tensor '%s' of %s starts at byte %zu of the data, which is not a multiple of %zu", path,
					 e[i].t.name, dtypes[e[i].t.dtype].name, (size_t)e[i].begin, dtypes[e[i].t.dtype].bytes);
	}
	return at == size ? 0 : n2d_error("%s: the tensors end at byte %zu of the data, the file at %zu", path, (size_t)at, size);
}

static int read_metadata(struct n2d_safetensors *s, json_t *j)
{
	const char *key;
	json_t *value;
	if (!json_is_object(j))
		return n2d_error("%s: " N2D_METADATA " must be an object of texts", s->path);
	if (!(s->metadata = calloc(json_object_size(j) + 1, sizeof *s->metadata)))
		return n2d_error("%s: no memory for the header", s->path);
	json_object_foreach (j, key, value) {
		if (!json_is_string(value))
			return n2d_error("%s: " N2D_METADATA " '%s' must be a text", s->path, key);
		s->metadata[s->keys++] = (struct n2d_metadata){key, json_string_value(value)};
	}
	return 0;
}

/* Fills entries (room for all of the header's) and the metadata. */
static int read_header(struct n2d_safetensors *s, struct entry *entries)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)s->header, name, value) {
		if (strcmp(name, N2D_METADATA) == 0) {
			if (read_metadata(s, value))
				return -1;
		} else if (read_entry(s->path, &entries[s->count++], name, value))
			return -1;
	}
	return 0;
}

/* Tensors in the order of their bytes, each with its data. */
static int place(struct n2d_safetensors *s, struct entry *entries, size_t header, size_t size)
{
	const unsigned char *data = s->map.data + N2D_PREFIX + header;
	qsort(entries, s->count, sizeof *entries, by_place);
	if (check_places(s->path, entries, s->count, size))
		return -1;
	if (header % 8) { /* an old writer's: the mapped data is not aligned */
		if (!(s->copy = malloc(size + 1)))
			return n2d_error("%s: no memory for %zu bytes of unaligned data", s->path, size);
		data = memcpy(s->copy, data, size);
	}
	if (!(s->tensors = calloc(s->count + 1, sizeof *s->tensors)))
		return n2d_error("%s: no memory for the header", s->path);
	for (size_t i = 0; i < s->count; i++) {
		s->tensors[i] = entries[i].t;
		s->tensors[i].data = data + entries[i].begin;
	}
	return 0;
}

/* The digits of the checksum in the header's bytes; NULL when they are not written as here. */
static const unsigned char *find_digits(const unsigned char *header, size_t size)
{
	static const char before[] = "\"" N2D_CRC32 "\":\"";
	const size_t n = sizeof before - 1;
	for (size_t i = 0; i + n + N2D_CRC_DIGITS < size; i++)
		if (header[i] == before[0] && memcmp(header + i, before, n) == 0)
			return header + i + n;
	return NULL;
}

static int check_crc(const struct n2d_safetensors *s, size_t header)
{
	const char *stored = n2d_safetensors_text(s, N2D_CRC32);
	const unsigned char *start = s->map.data + N2D_PREFIX, *digits = find_digits(start, header);
	if (!stored) /* a file of n2d's own has one: where its name is damaged, the format's is not */
		return n2d_safetensors_text(s, N2D_FORMAT) ? n2d_error("%s: damaged: " N2D_CRC32 " is missing", s->path) : 0;
	char right[N2D_CRC_DIGITS + 1] = "";
	if (digits) {
		uint32_t crc = n2d_crc32(0, start, (size_t)(digits - start));
		crc = n2d_crc32(crc, (const unsigned char *)N2D_CRC_ZEROS, N2D_CRC_DIGITS);
		crc = n2d_crc32(crc, digits + N2D_CRC_DIGITS, s->map.size - (size_t)(digits + N2D_CRC_DIGITS - s->map.data));
		snprintf(right, sizeof right, "%08x", crc);
	}
	if (strcmp(stored, right) != 0)
		return n2d_error("%s: damaged: " N2D_CRC32 " says %.16s, the content has %s (if it was edited on purpose, remove " N2D_CRC32
				 " and " N2D_FORMAT " from its metadata)",
				 s->path, stored, digits ? right : "another notation");
	if (!n2d_safetensors_text(s, N2D_FORMAT) || strcmp(n2d_safetensors_text(s, N2D_FORMAT), N2D_FORMAT_NOW) != 0)
		return n2d_error("%s: " N2D_FORMAT " must be " N2D_FORMAT_NOW, s->path);
	return 0;
}

/* Parses the header of the mapped file. Returns its size, or 0. */
static size_t parse(struct n2d_safetensors *s)
{
	uint64_t n = 0;
	json_error_t error;
	if (s->map.size < N2D_PREFIX)
		return n2d_error("%s: not a safetensors file: %zu bytes, at least %d expected", s->path, s->map.size, N2D_PREFIX), 0;
	for (int i = N2D_PREFIX; i--;)
		n = n << 8 | s->map.data[i];
	if (n < 2 || n > N2D_HEADER_MAX)
		return n2d_error("%s: not a safetensors file: header of %llu bytes, 2 to %d expected", s->path, (unsigned long long)n,
				 N2D_HEADER_MAX), 0;
	if (n > s->map.size - N2D_PREFIX)
		return n2d_error("%s: truncated: %zu bytes, the header alone needs %zu", s->path, s->map.size, (size_t)n + N2D_PREFIX), 0;
	s->header = json_loadb((const char *)s->map.data + N2D_PREFIX, n, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object((json_t *)s->header))
		return n2d_error("%s: not a safetensors file: its header is no JSON object (%s)", s->path,
				 s->header ? "another value" : error.text), 0;
	return n;
}

int n2d_safetensors_open(struct n2d_safetensors *s, const char *path)
{
	memset(s, 0, sizeof *s);
	if (n2d_map_open(&s->map, path))
		return -1;
	s->path = strdup(path);
	size_t header = s->path ? parse(s) : 0;
	struct entry *entries = header ? calloc(json_object_size(s->header) + 1, sizeof *entries) : NULL;
	if (header && !entries)
		n2d_error("%s: no memory for the header", path);
	int bad = !entries || read_header(s, entries) || place(s, entries, header, s->map.size - N2D_PREFIX - header) ||
		  check_crc(s, header);
	free(entries);
	if (bad)
		n2d_safetensors_close(s);
	return bad ? -1 : 0;
}

void n2d_safetensors_close(struct n2d_safetensors *s)
{
	json_decref(s->header);
	free(s->tensors);
	free(s->metadata);
	free(s->path);
	free(s->copy);
	n2d_map_close(&s->map);
	memset(s, 0, sizeof *s);
}

const struct n2d_tensor *n2d_safetensors_find(const struct n2d_safetensors *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->tensors[i].name, name) == 0)
			return &s->tensors[i];
	return NULL;
}

const char *n2d_safetensors_text(const struct n2d_safetensors *s, const char *key)
{
	for (size_t i = 0; i < s->keys; i++)
		if (strcmp(s->metadata[i].key, key) == 0)
			return s->metadata[i].value;
	return NULL;
}
