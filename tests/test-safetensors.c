/* Model files: what is written is read, what others write is read, and what is damaged is refused with its reason. */
#include "config.h"

#include <unistd.h>

#include "base/size.h"
#include "model/safetensors.h"
#include "tests/unit.h"

static char path[] = "test-safetensors.XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static const float matrix[2][3] = {{1, -2, 3.5f}, {0.1f, INFINITY, -0.0f}};
static const int64_t counters[2] = {-1, INT64_MAX};
static const uint64_t state64[1] = {UINT64_MAX};
static const uint8_t bytes[3] = {0, 127, 255};

/* A little of everything; narrow types before wide ones, so that writing must reorder. */
static const struct n2d_tensor sample[] = {
	{"bytes", N2D_U8, 1, {3}, bytes},
	{"encoder.layers.0.weight \"\xc3\xa4\"", N2D_F32, 2, {2, 3}, matrix},
	{"empty", N2D_F32, 2, {0, 5}, NULL},
	{"counters", N2D_I64, 1, {2}, counters},
	{"scalar", N2D_U64, 0, {0}, state64},
};
enum { SAMPLE = sizeof sample / sizeof *sample };

static const struct n2d_metadata notes[] = {{"d-model", "512"}, {"text", "\xe2\x89\xa4 \"x\"\n\\"}, {"nothing", ""}};
enum { NOTES = sizeof notes / sizeof *notes };

static void write_sample(void)
{
	if (n2d_safetensors_write(path, sample, SAMPLE, notes, NOTES))
		fail_msg("%s", n2d_error_text());
}

static void is_sample(const struct n2d_safetensors *s)
{
	assert_int_equal(s->count, SAMPLE);
	for (int i = 0; i < SAMPLE; i++) {
		const struct n2d_tensor *t = n2d_safetensors_find(s, sample[i].name);
		assert_non_null(t);
		assert_int_equal(t->dtype, sample[i].dtype);
		assert_int_equal(t->dims, sample[i].dims);
		assert_memory_equal(t->shape, sample[i].shape, t->dims * sizeof *t->shape);
		if (n2d_tensor_bytes(t))
			assert_memory_equal(t->data, sample[i].data, n2d_tensor_bytes(t));
	}
	assert_null(n2d_safetensors_find(s, "none"));
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	struct n2d_safetensors s;
	write_sample();
	if (n2d_safetensors_open(&s, path))
		fail_msg("%s", n2d_error_text());
	is_sample(&s);
	for (int i = 0; i < NOTES; i++)
		assert_string_equal(n2d_safetensors_text(&s, notes[i].key), notes[i].value);
	assert_null(n2d_safetensors_text(&s, "none"));
	for (size_t i = 0; i < s.count; i++) { /* in place, and aligned for its type */
		const char *p = s.tensors[i].data;
		assert_true(p >= (const char *)s.map.data && p <= (const char *)s.map.data + s.map.size);
		assert_int_equal((uintptr_t)p % (s.tensors[i].dtype == N2D_U8 ? 1 : s.tensors[i].dtype == N2D_F32 ? 4 : 8), 0);
	}
	n2d_safetensors_close(&s);
	n2d_safetensors_close(&s); /* harmless */
}

/* ---- files made by hand */

