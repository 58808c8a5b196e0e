/* Named tensors in a file, in the safetensors format (github.com/huggingface/safetensors):
 *
 *	8 bytes   N, the size of the header, little-endian
 *	N bytes   JSON {"name": {"dtype": "F32", "shape": [2,3], "data_offsets": [begin, end]}, ...,
 *	          "__metadata__": {"key": "text", ...}}, filled up with spaces
 *	the rest  the tensors' bytes, little-endian, without holes; offsets count from here
 *
 * A file written here has the checksum "n2d.crc32" in its metadata: eight hexadecimal digits, the CRC-32 (as zlib's) of
 * the header, taken with zeros in place of these digits, and of the data. It is checked on reading. A file without
 * metadata of n2d's (from PyTorch, say) needs none. Who edits a file by other means must leave the key out. */
#ifndef N2D_SAFETENSORS_H
#define N2D_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

enum n2d_dtype { N2D_F32, N2D_I64, N2D_U64, N2D_U8 };
enum { N2D_TENSOR_DIMS = 8 };

struct n2d_tensor {
	const char *name;
	enum n2d_dtype dtype;
	size_t dims, shape[N2D_TENSOR_DIMS]; /* dims 0: one element */
	const void *data;
};

struct n2d_metadata {
	const char *key, *value;
};

/* The elements: the product of the shape. N2D_TOO_LARGE passes. */
size_t n2d_tensor_count(const struct n2d_tensor *t);
size_t n2d_tensor_bytes(const struct n2d_tensor *t);
const char *n2d_dtype_name(enum n2d_dtype dtype);

/* Writes path whole or not at all (base/file.h). Tensors of wider types come first, so that each can be used where
 * it lies in the file; else the order stays. -1 and a message naming path and the tensor or key at fault: an empty or
 * repeated name, text that is not UTF-8, a key of n2d's own, a shape that is too large; or what the system says. */
int n2d_safetensors_write(const char *path, const struct n2d_tensor *tensors, size_t count,
			  const struct n2d_metadata *metadata, size_t keys);

/* Whether such a file could be written, but for what the system says: its header has a largest size. -1 and a message as above. */
int n2d_safetensors_check(const char *path, const struct n2d_tensor *tensors, size_t count, const struct n2d_metadata *metadata, size_t keys);

/* A file open for reading. */
struct n2d_safetensors {
	struct n2d_tensor *tensors; /* in the order of their bytes; data lies in the mapped file */
	size_t count;
	struct n2d_metadata *metadata;
	size_t keys;

	char *path;
	struct n2d_map map;
	void *header, *copy; /* parsed JSON, which owns the texts; the data where the file's is not aligned */
};

/* -1 and a message naming path, the tensor where it is about one, and what was expected. The whole header is checked:
 * what is open is consistent. */
int n2d_safetensors_open(struct n2d_safetensors *s, const char *path);
void n2d_safetensors_close(struct n2d_safetensors *s);

/* NULL when there is none. */
const struct n2d_tensor *n2d_safetensors_find(const struct n2d_safetensors *s, const char *name);
const char *n2d_safetensors_text(const struct n2d_safetensors *s, const char *key);

#endif
