/* oneDNN's primitives by hand: the functions of its C interface, major version 2, found at run time. Its structures are opaque here, in room enough
 * for them; what a number means is in its dnnl_types.h. */
#ifndef BENCH_ONEDNN_H
#define BENCH_ONEDNN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* dnnl_memory_desc_t and dnnl_dims_t. */
struct onednn_md {
	_Alignas(64) unsigned char opaque[4096];
};
enum { ONEDNN_NDIMS = 12 };
typedef int64_t onednn_dims[ONEDNN_NDIMS];
/* Any of the dnnl_*_desc_t of operations, which hold memory descriptors. */
struct onednn_desc {
	_Alignas(64) unsigned char opaque[1 << 17];
};

enum { ONEDNN_TRAINING = 64, ONEDNN_INFERENCE = 96, ONEDNN_BACKWARD = 128, ONEDNN_BACKWARD_DATA = 160 };
enum { ONEDNN_TANH = 47, ONEDNN_CONVOLUTION_AUTO = 3, ONEDNN_SCALE_AND_SHIFT = 8 | 16 };
enum onednn_name {
	ONEDNN_SRC = 1, ONEDNN_DST = 17, ONEDNN_WEIGHTS = 33, ONEDNN_WEIGHTS_ITER, ONEDNN_BIAS = 41, ONEDNN_MEAN = 49, ONEDNN_VARIANCE,
	ONEDNN_SCALE, ONEDNN_SHIFT, ONEDNN_WORKSPACE = 64, ONEDNN_DIFF_SRC = 129, ONEDNN_DIFF_DST = 145, ONEDNN_DIFF_WEIGHTS = 161,
	ONEDNN_DIFF_WEIGHTS_ITER, ONEDNN_DIFF_BIAS = 169, ONEDNN_DIFF_SCALE = 255, ONEDNN_DIFF_SHIFT
};

typedef const struct onednn_md *onednn_mdp;
struct onednn {
	void *engine, *stream;
	int (*softmax_forward)(struct onednn_desc *, int, onednn_mdp, int);
	int (*softmax_backward)(struct onednn_desc *, onednn_mdp, onednn_mdp, int);
	int (*norm_forward)(struct onednn_desc *, int, onednn_mdp, onednn_mdp, float, unsigned);
	int (*norm_backward)(struct onednn_desc *, int, onednn_mdp, onednn_mdp, onednn_mdp, float, unsigned);
	/* dilated; strides, dilations, padding on the left and on the right */
	int (*convolution_forward)(struct onednn_desc *, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, const int64_t *, const int64_t *,
				   const int64_t *, const int64_t *);
	int (*convolution_data)(struct onednn_desc *, int, onednn_mdp, onednn_mdp, onednn_mdp, const int64_t *, const int64_t *, const int64_t *,
				const int64_t *);
	int (*convolution_weights)(struct onednn_desc *, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, const int64_t *, const int64_t *,
				   const int64_t *, const int64_t *);
	/* src layer, iter; weights layer, iter; bias; dst layer, iter; backward, the gradients of these; LSTM has cells after the iters */
	int (*rnn_forward)(struct onednn_desc *, int, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp,
			   unsigned, float, float);
	int (*rnn_backward)(struct onednn_desc *, int, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp,
			    onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, unsigned, float, float);
	int (*gru_forward)(struct onednn_desc *, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, unsigned);
	int (*gru_backward)(struct onednn_desc *, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp,
			    onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, unsigned);
	int (*lstm_forward)(struct onednn_desc *, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp,
			    onednn_mdp, onednn_mdp, unsigned);
	int (*lstm_backward)(struct onednn_desc *, int, int, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp,
			     onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp, onednn_mdp,
			     onednn_mdp, unsigned);
	int (*by_strides)(struct onednn_md *, int, const int64_t *, int, const int64_t *);
	int (*by_tag)(struct onednn_md *, int, const int64_t *, int, int);
	size_t (*md_bytes)(onednn_mdp);
	int (*pd_create)(void **, const struct onednn_desc *, const void *, void *, const void *);
	onednn_mdp (*pd_md)(const void *, int, int);
	int (*pd_query)(const void *, int, int, void *);
	int (*pd_destroy)(void *);
	int (*reorder)(void **, onednn_mdp, void *, onednn_mdp, void *, const void *);
	int (*create)(void **, const void *);
	int (*execute)(const void *, void *, int, const void *);
	int (*destroy)(void *);
	int (*memory)(void **, onednn_mdp, void *, void *);
	int (*memory_destroy)(void *);
	int (*wait)(void *);
};

/* The library's functions by its handle. NULL and a message when it is of another major version than 2, or lacks one. */
const struct onednn *onednn_open(void *handle);

/* A primitive and what it works on. What fails is remembered in `bad`, and the functions that follow do nothing. */
struct onednn_op {
	const struct onednn *f;
	void *pd, *primitive;
	int bad, args;
	struct {
		int name;
		void *memory;
	} arg[16];
};

/* Row-major where strides is NULL. */
struct onednn_md onednn_plain(const struct onednn *f, int n, const size_t *dims, const size_t *strides);
/* In the layout that the primitive likes best. */
struct onednn_md onednn_any(const struct onednn *f, int n, const size_t *dims);

/* From the status of a ..._forward or ..._backward call on desc; hint: the forward primitive, or NULL. */
void onednn_make(struct onednn_op *o, const struct onednn *f, int status, const struct onednn_desc *desc, const struct onednn_op *hint);
/* An argument, at data. */
void onednn_give(struct onednn_op *o, enum onednn_name name, void *data);
/* How large it must be, and its layout. */
size_t onednn_bytes(const struct onednn_op *o, enum onednn_name name);
onednn_mdp onednn_layout(const struct onednn_op *o, enum onednn_name name);
/* Copies from one layout into another. -1 and a message. */
int onednn_convert(const struct onednn *f, onednn_mdp to, void *to_data, onednn_mdp from, const void *from_data);
static inline void onednn_run(struct onednn_op *o) { o->bad |= o->f->execute(o->primitive, o->f->stream, o->args, o->arg); }
/* "jit:avx512_core": which of its implementations it is. */
const char *onednn_implementation(const struct onednn_op *o);
/* -1 and a message when anything failed. */
int onednn_done(const struct onednn_op *o, const char *what);
void onednn_free(struct onednn_op *o);

#endif
