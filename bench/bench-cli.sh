#!/bin/bash
# Whole commands as they are run, start and files included: train 20 steps, translate 100 lines, bpe, bleu, on every instruction set with one thread
# and all (bpe and bleu have neither). In the build directory:
#	bench-cli.sh [RUNS]		(of each command; default 5) writes results/local/cli.json and cli.csv, hyperfine's own formats, whole or not at all
set -u
runs=${1:-5}
case $runs in '' | *[!0-9]* | 0*) echo "bench-cli: RUNS: '$runs', expected a number from 1 on" >&2; exit 2 ;; esac
command -v hyperfine >/dev/null 2>&1 || { echo "bench-cli: no hyperfine (Debian: hyperfine)" >&2; exit 1; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch" results/local/cli.*.tmp' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
unset N2D_ISA
mkdir -p results/local || exit 1

n2d=$PWD/n2d
isas=$(./n2d info | awk '/^  [a-z0-9]+ +compiled +supported/ && $1 !~ /^emu/ {print $1}')
all=$(nproc)
threads=$([ "$all" = 1 ] && echo 1 || echo 1 "$all")

train="--src $scratch/text.src --trg $scratch/text.trg --preset tiny --layers 2 --d-model 128 --d-ff 512 --max-steps 20 --batch-tokens 1024 -q"
./n2d make-data numbers -o "$scratch/text" --lines 20000 && ./n2d make-data numbers -o "$scratch/new" --split test --lines 100 &&
	tr -d ' ' <"$scratch/text.trg" | tr _ ' ' >"$scratch/words" && ./n2d bpe learn -s 500 -i "$scratch/words" -o "$scratch/codes" &&
	./n2d train $train -o "$scratch/model" || exit 1
model=$scratch/model/step-00000020.safetensors

args=()
time_it() { # NAME PREPARE COMMAND
	args+=(--command-name "$1" --prepare "$2" "$3")
}
for isa in $isas; do
	for t in $threads; do
		time_it "train/$isa/threads=$t" "rm -rf '$scratch/out'" "$n2d train $train -o $scratch/out --isa $isa --threads $t"
		time_it "translate/$isa/threads=$t" true "$n2d translate -m $model -i $scratch/new.src --max-len 10 --isa $isa --threads $t -q"
	done
done
time_it bpe-learn true "$n2d bpe learn -s 500 -i $scratch/words -o $scratch/codes.again"
time_it bpe-apply true "$n2d bpe apply -c $scratch/codes -i $scratch/words -o $scratch/encoded"
time_it bleu true "$n2d bleu $scratch/words -i $scratch/words"

echo "bench-cli: $(./n2d --version), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $all processors; $((${#args[@]} / 5)) commands, each $runs times and once to warm up" >&2
hyperfine --shell=none --warmup 1 --runs "$runs" --export-json results/local/cli.json.tmp --export-csv "$scratch/cli.csv" "${args[@]}" || exit 1
{ # with the schema in front, as all our files
	echo "schema,$(head -n 1 "$scratch/cli.csv")"
	tail -n +2 "$scratch/cli.csv" | sed 's/^/cli\/1,/'
} >results/local/cli.csv.tmp && mv results/local/cli.csv.tmp results/local/cli.csv && mv results/local/cli.json.tmp results/local/cli.json
