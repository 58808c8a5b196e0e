#!/bin/bash
# The tasks that a Transformer must learn to the last symbol: copy and reverse of up to 20 symbols, and numbers (English number words to German ones, up to 999,999).
#
#	tasks.sh OUT	(N2D=path of the program, otherwise ./n2d or the one on PATH; TRAIN=options of every n2d train)
#
# For each a training, then greedy translations of 1000 held-out lines by the average of the last ten checkpoints, of which the share that is right to the last symbol is told. OUT keeps the trainings, and an
# interrupted one goes on; OUT/tasks.csv (tasks/1, results/SCHEMA.md) and OUT/tasks.md are written whole at the end. Exit 1 where copy or reverse is below 100 per cent or numbers below 99.
set -euo pipefail
out=${1:?usage: OUT} n2d=${N2D:-$(command -v ./n2d || echo n2d)} lines=1000
mkdir -p "$out"

# learn NAME STEPS OPTIONS...
learn() {
	local task=$1 steps=$2 dir=$out/$1
	shift 2
	[ ! -s "$dir/exact" ] || return 0
	echo "== $task" >&2
	if compgen -G "$dir/step-*.state.safetensors" >/dev/null; then
		"$n2d" train --resume -o "$dir" ${TRAIN:-}
	else
		echo "n2d train --task $task $* --max-steps $steps" >"$out/$task.command"
		"$n2d" train --task "$task" "$@" --max-steps "$steps" --max-epochs none --valid-bleu 0 --save-every 100 --keep 10 -o "$dir" ${TRAIN:-}
	fi
	"$n2d" make-data "$task" --split test --lines $lines -o "$out/$task"
	"$n2d" average --last 10 "$dir" -o "$dir/average.safetensors"
	"$n2d" translate -q -m "$dir/average.safetensors" --beam 1 -i "$out/$task.src" >"$dir/out"
	paste -d'|' "$dir/out" "$out/$task.trg" | awk -F'|' '{right += $1 == $2} END {print 100 * right / NR}' >"$dir/exact.tmp"
	mv "$dir/exact.tmp" "$dir/exact"
}

# row TASK LEAST
row() {
	local dir=$out/$1 seconds
	seconds=$(awk -F, 'NR > 1 {s = $11} END {printf "%.0f", s}' "$dir/log.csv")
	printf 'tasks/1,%s,%s,%s,%s,%s,"%s"\n' "$1" "$lines" "$(cat "$dir/exact")" "$2" "$seconds" "$(cat "$out/$1.command")"
	awk -v got="$(cat "$dir/exact")" -v least="$2" 'BEGIN {exit !(got >= least)}' || missed="$missed $1"
}

common=(--lines 100000 --preset tiny --layers 2 --dropout 0 --schedule inverse-sqrt --rate 0.002 --warmup 400)
learn copy 2500 "${common[@]}"
learn reverse 6000 "${common[@]}"
learn numbers 4000 "${common[@]}"
missed=
{
	echo schema,task,lines,exact,least,seconds,command
	row copy 100
	row reverse 100
	row numbers 99
} >"$out/tasks.csv.tmp"
mv "$out/tasks.csv.tmp" "$out/tasks.csv"
awk -f "$(dirname "$0")/markdown.awk" "$out/tasks.csv" >"$out/tasks.md.tmp"
mv "$out/tasks.md.tmp" "$out/tasks.md"
cat "$out/tasks.md"
[ -z "$missed" ] || { echo "tasks.sh: below:$missed" >&2; exit 1; }
