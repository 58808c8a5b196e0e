/* One step of Adam. */
#include "simd/body.h"

V_INLINE void step(float *w, float *m, float *v, const float *g, const struct n2d_adam_step *s, size_t n)
{
	v_t gs = v_mul(v_set1(s->gscale), v_ld(g, n));
	v_t m1 = v_fma(v_set1(s->beta1), v_ld(m, n), v_mul(v_set1(s->rest1), gs));
	v_t v1 = v_fma(v_set1(s->beta2), v_ld(v, n), v_mul(v_set1(s->rest2), v_mul(gs, gs)));
	v_t d = v_fma(v_sqrt(v1), v_set1(s->root), v_set1(s->eps));
	v_st(m, m1, n);
	v_st(v, v1, n);
	v_st(w, v_fnma(v_set1(s->rate), v_div(m1, d), v_ld(w, n)), n);
}

void N2D_FN(adam)(float *w, float *m1, float *v1, const float *g, const struct n2d_adam_step *s, size_t n)
{
	const struct n2d_adam_step c = *s; /* its own, so that stores to w cannot change it */
	V_ROW(n, step(w + i, m1 + i, v1 + i, g + i, &c, m));
}
