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
	compared="$compared$1/$2 "
	if [ "${write:-}" ]; then
		cp "$scratch/$2" "$1/$2"
	elif cmp "$scratch/$2" "$1/$2"; then
		passed=$((passed + 1))
	else
		echo "FAIL: $1/$2 is not what its CSV files give: tests/results.sh --write, and look at the difference"
		failed=$((failed + 1))
	fi
}
# made MACHINE FILE COMMAND...: its output is what FILE holds.
made() {
	of=$1 file=$2
	shift 2
	mkdir -p "$(dirname "$scratch/$file")"
	if "$@" >"$scratch/$file"; then
		same "$of" "$file"
	else
		echo "FAIL: $of/$file: $*"
		failed=$((failed + 1))
	fi
}
claims() { # CSV: a claim that does not hold is exit code 1, and a table as well
	./n2d-bench claims --no-compute --markdown "$scratch/claims" "$1" >/dev/null || [ $? = 1 ] && cat "$scratch/claims"
}
[ "${1:-}" = --write ] && write=1
markdown=${srcdir:-.}/bench/recipes/markdown.awk

# curve FILE.csv: with the gnuplot that is here
curve() { gnuplot -c "${srcdir:-.}/bench/recipes/curve.gp" "$1"; }
drawn_here() { # FIGURE: by this version?
	drawn=$(sed -n 's/.*Produced by GNUPLOT \([^<]*[^< ]\).*/gnuplot \1/p' "$1")
	[ "$drawn" = "$gnuplot" ] || { [ "${write:-}" ] && [ "$gnuplot" ]; } && return
	echo "figures of ${1%/*} not compared: drawn by ${drawn:-nobody}, here is ${gnuplot:-no gnuplot}"
	return 1
}
compared=
gnuplot=$(gnuplot --version 2>/dev/null) # gnuplot 5.4 patchlevel 4
for machine in "${srcdir:-.}"/results/*/; do
	machine=${machine%/}
	[ "${machine##*/}" != local ] && [ -f "$machine/layers.csv" ] || continue
	set -- "$machine/layers.csv" "$machine/paths.csv"
	made "$machine" table1.md ./n2d-bench table --format markdown "$@"
	made "$machine" table1.csv ./n2d-bench table --format csv "$@"
	[ ! -f "$machine/peers-layers.csv" ] ||
		made "$machine" peers.md ./n2d-bench table --peers --format markdown "$machine/peers-layers.csv" "$machine/peers-kernels.csv"
	[ ! -f "$machine/claims.csv" ] || made "$machine" claims.md claims "$machine/claims.csv"
	for table in tasks mixers/mixers; do
		[ ! -f "$machine/$table.csv" ] || made "$machine" $table.md awk -f "$markdown" "$machine/$table.csv"
	done
	for run in "$machine"/*/*/summary.csv; do
		run=${run#"$machine/"} run=${run%/summary.csv}
		[ -f "$machine/$run/summary.csv" ] || continue
		made "$machine" "$run/summary.md" awk -f "$markdown" "$machine/$run/summary.csv"
		drawn_here "$machine/$run/loss.svg" && made "$machine" "$run/loss.svg" curve "$machine/$run/valid.csv"
	done
	for table in "$machine"/*.md "$machine"/*/*.md "$machine"/*/*/*.md; do
		case " $compared" in
		*" $table "*) continue ;;
		esac
		[ ! -f "$table" ] || { echo "FAIL: $table: no CSV file that it is made of"; failed=$((failed + 1)); }
	done
	if drawn_here "$machine/time.svg"; then
		./n2d-bench figures --out "$scratch" "$@" >/dev/null || failed=$((failed + 1))
		for figure in time limit memory; do
			same "$machine" $figure.svg
		done
	fi
done
# A recipe's file that is broken is no table.
for row in 'tasks/1,reverse' 'tasks/1,copy,500,99,95,12,"open' 'tasks/1,copy,500,99,95,12,"x"y' 'tasks/1,copy,500,99,95,12,x,8'; do
	printf 'schema,task,lines,exact,least,seconds,command\ntasks/1,copy,500,99,95,12,x\n%s\n' "$row" >"$scratch/broken.csv"
	if awk -f "$markdown" "$scratch/broken.csv" >/dev/null 2>&1; then
		echo "FAIL: markdown.awk takes $row"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
done
# A training without BLEU has a curve too.
if [ "$gnuplot" ]; then
	printf 'schema,step,epoch,loss,nll,perplexity,accuracy,bleu,best,seconds\n1,5,1,3,2,7,6,,1,1\n1,9,2,2,1,3,9,,1,2\n' >"$scratch/valid.csv"
	curve "$scratch/valid.csv" >"$scratch/loss.svg" && grep -q '>nll</tspan>' "$scratch/loss.svg" && ! grep -q BLEU "$scratch/loss.svg" &&
		passed=$((passed + 1)) || { echo "FAIL: curve.gp without BLEU" && failed=$((failed + 1)); }
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] || [ "${write:-}" ]
