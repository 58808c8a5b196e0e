#include "tests/layer/oracle.h"

#include <stdlib.h>

#define ORACLE(name) extern const struct layer_oracle oracle_##name;
#include "tests/layer/kinds.def"
#undef ORACLE

const struct layer_oracle *const layer_oracles[] = {
#define ORACLE(name) &oracle_##name,
#include "tests/layer/kinds.def"
#undef ORACLE
	NULL,
};

void *oracle_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		exit(99);
	return p;
}

void oracle_linear(struct num *y, const struct num *x, const double *w, const double *b, size_t in, size_t out)
{
	for (size_t o = 0; o < out; o++) {
		struct acc s = {0};
		for (size_t i = 0; i < in; i++)
			acc_mul(&s, x[i], exact(w[o * in + i]));
		acc_add(&s, exact(b[o]));
		y[o] = acc_end(&s);
	}
}

void oracle_linear_bwd(struct num *dx, struct acc *dw, struct acc *db, const struct num *dy, const struct num *x,
		       const double *w, size_t in, size_t out)
{
	for (size_t o = 0; o < out; o++) {
		for (size_t i = 0; i < in; i++)
			acc_mul(dw + o * in + i, dy[o], x[i]);
		acc_add(db + o, dy[o]);
	}
	for (size_t i = 0; dx && i < in; i++) {
		struct acc s = {0};
		for (size_t o = 0; o < out; o++)
			acc_mul(&s, dy[o], exact(w[o * in + i]));
		dx[i] = acc_end(&s);
	}
}
