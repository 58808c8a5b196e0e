#!/bin/sh
# Documents against what they tell of: configure's options, the options of commands, targets of make. In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
: >"$scratch/err" >"$scratch/out"
options() { grep -oE -e "$1--(enable|disable|with|without)-[a-z0-9-]+" | grep -oE -e '--.*' | sort -u; }

what='options of configure'
# Those of Autoconf and Automake aside.
"${srcdir:-.}/configure" --help | options '^  ' | grep -vE '(option-checking|silent-rules|dependency-tracking|largefile)$' >"$scratch/has"
sed -n '/^## Options of configure/,/^## Use/s/^|\([^|]*\)|.*/\1/p' "${srcdir:-.}/README.md" | options '`' >"$scratch/told"
[ "$(wc -l <"$scratch/has")" -gt 10 ] && good || bad "$what: its help lists hardly any"
diff "$scratch/has" "$scratch/told" >"$scratch/out" && good || bad "$what: its help (<) and README.md (>) differ"
: >"$scratch/out"

# A command as it is written, `n2d-bench table --peers ...`, to the end of its line or span: its --help has each of the options.
what='options of commands'
written() { (cd "${srcdir:-.}" && grep -ohE -e "$1" README.md HACKING.md results/README.md bench/bench-check.sh doc/ci/*.yml); }
{
	written '\bn2d(-bench)? [a-z]+ [^`|]*'
	written "BENCH_CHECK='[^'$]*" | sed "s/.*'/n2d-bench compare /"
} >"$scratch/lines"
seen=0
while read -r program command rest; do
	[ -x ./"$program" ] && ./"$program" --help | grep -q "^  $command " || continue # prose
	./"$program" "$command" --help >"$scratch/help"
	for option in $(echo "$rest" | grep -oE -e '(^| )--[a-z][a-z-]+' | grep -v -e '--benchmark$'); do # Google Benchmark's are not listed
		seen=$((seen + 1))
		grep -qE -e "(^|[^a-z-])$option([^a-z-]|\$)" "$scratch/help" || echo "$program $command has no $option" >>"$scratch/out"
	done
done <"$scratch/lines"
[ ! -s "$scratch/out" ] && [ $seen -gt 10 ] && good || bad "$what: of $seen"

what='targets of make'
: >"$scratch/out"
seen=0
for target in $(written '(^    |`|- |run: |&& |^ +)make( -[A-Za-z][^ ]*( build)?)* [a-z][a-z-]+' | sed 's/.* //' | sort -u); do
	seen=$((seen + 1))
	grep -qE "^([^:=#]* )?$target( [^:=]*)?:" Makefile || echo "no make $target" >>"$scratch/out"
done
[ ! -s "$scratch/out" ] && [ $seen -gt 5 ] && good || bad "$what: of $seen"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
