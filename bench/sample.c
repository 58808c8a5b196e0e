#define _GNU_SOURCE
#include "bench/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "bench/noise.h"
#include "bench/pin.h"
#include "bench/stats.h"

/* A call shorter than this is made once, untimed, before each sample, so that every sample starts as warm as the next.
 * Longer ones warm what they need in a negligible part of themselves. */
#define WARM_BELOW 0.005

/* The samples taken since the window opened, not yet judged. */
struct window {
	struct noise from;
	struct {
		struct bench_case *c;
		size_t sample;
	} *item;
	size_t items, room;
};

static double thread_cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sample_shuffle(struct n2d_rng *rng, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t j = n2d_rng_below(rng, (uint32_t)i), t = order[i - 1];
		order[i - 1] = order[j];
		order[j] = t;
	}
}

static void *grow(void *p, size_t *room, size_t size)
{
	*room = *room ? 2 * *room : 16;
	p = realloc(p, *room * size);
	if (!p)
		abort();
	return p;
}

/* A first call warms up, then calls are doubled until a sample is long enough. A first call longer than any sample
 * needs tells enough. */
static void calibrate(struct bench_case *c, double seconds)
{
	struct sample s = {0};
	pin_threads(c->ctx);
	double first = n2d_now();
	c->run(c, 1, &s);
	c->call_seconds = n2d_now() - first;
	for (c->calls = 1; c->call_seconds * (double)c->calls < 10 * seconds; c->calls *= 2) {
		double t = n2d_now();
		c->run(c, c->calls, &s);
		t = n2d_now() - t;
		c->call_seconds = t / (double)c->calls;
		if (t >= seconds / 2)
			break;
	}
	size_t calls = (size_t)ceil(seconds / c->call_seconds);
	c->calls = calls ? calls : 1;
}

/* One thread that was not on its processor all the time was interrupted, whatever the ticks of /proc/stat say. */
static int undisturbed(const struct bench_case *c, double wall, double cpu)
{
	return c->outside || c->ctx->threads > 1 || cpu > 0.97 * wall - 50e-6;
}

/* Calls in a row, timed; what another process did, as it tells. */
static double time_calls(struct bench_case *c, struct sample *s, double *cpu)
{
	if (c->call_seconds < WARM_BELOW)
		c->run(c, 1, &(struct sample){0});
	double from = thread_cpu(), t = n2d_now();
	c->run(c, c->calls, s);
	t = n2d_now() - t;
	*cpu = thread_cpu() - from;
	return s->seconds > 0 ? s->seconds : t;
}

static void take(struct bench_case *c, double seconds, struct window *w)
{
	struct sample s;
	double cpu, t;
	pin_threads(c->ctx);
	for (;;) { /* what disturbed the calibration must not make short samples */
		s = (struct sample){.calls = c->calls};
		t = time_calls(c, &s, &cpu);
		if (t >= seconds / 2)
			break;
		c->calls = (size_t)(1 + 1.1 * (double)c->calls * seconds / t);
	}
	s.clean = undisturbed(c, t, cpu);
	if (c->parts)
		c->parts(c, c->calls, &s);
	s.seconds = t / (double)c->calls;
	for (int i = 0; i < SAMPLE_PARTS; i++)
		s.part[i] /= (double)c->calls;
	if ((c->samples & (c->samples - 1)) == 0) { /* room is the next power of two */
		c->sample = realloc(c->sample, 2 * (c->samples + 1) * sizeof *c->sample);
		if (!c->sample)
			abort();
	}
	c->sample[c->samples] = s;
	if (w->items == w->room)
		w->item = grow(w->item, &w->room, sizeof *w->item);
	w->item[w->items].c = c;
	w->item[w->items++].sample = c->samples++;
}

static void judge(struct window *w, int now)
{
	struct noise to;
	if (!now && n2d_now() - w->from.wall < NOISE_SPAN)
		return;
	noise_now(&to);
	int dirty = noise_dirty(&w->from, &to);
	for (size_t i = 0; i < w->items; i++)
		w->item[i].c->sample[w->item[i].sample].clean &= !dirty;
	w->items = 0;
	w->from = to;
}

