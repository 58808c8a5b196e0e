#include "config.h"

#include "text/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "text/utf8.h"

enum { CHUNK = 1 << 16 };

static int cannot(const struct n2d_lines *l)
{
	return n2d_error("cannot read '%s': %s", l->name, strerror(errno));
}

/* One read, which may bring less than room; a signal is no reason to give up. */
static ptrdiff_t read_some(struct n2d_lines *l, char *to, size_t room)
{
	ptrdiff_t n;
	do
		n = read(l->fd, to, room < CHUNK ? room : CHUNK);
	while (n < 0 && errno == EINTR);
	return n < 0 ? cannot(l) : n;
}

#ifdef HAVE_ZLIB
#include <zlib.h>

struct n2d_gunzip {
	z_stream z;
	int inside; /* a member has begun and not ended */
	char in[CHUNK];
};

/* From here on the file is unpacked; its first n bytes lie in the buffer. */
static int gunzip_open(struct n2d_lines *l, size_t n)
{
	if (!(l->gz = calloc(1, sizeof *l->gz)) || inflateInit2(&l->gz->z, 15 + 16) != Z_OK) {
		free(l->gz);
		l->gz = NULL;
		errno = ENOMEM;
		return cannot(l);
	}
	memcpy(l->gz->in, l->buffer, n);
	l->gz->z.next_in = (Bytef *)l->gz->in;
	l->gz->z.avail_in = (uInt)n;
	return 0;
}

static void gunzip_close(struct n2d_gunzip *gz)
{
	if (gz)
		inflateEnd(&gz->z);
	free(gz);
}

static int damaged(const struct n2d_lines *l, const char *what)
{
	return n2d_error("%s:%zu: damaged gzip data: %s", l->name, l->number + 1, what);
}

/* As read_some, of the unpacked bytes. Members may follow each other; each is checked to its end. */
static ptrdiff_t gunzip_some(struct n2d_lines *l, char *to, size_t room)
{
	struct n2d_gunzip *g = l->gz;
	g->z.next_out = (Bytef *)to;
	g->z.avail_out = room < CHUNK ? (uInt)room : CHUNK;
	while (g->z.next_out == (Bytef *)to) {
		if (!g->z.avail_in) {
			ptrdiff_t n = read_some(l, g->in, CHUNK);
			if (n <= 0)
				return n < 0 ? -1 : g->inside ? damaged(l, "it ends early") : 0;
			g->z.next_in = (Bytef *)g->in;
			g->z.avail_in = (uInt)n;
		}
		g->inside = 1;
		int code = inflate(&g->z, Z_NO_FLUSH);
		if (code == Z_STREAM_END) {
			g->inside = 0;
			inflateReset(&g->z);
		} else if (code != Z_OK && code != Z_BUF_ERROR) {
			return damaged(l, g->z.msg ? g->z.msg : zError(code));
		}
	}
	return (char *)g->z.next_out - to;
}
#else
static int gunzip_open(struct n2d_lines *l, size_t n)
{
	(void)n;
	return n2d_error("cannot read '%s': it is compressed, and this program was built without zlib", l->name);
}
static void gunzip_close(struct n2d_gunzip *gz) { (void)gz; }
static ptrdiff_t gunzip_some(struct n2d_lines *l, char *to, size_t room) { return (void)l, (void)to, (void)room, 0; }
#endif

