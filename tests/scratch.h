/* A directory of its own for a test's files, removed afterwards with what scratch_put made in it:
 *
 *	cmocka_run_group_tests(tests, scratch_make, scratch_remove) */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <ftw.h>
#include <unistd.h>

#include "tests/unit.h"

static char scratch[] = "scratch.XXXXXX";

static int scratch_make(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int scratch_remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	(void)s, (void)type, (void)ftw;
	return remove(path);
}

static int scratch_remove(void **state)
{
	(void)state;
	return nftw(scratch, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of a file of this name; of the last eight. */
static inline const char *scratch_path(const char *name)
{
	static char path[8][96];
	static int at;
	at = (at + 1) % 8;
	snprintf(path[at], sizeof *path, "%s/%s", scratch, name);
	return path[at];
}

/* Its path, with this text. */
static inline const char *scratch_put_bytes(const char *name, const char *text, size_t n)
{
	const char *path = scratch_path(name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

static inline const char *scratch_put(const char *name, const char *text) { return scratch_put_bytes(name, text, strlen(text)); }

#endif
