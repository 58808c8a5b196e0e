# What the recipes share: an English-German experiment from the data's directory to the BLEU line. Sourced by multi30k.sh, tatoeba.sh and mixers.sh, which set
#
#	name, test		the experiment, and the name of its test set
#	merges			of the byte-pair codes, joint
#	settings		options of n2d train (an array)
#	steps			at most
#	translate		options of n2d translate (an array)
#	scored			options of n2d bleu (an array)
#
# and call `recipe "$@"`: DATA [OUT] [SEED]. DATA holds train, val and the test set with the endings .en and .de. OUT receives what each stage makes,
# seedN/ among it with log.csv and valid.csv of the training, summary.csv and what is drawn from them, summary.md and loss.svg;
# a stage whose result is there is not done again, and an interrupted training goes on. Every choice is made on val alone.
set -euo pipefail
recipes=$(dirname "${BASH_SOURCE[0]}")

# The seconds of the stage at work, also of one that is interrupted.
current=
note() {
	[ -z "$current" ] || echo "$current $((SECONDS - began))" >>"$times"
	current=
}
trap note EXIT

# stage NAME FILE COMMAND...: makes FILE unless it is there.
stage() {
	local stage=$1 file=$2
	shift 2
	[ ! -s "$file" ] || return 0
	echo "== $stage" >&2
	current=$stage began=$SECONDS
	"$@"
	note
}

codes() { cat "$data/train.en" "$data/train.de" | "$n2d" bpe learn -s "$merges" -o "$out/codes"; }

train() {
	local fresh=(--src "$data/train.en" --trg "$data/train.de" --valid-src "$data/val.en" --valid-trg "$data/val.de" --bpe "$out/codes"
		"${settings[@]}" --seed "$seed")
	if compgen -G "$run/step-*.state.safetensors" >/dev/null; then
		"$n2d" train --resume -o "$run" --max-steps "$steps"
	else
		"$n2d" train "${fresh[@]}" -o "$run" --max-steps "$steps"
	fi
	echo done >"$run/finished"
}

average() { "$n2d" average --last 10 "$run" -o "$run/average.safetensors"; }

# to FILE COMMAND...: its output, whole or not at all
to() {
	local file=$1
	shift
	"$@" >"$file.tmp" && mv "$file.tmp" "$file"
}

curve() {
	command -v gnuplot >/dev/null || { echo "$name: no gnuplot, so no curve" >&2; return 0; }
	grep -q '^1,' "$run/valid.csv" || return 0
	to "$run/loss.svg" gnuplot -c "$recipes/curve.gp" "$run/valid.csv"
}

# fact WHAT VALUE: a row of summary.csv
fact() { printf 'recipe/1,%s,"%s"\n' "$1" "$(printf %s "$2" | sed 's/"/""/g')"; }

summary() {
	echo schema,what,value
	fact experiment "$name"
	fact seed "$seed"
	fact "score of $test" "$(cat "$run/bleu")"
	fact training "n2d train ${settings[*]} --max-steps $steps --seed $seed"
	fact "byte-pair codes" "$merges joint merges"
	fact translation "n2d translate ${translate[*]}, the last 10 checkpoints averaged"
	fact scoring "n2d bleu ${scored[*]}"
	awk -F, 'NR > 1 {steps = $2; tokens += $9 + $10; seconds = $11}
		END {printf "recipe/1,steps,%d\nrecipe/1,source and target tokens a second in steps,%.0f\n", steps, tokens / seconds}' "$run/log.csv"
	sort -t, -k4,4g "$run/valid.csv" | awk -F, '$1 == 1 {printf "recipe/1,lowest loss on val,%.4f\nrecipe/1,its perplexity,%.2f\nrecipe/1,its greedy BLEU,%s\n" \
		"recipe/1,its step,%d\nrecipe/1,its epoch,%d\n", $4, $6, $8, $2, $3; exit}'
	awk '{n[$1] += $2} END {for (s in n) printf "recipe/1,seconds of %s,%d\n", s, n[s]}' "$times" | sort
	"$n2d" info | awk '/^n2d/ {print "version:" $2} /^processor/ {sub(/^processor */, ""); print "processor:" $0} / in use / {print "instruction set:" $1}
		/^threads/ {print "threads:" $2}' | while IFS=: read -r what value; do fact "$what" "$value"; done
	[ ! -s "$run/loss.svg" ] || fact curve loss.svg
}

recipe() {
	data=${1:?usage: DATA [OUT] [SEED]} out=${2:-$name-out} seed=${3:-1}
	n2d=${N2D:-$(command -v ./n2d || echo n2d)} steps=${MAX_STEPS:-$steps}
	for f in train val "$test"; do
		for l in en de; do
			[ -r "$data/$f.$l" ] || { echo "$name: cannot read $data/$f.$l" >&2; exit 2; }
		done
	done
	run=$out/seed$seed times=$out/seed$seed.times
	mkdir -p "$run"
	stage codes "$out/codes" codes
	stage train "$run/finished" train
	stage average "$run/average.safetensors" average
	stage translate "$run/$test.out" to "$run/$test.out" "$n2d" translate -m "$run/average.safetensors" "${translate[@]}" -i "$data/$test.en"
	stage bleu "$run/bleu" to "$run/bleu" "$n2d" bleu "$data/$test.de" -i "$run/$test.out" "${scored[@]}" -w 2
	stage curve "$run/loss.svg" curve
	to "$run/summary.csv" summary
	to "$run/summary.md" awk -f "$recipes/markdown.awk" "$run/summary.csv"
	cat "$run/bleu"
}
