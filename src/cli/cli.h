/* The subcommands of n2d: one file each, listed in main.c. Each parses its own arguments
 * (argv[0] is its name) and returns an exit code of base/error.h. */
#ifndef N2D_CLI_H
#define N2D_CLI_H

int n2d_cmd_attention(int argc, char **argv);
int n2d_cmd_average(int argc, char **argv);
int n2d_cmd_bleu(int argc, char **argv);
int n2d_cmd_bpe(int argc, char **argv);
int n2d_cmd_info(int argc, char **argv);
int n2d_cmd_make_data(int argc, char **argv);
int n2d_cmd_params(int argc, char **argv);
int n2d_cmd_score(int argc, char **argv);
int n2d_cmd_shapes(int argc, char **argv);
int n2d_cmd_train(int argc, char **argv);
int n2d_cmd_translate(int argc, char **argv);
int n2d_cmd_vocab(int argc, char **argv);

/* ---- what they share */

/* Prints "n2d COMMAND: MESSAGE" as one line on standard error. Returns N2D_EXIT_USAGE. */
int n2d_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For the default case of a getopt_long loop with opterr = 0 and ":" first in the short options:
 * says which option is unknown or lacks its argument. Returns N2D_EXIT_USAGE. */
int n2d_bad_option(char **argv, int c);

/* 0 when path (NULL: none) can be written; else says why and returns N2D_EXIT_USAGE. Asked before the work whose result goes there. */
int n2d_check_output(const char *command, const char *path);

/* The whole number in text, or -1 after a message when it is not in [min, max], min >= 0. */
long n2d_number(const char *command, const char *option, const char *text, long min, long max);

#endif
