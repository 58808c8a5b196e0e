#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char text[512];

int n2d_error(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return -1;
}

const char *n2d_error_text(void) { return text; }
