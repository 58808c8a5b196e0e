/* What every kernel body includes: the vocabulary, and this instruction set's prototypes of all
 * rows of kernels.def, so that a body whose arguments differ from its row does not compile. */
#ifndef N2D_BODY_H
#define N2D_BODY_H

#include "config.h"

#include "simd/kernels.h"
#include "simd/vec.h"

#define N2D_KERNEL(family, ret, name, args) ret N2D_FN(name) args;
#include "simd/kernels.def"
#undef N2D_KERNEL

#endif
