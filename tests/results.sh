#!/bin/sh
# results/ is generated: are the committed tables and figures what the committed CSV files give? Figures only where gnuplot has the version
# that drew them. In the build directory; with --write the files are written anew instead.
set -u
passed=0 failed=0
[ -x ./n2d-bench ] || { echo "skipped: built without n2d-bench"; exit 77; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
# The programs are told nothing by the environment.
unset N2D_ISA

same() { # MACHINE FILE
	if [ "${write:-}" ]; then
		cp "$scratch/$2" "$1/$2"
	elif cmp "$scratch/$2" "$1/$2"; then
		passed=$((passed + 1))
	else
		echo "FAIL: $1/$2 is not what its CSV files give: tests/results.sh --write, and look at the difference"
		failed=$((failed + 1))
	fi
}
[ "${1:-}" = --write ] && write=1

gnuplot=$(gnuplot --version 2>/dev/null) # gnuplot 5.4 patchlevel 4
for machine in "${srcdir:-.}"/results/*/; do
	machine=${machine%/}
	[ "${machine##*/}" != local ] && [ -f "$machine/layers.csv" ] || continue
	set -- "$machine/layers.csv" "$machine/paths.csv"
	./n2d-bench table --format markdown "$@" >"$scratch/table1.md" && ./n2d-bench table --format csv "$@" >"$scratch/table1.csv" || failed=$((failed + 1))
	same "$machine" table1.md
	same "$machine" table1.csv
	if [ -f "$machine/peers-layers.csv" ]; then
		./n2d-bench table --peers --format markdown "$machine/peers-layers.csv" "$machine/peers-kernels.csv" >"$scratch/peers.md" || failed=$((failed + 1))
		same "$machine" peers.md
	fi
	drawn=$(sed -n 's/.*Produced by GNUPLOT \([^<]*[^< ]\).*/gnuplot \1/p' "$machine/time.svg")
	if [ "$drawn" = "$gnuplot" ] || { [ "${write:-}" ] && [ "$gnuplot" ]; }; then
		./n2d-bench figures --out "$scratch" "$@" >/dev/null || failed=$((failed + 1))
		for figure in time limit memory; do
			same "$machine" $figure.svg
		done
	else
		echo "figures of $machine not compared: drawn by $drawn, here is ${gnuplot:-no gnuplot}"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] || [ "${write:-}" ]
