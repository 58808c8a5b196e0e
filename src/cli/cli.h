/* The subcommands of n2d: one file each, listed in main.c. Each parses its own arguments
 * (argv[0] is its name) and returns an exit code of base/error.h. */
#ifndef N2D_CLI_H
#define N2D_CLI_H

int n2d_cmd_info(int argc, char **argv);

#endif
