#include "config.h"

#include "base/program.h"
#include "cli/cli.h"

static const struct n2d_command commands[] = {
#ifdef HAVE_MODEL_FILES
	{"attention", "attention weights of a sentence pair: pictures and a table", n2d_cmd_attention},
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

int main(int argc, char **argv)
{
	static const struct n2d_program n2d = {
		"n2d", "The Transformer of \"Attention Is All You Need\" on CPUs.", commands, sizeof commands / sizeof *commands,
	};
	return n2d_program_run(&n2d, argc, argv);
}
