#!/bin/sh
# n2d-bench as a user meets it: exit codes, one clear line on standard error, the files it reads and writes.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
needs_bench

# What can never be measured is refused before anything is.
for command in roof kernels layers decode; do
	run 2 ./n2d-bench $command --isa=
	err "--isa: ''"
	run 2 env N2D_ISA=sse9 ./n2d-bench $command
	err ': N2D_ISA: '
	for threads in 0 -1 1025 2..2048 99999999999999999999; do
		run 2 ./n2d-bench $command --isa scalar --threads $threads
		err "^n2d-bench $command: --threads: '$threads', expected numbers of threads from 1 to 1024, as in 1,2 "
	done
	run 2 ./n2d-bench $command --isa scalar --threads "$(seq -s, 33)"
	err 'at most 32 pairs'
done
for command in kernels layers decode; do # the expression's own complaint comes before ours
	for list in '' --benchmark_list_tests; do
		./n2d-bench $command --isa scalar --threads 1 '--benchmark_filter=no such' $list >"$scratch/out" 2>"$scratch/err"
		code=$?
		[ $code = 2 ] && good || bad "$command $list: exit code $code for a filter that matches nothing, should be 2"
	done
done
run 2 ./n2d-bench layers --layer=
run 2 ./n2d-bench layers --n "$(seq -s, 65)"
err 'at most 64 sizes'
for n in 0 -1 16..8 1..99999999999999999999; do
	run 2 ./n2d-bench layers --n $n
	err "^n2d-bench layers: --n: '$n', expected sizes from 1 to 1099511627776, as in "
