#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char text[512];

int n2d_error(const char *format, ...)
{
	char next[sizeof text]; /* an argument may be the message that was */
	va_list ap;
	va_start(ap, format);
	vsnprintf(next, sizeof next, format, ap);
	va_end(ap);
	for (char *at = next; *at; at++) /* what is quoted may be anything: lines of its own, commands to a terminal */
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = '?';
	memcpy(text, next, sizeof text);
	return -1;
}

const char *n2d_error_text(void) { return text; }
