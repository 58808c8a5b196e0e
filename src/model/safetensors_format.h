/* What reading and writing safetensors files share. */
#ifndef N2D_SAFETENSORS_FORMAT_H
#define N2D_SAFETENSORS_FORMAT_H

#include <zlib.h>

#include "model/safetensors.h"

#define N2D_METADATA "__metadata__"
#define N2D_FORMAT "n2d.format"
#define N2D_FORMAT_NOW "1"
#define N2D_CRC32 "n2d.crc32"
#define N2D_CRC_ZEROS "00000000"

enum {
	N2D_PREFIX = 8,             /* bytes before the header */
	N2D_HEADER_MAX = 100000000, /* the format's own limit */
	N2D_CRC_DIGITS = sizeof N2D_CRC_ZEROS - 1,
};

size_t n2d_dtype_bytes(enum n2d_dtype dtype);

static inline uint32_t n2d_crc32(uint32_t crc, const unsigned char *p, size_t n) { return (uint32_t)crc32_z(crc, p, n); }

#endif
