#!/bin/bash
# Does the gate hold what it promises? In the build directory:
#	bench-check-proof.sh [TIMES [options of n2d-bench compare]]
# This build against itself must pass, and against a build that does a tenth of one kernel's work twice must fail for that kernel alone; each TIMES times
# (default 20; with all benchmarks four minutes each). The machine should be as idle as one that a gate runs on: with six busy processes a
# processor, a tenth is lost in the noise.
set -u
times=${1:-20}
[ $# = 0 ] || shift
make=${MAKE:-make}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
unset MAKEFLAGS MFLAGS MAKELEVEL

slow='s/^\(void N2D_FN(gelu_fwd).*\) { \(V_ROW(\)n\(, .*\) }$/\1\n{\n\t\2n \/ 10\3\n\t\2n\3\n}/'
build() {
	$make -s distdir distdir="$scratch/src" && sed -i "$slow" "$scratch/src/simd/body/activation.c" &&
		! cmp -s "$scratch/src/simd/body/activation.c" "${srcdir:-$(dirname "$0")/..}/simd/body/activation.c" && mkdir "$scratch/slow" &&
		eval "set -- $(./config.status --config)" && cd "$scratch/slow" && ../src/configure "$@" && $make -j"$(nproc)" n2d-bench
}
(build) >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log"; echo "the slower build failed"; exit 99; }

passed=0 failed=0
# verdict WHAT CODE: the last comparison ended with it, and named no kernel but the slower one.
verdict() {
	local wrong=
	[ "$code" = "$2" ] || wrong="exit code $code, expected $2"
	sed 's/, disturbed$//' "$scratch/out" >"$scratch/verdicts"
	others=$(awk '$NF == "slower" && !/^gelu_fwd\// {print $1}' "$scratch/verdicts")
	[ -z "$others" ] || wrong="$wrong; slower: $others"
	[ "$2" = 0 ] || grep -q '^gelu_fwd/.* slower$' "$scratch/verdicts" || wrong="$wrong; gelu_fwd is not found slower"
	if [ -z "$wrong" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	echo "$1 $i: ${wrong:-as it should}; $(grep -E '^[0-9]+ benchmarks:' "$scratch/out")"
}
for i in $(seq "$times"); do
	./n2d-bench compare "$@" . . >"$scratch/out" 2>"$scratch/err"
	code=$?
	verdict same 0
	./n2d-bench compare "$@" . "$scratch/slow" >"$scratch/out" 2>"$scratch/err"
	code=$?
	verdict slower 1
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
