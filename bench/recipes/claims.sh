#!/bin/bash
# What the paper says that only training can tell, on the task numbers: models without a part beside the whole one, positions, length, label smoothing.
#
#	claims.sh OUT CSV	(N2D=path of the program, otherwise ./n2d or the one on PATH; STEPS=steps of each training (1400); TRAIN=options of every n2d train)
#
# Fifteen trainings; 1400 steps of each take some 25 minutes where `n2d train` tells 50,000 + 50,000 tokens a second.
#
# OUT keeps the trainings: one that is there, of the same command, is not done again. CSV (claims/1, results/SCHEMA.md) is written whole at the end; n2d-bench claims takes it.
# What is compared is trained with three seeds each. Two are the same when their means are no further apart than the seeds of one of them spread.
set -euo pipefail
out=${1:?usage: OUT CSV} csv=${2:?usage: OUT CSV} n2d=${N2D:-$(command -v ./n2d || echo n2d)} steps=${STEPS:-1400}
warmup=$((steps / 5 + 1)) rate=0.002
common="--preset tiny --layers 2 --max-epochs none --max-steps $steps --valid-every $steps --valid-bleu 0 --save-every $steps --keep 1 --schedule inverse-sqrt --rate $rate --warmup $warmup ${TRAIN:-}"
numbers="--task numbers"
mkdir -p "$out"

# learn NAME OPTIONS...: trains; loss (with label smoothing), nll and error (per cent of tokens) are those of the validation. A loss that is not finite is inf.
learn() {
	local name=$1 dir=$out/$1 code=0
	shift
	[ ! -s "$dir/result" ] || [ "$(cat "$out/$name.command")" != "train $*" ] || return 0
	rm -rf "$dir"
	echo "train $*" >"$out/$name.command"
	echo "== $name" >&2
	"$n2d" train "$@" -o "$dir" || code=$?
	[ $code -le 1 ] || exit $code
	if [ $code = 0 ]; then
		awk -F, 'END {print $5, 100 - $7, $4}' "$dir/valid.csv" >"$dir/result"
	elif [ -s "$dir/log.csv" ]; then
		echo inf 100 inf >"$dir/result"
	else
		exit 1
	fi
}
nll=1 error=2 loss=3
value() { cut -d' ' -f"$2" "$out/$1/result"; } # NAME QUANTITY
# Of three seeds: NAME QUANTITY.
seeds() { for s in 1 2 3; do value "$1$s" "$2"; done | sort -g; }
least() { seeds "$@" | head -n 1; }
most() { seeds "$@" | tail -n 1; }
mean() { seeds "$@" | awk '{s += $1} END {printf "%.6g", s / NR}'; }
spread() { seeds "$@" | awk '{x[NR] = $1} END {printf "%.6g", x[NR] - x[1]}'; }
# What two means may differ by: NAME NAME QUANTITY.
room() { { spread "$1" "$3"; echo; spread "$2" "$3"; echo; } | sort -g | tail -n 1; }

# holds EXPRESSION: 1 or 0, by awk
holds() { awk "BEGIN {print ($1) ? 1 : 0}"; }
# row CLAIM SECTION QUANTITY VALUE HOLDS NAME
row() { printf 'claims/1,"%s",%s,"%s",%s,%s,"n2d %s"\n' "$1" "$2" "$3" "$4" "$5" "$(cat "$out/$6.command")"; }

for seed in 1 2 3; do
	learn whole$seed $numbers $common --seed $seed
	learn learned$seed $numbers $common --positions learned --seed $seed
	learn plain$seed $numbers $common --smoothing 0 --seed $seed
done
learn residual $numbers $common --residual no
learn norm $numbers $common --norm-kind none
learn ffn $numbers $common --ffn no
learn warmup $numbers $common --warmup 1 --rate "$(awk "BEGIN {print $rate * sqrt($warmup)}")" # the decay is the same

