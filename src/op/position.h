/* Sinusoidal position encoding (paper, section 3.5). */
#ifndef N2D_POSITION_H
#define N2D_POSITION_H

#include <stddef.h>

/* table[T, D]: element (t, 2i) = sin((first + t) / 10000^(2i / D)), (t, 2i + 1) = cos of the same argument; an odd D ends with a
 * sine. Computed in double: right to half an ulp and 1e-11 whatever the position. */
void n2d_position_sinusoidal(float *table, size_t first, size_t T, size_t D);

#endif
