/* Attention weights as pictures (SVG) and as a table (CSV). */
#ifndef N2D_MAPS_DRAW_H
#define N2D_MAPS_DRAW_H

#include "base/file.h"
#include "decode/maps.h"

/* What is shown, and the tokens of the positions, valid UTF-8. */
struct n2d_map_view {
	const struct n2d_attention_map *const *map; /* [n], all with the same number of heads */
	size_t n;
	const char *const *source, *const *target; /* [S], [T]: the encoder's input, the decoder's */
	const unsigned char *head;                 /* [H]: 1 if shown */
	const char *word;                          /* only queries that are this token; NULL: all */
};

/* The most tokens a side of a picture: beyond, nobody could read it. */
enum { N2D_MAP_TOKENS = 100 };

/* The queries of a map that are shown. */
size_t n2d_map_queries(const struct n2d_map_view *v, const struct n2d_attention_map *m);

/* As in the paper's figures 3 to 5: queries on the left, keys on the right, a line of each head's colour between, as opaque as the weight is
 * large. All tokens are there, also of queries that are not shown. Map under map. */
void n2d_maps_lines(struct n2d_out *out, const struct n2d_map_view *v);

/* A matrix a head, map under map. */
void n2d_maps_heat(struct n2d_out *out, const struct n2d_map_view *v);

/* A row a weight (results/SCHEMA.md). */
void n2d_maps_csv(struct n2d_out *out, const struct n2d_map_view *v);

#endif
