/* The average of models (paper, section 6.1: of the last checkpoints). */
#ifndef N2D_AVERAGE_H
#define N2D_AVERAGE_H

#include <stddef.h>

/* Writes to `out` the mean of the parameters of count >= 1 model files of one configuration, each summed in double; so the average of a file
 * with itself is that file, bit for bit. Metadata (vocabulary, codes) are the last file's. Otherwise an exit code and a message:
 * N2D_EXIT_USAGE names the file that cannot be read, or whose option or vocabulary differs from the first's; N2D_EXIT_FAILED, `out` cannot be written. */
int n2d_average(const char *out, const char *const *paths, size_t count);

#endif
