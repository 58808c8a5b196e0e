/* Files written whole or not at all, and files read in place. */
#ifndef N2D_FILE_H
#define N2D_FILE_H

#include <stddef.h>
#include <stdio.h>

/* What follows PATH in the name of its temporary. This program's own: a PATH.tmp beside it is somebody else's. */
#define N2D_OUT_TEMPORARY ".n2d-tmp"

/* A file being written. The bytes go to PATH.n2d-tmp beside it; n2d_out_commit puts them in its place at
 * once (fsync, rename, fsync of the directory), so that PATH always holds the old content or all of the
 * new, also after a crash. A killed process can leave PATH.n2d-tmp, which the next writer reuses. A symbolic
 * link stays and its target is replaced; what is no regular file (a pipe, /dev/null) is written directly, and so is "-", standard output. */
struct n2d_out {
	FILE *f;
	char *path, *temporary; /* the link's target; NULL: written directly */
	int error;              /* errno of the first failure; what follows it writes nothing */
};

/* -1 and a message naming path when it cannot be made, or another process is writing it. */
int n2d_out_open(struct n2d_out *o, const char *path);
/* The same answer before the work whose result goes there, and no file is left. What is no regular file is not tried: opening it may wait, or end what
 * reads from it. */
int n2d_out_try(const char *path);
/* Failures are kept for n2d_out_commit, so that callers need one check. */
void n2d_out_write(struct n2d_out *o, const void *data, size_t bytes);
void n2d_out_printf(struct n2d_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Passes on what was written so far, for a reader at the other end of a pipe. */
void n2d_out_flush(struct n2d_out *o);
/* -1 and a message naming path and the reason: the old file is as it was, and PATH.n2d-tmp is gone (if only the last
 * fsync of the directory fails, the new file is there but may not survive a crash). */
int n2d_out_commit(struct n2d_out *o);
/* Gives up: the old file is as it was, and PATH.n2d-tmp is gone. Does nothing to one that is committed, failed to open, or all zeros. */
void n2d_out_cancel(struct n2d_out *o);

/* A regular file's bytes, mapped for reading; they stay what they were when n2d_out_commit replaces
 * the file. data is "" when size is 0. */
struct n2d_map {
	const unsigned char *data;
	size_t size;
};

/* -1 and a message naming path. */
int n2d_map_open(struct n2d_map *m, const char *path);
void n2d_map_close(struct n2d_map *m);

/* Whether there is nothing of this name. What there is but cannot be looked at is not missing. */
int n2d_file_missing(const char *path);
/* Whether what path names can be read a second time: not standard input ("-"), a pipe or a terminal. True of what cannot be read at all. */
int n2d_file_again(const char *path);

/* Calls see(arg, name) for each name in a directory, in any order, until it gives other than 0, which is returned. -1 and a message
 * when dir cannot be read. */
int n2d_dir_each(const char *dir, int (*see)(void *arg, const char *name), void *arg);

/* Makes a directory unless it is there. -1 and a message. */
int n2d_dir_make(const char *dir);
/* Takes a directory for this process alone, until the descriptor that is returned is closed or the process ends. -1 and a message when another
 * has it. */
int n2d_dir_lock(const char *dir);

#endif
