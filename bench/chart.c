/* Curves over n as SVG that takes its colours from the page (html.h). */
#include <math.h>
#include <string.h>

#include "bench/html.h"

/* Room in the picture: where the axes cross, and where they end. Left of them stand five digits and a point in the widest font and the size of a narrow window,
 * right of them names of layers. */
enum { WIDTH = 620, HEIGHT = 340, LEFT = 72, RIGHT = 440, TOP = 26, BOTTOM = 288 };

static double at_x(const struct chart *c, double x) { return LEFT + (RIGHT - LEFT) * log(x / c->x0) / log(c->x1 / c->x0); }

static double at_y(const struct chart *c, double y)
{
	double part = c->log_y ? log(y / c->y0) / log(c->y1 / c->y0) : (y - c->y0) / (c->y1 - c->y0);
	return BOTTOM - (BOTTOM - TOP) * part;
}

static void y_line(const struct chart *c, double y)
{
	const char *at = as_text("%.1f", at_y(c, y)), *below = as_text("%.1f", at_y(c, y) + 5);
	html(c->h, "<path class=\"axis\" d=\"M$ $H$\"/><text x=\"$\" y=\"$\" text-anchor=\"end\">$</text>", as_text("%d", LEFT), at,
	     as_text("%d", RIGHT),
	     as_text("%d", LEFT - 7), below, as_text("%g", y));
}

static void axes(const struct chart *c)
{
	double doublings = log2(c->x1 / c->x0), step = doublings > 12 ? 4 : doublings > 6 ? 2 : 1;
	for (double k = 0; k <= doublings + 1e-9; k += step) {
		const char *x = as_text("%.1f", at_x(c, c->x0 * exp2(k)));
		html(c->h, "<path class=\"axis\" d=\"M$ $V$\"/><text x=\"$\" y=\"$\" text-anchor=\"middle\">$</text>", x,
		     as_text("%d", TOP), as_text("%d", BOTTOM), x,
		     as_text("%d", BOTTOM + 19), as_text("%g", c->x0 * exp2(k)));
	}
	if (c->log_y) {
		double decades = log10(c->y1 / c->y0), each = ceil(decades / 8);
		for (double k = 0; k <= decades + 1e-9; k += each)
			y_line(c, c->y0 * pow(10, k));
	} else {
		for (int k = 0; k <= 4; k++)
			y_line(c, c->y0 + (c->y1 - c->y0) * k / 4);
	}
}

void chart_open(struct chart *c, struct html *h, const char *name, const char *unit, int log_y, double x0, double x1, double y0,
		double y1)
{
	*c = (struct chart){.h = h, .log_y = log_y, .x0 = x0, .x1 = x1 > x0 ? x1 : 2 * x0, .y0 = y0, .y1 = y1};
	if (log_y) {
		c->y0 = pow(10, floor(log10(y0) + 1e-9));
		c->y1 = pow(10, ceil(log10(y1) - 1e-9));
		c->y1 = c->y1 > c->y0 ? c->y1 : 10 * c->y0;
	}
	html(h, "<svg viewBox=\"0 0 $ $\" role=\"img\" aria-label=\"$\">", as_text("%d", WIDTH), as_text("%d", HEIGHT), name);
	axes(c);
	html(h, "<text x=\"$\" y=\"14\">$</text><text x=\"$\" y=\"$\" text-anchor=\"middle\">length n</text>\n",
	     as_text("%d", LEFT - 40), unit,
	     as_text("%d", (LEFT + RIGHT) / 2), as_text("%d", HEIGHT - 8));
}

void chart_curve(struct chart *c, const double *x, const double *y, size_t n, const char *colour, const char *style)
{
	const double slack = 0.5;
	int dots = strcmp(style, "dots") == 0, pen = 0;
	if (!dots)
		html(c->h, "<path class=\"c $\" style=\"--c:$\" d=\"", style, colour);
	for (size_t i = 0; i < n; i++) {
		double px = at_x(c, x[i]), py = at_y(c, y[i]);
		int inside = px >= LEFT - slack && px <= RIGHT + slack && py >= TOP - slack && py <= BOTTOM + slack; /* NaN is not */
		if (inside && dots)
			html(c->h, "<circle class=\"d\" style=\"--c:$\" cx=\"$\" cy=\"$\" r=\"3.6\"/>", colour, as_text("%.1f", px),
			     as_text("%.1f", py));
		else if (inside)
			html(c->h, "$$ $", pen ? "L" : "M", as_text("%.1f", px), as_text("%.1f", py));
		pen = inside;
	}
	html(c->h, dots ? "\n" : "\"/>\n");
}

void chart_ring(struct chart *c, double x, double y)
{
	if (x >= c->x0 && x <= c->x1 && y >= c->y0 && y <= c->y1)
		html(c->h, "<circle class=\"ring\" cx=\"$\" cy=\"$\" r=\"7\"/>", as_text("%.1f", at_x(c, x)),
		     as_text("%.1f", at_y(c, y)));
}

void chart_name(struct chart *c, double y, const char *name, const char *colour)
{
	double at = at_y(c, y);
	size_t i = c->labels;
	if (i == CHART_LABELS || isnan(at))
		return;
	for (; i && c->label[i - 1].y > at; i--) /* from top to bottom */
		c->label[i] = c->label[i - 1];
	c->label[i] = (struct chart_label){.y = at, .colour = colour};
	snprintf(c->label[i].text, sizeof c->label->text, "%s", name);
	c->labels++;
}

void chart_close(struct chart *c)
{
	enum { APART = 18 };
	if (c->labels)
		c->label[0].y = fmax(c->label[0].y, TOP);
	for (size_t i = 1; i < c->labels; i++) /* one below the other, then up again from the lower end */
		c->label[i].y = fmax(c->label[i].y, c->label[i - 1].y + APART);
	for (size_t i = c->labels; i-- > 0;)
		c->label[i].y = fmin(c->label[i].y, i + 1 < c->labels ? c->label[i + 1].y - APART : BOTTOM);
	for (size_t i = 0; i < c->labels; i++)
		html(c->h, "<text class=\"name\" style=\"--c:$\" x=\"$\" y=\"$\">$</text>", c->label[i].colour,
		     as_text("%d", RIGHT + 8),
		     as_text("%.1f", c->label[i].y + 5), c->label[i].text);
	html(c->h, "</svg>\n");
}
