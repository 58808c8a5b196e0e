/* A model's parameters and configuration in a safetensors file. */
#ifndef N2D_MODEL_FILE_H
#define N2D_MODEL_FILE_H

#include "model/parameters.h"
#include "model/safetensors.h"

/* Metadata beside the options: the text of the vocabulary (text/vocab.h), and of the source's own where it has one, and the merges of byte-pair encoding (text/bpe.h) where
 * the model's text goes through it. So one file is all that translating needs. */
#define N2D_VOCABULARY "vocabulary"
#define N2D_SOURCE_VOCABULARY "source-vocabulary"
#define N2D_BPE_CODES "bpe"

/* Writes values (the layout of p, made of c), with c's options and `more` (keys that are no options) as metadata.
 * As n2d_safetensors_write. */
int n2d_model_save(const char *path, const struct n2d_config *c, const struct n2d_parameters *p, const float *values,
		   const struct n2d_metadata *more, size_t keys);

/* As n2d_safetensors_check: whether n2d_model_save could, which a vocabulary can be too large for. */
int n2d_model_check(const char *path, const struct n2d_config *c, const struct n2d_parameters *p, const struct n2d_metadata *more, size_t keys);

/* *c from the metadata: preset base with each option that is there; vocab, d-model and heads must be. Other keys are ignored.
 * -1 and a message naming the file and the option. */
int n2d_model_config(struct n2d_config *c, const struct n2d_safetensors *s);

/* Copies the tensors into values (the layout of p), gaps 0. -1 and a message naming the file and a parameter that is missing,
 * one that the model has not, or a shape or type that differs. */
int n2d_model_load(float *values, const struct n2d_parameters *p, const struct n2d_safetensors *s);

#endif
