/* Oracles of the layers: naive loops in double that carry a bound on the error of float
 * arithmetic along (running error analysis; Higham, section 3.3), so no tolerance is invented.
 *
 * A `num` is an exact value v and a bound e: any float evaluation of the same formula gives a result
 * within e of v. Inputs and parameters are exact. A sum of n products a*b, each with error, in any
 * order and with or without fused multiply-adds, is off by at most
 *
 *	sum (|a| eb + |b| ea + ea eb)  +  gamma_n sum (|a| + ea)(|b| + eb)
 *
 * Flushed denormals add at most the smallest normal number an operation.
 *
 * An oracle sees one sentence without padding: the driver puts the batch together. */
#ifndef LAYER_ORACLE_H
#define LAYER_ORACLE_H

#include <math.h>
#include <stddef.h>

#include "layer/layer.h"

#define ORACLE_U 0x1p-24
#define ORACLE_TINY 0x1p-126

struct num {
	double v, e;
};

/* A sum being built. */
struct acc {
	double v, e, abs, n;
};

static inline double oracle_gamma(double n) { return n * ORACLE_U / (1 - n * ORACLE_U); }
static inline struct num exact(double v) { return (struct num){v, 0}; }

static inline void acc_add(struct acc *s, struct num a)
{
	s->v += a.v;
	s->e += a.e;
	s->abs += fabs(a.v) + a.e;
	s->n++;
}

static inline void acc_mul(struct acc *s, struct num a, struct num b)
{
	s->v += a.v * b.v;
	s->e += fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;
	s->abs += (fabs(a.v) + a.e) * (fabs(b.v) + b.e);
	s->n++;
}

static inline struct num acc_end(const struct acc *s)
{
	return (struct num){s->v, s->e + oracle_gamma(s->n) * s->abs + s->n * ORACLE_TINY};
}

/* Single operations, one rounding each. */
static inline struct num rounded(double v, double e) { return (struct num){v, e + ORACLE_U * (fabs(v) + e) + ORACLE_TINY}; }
static inline struct num num_add(struct num a, struct num b) { return rounded(a.v + b.v, a.e + b.e); }
static inline struct num num_sub(struct num a, struct num b) { return rounded(a.v - b.v, a.e + b.e); }
static inline struct num num_mul(struct num a, struct num b)
{
	return rounded(a.v * b.v, fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e);
}

/* y[out] = w[out,in] x + b */
void oracle_linear(struct num *y, const struct num *x, const double *w, const double *b, size_t in, size_t out);
/* dx[in] = w^T dy when dx != NULL, dw[out,in] += dy x^T, db[out] += dy. */
void oracle_linear_bwd(struct num *dx, struct acc *dw, struct acc *db, const struct num *dy, const struct num *x,
		       const double *w, size_t in, size_t out);
/* Memory or exit 99; zeroed. */
void *oracle_alloc(size_t n, size_t size);

struct layer_oracle {
	const char *kind;
	/* Configurations to test, D left open, ended by an entry whose `use` is 0. */
	const struct layer_variant {
		int use;
		struct n2d_layer_config c;
	} *variants;
	/* y[n,D] of x[n,D] and the parameters p. With dy also dx[n,D], and the gradients added to dp. */
	void (*sentence)(const struct n2d_layer_config *c, size_t n, struct num *y, const double *x, const double *p,
			 const double *dy, struct num *dx, struct acc *dp);
};

/* Cross-attention from x[n,D] to memory[m,D]; dmemory[m,D] and dp are added to. */
void oracle_cross_attention(const struct n2d_layer_config *c, size_t n, size_t m, struct num *y, const double *x,
			    const double *memory, const double *p, const double *dy, struct num *dx, struct acc *dmemory,
			    struct acc *dp);

extern const struct layer_oracle *const layer_oracles[]; /* NULL-terminated */

#endif
