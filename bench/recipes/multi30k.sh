#!/bin/bash
# English to German on Multi30k with the Transformer "tiny" of Wu et al., "Good for Misconceived Reasons" (ACL 2021), who report
# 41.02 BLEU on test2016: from the data's directory to the BLEU line.
#
#	multi30k.sh DATA [OUT] [SEED]	(N2D=path of the program, otherwise ./n2d or the one on PATH; MAX_STEPS=8000)
#
# DATA holds train, val and test2016 with the endings .en and .de, lower-cased and tokenised. What OUT receives: recipe.sh.
. "$(dirname "$0")/recipe.sh"
name=multi30k test=test2016 merges=10000 steps=8000
settings=(--preset tiny --schedule inverse-sqrt --rate 0.005 --warmup 2000 --adam-eps 1e-8 --clip 25 --batch-tokens 8192 --max-epochs none
	--patience 10 --keep 10)
translate=(--beam 5 --penalty length)
scored=(-tok none)
recipe "$@"
