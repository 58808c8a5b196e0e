/* Errors: a function that can fail returns -1 (or NULL) after setting the thread's message. */
#ifndef N2D_ERROR_H
#define N2D_ERROR_H

#include <stddef.h>

/* Exit codes of all programs. */
enum { N2D_EXIT_OK = 0, N2D_EXIT_FAILED = 1, N2D_EXIT_USAGE = 2 };

/* Sets this thread's message, one line without a final newline, control characters as "?"; n2d_error_text() may be an argument. Returns -1. */
int n2d_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The message of this thread's last failure; "" when there was none. */
const char *n2d_error_text(void);

/* For a message with a count: "" of one, else "s". */
static inline const char *n2d_plural(size_t n) { return n == 1 ? "" : "s"; }

#endif
