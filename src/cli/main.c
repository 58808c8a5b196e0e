#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"

static const struct {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} commands[] = {
#ifdef HAVE_MODEL_FILES
	{"average", "the mean of several models", n2d_cmd_average},
#endif
	{"bleu", "BLEU of translations, the same numbers as sacreBLEU", n2d_cmd_bleu},
	{"bpe", "byte-pair encoding of words: learn, apply, restore", n2d_cmd_bpe},
	{"info", "processor, caches, instruction sets, threads, libraries and build", n2d_cmd_info},
	{"make-data", "synthetic parallel text: copy, reverse, sort, numbers", n2d_cmd_make_data},
	{"params", "parameters of a configuration", n2d_cmd_params},
	{"shapes", "every tensor's shape through one forward pass", n2d_cmd_shapes},
#ifdef HAVE_MODEL_FILES
	{"score", "log-probabilities of given translations", n2d_cmd_score},
	{"train", "trains an encoder-decoder", n2d_cmd_train},
	{"translate", "beam search from lines to lines", n2d_cmd_translate},
#endif
	{"vocab", "the vocabulary of texts", n2d_cmd_vocab},
};

static void help(FILE *f)
{
	fprintf(f, "usage: n2d COMMAND [options]\n\nThe Transformer of \"Attention Is All You Need\" on CPUs.\n\n");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].what);
	fprintf(f, "\n  n2d COMMAND --help   the options of a command\n  n2d --version\n");
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return N2D_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help(stdout);
		return N2D_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("n2d %s\n", PACKAGE_VERSION);
		return N2D_EXIT_OK;
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "n2d: unknown command '%s'; n2d --help lists them\n", argv[1]);
	return N2D_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int code = run(argc, argv);
	if (fflush(stdout) || ferror(stdout)) { /* a full disk must not look like success */
		perror("n2d: standard output");
		return code ? code : N2D_EXIT_FAILED;
	}
	return code;
}
