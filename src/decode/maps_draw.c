#include "decode/maps_draw.h"

#include <string.h>

#include "text/utf8.h"

/* ---- what is shown */

static const char *const titles[] = {"Encoder self-attention", "Decoder self-attention", "Decoder attention over the source"};

static const char *query(const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t i)
{
	return m->kind == N2D_MAP_ENCODER ? v->source[i] : v->target[i];
}

static const char *key(const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t j)
{
	return m->kind == N2D_MAP_DECODER ? v->target[j] : v->source[j];
}

static int shown(const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t i)
{
	return !v->word || strcmp(v->word, query(v, m, i)) == 0;
}

size_t n2d_map_queries(const struct n2d_map_view *v, const struct n2d_attention_map *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->Tq; i++)
		n += (size_t)shown(v, m, i);
	return n;
}

static size_t heads(const struct n2d_map_view *v, const struct n2d_attention_map *m)
{
	size_t n = 0;
	for (size_t h = 0; h < m->H; h++)
		n += v->head[h];
	return n;
}

static double weight(const struct n2d_attention_map *m, size_t h, size_t i, size_t j) { return (double)m->P[(h * m->Tq + i) * m->Tk + j]; }

/* ---- text of a picture */

enum { LETTER = 8, CLIP = 24 }; /* width of a letter of 13 px; characters of a token that are shown */

/* Characters that XML has no place for, whatever way they are written. */
static int no_xml(uint32_t c) { return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xfffe || c == 0xffff; }

static void text(struct n2d_out *out, const char *token, size_t most)
{
	size_t n = 0;
	for (const char *s = token; *s && n < most; s += n2d_utf8_bytes(s), n++) {
		switch (*s) {
		case '&': n2d_out_printf(out, "&amp;"); break;
		case '<': n2d_out_printf(out, "&lt;"); break;
		case '>': n2d_out_printf(out, "&gt;"); break;
		case '"': n2d_out_printf(out, "&quot;"); break;
		default:
			if (no_xml(n2d_utf8_code(s)))
				n2d_out_printf(out, "\xef\xbf\xbd");
			else
				n2d_out_write(out, s, n2d_utf8_bytes(s));
		}
		if (n + 1 == most && s[n2d_utf8_bytes(s)])
			n2d_out_printf(out, "\xe2\x80\xa6");
	}
}

