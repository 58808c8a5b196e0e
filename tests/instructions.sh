#!/bin/bash
# Instructions of every kernel on its small shapes, on scalar and AVX2, against the committed counts of the same compiler: no time, so no noise.
# A count more than 2 % above fails. In the build directory:
#	instructions.sh [--update]		(writes the counts; what they are of is in their first line)
# Without valgrind, or without counts for this compiler and its flags, it says so and passes.
set -u
src=${srcdir:-$(dirname "$0")/..}
skip() {
	echo "check-instructions: skipped: $*"
	exit 0
}
command -v valgrind >/dev/null 2>&1 || skip "no valgrind (Debian: valgrind)"
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
unset N2D_ISA

build=$(tests/count-kernels | sed -n 's/^# //p')
counts=$src/tests/instructions/$(echo "$build" | awk '{print $1 "-" $2}').txt
if [ "${1:-}" != --update ]; then
	[ -f "$counts" ] || skip "no counts for $build (instructions.sh --update writes them)"
	[ "$(sed -n '1s/^# //p' "$counts")" = "$build" ] || skip "the counts are for $(sed -n '1s/^# //p' "$counts"), this build is $build"
fi

strip -g -o "$scratch/count-kernels" tests/count-kernels || exit 99 # valgrind 3.19 gives up on what clang 14 writes for debuggers
# count ISA: "ID COUNT" lines. Profile k + 1 of callgrind is of the case printed k-th.
count() {
	local out=$scratch/$1
	(exec valgrind --tool=callgrind --callgrind-out-file="$out" --dump-before=count_next --toggle-collect=count_call "$scratch/count-kernels" "$1") \
		>"$out.cases" 2>"$out.log" || { tail -n 5 "$out.log" >&2; return 1; }
	local k=1
	grep -v '^#' "$out.cases" | while read -r id; do
		k=$((k + 1))
		[ -z "$id" ] || echo "$id $(sed -n 's/^totals: //p;s/^summary: //p' "$out.$k" | head -n 1)"
	done
}
for isa in scalar avx2; do
	tests/count-kernels $isa >/dev/null || continue # not here, or not compiled in
	count $isa >>"$scratch/now" || { echo "FAIL $isa cannot be counted"; exit 1; }
done
if [ "${1:-}" = --update ]; then
	mkdir -p "$(dirname "$counts")"
	{ echo "# $build"; cat "$scratch/now"; } >"$counts"
	echo "$counts: $(wc -l <"$scratch/now") counts"
	exit 0
fi
awk -v counts="$counts" '
FNR == NR { if (!/^#/) want[$1] = $2; next }
{ now[$1] = $2 }
!($1 in want) { print "FAIL " $1 " has no count: instructions.sh --update"; failed++; next }
$2 > 1.02 * want[$1] { printf "FAIL %s: %d instructions, were %d: %.1f %% more\n", $1, $2, want[$1], 100 * ($2 / want[$1] - 1); failed++; next }
$2 < 0.98 * want[$1] { printf "     %s: %d instructions, were %d: --update keeps the gain\n", $1, $2, want[$1] }
{ passed++ }
END {
	for (id in want)
		if (!(id in now) && id ~ isas) { print "FAIL " id " was counted and is gone"; failed++ }
	printf "%d passed, %d failed\n", passed, failed
	exit failed > 0
}' isas="/($(sed 's,^[^/]*/\([^/]*\)/.*,\1,' "$scratch/now" | sort -u | paste -sd '|'))/" "$counts" "$scratch/now"
