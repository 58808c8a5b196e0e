#include "train/schedule.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

int n2d_schedule_make(struct n2d_schedule *s, const char *name, double rate, size_t warmup, size_t d_model)
{
	static const char *const names[] = {"paper", "inverse-sqrt", "constant"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		if (!(rate > 0 && rate <= 1e6)) /* NaN too */
			return n2d_error("learning rate %g must be a positive number", rate);
		if (!d_model)
			return n2d_error("schedule %s: d-model must be at least 1", name);
		*s = (struct n2d_schedule){(enum n2d_schedule_kind)i, rate, warmup ? warmup : 1, d_model};
		return 0;
	}
	return n2d_error("schedule '%s' must be one of paper|inverse-sqrt|constant", name);
}

double n2d_schedule_rate(const struct n2d_schedule *s, uint64_t step)
{
	double t = (double)step, w = (double)s->warmup;
	switch (s->kind) {
	case N2D_SCHEDULE_PAPER: return s->rate * pow((double)s->d_model, -0.5) * fmin(pow(t, -0.5), t * pow(w, -1.5));
	case N2D_SCHEDULE_INVERSE_SQRT: return s->rate * fmin(t / w, sqrt(w / t));
	default: return s->rate * fmin(t / w, 1);
	}
}