/* Room for more behind what has come. */
static int make_room(struct n2d_lines *l)
{
	if (l->start) {
		memmove(l->buffer, l->buffer + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
	}
	if (l->end + 1 < l->capacity)
		return 0;
	if (l->end + 1 >= N2D_LINE_MAX)
		return n2d_error("%s:%zu: the line is too long: expected less than %d bytes", l->name, l->number + 1, N2D_LINE_MAX);
	char *wider = realloc(l->buffer, 2 * l->capacity);
	if (!wider)
		return n2d_error("%s:%zu: the line is too long: no memory after %zu bytes", l->name, l->number + 1, l->end);
	l->buffer = wider;
	l->capacity *= 2;
	return 0;
}

/* The first bytes, which tell compressed data. */
static ptrdiff_t begin(struct n2d_lines *l)
{
	ptrdiff_t n = 0, more;
	do {
		if ((more = read_some(l, l->buffer + n, l->capacity - 1 - (size_t)n)) < 0)
			return -1;
		n += more;
	} while (more && n == 1 && *l->buffer == '\x1f');
	if (n < 2 || memcmp(l->buffer, "\x1f\x8b", 2) != 0)
		return n;
	return gunzip_open(l, (size_t)n) ? -1 : gunzip_some(l, l->buffer, l->capacity - 1);
}

/* More bytes behind what has come: their number, 0 at the end, -1 and a message. */
static ptrdiff_t fill(struct n2d_lines *l)
{
	ptrdiff_t n;
	if (l->fd < 0) /* a text: all is there */
		return 0;
	if (make_room(l))
		return -1;
	if (!l->number && !l->end && !l->gz)
		n = begin(l);
	else
		n = (l->gz ? gunzip_some : read_some)(l, l->buffer + l->end, l->capacity - 1 - l->end);
	if (n > 0)
		l->end += (size_t)n;
	return n;
}

int n2d_lines_open(struct n2d_lines *l, const char *path)
{
	struct stat s;
	int standard = strcmp(path, "-") == 0;
	*l = (struct n2d_lines){.name = standard ? "standard input" : path, .fd = -1};
	l->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	l->capacity = 2 * CHUNK;
	l->buffer = malloc(l->capacity);
	if (l->fd >= 0 && l->buffer && fstat(l->fd, &s) == 0 && S_ISDIR(s.st_mode))
		errno = EISDIR;
	else if (l->fd >= 0 && l->buffer)
		return 0;
	cannot(l);
	n2d_lines_close(l);
	return -1;
}

int n2d_lines_text(struct n2d_lines *l, const char *name, const char *text)
{
	size_t n = strlen(text);
	*l = (struct n2d_lines){.name = name, .fd = -1, .end = n, .capacity = n + 1, .buffer = malloc(n + 1)};
	if (!l->buffer)
		return n2d_error("%s: no memory for a text of %zu bytes", name, n);
	memcpy(l->buffer, text, n);
	return 0;
}

static int take(struct n2d_lines *l, size_t length, int ended)
{
	l->text = l->buffer + l->start;
	l->length = length;
	l->ended = ended;
	l->number++;
	l->buffer[l->start + length] = 0;
	l->start += length + (size_t)ended;
	return 1;
}

int n2d_lines_next(struct n2d_lines *l)
{
	for (size_t seen = 0;;) {
		const char *rest = l->buffer + l->start, *end = memchr(rest + seen, '\n', l->end - l->start - seen);
		if (end)
			return take(l, (size_t)(end - rest), 1);
		seen = l->end - l->start;
		ptrdiff_t n = fill(l);
		if (n < 0)
			return -1;
		if (n == 0)
			return seen ? take(l, seen, 0) : 0;
	}
}

void n2d_lines_close(struct n2d_lines *l)
{
	if (l->name && l->fd >= 0)
		close(l->fd);
	gunzip_close(l->gz);
	free(l->buffer);
	memset(l, 0, sizeof *l);
}

int n2d_lines_error(const struct n2d_lines *l, const char *format, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return n2d_error("%s:%zu: %s", l->name, l->number, text);
}

int n2d_lines_utf8(const struct n2d_lines *l)
{
	size_t at = n2d_utf8_valid(l->text, l->length);
	if (at == l->length)
		return 0;
	return n2d_lines_error(l, "byte %zu of the line (0x%02x) is no UTF-8", at + 1, (unsigned char)l->text[at]);
}
