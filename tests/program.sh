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
