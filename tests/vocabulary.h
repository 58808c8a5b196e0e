/* The vector vocabulary on trial: every operation of simd/vec.h, lane by lane, against plain C. */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include <stddef.h>

struct vocabulary {
	size_t checked, failed;
	char first[200]; /* the first failure */
};

/* n2d_<isa>_vocabulary(v), compiled once for each instruction set from vocabulary.c. */
#define N2D_ISA(id, rank, what) void n2d_##id##_vocabulary(struct vocabulary *v);
#include "simd/isa.def"
#undef N2D_ISA

#endif
