#include "bench/onednn.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

enum { F32 = 3, ANY = 1, CPU = 1, IN_ORDER = 1 };
enum { QUERY_IMPLEMENTATION = 8, QUERY_ARGUMENT = 255 };

static struct onednn lib;

#define FUNCTION(field, name) {"dnnl_" name, &lib.field}
static const struct {
	const char *name;
	void *place; /* of a pointer to a function */
} functions[] = {
	FUNCTION(softmax_forward, "softmax_forward_desc_init"),
	FUNCTION(softmax_backward, "softmax_backward_desc_init"),
	FUNCTION(norm_forward, "layer_normalization_forward_desc_init"),
	FUNCTION(norm_backward, "layer_normalization_backward_desc_init"),
	FUNCTION(convolution_forward, "dilated_convolution_forward_desc_init"),
	FUNCTION(convolution_data, "dilated_convolution_backward_data_desc_init"),
	FUNCTION(convolution_weights, "dilated_convolution_backward_weights_desc_init"),
	FUNCTION(rnn_forward, "vanilla_rnn_forward_desc_init"),
	FUNCTION(rnn_backward, "vanilla_rnn_backward_desc_init"),
	FUNCTION(gru_forward, "lbr_gru_forward_desc_init"),
	FUNCTION(gru_backward, "lbr_gru_backward_desc_init"),
	FUNCTION(lstm_forward, "lstm_forward_desc_init"),
	FUNCTION(lstm_backward, "lstm_backward_desc_init"),
	FUNCTION(by_strides, "memory_desc_init_by_strides"),
	FUNCTION(by_tag, "memory_desc_init_by_tag"),
	FUNCTION(md_bytes, "memory_desc_get_size"),
	FUNCTION(pd_create, "primitive_desc_create"),
	FUNCTION(pd_md, "primitive_desc_query_md"),
	FUNCTION(pd_query, "primitive_desc_query"),
	FUNCTION(pd_destroy, "primitive_desc_destroy"),
	FUNCTION(reorder, "reorder_primitive_desc_create"),
	FUNCTION(create, "primitive_create"),
	FUNCTION(execute, "primitive_execute"),
	FUNCTION(destroy, "primitive_destroy"),
	FUNCTION(memory, "memory_create"),
	FUNCTION(memory_destroy, "memory_destroy"),
	FUNCTION(wait, "stream_wait"),
};

static int find(void *handle, const char *name, void *function)
{
	void *p = dlsym(handle, name);
	memcpy(function, &p, sizeof p); /* ISO C does not convert pointers to functions */
	return p ? 0 : n2d_error("onednn: the library has no %s", name);
}

static int check_version(void *handle)
{
	const int *(*version)(void);
	if (find(handle, "dnnl_version", &version))
		return -1;
	const int *v = version();
	return v[0] == 2 ? 0 : n2d_error("onednn: version %d.%d.%d; its layers are known of version 2", v[0], v[1], v[2]);
}

const struct onednn *onednn_open(void *handle)
{
	int (*engine)(void **, int, size_t), (*stream)(void **, void *, unsigned);
	if (lib.engine)
		return &lib;
	if (check_version(handle) || find(handle, "dnnl_engine_create", &engine) || find(handle, "dnnl_stream_create", &stream))
		return NULL;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (find(handle, functions[i].name, functions[i].place))
			return NULL;
	if (engine(&lib.engine, CPU, 0) || stream(&lib.stream, lib.engine, IN_ORDER)) {
		lib.engine = NULL;
		n2d_error("onednn: it has no engine for processors");
		return NULL;
	}
	return &lib;
}

/* ---- memory */

struct onednn_md onednn_plain(const struct onednn *f, int n, const size_t *dims, const size_t *strides)
{
	struct onednn_md md = {{0}};
	onednn_dims d = {0}, s = {0};
	for (int i = n; i-- > 0;) {
		d[i] = (int64_t)dims[i];
		s[i] = strides ? (int64_t)strides[i] : i == n - 1 ? 1 : s[i + 1] * d[i + 1];
	}
	f->by_strides(&md, n, d, F32, s); /* what is wrong shows when a primitive is made of it */
	return md;
}

struct onednn_md onednn_any(const struct onednn *f, int n, const size_t *dims)
{
	struct onednn_md md = {{0}};
	onednn_dims d = {0};
	for (int i = 0; i < n; i++)
		d[i] = (int64_t)dims[i];
	f->by_tag(&md, n, d, F32, ANY);
	return md;
}

/* ---- primitives */

void onednn_make(struct onednn_op *o, const struct onednn *f, int status, const struct onednn_desc *desc, const struct onednn_op *hint)
{
	*o = (struct onednn_op){.f = f, .bad = status};
	if (!o->bad)
		o->bad = f->pd_create(&o->pd, desc, NULL, f->engine, hint ? hint->pd : NULL);
	if (!o->bad)
		o->bad = f->create(&o->primitive, o->pd);
}

onednn_mdp onednn_layout(const struct onednn_op *o, enum onednn_name name) { return o->bad ? NULL : o->f->pd_md(o->pd, QUERY_ARGUMENT, (int)name); }

size_t onednn_bytes(const struct onednn_op *o, enum onednn_name name)
{
	onednn_mdp md = onednn_layout(o, name);
	return md ? o->f->md_bytes(md) : 0;
}

void onednn_give(struct onednn_op *o, enum onednn_name name, void *data)
{
	if (o->bad)
		return;
	o->arg[o->args].name = (int)name;
	o->bad = o->f->memory(&o->arg[o->args].memory, onednn_layout(o, name), o->f->engine, data);
	o->args += !o->bad;
}

int onednn_convert(const struct onednn *f, onednn_mdp to, void *to_data, onednn_mdp from, const void *from_data)
{
	struct onednn_op o = {.f = f};
	o.bad = f->reorder(&o.pd, from, f->engine, to, f->engine, NULL);
	if (!o.bad)
		o.bad = f->create(&o.primitive, o.pd);
	onednn_give(&o, ONEDNN_SRC, (void *)from_data);
	onednn_give(&o, ONEDNN_DST, to_data);
	if (!o.bad)
		onednn_run(&o);
	int bad = onednn_done(&o, "another layout");
	onednn_free(&o);
	return bad;
}

const char *onednn_implementation(const struct onednn_op *o)
{
	const char *text = NULL;
	return !o->bad && !o->f->pd_query(o->pd, QUERY_IMPLEMENTATION, 0, &text) && text ? text : "";
}

int onednn_done(const struct onednn_op *o, const char *what)
{
	static const char *const status[] = {"", "no memory", "invalid arguments", "it does not have this"};
	if (!o->bad)
		return o->f->wait(o->f->stream) ? n2d_error("onednn: %s: it failed", what) : 0;
	if (o->bad > 0 && o->bad < 4)
		return n2d_error("onednn: %s: %s", what, status[o->bad]);
	return n2d_error("onednn: %s: status %d", what, o->bad);
}

void onednn_free(struct onednn_op *o)
{
	for (int i = 0; i < o->args; i++)
		o->f->memory_destroy(o->arg[i].memory);
	if (o->primitive)
		o->f->destroy(o->primitive);
	if (o->pd)
		o->f->pd_destroy(o->pd);
	*o = (struct onednn_op){.f = o->f};
}
