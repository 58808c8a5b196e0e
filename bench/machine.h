/* Facts about the machine and the build, beside every CSV file. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "bench/roof.h"

/* What was called, before the arguments are looked at: they are told in every file, so that it can be called again. */
void machine_called(int argc, char **argv);
/* Writes PATH as JSON: processor, caches as reported and as measured (levels, may be NULL), instruction sets, threads and
 * where they are pinned, compiler, flags, governor, load, date, revision. command: what was run. -1 and a message. */
int machine_write(const char *path, const char *command, const struct roof_levels *levels, int threads);
/* FILE.csv -> FILE.json. */
int machine_beside(const char *csv, const char *command, const struct roof_levels *levels, int threads);
/* Chooses and watches the processors for the widest of the contexts, pins, and tells Google Benchmark about the machine. */
void machine_start(const struct n2d_ctx *ctx, int contexts);
/* The same facts as one line for the head of a report. */
void machine_line(char *text, size_t size);

#endif
