/* Attention as naive loops in double, with a bound on the error of an evaluation in float beside
 * every result. Shares nothing with the operator but the struct that describes the problem. */
#ifndef ORACLE_ATTENTION_H
#define ORACLE_ATTENTION_H

#include "op/attention.h"

struct oracle {
	struct n2d_attention a;
	int materialised; /* set before oracle_backward: delta is taken as sum P dP */
	double *P, *S, *lse, *else_; /* [B*H][Tq][Tk], [B*H][Tq] */
	double *eP;                  /* relative error of a weight computed again from lse */
	double *O, *eO, *dQ, *eQ;    /* [B*H][Tq][K] */
	double *dK, *eK, *dV, *eV;   /* [B*H][Tk][K] */
};

struct oracle *oracle_new(const struct n2d_attention *a);
void oracle_free(struct oracle *o);
int oracle_sees(const struct n2d_attention *a, size_t b, size_t i, size_t j);
void oracle_forward(struct oracle *o, const float *Q, const float *K, const float *V);
/* After oracle_forward on the same inputs. */
void oracle_backward(struct oracle *o, const float *dO, const float *Q, const float *K, const float *V);

#endif