done
run 2 ./n2d-bench layers --n 64 --d 64 --heads 7 --layer self-attention,restricted-attention --csv "$scratch/none.csv"
err 'D = 64 must be a positive multiple of the number of heads H = 7$'
[ -e "$scratch/none.csv" ] && bad "$what: a file of nothing" || good
run 0 ./n2d-bench layers --help
out '^  --budget .*default 400, of profile quick 60, '
run 2 ./n2d-bench layers --layer convolution --width 2
err 'W = 2'
run 2 ./n2d-bench decode --model "$scratch/none"
err 'belong together'
run 2 ./n2d-bench decode --model "$scratch/no-model" --src "$scratch/no-model"
err "cannot read '.*no-model'"
run 2 ./n2d-bench decode --cache perhaps
err "unknown 'perhaps'"
run 2 ./n2d-bench decode --beam 1..4294967296
err 'at most 64 cases'
run 2 ./n2d-bench paths --layer rnm
err "--layer: unknown 'rnm'"
run 2 ./n2d-bench paths --width 4
err 'W = 4'
# What the trace says depends on the first position is what a change of it changes; a recurrent layer walks the positions.
what="n2d-bench paths"
./n2d-bench paths --n 16,64,244 --d 16 >"$scratch/out" 2>"$scratch/err"
[ "$(awk '$1 == "layer" {next}
	{n++; bad += $4 != $6 || ($1 ~ /^(rnn|lstm|gru)$/ ? $3 <= $2 || $5 != $2 : $3 > 3)} END {print n - bad, bad + 0}' "$scratch/out")" = '30 0' ] &&
	good || bad "$what: trace and perturbation differ"
# The claims that need no timing, and rows of a file behind them: both files are written, and one that does not hold is exit 1.
run 2 ./n2d-bench claims --frob
for holds in 1 0 2 ''; do
	printf 'schema,claim,section,quantity,value,holds,command\nclaims/1,"a, b",5,nll,inf,%s,n2d train\n' "$holds" >"$scratch/trained.csv"
	rm -f "$scratch"/claims.*
	run $((holds == 2 ? 2 : 1 - ${holds:-1})) ./n2d-bench claims --no-times --csv "$scratch/claims.csv" --markdown "$scratch/claims.md" "$scratch/trained.csv"
	[ "$holds" = 2 ] && err 'trained\.csv:2: .* holds' && continue
	[ "$(grep -c '^claims/1,' "$scratch/claims.csv") $(grep -c '^| .* | holds | `n2d' "$scratch/claims.md") $(grep -c '| measured |' "$scratch/claims.md")" = "29 $((7 + ${holds:-0})) $([ "$holds" ] && echo 0 || echo 1)" ] && good ||
		bad "$what: wrong rows"
	# The report again, from the file.
	cp "$scratch/out" "$scratch/said"
	run $((1 - ${holds:-1})) ./n2d-bench claims --no-compute --csv "$scratch/again.csv" --markdown "$scratch/again.md" "$scratch/claims.csv"
	cmp -s "$scratch/out" "$scratch/said" && cmp -s "$scratch/again.md" "$scratch/claims.md" && cmp -s "$scratch/again.csv" "$scratch/claims.csv" && good ||
		bad "$what: not what the run wrote"
done
run 2 ./n2d-bench claims --no-compute
err '--no-compute: expected CSV files'
run 2 ./n2d-bench figures --out ''
err '^n2d-bench figures: --out:'

# What cannot be written is told before the work, and what does not end is left.
for command in roof layers kernels paths 'claims --no-times'; do
	run 2 timeout 20 ./n2d-bench $command --csv "$scratch/nodir/x.csv"
	err "cannot write '.*nodir/x.csv'"
done
run 2 timeout 20 ./n2d-bench table /dev/zero
err '/dev/zero: holds a zero byte'
# What was called is beside every file of times and paths, as it was called.
if grep -q 'HAVE_JANSSON 1' config.h; then
	for arguments in "layers --layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1 --no-limits --benchmark_filter=forward" 'paths --layer rnn --n 16'; do
		what="arguments of $arguments"
		./n2d-bench $arguments --csv "$scratch/a.csv" >"$scratch/out" 2>"$scratch/err"
		tr -d '" ,' <"$scratch/a.json" | sed '1,/arguments:/d; /\]/,$d' | tr '\n' ' ' >"$scratch/out"
		out "^$arguments --csv $scratch/a\.csv $"
	done
fi
small="--layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1"
goes() { # COMMAND...: it succeeds, and may tell of what it does
	what="$*"
	"$@" >"$scratch/out" 2>"$scratch/err" && good || bad "$what fails"
}
# Whole commands: the number of runs is looked at before anything is done, and a run that is interrupted leaves the files that were there.
mkdir -p "$scratch/cli/results/local"
echo old | tee "$scratch/cli/results/local/cli.json" >"$scratch/cli/results/local/cli.csv"
cat >"$scratch/cli/n2d" <<'PROGRAM'
#!/bin/sh
touch called
case "$*" in info) echo '  scalar  compiled  supported' ;; make-data*) touch "$4.trg" ;; esac
PROGRAM
cat >"$scratch/cli/hyperfine" <<'PROGRAM'
#!/bin/sh
while [ "$1" != --export-json ]; do shift; done
: >"$2"
[ -e slow ] && kill -TERM $PPID && exit 1
echo '{}' >"$2"
printf 'command,median\na,1\n' >"$4"
PROGRAM
chmod +x "$scratch/cli/n2d" "$scratch/cli/hyperfine"
bench_cli() { (cd "$scratch/cli" && PATH="$scratch/cli:$PATH" timeout 60 bash "$scripts/bench-cli.sh" "$@"); }
scripts=$(cd "${srcdir:-.}/bench" && pwd)
run 2 bench_cli many
err "^bench-cli: RUNS: 'many', expected"
[ -e "$scratch/cli/called" ] && bad "$what: begins with the work" || good
touch "$scratch/cli/slow"
what='bench-cli.sh, interrupted'
bench_cli 1 >"$scratch/out" 2>"$scratch/err"
code=$?
[ "$code $(cat "$scratch/cli/results/local/"*)" = "143 old
old" ] && good || bad "$what: exit code $code, or the old files are gone"
rm "$scratch/cli/slow"
goes bench_cli 1
[ "$(cat "$scratch/cli/results/local/"*)" = 'schema,command,median
cli/1,a,1
{}' ] && good || bad "$what: wrong files"
# What was not measured has no row, and memory levels are called the same in roof's table and in its file, where the table's figures are.
goes ./n2d-bench roof --isa scalar --threads 1 --samples 1 fma_peak/scalar/threads=1
grep -qE 'nan|bandwidth' "$scratch/out" && bad "$what: tells what was not measured" || good
goes ./n2d-bench roof --isa scalar --threads 1,2 --samples 1 --csv "$scratch/roof.csv" --benchmark_filter=stream_read
out '^bandwidth, GB/s \(levels as scalar reads'
! grep -q 'HAVE_JANSSON 1' config.h || { grep -q '"levels_measured_with": "scalar"' "$scratch/roof.json" && good || bad "$what: which set read is not in its facts"; }
awk '{n = NF - ($NF == "disturbed")} $1 ~ /^(L[0-9]|memory)$/ {print $1, $(n - 4), $(n - 3)}' "$scratch/out" >"$scratch/levels"
sed '1d; s/"[^"]*"/id/' "$scratch/roof.csv" | tr , ' ' | awk 'NR == FNR {want[$1, $2] = $3; next}
	{k = $7 SUBSEP $5; i = $5 SUBSEP $6; rate = $13 / $10 / 1e9; least[i] = i in least && least[i] < rate ? least[i] : rate
		most[i] = most[i] > rate ? most[i] : rate; if (want[k] > least[i] - .06 && want[k] < most[i] + .06) found[k] = 1}
	END {for (k in want) {n++; bad += !(k in found)} print (n > 0), bad + 0}' "$scratch/levels" - >"$scratch/out"
out '^1 0$'
goes ./n2d-bench layers $small --no-limits
out '^  rnn +2 +4 +[0-9.]+ +[0-9.]+% +[0-9.]+ +[0-9.]+ +- '
out '^  layer +n +d  .*[^ ] {2,}limit {2,}memory MiB$'
# A mark is explained below the table.
goes ./n2d-bench layers --layer rnn --n 2,4 --d 4,8 --isa scalar --threads 1 --samples 3
for mark in 'disturbed' 'limit disturbed'; do
	! grep -qE "[0-9-]  $mark\$" "$scratch/out" || out "^$mark: "
done
# What was left out takes a line a layer, or one for all of an instruction set, and the way out is told.
goes ./n2d-bench layers --layer convolution,rnn --width 2 --n 2..8 --d 4,8 --isa scalar --threads 1,2 --samples 1 --no-limits
sed -n '/^not measured/,$p' "$scratch/out" >"$scratch/block"
cp "$scratch/block" "$scratch/out"
out '^  convolution/scalar: n = 2\.\.8, d = 4\.\.8, 24 of 24 cases: .*W = 2'
[ "$(wc -l <"$scratch/out")" = 2 ] && good || bad "$what: more than a line for a layer"
what="a budget of a second" # on a busy machine nothing fits into it, which is exit code 1
./n2d-bench layers --isa scalar --threads 1 --samples 5 --budget 1 >"$scratch/out" 2>"$scratch/err"
[ $? -le 1 ] && good || bad "$what: $(tail -n 1 "$scratch/err")"
sed -n '/^not measured/,$p' "$scratch/out" >"$scratch/block"
cp "$scratch/block" "$scratch/out"
out "^without the budget: --budget 0 \(through make: BENCH_LAYERS='--budget 0'\)\$"
[ "$(awk 'length($0) > 120 {long++} END {print (NR < 13) + 0, long + 0}' "$scratch/out")" = '1 0' ] && good || bad "$what: a long list of what was not measured"
# A length that no budget allows: nothing was measured, and that is no success.
run 1 ./n2d-bench layers --isa scalar --threads 1 --layer ffn --pass forward --n 1000000000 --d 512 --no-limits
goes ./n2d-bench kernels --no-limits --isa scalar --threads 1 --samples 1 --csv "$scratch/levels.csv" '--benchmark_filter=^softmax_fwd/scalar/n=512,.*=0$'
tail -n 1 "$scratch/levels.csv" >"$scratch/out"
out ',stream_[a-z]+,,nan,nan,0,n2d'
# Whatever ends a run, its file is there whole, and nothing else.
# Under nohup HUP is ignored, and stays so.
case $(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status) in
*[13579bdf]) signals=15 ;;
*) signals='1 15' ;;
esac
for signal in $signals; do
	for wait in 0.5 3 15; do # beside other work it can take seconds until there is a sample
		./n2d-bench layers $small --n 2..4096 --samples 200 --csv "$scratch/$signal.csv" >"$scratch/out" 2>"$scratch/err" &
		until grep -q ' left ' "$scratch/err" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
		sleep $wait
		kill -$signal $!
		wait $!
		code=$?
		[ ! -s "$scratch/$signal.csv" ] || break
	done
	[ "$code $(ls "$scratch" | grep -c "$signal.csv")" = "$((128 + signal)) 1" ] && [ "$(wc -l <"$scratch/$signal.csv")" -gt 1 ] && good ||
		bad "layers ended by signal $signal: exit code $code and $(ls "$scratch" | grep "$signal")"