# Positions never trained on: texts of at most 40 characters a side, then longer ones.
long=40
short() { paste "$out/$1.src" "$out/$1.trg" | awk -F'\t' -v n=$long -v keep="$2" '((split($1, a, " ") <= n && split($2, b, " ") <= n) == keep)' >"$out/$1.$2"
	cut -f1 "$out/$1.$2" >"$out/$1.$2.src"
	cut -f2 "$out/$1.$2" >"$out/$1.$2.trg"; }
"$n2d" make-data numbers -o "$out/train" --lines 40000
"$n2d" make-data numbers -o "$out/valid" --lines 1000 --split valid
"$n2d" make-data numbers -o "$out/test" --lines 500 --split test
short train 1; short valid 1; short test 0; short test 1
files="--src $out/train.1.src --trg $out/train.1.trg --valid-src $out/valid.1.src --valid-trg $out/valid.1.trg"
for p in sinusoidal learned; do
	learn "short-$p" $files $common --positions $p
	for keep in 0 1; do
		file=$out/short-$p/exact$keep
		[ -s "$file" ] || "$n2d" translate -q -m "$(ls "$out/short-$p"/step-*.safetensors | grep -v state | tail -n 1)" --beam 1 -i "$out/test.$keep.src" |
			paste -d'|' - "$out/test.$keep.trg" | awk -F'|' '{n++; right += $1 == $2} END {print 100 * right / n}' >"$file"
	done
done

{
	echo schema,claim,section,quantity,value,holds,command
	claim="the loss after $steps steps without each part of the model, beside the whole"
	both() { # NAME WORDS: loss and nll
		row "$claim" 3 "$2: loss" "$(value "$1" $loss)" "" "$1"
		row "$claim" 3 "$2: nll" "$(value "$1" $nll)" "" "$1"
	}
	for seed in 1 2 3; do
		both whole$seed "the whole, seed $seed"
	done
	both residual "without residual connections"
	both norm "without norms"
	both ffn "without feed-forward networks"
	both warmup "without warmup"
	claim="learned and sinusoidal positions reach the same loss"
	row "$claim" 3.5 "sinusoidal, mean of three seeds" "$(mean whole $loss)" "" whole1
	row "$claim" 3.5 "sinusoidal, spread of the seeds" "$(spread whole $loss)" "" whole1
	row "$claim" 3.5 "learned, mean of three seeds" "$(mean learned $loss)" \
		"$(holds "($(mean learned $loss) - $(mean whole $loss)) ^ 2 <= $(room learned whole $loss) ^ 2")" learned1
	row "$claim" 3.5 "learned, spread of the seeds" "$(spread learned $loss)" "" learned1
	claim="decoding beyond the lengths trained on"
	for p in sinusoidal learned; do
		row "$claim" 3.5 "per cent exact, up to $long characters, $p" "$(cat "$out/short-$p/exact1")" "" short-$p
		row "$claim" 3.5 "per cent exact, longer, $p" "$(cat "$out/short-$p/exact0")" "" short-$p
	done
	claim="label smoothing raises the nll and not the error rate"
	row "$claim" 5.4 "nll with, least of three seeds" "$(least whole $nll)" "$(holds "$(least whole $nll) > $(most plain $nll)")" whole1
	row "$claim" 5.4 "nll without, most of three seeds" "$(most plain $nll)" "" plain1
	row "$claim" 5.4 "per cent of tokens wrong with, mean of three seeds" "$(mean whole $error)" \
		"$(holds "$(mean whole $error) <= $(mean plain $error) + $(room whole plain $error)")" whole1
	row "$claim" 5.4 "per cent of tokens wrong without, mean of three seeds" "$(mean plain $error)" "" plain1
	row "$claim" 5.4 "the larger spread of three seeds" "$(room whole plain $error)" "" plain1
} >"$csv.tmp"
mv "$csv.tmp" "$csv"
