#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int cannot(const char *what, const char *path, int error)
{
	return n2d_error("cannot %s '%s': %s", what, path, strerror(error));
}

/* The temporary's descriptor, locked. The lock tells a writer at work from what a killed one left.
 * -1 and errno; EWOULDBLOCK: another process holds it. */
static int open_locked(const char *temporary)
{
	for (;;) {
		int fd = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		struct stat mine, there;
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &mine)) {
			int error = errno;
			close(fd);
			errno = error;
			return -1;
		}
		/* Between open and flock its owner may have renamed it to its place: then it is no temporary any more. */
		if (stat(temporary, &there) == 0 && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
			return fd;
		close(fd);
	}
}

/* Opens the temporary of o->path, empty, with the permissions of the file it will replace. */
static int open_beside(struct n2d_out *o, const struct stat *old)
{
	size_t n = strlen(o->path) + sizeof N2D_OUT_TEMPORARY;
	if (!(o->temporary = malloc(n)))
		return -1;
	snprintf(o->temporary, n, "%s" N2D_OUT_TEMPORARY, o->path);
	int fd = open_locked(o->temporary);
	if (fd < 0) {
		free(o->temporary); /* not ours: it must stay */
		o->temporary = NULL;
		return -1;
	}
	if (ftruncate(fd, 0) || (old && fchmod(fd, old->st_mode & 07777)) || !(o->f = fdopen(fd, "wb"))) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return 0;
}

/* A duplicate, so that closing it leaves standard output open. */
static void open_standard(struct n2d_out *o)
{
	int fd = dup(STDOUT_FILENO);
	o->path = strdup("standard output");
	o->f = fd >= 0 && o->path ? fdopen(fd, "wb") : NULL;
	if (fd >= 0 && !o->f)
		close(fd);
}

int n2d_out_open(struct n2d_out *o, const char *path)
{
	struct stat old;
	memset(o, 0, sizeof *o);
	if (!*path)
		return cannot("write", path, ENOENT); /* not the temporary of no name */
	int standard = strcmp(path, "-") == 0, exists = !standard && stat(path, &old) == 0;
	if (standard) {
		open_standard(o);
	} else if (exists && !S_ISREG(old.st_mode)) {
		o->path = strdup(path);
		o->f = o->path ? fopen(path, "wb") : NULL;
	} else {
		o->path = exists ? realpath(path, NULL) : strdup(path);
		if (o->path)
			open_beside(o, exists ? &old : NULL);
	}
	if (o->f)
		return 0;
	int error = errno;
	n2d_out_cancel(o);
	return error == EWOULDBLOCK ? n2d_error("cannot write '%s': another process is writing it", path)
				    : cannot("write", path, error);
}

void n2d_out_write(struct n2d_out *o, const void *data, size_t bytes)
{
	errno = 0;
	if (!o->error && fwrite(data, 1, bytes, o->f) != bytes)
		o->error = errno ? errno : EIO;
}

void n2d_out_printf(struct n2d_out *o, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	errno = 0;
	if (!o->error && vfprintf(o->f, format, ap) < 0)
		o->error = errno ? errno : EIO;
	va_end(ap);
}

void n2d_out_flush(struct n2d_out *o)
{
	errno = 0;
	if (!o->error && fflush(o->f))
		o->error = errno ? errno : EIO;
}

/* The rename itself must reach the disk. File systems that cannot sync a directory say EINVAL. */
static int sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int bad = fd < 0 || (fsync(fd) && errno != EINVAL);
	int error = errno;
	if (fd >= 0)
		close(fd);
	free(folder);
	errno = error;
	return bad;
}

int n2d_out_commit(struct n2d_out *o)
{
	n2d_out_flush(o);
	if (!o->error && o->temporary &&
	    (fsync(fileno(o->f)) || rename(o->temporary, o->path) || sync_directory(o->path)))
		o->error = errno;
	if (o->error) {
		cannot("write", o->path, o->error);
		n2d_out_cancel(o);
		return -1;
	}
	free(o->temporary); /* in its place: nothing to remove */
	o->temporary = NULL;
	n2d_out_cancel(o);
	return 0;
}

void n2d_out_cancel(struct n2d_out *o)
{
	if (o->temporary)
		unlink(o->temporary);
	if (o->f)
		fclose(o->f); /* after the unlink: the lock goes last */
	free(o->temporary);
	free(o->path);
	memset(o, 0, sizeof *o);
}

static int map(struct n2d_map *m, int fd)
{
	struct stat s;
	if (fstat(fd, &s))
		return errno;
	if (!S_ISREG(s.st_mode))
		return S_ISDIR(s.st_mode) ? EISDIR : ESPIPE;
	m->size = (size_t)s.st_size;
	if (!m->size)
		return 0;
	void *p = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return errno;
	m->data = p;
	return 0;
}

int n2d_map_open(struct n2d_map *m, const char *path)
{
	*m = (struct n2d_map){(const unsigned char *)"", 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must be refused, not waited for */
	if (fd < 0)
		return cannot("read", path, errno);
	int error = map(m, fd);
	close(fd);
	if (error)
		m->size = 0;
	if (error == ESPIPE)
		return n2d_error("cannot read '%s': it is not a regular file", path);
	return error ? cannot("read", path, error) : 0;
}

void n2d_map_close(struct n2d_map *m)
{
	if (m->size)
		munmap((void *)m->data, m->size);
	*m = (struct n2d_map){(const unsigned char *)"", 0};
}

int n2d_file_missing(const char *path) { return access(path, F_OK) && errno == ENOENT; }

int n2d_file_again(const char *path)
{
	struct stat s;
	return strcmp(path, "-") != 0 && (stat(path, &s) || S_ISREG(s.st_mode) || S_ISDIR(s.st_mode));
}

int n2d_out_try(const char *path)
{
	struct n2d_out o;
	if (!n2d_file_again(path))
		return 0;
	if (n2d_out_open(&o, path))
		return -1;
	n2d_out_cancel(&o);
	return 0;
}

int n2d_dir_each(const char *dir, int (*see)(void *arg, const char *name), void *arg)
{
	DIR *d = opendir(dir);
	int done = 0;
	if (!d)
		return cannot("read the directory", dir, errno);
	while (!done) {
		errno = 0; /* readdir's end and its failure are both NULL: half a list must not be taken for a whole one */
		struct dirent *e = readdir(d);
		if (!e) {
			done = errno ? cannot("read the directory", dir, errno) : 0;
			break;
		}
		done = see(arg, e->d_name);
	}
	closedir(d);
	return done;
}

int n2d_dir_make(const char *dir)
{
	struct stat s;
	if (mkdir(dir, 0777) == 0 || (errno == EEXIST && stat(dir, &s) == 0 && S_ISDIR(s.st_mode)))
		return 0;
	return n2d_error("cannot make the directory '%s': %s", dir, strerror(errno));
}

int n2d_dir_lock(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	n2d_error("%s: %s", dir, fd >= 0 && errno == EWOULDBLOCK ? "another process works in this directory" : strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
