#include "bench/where.h"

#include <stdio.h>
#include <string.h>

enum { TAIL = sizeof " and 18446744073709551615 more" };

void where_add(struct where *w, const char *layer, double n, const char *remark)
{
	char one[96];
	size_t used = strlen(w->text);
	int same = w->layer && strcmp(w->layer, layer) == 0;
	snprintf(one, sizeof one, "%s%s%s%.0f%s", same || !used ? "" : "; ", same ? "" : layer, same ? ", " : " at n = ", n, remark);
	if (w->untold || used + strlen(one) + TAIL >= sizeof w->text) {
		w->untold++;
		return;
	}
	memcpy(w->text + used, one, strlen(one) + 1);
	w->layer = layer;
}

void where_end(struct where *w)
{
	size_t used = strlen(w->text);
	if (w->untold)
		snprintf(w->text + used, sizeof w->text - used, " and %zu more", w->untold);
}
