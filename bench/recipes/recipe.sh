#!/bin/bash
# English to German on Multi30k with the Transformer "tiny" of Wu et al., "Good for Misconceived Reasons" (ACL 2021), who report
# 41.02 BLEU on test2016: from the data's directory to the BLEU line.
#
#	multi30k.sh DATA [OUT] [SEED]	(N2D=path of the program; MAX_STEPS=8000)
#
# DATA holds train, val and test2016 with the endings .en and .de, lower-cased and tokenised. OUT (multi30k-out) receives what each stage
# makes; a stage whose result is there is not done again, and an interrupted training goes on. Every choice is made on val alone.
set -euo pipefail
data=${1:?usage: multi30k.sh DATA [OUT] [SEED]} out=${2:-multi30k-out} seed=${3:-1}
n2d=${N2D:-n2d} steps=${MAX_STEPS:-8000}
for f in train val test2016; do
	for l in en de; do
		[ -r "$data/$f.$l" ] || { echo "multi30k.sh: cannot read $data/$f.$l" >&2; exit 2; }
	done
done
mkdir -p "$out"
run=$out/seed$seed times=$out/seed$seed.times
mkdir -p "$run"

# stage NAME FILE COMMAND...: makes FILE unless it is there, and notes the seconds.
stage() {
	local name=$1 file=$2 start=$SECONDS
	shift 2
	[ ! -s "$file" ] || return 0
	echo "== $name" >&2
	"$@"
	echo "$name $((SECONDS - start))" >>"$times"
}

codes() { cat "$data/train.en" "$data/train.de" | "$n2d" bpe learn -s 10000 -o "$out/codes"; }

train() {
	local fresh=(--src "$data/train.en" --trg "$data/train.de" --valid-src "$data/val.en" --valid-trg "$data/val.de" --bpe "$out/codes"
		--preset tiny --schedule inverse-sqrt --rate 0.005 --warmup 2000 --adam-eps 1e-8 --clip 25 --batch-tokens 8192 --max-epochs none
		--patience 10 --keep 10 --seed "$seed")
	if compgen -G "$run/step-*.state.safetensors" >/dev/null; then
		"$n2d" train --resume -o "$run" --max-steps "$steps"
	else
		"$n2d" train "${fresh[@]}" -o "$run" --max-steps "$steps"
	fi
	echo done >"$run/finished"
}

average() { "$n2d" average --last 10 "$run" -o "$run/average.safetensors"; }

translate() { "$n2d" translate -m "$run/average.safetensors" --beam 5 --penalty length -i "$data/test2016.en" >"$run/test2016.tmp" && mv "$run/test2016.tmp" "$run/test2016.out"; }

bleu() { "$n2d" bleu "$data/test2016.de" -i "$run/test2016.out" -tok none -w 2 >"$run/bleu.tmp" && mv "$run/bleu.tmp" "$run/bleu"; }

# The curve of the validation loss.
curve() {
	command -v gnuplot >/dev/null || return 0
	gnuplot <<-G
		set terminal svg size 720,420 font "sans,13"
		set output "$run/loss.svg"
		set datafile separator ","
		set xlabel "step"
		set ylabel "nll on val, nats a token"
		set grid
		plot "$run/valid.csv" every ::1 using 2:5 with linespoints pt 7 ps 0.4 notitle
	G
}

summary() {
	{
		echo "# Multi30k English-German, seed $seed"
		echo
		sed 's/^/    /' "$run/bleu"
		echo
		echo "| stage | seconds |"
		echo "|---|---|"
		awk '{n[$1] += $2} END {for (s in n) print "| " s " | " n[s] " |"}' "$times" | sort
		echo
		tail -n 1 "$run/log.csv" | awk -F, '{printf "%d steps, %.0f tokens a second, %.0f %% of the peak in the last steps\n", $2, $12, $14}'
		sort -t, -k5,5g "$run/valid.csv" | awk -F, '$1 == 1 {printf "lowest nll on val %.4f (perplexity %.2f) at step %d, epoch %d\n", $5, $6, $2, $3; exit}'
		echo
		"$n2d" info | sed 's/^/    /'
	} >"$run/summary.tmp" && mv "$run/summary.tmp" "$run/summary.md"
}

stage codes "$out/codes" codes
stage train "$run/finished" train
stage average "$run/average.safetensors" average
stage translate "$run/test2016.out" translate
stage bleu "$run/bleu" bleu
stage curve "$run/loss.svg" curve
summary
cat "$run/bleu"
