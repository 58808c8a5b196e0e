#!/bin/bash
# Attention, LSTM and convolution in the same place: the Transformer "tiny" with each of them as its mixer, the same data, steps and number of
# parameters (an LSTM's layer has 8 D^2, attention's 4 D^2, a convolution's of width 3 3 D^2: the feed-forward networks' inner widths make up for
# it), side by side.
#
#	mixers.sh DATA [OUT] [SEED]	(N2D=path of the program, otherwise ./n2d or the one on PATH; MAX_STEPS=2000)
#
# DATA holds train, val and test2016 with the endings .en and .de. OUT receives a directory a mixer, mixers.csv and mixers.md. A mixer that
# is finished there is not trained again.
. "$(dirname "$0")/recipe.sh"
name=mixers test=test2016 merges=10000 steps=2000
translate=(--beam 5 --penalty length)
scored=(-tok none)
all=${2:-mixers-out}
mixers=(attention:512 lstm:256 conv:576)

# The middle one of the log's rows: other work on the machine slows a few.
speed() { awk -F, 'NR > 1 {print $12}' "$1" | sort -g | awk '{row[NR] = $1} END {printf "%.0f", row[int((NR + 1) / 2)]}'; }

row() { # MIXER D_FF
	local parameters bleu
	parameters=$("${N2D:-n2d}" params --vocab "$(wc -l <"$all/$1/vocabulary")" --preset tiny --mixer "$1" --d-ff "$2" | awk '$1 == "all" {gsub(",", "", $2); print $2}')
	bleu=$(sed -n 's/^[^=]* = \([0-9.]*\) .*/\1/p' "$run/bleu")
	awk -F, -v OFS=, -v m="$1" -v f="$2" -v p="$parameters" -v b="$bleu" -v v="$(sort -t, -k5,5g "$run/valid.csv" | awk -F, '$1 == 1 {print $5; exit}')" \
		-v t="$(speed "$run/log.csv")" 'NR > 1 {s = $2; x = $11} END {printf "mixers/1,%s,%d,%d,%d,%s,%s,%s,%.1f\n", m, f, p, s, v, b, t, x}' "$run/log.csv"
}

mkdir -p "$all"
rows=()
for pair in "${mixers[@]}"; do
	mixer=${pair%:*} inner=${pair#*:}
	settings=(--preset tiny --mixer "$mixer" --d-ff "$inner" --schedule inverse-sqrt --rate 0.005 --warmup 2000 --adam-eps 1e-8 --clip 25
		--batch-tokens 8192 --max-epochs none --keep 10)
	recipe "$1" "$all/$mixer" "${3:-1}"
	if [ ! -s "$all/$mixer/vocabulary" ]; then # as train takes it: all pieces of both sides
		cat "$data/train.en" "$data/train.de" | "$n2d" bpe apply -c "$out/codes" | "$n2d" vocab - -o "$all/$mixer/vocabulary" >/dev/null
	fi
	rows+=("$(row "$mixer" "$inner")")
done
{
	echo schema,mixer,d_ff,parameters,steps,valid_nll,bleu,tokens_per_second,seconds
	printf '%s\n' "${rows[@]}"
} >"$all/mixers.csv"
awk -f "$recipes/markdown.awk" "$all/mixers.csv" >"$all/mixers.md"
cat "$all/mixers.md"
awk -F, 'NR > 1 {if (!least || $4 < least) least = $4; if ($4 > most) most = $4}
	END {if (most > 1.01 * least) {print "mixers: numbers of parameters differ by more than 1 %" >"/dev/stderr"; exit 1}}' "$all/mixers.csv"
