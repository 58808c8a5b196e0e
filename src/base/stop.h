/* Ending in good order. The first INT, TERM or HUP asks for it and is acknowledged on standard error; one that comes more than half a second later ends
 * the program at once. In between it is taken for the same: a key that bounces, or a sender that signals a process and its group. */
#ifndef N2D_STOP_H
#define N2D_STOP_H

#include <signal.h>

extern volatile sig_atomic_t n2d_stop; /* 0, or the signal */

/* says: a line, which must stay, or NULL. INT and HUP stay ignored where they were (a script's job in the background, nohup: the terminal's
 * keys are not meant for it), and PIPE is: what is being computed is worth more than what is told. */
void n2d_stop_catch(const char *says);

#endif
