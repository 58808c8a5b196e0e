/* Files that do not outlive a command. */
#ifndef BENCH_TEMPORARY_H
#define BENCH_TEMPORARY_H

#include <stddef.h>

/* Where they go: TMPDIR, or /tmp. */
const char *temporary_place(void);
/* Makes a directory there that is this process' alone; its path into path[room]. name: what it begins with. -1 and a message. */
int temporary_directory(char *path, size_t room, const char *name);

#endif