/* The window held work of another process: it tells nothing. */
static void forgive(struct window *w)
{
	w->items = 0;
	noise_now(&w->from);
}

static size_t clean(const struct bench_case *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->samples; i++)
		n += (size_t)c->sample[i].clean;
	return n;
}

static int wants_more(const struct bench_case *c, const struct sample_plan *p)
{
	return !c->why[0] && clean(c) < p->want && c->samples < p->want + p->extra;
}

/* Threads that wait for more work look for it for some milliseconds, those of another process too, before they sleep. */
static void settle(void) { nanosleep(&(struct timespec){0, 10000000}, NULL); }

/* One sample of every case that wants one, in random order. Returns how many were taken. */
static size_t round_of(struct bench_case **c, size_t n, const struct sample_plan *p, struct n2d_rng *rng,
		       struct window *w)
{
	int outside = 0;
	size_t taken = 0, *order = malloc((n + 1) * sizeof *order);
	if (!order)
		abort();
	sample_shuffle(rng, order, n);
	for (size_t i = 0; i < n && !(p->stop && *p->stop); i++) {
		struct bench_case *x = c[order[i]];
		if (!wants_more(x, p))
			continue;
		if (x->outside)
			judge(w, 1);
		if (x->outside || outside)
			settle();
		outside = x->outside;
		take(x, p->seconds, w);
		if (x->outside)
			forgive(w);
		else
			judge(w, 0);
		taken++;
		if (p->progress)
			p->progress(p->arg, x);
	}
	free(order);
	return taken;
}

static int open_case(struct bench_case *c, const struct sample_plan *p)
{
	if (p->progress) /* a check can take long */
		p->progress(p->arg, c);
	pin_threads(c->ctx); /* first touch where it will run */
	if (c->open && c->open(c)) {
		snprintf(c->why, sizeof c->why, "%s", n2d_error_text());
		c->failed = 1;
		return -1;
	}
	calibrate(c, p->seconds);
	return 0;
}

int sample_group(struct bench_case **c, size_t n, const struct sample_plan *p)
{
	struct n2d_rng rng;
	struct window w = {0};
	int result = 0;
	n2d_rng_init(&rng, p->seed, n);
	for (size_t i = 0; i < n && !(p->stop && *p->stop); i++)
		if (!c[i]->why[0] && open_case(c[i], p))
			result = -1;
	noise_now(&w.from);
	for (;;) {
		size_t taken = round_of(c, n, p, &rng, &w);
		if (taken && !(p->stop && *p->stop))
			continue;
		/* Nobody wants more, as far as judged: the last window may still be refused. */
		int undecided = w.items != 0;
		judge(&w, 1);
		if (!undecided || (p->stop && *p->stop))
			break;
	}
	for (size_t i = 0; i < n; i++) {
		if (c[i]->calls && c[i]->close)
			c[i]->close(c[i]);
		if (!c[i]->samples && !c[i]->why[0])
			snprintf(c[i]->why, sizeof c[i]->why, "interrupted");
	}
	free(w.item);
	return result;
}

void sample_free(struct bench_case *c)
{
	free(c->sample);
	c->sample = NULL;
	c->samples = 0;
}

size_t sample_seconds(const struct bench_case *c, int part, double *x)
{
	size_t n = 0;
	int all = !clean(c);
	for (size_t i = 0; i < c->samples; i++)
		if (all || c->sample[i].clean)
			x[n++] = part < 0 ? c->sample[i].seconds : c->sample[i].part[part];
	return n;
}

int sample_disturbed(const struct bench_case *c) { return stat_disturbed(clean(c), c->samples); }

const char *sample_mark(const struct bench_case *c, int limit_disturbed)
{
	return sample_disturbed(c) ? "  disturbed" : limit_disturbed ? "  limit disturbed" : "";
}

double sample_median(const struct bench_case *c, int part)
{
	double *x = malloc((c->samples + 1) * sizeof *x);
	if (!x)
		abort();
	size_t n = sample_seconds(c, part, x);
	double m = n ? stat_median(x, n) : NAN;
	free(x);
	return m;
}
