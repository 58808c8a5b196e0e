#!/bin/sh
# The programs as a user meets them: exit codes, one clear line on standard error, --help, JSON.
# In the build directory.
set -u
passed=0 failed=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
unset N2D_ISA OMP_NUM_THREADS

bad() {
	echo "FAIL $*"
	sed 's/^/  | /' "$scratch/err" "$scratch/out" | head -n 8
	failed=$((failed + 1))
}
good() { passed=$((passed + 1)); }

# run CODE COMMAND...: its exit code, and that bad usage is one line on standard error and nothing else.
run() {
	want=$1
	shift
	what="$*"
	"$@" >"$scratch/out" 2>"$scratch/err"
	code=$?
	lines=$(wc -l <"$scratch/err")
	if [ $code != "$want" ]; then
		bad "$what: exit code $code, should be $want"
	elif [ "$want" = 2 ] && { [ "$lines" != 1 ] || [ -s "$scratch/out" ]; }; then
		bad "$what: $lines lines on standard error, should be one and nothing on standard output"
	elif [ "$want" = 0 ] && [ -s "$scratch/err" ]; then
		bad "$what: succeeds, yet writes to standard error"
	else
		good
	fi
}
out() { grep -qE -e "$1" "$scratch/out" && good || bad "$what: no '$1' in its output"; }
err() { grep -qE -e "$1" "$scratch/err" && good || bad "$what: no '$1' in its message"; }

run 0 ./n2d --help
out 'info'
run 0 ./n2d --version
out '^n2d [0-9]+\.[0-9]+\.[0-9]+$'
run 2 ./n2d frobnicate
err "^n2d: unknown command 'frobnicate'"
./n2d >/dev/null 2>"$scratch/err" && bad "n2d alone succeeds" || good

run 0 ./n2d info
for word in processor caches threads 'instruction sets' libraries compiler flags '^  scalar +compiled +supported' 'in use'; do
	out "$word"
done
run 0 ./n2d info --isa scalar
out '^  scalar +compiled +supported +in use'
run 0 ./n2d info --help
out 'usage: n2d info'
run 2 ./n2d info --frob
err "option '--frob'"
run 2 ./n2d info -x
err "option '-x'"
run 2 ./n2d info --isa
err "option '--isa' needs an argument"
run 2 ./n2d info --json=3
run 2 ./n2d info extra
err "unexpected argument 'extra'"
for n in 0 -1 1025 2x '' 99999999999999999999; do
	run 2 ./n2d info --threads "$n"
	err "'$n' is not a whole number from 1 to 1024"
done

# A choice that cannot be: the list of those that can.
run 2 ./n2d info --isa sse9
err "^n2d info: --isa: unknown instruction set 'sse9'; usable here: .*scalar"
run 2 env N2D_ISA=sse9 ./n2d info
err "^n2d info: N2D_ISA: unknown instruction set 'sse9'; usable here: .*scalar"
run 2 ./n2d info --isa ""
run 0 env N2D_ISA= ./n2d info
run 0 env N2D_ISA=sse9 ./n2d info --isa scalar

# Threads: what limits them, and that the environment may lower them but not raise them.
if ./n2d info | grep -q 'built without OpenMP'; then
	run 0 ./n2d info --threads 3
	out '^threads +1 '
else
	usual=$(./n2d info | sed -n 's/^threads *\([0-9]*\).*/\1/p')
	run 0 env OMP_NUM_THREADS=1 ./n2d info
	out '^threads +1 .*OMP_NUM_THREADS=1'
	run 0 env OMP_NUM_THREADS=999 ./n2d info
	out "^threads +$usual "
	run 0 ./n2d info --threads 3
	out '^threads +3 \(--threads'
	if command -v taskset >/dev/null; then
		run 0 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" ./n2d info
		out '^threads +1 .* 1 processors? in the affinity mask'
	fi
fi

if ./n2d info | grep -q '^  jansson *without'; then
	run 2 ./n2d info --json
	err 'without jansson'
else
	run 0 ./n2d info --json --isa scalar
	for word in '"version"' '"processor"' '"caches"' '"threads"' '"instruction_sets"' '"libraries"' '"build"'; do
		out "$word"
	done
	if command -v python3 >/dev/null; then
		python3 - "$scratch/out" <<-'PY' 2>"$scratch/err" && good || bad "$what: not the JSON it should be"
			import json, sys
			o = json.load(open(sys.argv[1]))
			used = [i["name"] for i in o["instruction_sets"] if i["in_use"]]
			assert used == ["scalar"], used
			assert o["threads"]["in_use"] >= 1 and o["caches"]["l1d"] > 0
		PY
	fi
fi
if [ -w /dev/full ]; then
	./n2d info >/dev/full 2>"$scratch/err"
	code=$?
	[ $code = 1 ] && good || bad "n2d info to a full disk: exit code $code, should be 1"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
