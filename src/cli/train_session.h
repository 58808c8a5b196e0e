/* A training being put together from what was given and, on resuming, from what its newest checkpoint says. */
#ifndef N2D_TRAIN_SESSION_H
#define N2D_TRAIN_SESSION_H

#include "cli/model_options.h"
#include "decode/valid_bleu.h"
#include "train/data.h"
#include "train/profile.h"
#include "train/train.h"

struct n2d_train_args {
	struct n2d_model_args model;
	struct n2d_given train;
	struct n2d_data_options data;
	const char *dir, *init, *isa;
	long threads;
	int resume, quiet, profile;
};

enum { N2D_SESSION_MODEL_KEYS = 3, N2D_SESSION_STATE_KEYS = 7 };

/* What is zero is not there yet. */
struct n2d_session {
	struct n2d_train_args *a;
	struct n2d_train_options options;
	struct n2d_config config;
	struct n2d_data_options source; /* a->data, and on resuming what the state says where nothing was given */
	struct n2d_ctx ctx;
	struct n2d_safetensors old_model, old_state;
	struct n2d_data data;
	struct n2d_transformer model;
	struct n2d_training training;
	struct n2d_profile profile;
	struct n2d_valid_bleu bleu;
	char *vocabulary, *src_vocabulary;
	/* For the model's file, and for the state's. */
	struct n2d_metadata metadata[N2D_SESSION_MODEL_KEYS], state[N2D_SESSION_STATE_KEYS];
	size_t keys, state_keys;
	char lines[32]; /* in state */
	int has_ctx, has_data, has_model, has_training, has_dir, dir_lock;
};

/* Options, configuration and context. An exit code, and why, when they cannot be. */
int n2d_session_settle(struct n2d_session *s);
/* Then data and model, and the directory, which is this process's alone from now on. -1 and a message. */
int n2d_session_open(struct n2d_session *s);
void n2d_session_close(struct n2d_session *s);

#endif
