# For the scripts that meet programs as a user does: "." it first. A scratch directory, and what counts as passed or failed.
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

skip() {
	echo "skipped: $1"
	exit 77
}
needs_bench() { [ -x ./n2d-bench ] || skip "built without n2d-bench"; }
needs_model_files() { ! ./n2d info | grep -qE '^  (jansson|zlib) *without' || skip "built without model files"; }
# From the scratch directory, quickly: "$n2d" is the program.
in_scratch() {
	n2d=$PWD/n2d
	cd "$scratch" || exit 99
	export N2D_ISA=scalar OMP_NUM_THREADS=1
}
