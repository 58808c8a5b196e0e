#!/bin/bash
# English to German on sentences of Tatoeba, as they are written: case and punctuation too, so BLEU is with tokenizer 13a. The model is that of
# multi30k.sh, with less dropout, because there is six times as much text.
#
#	tatoeba.sh DATA [OUT] [SEED]	(N2D=path of the program, otherwise ./n2d or the one on PATH; MAX_STEPS=20000)
#
# DATA holds train, val and test with the endings .en and .de. What OUT receives: recipe.sh.
. "$(dirname "$0")/recipe.sh"
name=tatoeba test=test merges=10000 steps=20000
settings=(--preset tiny --dropout 0.1 --schedule inverse-sqrt --rate 0.003 --warmup 4000 --adam-eps 1e-8 --clip 25 --batch-tokens 8192
	--max-epochs none --patience 10 --keep 10)
translate=(--beam 5 --penalty length)
scored=(-tok 13a)
recipe "$@"