/* Pixels of it; from Hangul on, characters take two places. */
static size_t width(const char *token)
{
	size_t n = 0, places = 0;
	for (const char *s = token; *s && n <= CLIP; s += n2d_utf8_bytes(s), n++)
		places += n2d_utf8_code(s) >= 0x1100 ? 2 : 1;
	return LETTER * places;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t queries_width(const struct n2d_map_view *v, const struct n2d_attention_map *m, int all)
{
	size_t most = 0;
	for (size_t i = 0; i < m->Tq; i++)
		most = larger(most, all || shown(v, m, i) ? width(query(v, m, i)) : 0);
	return most;
}

static size_t keys_width(const struct n2d_map_view *v, const struct n2d_attention_map *m)
{
	size_t most = 0;
	for (size_t j = 0; j < m->Tk; j++)
		most = larger(most, width(key(v, m, j)));
	return most;
}

/* ---- a page: a light or a dark one, as the reader's surroundings are */

static void begin(struct n2d_out *out, size_t w, size_t h)
{
	n2d_out_printf(out,
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" font-family=\"monospace\" "
		       "font-size=\"13\">\n<style>\n.page { fill: #ffffff } text { fill: #1f2328; white-space: pre } .frame { stroke: #8c959f; fill: none }\n"
		       "@media (prefers-color-scheme: dark) { .page { fill: #0d1117 } text { fill: #e6edf3 } }\n</style>\n"
		       "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
		       w, h, w, h);
}

static void end(struct n2d_out *out) { n2d_out_printf(out, "</svg>\n"); }

static void title(struct n2d_out *out, const struct n2d_attention_map *m, size_t x, size_t y)
{
	n2d_out_printf(out, "<text x=\"%zu\" y=\"%zu\" font-family=\"sans-serif\" font-size=\"15\">%s, layer %zu of %zu</text>\n", x, y,
		       titles[m->kind], m->layer + 1, m->layers);
}

/* A head's colour: hues all around. */
static void colour(struct n2d_out *out, const struct n2d_attention_map *m, size_t h) { n2d_out_printf(out, "hsl(%zu,75%%,44%%)", (210 + 360 * h / m->H) % 360); }

/* What a reader sees who points at a weight. */
static void tip(struct n2d_out *out, const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t h, size_t i, size_t j)
{
	n2d_out_printf(out, "<title>head %zu: ", h + 1);
	text(out, query(v, m, i), CLIP);
	n2d_out_printf(out, " → ");
	text(out, key(v, m, j), CLIP);
	n2d_out_printf(out, " %.3f</title>", weight(m, h, i, j));
}

#define LEAST 0.01 /* the smallest weight that could be seen */

/* ---- lines */

enum { EDGE = 16, ROW = 20, HEAD = 72, BETWEEN = 260, SWATCH = 34 };

static size_t lines_width(const struct n2d_map_view *v, const struct n2d_attention_map *m)
{
	size_t legend = 60 + SWATCH * heads(v, m), tokens = queries_width(v, m, 1) + BETWEEN + keys_width(v, m) + 16;
	return 2 * EDGE + larger(larger(legend, tokens), 400);
}

static size_t lines_height(const struct n2d_attention_map *m) { return HEAD + ROW * larger(m->Tq, m->Tk) + EDGE; }

static void legend(struct n2d_out *out, const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t y)
{
	size_t x = EDGE + 52;
	n2d_out_printf(out, "<text x=\"%d\" y=\"%zu\">heads</text>\n", EDGE, y + 44);
	for (size_t h = 0; h < m->H; h++) {
		if (!v->head[h])
			continue;
		n2d_out_printf(out, "<rect x=\"%zu\" y=\"%zu\" width=\"10\" height=\"10\" fill=\"", x, y + 34);
		colour(out, m, h);
		n2d_out_printf(out, "\"/><text x=\"%zu\" y=\"%zu\">%zu</text>\n", x + 13, y + 44, h + 1);
		x += SWATCH;
	}
}

static void column(struct n2d_out *out, const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t x, size_t y, int keys)
{
	for (size_t i = 0; i < (keys ? m->Tk : m->Tq); i++) {
		n2d_out_printf(out, "<text x=\"%zu\" y=\"%zu\"%s>", x, y + ROW * i + 14, keys ? "" : " text-anchor=\"end\"");
		text(out, keys ? key(v, m, i) : query(v, m, i), CLIP);
		n2d_out_printf(out, "</text>\n");
	}
}

/* A head's lines; each head a little lower than the one before, so that none hides another. at: of those that are shown. */
static void head_lines(struct n2d_out *out, const struct n2d_map_view *v, const struct n2d_attention_map *m, size_t h, size_t at, size_t x, size_t y)
{
	double shift = (double)ROW * ((double)at + 1) / ((double)heads(v, m) + 1);
	n2d_out_printf(out, "<g stroke-width=\"1.8\" stroke=\"");
	colour(out, m, h);
	n2d_out_printf(out, "\">\n");
	for (size_t i = 0; i < m->Tq; i++)
		for (size_t j = 0; j < m->Tk && shown(v, m, i); j++) {
			if (!(weight(m, h, i, j) >= LEAST))
				continue;
			n2d_out_printf(out, "<line x1=\"%zu\" y1=\"%.1f\" x2=\"%zu\" y2=\"%.1f\" stroke-opacity=\"%.3f\">", x,
				       (double)(y + ROW * i) + shift, x + BETWEEN - 16, (double)(y + ROW * j) + shift, weight(m, h, i, j));
			tip(out, v, m, h, i, j);
			n2d_out_printf(out, "</line>\n");
		}
	n2d_out_printf(out, "</g>\n");
}

void n2d_maps_lines(struct n2d_out *out, const struct n2d_map_view *v)
{
	size_t w = 0, height = EDGE, y = EDGE;
	for (size_t k = 0; k < v->n; k++) {
		w = larger(w, lines_width(v, v->map[k]));
		height += lines_height(v->map[k]);
	}
	begin(out, w, height);
	for (size_t k = 0; k < v->n; k++) {
		const struct n2d_attention_map *m = v->map[k];
		size_t left = EDGE + queries_width(v, m, 1) + 8, at = 0;
		title(out, m, EDGE, y + 16);
		legend(out, v, m, y);
		column(out, v, m, left - 8, y + HEAD, 0);
		column(out, v, m, left + BETWEEN - 8, y + HEAD, 1);
		for (size_t h = 0; h < m->H; h++)
			if (v->head[h])
				head_lines(out, v, m, h, at++, left, y + HEAD);
		y += lines_height(m);
	}
	end(out);
}

/* ---- heat maps: as many heads side by side as a page is wide */

enum { CELL = 14, PAGE = 1280, LABEL = 24 };

struct grid {
	size_t left, top, w, h, columns, rows; /* of one head: its labels, its cells, in pixels; heads side by side, one under another */
};

static struct grid grid(const struct n2d_map_view *v, const struct n2d_attention_map *m)
{
	struct grid g = {queries_width(v, m, 0) + 8, keys_width(v, m) + 8 + LABEL, CELL * m->Tk, CELL * n2d_map_queries(v, m), 0, 0};
	size_t n = heads(v, m), fit = PAGE / (g.left + g.w + EDGE);
	g.columns = !fit ? 1 : fit < n ? fit : n;
	g.rows = (n + g.columns - 1) / g.columns;
	return g;
}

static size_t heat_width(const struct grid *g) { return EDGE + larger(g->columns * (g->left + g->w + EDGE), 400); }
static size_t heat_height(const struct grid *g) { return 40 + g->rows * (g->top + g->h + EDGE); }

/* Its cells' corner is at x, y. */
static void labels(struct n2d_out *out, const struct n2d_map_view *v, const struct n2d_attention_map *m, const struct grid *g, size_t h, size_t x, size_t y)
{
	size_t row = y + 11;
	n2d_out_printf(out, "<text x=\"%zu\" y=\"%zu\" font-family=\"sans-serif\">head %zu</text>\n", x, y - g->top + 14, h + 1);
	for (size_t i = 0; i < m->Tq; i++) {
		if (!shown(v, m, i))
			continue;
		n2d_out_printf(out, "<text x=\"%zu\" y=\"%zu\" font-size=\"12\" text-anchor=\"end\">", x - 5, row);
		text(out, query(v, m, i), CLIP);
		n2d_out_printf(out, "</text>\n");
		row += CELL;
	}
	for (size_t j = 0; j < m->Tk; j++) {
		n2d_out_printf(out, "<text transform=\"translate(%zu,%zu) rotate(-90)\" font-size=\"12\">", x + CELL * j + 11, y - 5);
		text(out, key(v, m, j), CLIP);
		n2d_out_printf(out, "</text>\n");
	}
}

static void cells(struct n2d_out *out, const struct n2d_map_view *v, const struct n2d_attention_map *m, const struct grid *g, size_t h, size_t x, size_t y)
{
	size_t row = y;
	n2d_out_printf(out, "<g fill=\"");
	colour(out, m, h);
	n2d_out_printf(out, "\">\n");
	for (size_t i = 0; i < m->Tq; i++) {
		if (!shown(v, m, i))
			continue;
		for (size_t j = 0; j < m->Tk; j++) {
			if (!(weight(m, h, i, j) >= LEAST))
				continue;
			n2d_out_printf(out, "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" fill-opacity=\"%.3f\">", x + CELL * j, row, CELL,
				       CELL, weight(m, h, i, j));
			tip(out, v, m, h, i, j);
			n2d_out_printf(out, "</rect>\n");
		}
		row += CELL;
	}
	n2d_out_printf(out, "</g>\n<rect class=\"frame\" x=\"%zu.5\" y=\"%zu.5\" width=\"%zu\" height=\"%zu\"/>\n", x - 1, y - 1, g->w + 1, g->h + 1);
}

void n2d_maps_heat(struct n2d_out *out, const struct n2d_map_view *v)
{
	size_t w = 0, height = EDGE, y = EDGE;
	for (size_t k = 0; k < v->n; k++) {
		struct grid g = grid(v, v->map[k]);
		w = larger(w, heat_width(&g));
		height += heat_height(&g);
	}
	begin(out, w, height);
	for (size_t k = 0; k < v->n; k++) {
		const struct n2d_attention_map *m = v->map[k];
		struct grid g = grid(v, m);
		size_t at = 0;
		title(out, m, EDGE, y + 16);
		for (size_t h = 0; h < m->H; h++) {
			if (!v->head[h])
				continue;
			size_t x = EDGE + at % g.columns * (g.left + g.w + EDGE) + g.left, top = y + 40 + at / g.columns * (g.top + g.h + EDGE) + g.top;
			labels(out, v, m, &g, h, x, top);
			cells(out, v, m, &g, h, x, top);
			at++;
		}
		y += heat_height(&g);
	}
	end(out);
}

/* ---- the table */

/* In double quotes, those inside doubled (RFC 4180). */
static void quoted(struct n2d_out *out, const char *token)
{
	n2d_out_write(out, "\"", 1);
	for (const char *s = token; *s; s++)
		n2d_out_write(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	n2d_out_write(out, "\"", 1);
}

void n2d_maps_csv(struct n2d_out *out, const struct n2d_map_view *v)
{
	static const char *const names[] = {"encoder", "decoder", "cross"};
	n2d_out_printf(out, "schema,kind,layer,head,query,key,query_token,key_token,weight\n");
	for (size_t k = 0; k < v->n; k++) {
		const struct n2d_attention_map *m = v->map[k];
		for (size_t h = 0; h < m->H; h++)
			for (size_t i = 0; i < m->Tq && v->head[h]; i++)
				for (size_t j = 0; j < m->Tk && shown(v, m, i); j++) {
					n2d_out_printf(out, "attention/1,%s,%zu,%zu,%zu,%zu,", names[m->kind], m->layer + 1, h + 1, i + 1, j + 1);
					quoted(out, query(v, m, i));
					n2d_out_write(out, ",", 1);
					quoted(out, key(v, m, j));
					n2d_out_printf(out, ",%.9g\n", weight(m, h, i, j));
				}
	}
}
