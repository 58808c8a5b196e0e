#define _GNU_SOURCE /* mkdtemp */
#include "bench/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char *temporary_place(void)
{
	const char *place = getenv("TMPDIR");
	return place && *place ? place : "/tmp";
}

int temporary_directory(char *path, size_t room, const char *name)
{
	if ((size_t)snprintf(path, room, "%s/%s-XXXXXX", temporary_place(), name) >= room)
		return n2d_error("TMPDIR: the path is too long");
	return mkdtemp(path) ? 0 : n2d_error("cannot make %.200s: %s", path, strerror(errno));
}