done
# Before the first sample there is nothing to keep: no file, and an old one stays.
for old in '' old; do
	what="layers ended before a sample${old:+, with an old file}"
	rm -f "$scratch"/early.*
	[ -z "$old" ] || echo old >"$scratch/early.csv"
	./n2d-bench layers $small --csv "$scratch/early.csv" >"$scratch/out" 2>"$scratch/err" &
	# Whether it can be written was tried at the start: only what stays is the run's.
	until { [ -e "$scratch/early.csv.n2d-tmp" ] && sleep 0.05 && [ -e "$scratch/early.csv.n2d-tmp" ]; } || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
	kill -15 $!
	wait $!
	[ "$? $(cat "$scratch"/early.* 2>/dev/null)" = "143 $old" ] && good || bad "$what: $(ls "$scratch" | grep early)"
	err 'nothing was measured'
done
./n2d-bench layers $small --csv /dev/stdout >"$scratch/out" 2>"$scratch/err"
[ ! -e /dev/stdout.json ] && grep -q '^layers/1,' "$scratch/out" && good || bad "layers --csv /dev/stdout"
(trap - PIPE; ./n2d-bench layers $small --csv "$scratch/pipe.csv" 2>"$scratch/err") | true
[ -s "$scratch/pipe.csv" ] && good || bad "layers, its output closed: no CSV file"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
