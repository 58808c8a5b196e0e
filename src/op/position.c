#include "op/position.h"

#include <math.h>

void n2d_position_sinusoidal(float *table, size_t first, size_t T, size_t D)
{
	for (size_t i = 0; i < D; i += 2) {
		double rate = pow(10000, -(double)i / (double)D);
		for (size_t t = 0; t < T; t++) {
			double x = (double)(first + t) * rate;
			table[t * D + i] = (float)sin(x);
			if (i + 1 < D)
				table[t * D + i + 1] = (float)cos(x);
		}
	}
}