static void raw(const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The header and `data` bytes counting up from 0. */
static void by_hand(const char *header, size_t data)
{
	unsigned char all[4096] = {0};
	size_t n = strlen(header);
	assert_true(8 + n + data <= sizeof all);
	for (int i = 0; i < 8; i++)
		all[i] = (unsigned char)(n >> 8 * i);
	memcpy(all + 8, header, n);
	for (size_t i = 0; i < data; i++)
		all[8 + n + i] = (unsigned char)i;
	raw(all, 8 + n + data);
}

static int opens(void)
{
	struct n2d_safetensors s;
	int bad = n2d_safetensors_open(&s, path);
	if (!bad)
		n2d_safetensors_close(&s);
	return !bad;
}

static void refused(const char *why)
{
	if (opens())
		fail_msg("read, should be refused: %s", why);
	if (!strstr(n2d_error_text(), path) || !strstr(n2d_error_text(), why))
		fail_msg("'%s' must name %s and say '%s'", n2d_error_text(), path, why);
}

/* As PyTorch's side writes them: no metadata or its own, header padded to 8 bytes or (old) not at all. */
static void files_of_others_are_read(void **state)
{
	(void)state;
	static const char *const headers[] = {
		"{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
		"\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]}}      ",
		"{\"b\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[8,16]}, \"a\":{\"shape\":[1,2],\"data_offsets\":[0,8],"
		"\"dtype\":\"F32\"}}",
	};
	for (size_t pad = 0; pad < 8; pad++)
		for (int i = 0; i < 2; i++) {
			char header[256];
			struct n2d_safetensors s;
			snprintf(header, sizeof header, "%s%*s", headers[i], (int)pad, "");
			by_hand(header, 16);
			if (n2d_safetensors_open(&s, path))
				fail_msg("%s", n2d_error_text());
			const struct n2d_tensor *a = n2d_safetensors_find(&s, "a"), *b = n2d_safetensors_find(&s, "b");
			assert_int_equal(n2d_tensor_count(a), 2);
			assert_int_equal(*(const int64_t *)b->data, 0x0f0e0d0c0b0a0908);
			assert_memory_equal(a->data, "\0\1\2\3\4\5\6\7", 8);
			n2d_safetensors_close(&s);
		}
	by_hand("{}", 0);
	assert_true(opens());
}

#define TENSOR(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define GOOD TENSOR("F32", "[2]", "[0,8]")

static void wrong_headers_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *header;
		size_t data;
		const char *why;
	} wrong[] = {
		{"", 0, "header of 0 bytes"},
		{"no json", 8, "no JSON object"},
		{"[1,2]", 8, "no JSON object"},
		{"{\"a\":" GOOD "} x", 8, "no JSON object"},
		{"{\"a\":" GOOD ",\"a\":" GOOD "}", 8, "duplicate"},
		{"{\"a\":" GOOD ",\"b\":" TENSOR("F32", "[2]", "[4,12]") "}", 12, "ends at 8"},
		{"{\"a\":" GOOD ",\"b\":" TENSOR("F32", "[2]", "[12,20]") "}", 20, "ends at 8"},
		{"{\"a\":" TENSOR("F32", "[2]", "[4,12]") "}", 12, "starts at byte 4"},
		{"{\"a\":" GOOD "}", 7, "truncated"},
		{"{\"a\":" GOOD "}", 9, "the file at 9"},
		{"{}", 1, "the file at 1"},
		{"{\"a\":" TENSOR("F32", "[3]", "[0,8]") "}", 8, "needs 12 bytes"},
		{"{\"a\":" TENSOR("F32", "[2]", "[8,0]") "}", 8, "begin <= end"},
		{"{\"a\":" TENSOR("F32", "[2]", "[0]") "}", 8, "begin <= end"},
		{"{\"a\":" TENSOR("F32", "[2]", "[0,8.0]") "}", 8, "begin <= end"},
		{"{\"a\":" TENSOR("F32", "[2]", "[-8,0]") "}", 8, "begin <= end"},
		{"{\"a\":" TENSOR("F32", "[-2]", "[0,8]") "}", 8, "shape[0]"},
		{"{\"a\":" TENSOR("F32", "[2.0]", "[0,8]") "}", 8, "shape[0]"},
		{"{\"a\":" TENSOR("F32", "\"2\"", "[0,8]") "}", 8, "list of at most 8"},
		{"{\"a\":" TENSOR("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]") "}", 8, "list of at most 8"},
		{"{\"a\":" TENSOR("F32", "[4611686018427387904,4]", "[0,0]") "}", 0, "data_offsets give it 0"},
		{"{\"a\":" TENSOR("F32", "[99999999999999999999]", "[0,0]") "}", 0, "no JSON object"},
		{"{\"a\":" TENSOR("BF16", "[4]", "[0,8]") "}", 8, "not BF16"},
		{"{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "dtype must be"},
		{"{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "dtype, shape and data_offsets"},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"more\":1}}", 8, "nothing else"},
		{"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"offsets\":[0,8]}}", 8, "data_offsets must be"},
		{"{\"a\":3}", 8, "dtype, shape and data_offsets"},
		{"{\"a\":" TENSOR("U8", "[1]", "[0,1]") ",\"b\":" TENSOR("F32", "[1]", "[1,5]") "}", 5, "not a multiple of 4"},
		{"{\"__metadata__\":3}", 0, "object of texts"},
		{"{\"__metadata__\":{\"a\":3}}", 0, "'a' must be a text"},
		{"{\"__metadata__\":{\"n2d.format\":\"1\"}}", 0, "n2d.crc32 is missing"},
		{"{\"__metadata__\":{\"n2d.crc32\":\"00000000\"}}", 0, "damaged"},
		{"{\"__metadata__\":{\"n2d.crc32\" : \"00000000\"}}", 0, "another notation"},
		{"{\"__metadata__\":{\"n2d.crc32\":\"0\"}}", 0, "damaged"},
		{"{\"\xff\":" GOOD "}", 8, "no JSON object"},
		{"{\"a\\u0000b\":" GOOD "}", 8, "no JSON object"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		by_hand(wrong[i].header, wrong[i].data);
		refused(wrong[i].why);
	}
	by_hand("{\"a\":" GOOD "}", 8); /* and the one they vary is right */
	assert_true(opens());
}

static void foreign_files_are_refused(void **state)
{
	(void)state;
	raw("", 0);
	refused("0 bytes");
	raw("PK\3\4\0\0\10\10and so on, as torch.save writes", 40);
	refused("not a safetensors file");
	raw("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
	refused("header of 18446744073709551615 bytes");
	raw("\1\xe1\xf5\5\0\0\0\0{}", 10);
	refused("header of 100000001 bytes");
	raw("\0\xe1\xf5\5\0\0\0\0{}", 10);
	refused("truncated");
	raw("\12\0\0\0\0\0\0\0{}      ", 16); /* two bytes short */
	refused("truncated: 16 bytes");
	struct n2d_safetensors s;
	assert_int_equal(n2d_safetensors_open(&s, "none/such"), -1);
	assert_non_null(strstr(n2d_error_text(), "none/such"));
}

/* Deep nesting must not exhaust the stack. */
static void deep_headers_are_refused(void **state)
{
	(void)state;
	size_t n = 1 << 20;
	char *all = malloc(8 + n);
	assert_non_null(all);
	memset(all, 0, 8);
	all[2] = 16; /* 2^20, little-endian */
	memset(all + 8, '[', n);
	raw(all, 8 + n);
	free(all);
	refused("no JSON object");
}

/* ---- damage */

struct content {
	unsigned char *p;
	size_t n;
};

static struct content slurp(void)
{
	struct n2d_map m;
	struct content c = {0};
	assert_int_equal(n2d_map_open(&m, path), 0);
	c.p = calloc(m.size + 1, 1);
	c.n = m.size;
	memcpy(c.p, m.data, m.size);
	n2d_map_close(&m);
	return c;
}

static void truncation_at_every_byte_is_refused(void **state)
{
	(void)state;
	write_sample();
	struct content c = slurp();
	for (size_t n = 0; n < c.n; n++) {
		raw(c.p, n);
		refused("");
	}
	raw(c.p, c.n + 1); /* and one byte too many */
	refused("");
	free(c.p);
}

/* One byte anywhere: size, JSON, checksum, padding, data. */
static void every_damaged_byte_is_refused(void **state)
{
	(void)state;
	struct n2d_rng r;
	n2d_rng_init(&r, 3, 0);
	write_sample();
	struct content c = slurp();
	for (size_t i = 0; i < c.n; i++)
		for (int flip = 0; flip < 12; flip++) {
			unsigned char was = c.p[i];
			c.p[i] ^= flip < 8 ? (unsigned char)(1 << flip) : (unsigned char)(1 + n2d_rng_below(&r, 255));
			raw(c.p, c.n);
			if (opens())
				fail_msg("byte %zu: %02x for %02x is not noticed", i, c.p[i], was);
			assert_non_null(strstr(n2d_error_text(), path));
			c.p[i] = was;
		}
	raw(c.p, c.n);
	assert_true(opens());
	free(c.p);
}

/* Without a checksum damage can pass, but never break anything: what opens is consistent. */
static void damage_without_checksum_breaks_nothing(void **state)
{
	(void)state;
	struct n2d_rng r;
	n2d_rng_init(&r, 4, 0);
	by_hand("{\"__metadata__\":{\"format\":\"pt\"},\"a\":" GOOD ",\"b\":" TENSOR("I64", "[]", "[8,16]") "}", 16);
	struct content c = slurp(), d = {malloc(c.n), c.n};
	for (int i = 0; i < 20000; i++) {
		memcpy(d.p, c.p, c.n);
		for (uint32_t k = 1 + n2d_rng_below(&r, 3); k--;)
			d.p[n2d_rng_below(&r, (uint32_t)c.n)] = (unsigned char)n2d_rng_below(&r, 256);
		raw(d.p, d.n);
		struct n2d_safetensors s;
		if (n2d_safetensors_open(&s, path))
			continue;
		size_t sum = 0;
		for (size_t t = 0; t < s.count; t++)
			for (size_t j = 0; j < n2d_tensor_bytes(&s.tensors[t]); j++)
				sum += ((const unsigned char *)s.tensors[t].data)[j];
		assert_true(sum <= 255 * s.map.size);
		n2d_safetensors_close(&s);
	}
	free(c.p);
	free(d.p);
}

/* ---- what cannot be written */

static void wrong_tensors_are_not_written(void **state)
{
	(void)state;
	static const struct n2d_tensor twice[] = {{"a", N2D_F32, 0, {0}, matrix}, {"a", N2D_U8, 0, {0}, bytes}};
	static const struct {
		struct n2d_tensor t;
		const char *why;
	} wrong[] = {
		{{"", N2D_F32, 0, {0}, matrix}, "empty name"},
		{{NULL, N2D_F32, 0, {0}, matrix}, "empty name"},
		{{"__metadata__", N2D_F32, 0, {0}, matrix}, "twice"},
		{{"\xff", N2D_F32, 0, {0}, matrix}, "UTF-8"},
		{{"large", N2D_F32, 2, {SIZE_MAX / 2, 3}, matrix}, "large"},
		{{"large", N2D_F32, 1, {SIZE_MAX / 4}, matrix}, "large"},
		{{"large", N2D_F32, 9, {1}, matrix}, "large"},
	};
	static const struct n2d_metadata own = {"n2d.crc32", "0"}, bad = {"a", "\xff"}, nothing = {"a", NULL};
	write_sample();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(n2d_safetensors_write(path, &wrong[i].t, 1, NULL, 0), -1);
		assert_non_null(strstr(n2d_error_text(), wrong[i].why));
	}
	assert_int_equal(n2d_safetensors_write(path, twice, 2, NULL, 0), -1);
	assert_non_null(strstr(n2d_error_text(), "twice"));
	assert_int_equal(n2d_safetensors_write(path, sample, 1, &own, 1), -1);
	assert_int_equal(n2d_safetensors_write(path, sample, 1, &bad, 1), -1);
	assert_int_equal(n2d_safetensors_write(path, sample, 1, &nothing, 1), -1);
	assert_int_equal(n2d_safetensors_write("none/such", sample, 1, NULL, 0), -1);
	struct n2d_safetensors s; /* and the old file is as it was */
	assert_int_equal(n2d_safetensors_open(&s, path), 0);
	is_sample(&s);
	n2d_safetensors_close(&s);
}

/* The bytes are the format's, not only what reading expects: fixed once from the specification. */
static void bytes_are_the_formats(void **state)
{
	(void)state;
	static const struct n2d_tensor one = {"w", N2D_F32, 1, {2}, matrix};
	static const char header[] = "{\"__metadata__\":{\"n2d.crc32\":\"53bfd3a7\",\"n2d.format\":\"1\",\"k\":\"v\"},"
				     "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
	const struct n2d_metadata m = {"k", "v"};
	assert_int_equal(n2d_safetensors_write(path, &one, 1, &m, 1), 0);
	struct content c = slurp();
	size_t n = sizeof header - 1, padded = (n + 7) / 8 * 8;
	assert_int_equal(c.n, 8 + padded + 8);
	assert_int_equal(c.p[0], padded);
	assert_memory_equal(c.p + 1, "\0\0\0\0\0\0\0", 7);
	c.p[8 + padded] = 0; /* ends the text for messages */
	assert_memory_equal(c.p + 8, header, n);
	for (size_t i = n; i < padded; i++)
		assert_int_equal(c.p[8 + i], ' ');
	assert_memory_equal(c.p + 8 + padded + 1, (const char *)matrix + 1, 7);
	free(c.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(bytes_are_the_formats),
		cmocka_unit_test(files_of_others_are_read),
		cmocka_unit_test(wrong_headers_are_refused),
		cmocka_unit_test(foreign_files_are_refused),
		cmocka_unit_test(deep_headers_are_refused),
		cmocka_unit_test(truncation_at_every_byte_is_refused),
		cmocka_unit_test(every_damaged_byte_is_refused),
		cmocka_unit_test(damage_without_checksum_breaks_nothing),
		cmocka_unit_test(wrong_tensors_are_not_written),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
