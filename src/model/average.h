/* The average of models (paper, section 6.1: of the last checkpoints). */
#ifndef N2D_AVERAGE_H
#define N2D_AVERAGE_H

#include <stddef.h>

/* Writes to `out` the mean of the parameters of count >= 1 model files of one configuration, each summed in double; so the average of a file
 * with itself is that file, bit for bit. Metadata (vocabularies, codes) are the last file's, and the same in all that have them. Otherwise an exit code and a message:
 * N2D_EXIT_USAGE names the file that cannot be read, or whose option, vocabulary or codes differ from the first's; N2D_EXIT_FAILED, `out` cannot be written. */
int n2d_average(const char *out, const char *const *paths, size_t count);

#endif
