#!/bin/sh
# n2d-bench compare, the gate: on files, and on programs that say how long they take.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
needs_bench

printf 'schema,id,seconds\nt/1,a,1\nt/1,a,1.01\nt/1,a,1.02\n' >"$scratch/base.csv"
printf 'schema,id,seconds\nt/1,a,1.2\nt/1,a,1.21\nt/1,a,1.22\n' >"$scratch/head.csv"
run 0 ./n2d-bench compare "$scratch/base.csv" "$scratch/base.csv"
out '^a .* same$'
run 1 ./n2d-bench compare "$scratch/base.csv" "$scratch/head.csv"
out '^a .* 1\.198 .* slower$'
run 1 ./n2d-bench compare --format json "$scratch/base.csv" "$scratch/head.csv"
out '"slower": 1,'
run 0 ./n2d-bench compare --threshold 25 "$scratch/base.csv" "$scratch/head.csv"
run 2 ./n2d-bench compare "$scratch/base.csv"
err 'expected BASE and HEAD'
# Where no sample was clean the row has a mark, and a note tells what it means; where some were there is none.
printf 'schema,id,seconds,clean\nt/1,a,1,0\nt/1,a,1.01,0\nt/1,b,1,1\nt/1,b,1.1,0\n' >"$scratch/disturbed.csv"
for mark in 'text|^a .*  same, disturbed$' 'markdown|^. `a` .* same, disturbed .$' 'json|"id": "a",.* "disturbed": true,'; do
	run 0 ./n2d-bench compare --format "${mark%%|*}" "$scratch/disturbed.csv" "$scratch/disturbed.csv"
	out "${mark#*|}"
	[ "$(grep -c disturbed: "$scratch/out")" = "$([ "${mark%%|*}" = json ] && echo 0 || echo 1)" ] && ! grep -qE '^(. `)?b.*, disturbed|"id": "b".*disturbed' "$scratch/out" &&
		good || bad "$what: a alone is disturbed"
done
# An id does not steer the terminal.
printf 'schema,id,seconds\nt/1,a\033[31mb,1\n' >"$scratch/escape.csv"
run 0 ./n2d-bench compare "$scratch/escape.csv" "$scratch/escape.csv"
out '^a \[31mb .* same$'
run 2 ./n2d-bench compare "$scratch/base.csv"
err ': 1 argument, expected BASE and HEAD$'
# A gate that compared nothing is not green.
printf 'schema,id,seconds\nt/1,a,1.2\nt/1,a,1.21\nt/1,b,1\n' >"$scratch/two.csv"
printf 'schema,id,seconds\nt/1,c,1\n' >"$scratch/other.csv"
run 2 ./n2d-bench compare "$scratch/base.csv" "$scratch/other.csv"
err 'base.csv, .*other.csv: no benchmark that both have'
run 2 ./n2d-bench compare --filter '^b' "$scratch/base.csv" "$scratch/two.csv"
run 2 ./n2d-bench compare --exclude '(' "$scratch/base.csv" "$scratch/two.csv"
err "--exclude: '\\(': "
run 0 ./n2d-bench compare --exclude '^a' "$scratch/two.csv" "$scratch/two.csv"
out '^1 benchmark: 1 same'
# What one side alone has is counted, and named in JSON only.
printf 't/1,d,1\nt/1,e,1\n' | cat "$scratch/two.csv" - >"$scratch/three.csv"
printf 't/1,f,1\n' | cat "$scratch/two.csv" - >"$scratch/four.csv"
for format in text markdown json; do
	run 0 ./n2d-bench compare --format $format "$scratch/three.csv" "$scratch/four.csv"
	listed=$(grep -cE '^(d |e |f |\| `[def]`)|"id": "[def]"' "$scratch/out")
	[ $format = json ] && [ "$listed" = 3 ] || { [ $format != json ] && [ "$listed" = 0 ] && out '^5 benchmarks: 2 same, 2 only in base, 1 only in head,'; } ||
		bad "$what: lists $listed of one side"
done
# One value has no interval, and a name stands for a path.
run 0 ./n2d-bench compare --base-name 'v1 "x"' --head-name v2 --format json "$scratch/two.csv" "$scratch/two.csv"
out '"base": "v1 .u0022x'
out '"head": "v2"'
out '"id": "b", "verdict": "same", "ratio": 1, "base_seconds"'
# What is no UTF-8 is no JSON, and ids come from files as well; a name ends neither its line nor its span of code.
invalid=$(printf 'v\377\303') other=$(printf '\357\277\275') # U+FFFD for each byte
printf 't/1,"e`\377|f",1\n' | cat "$scratch/two.csv" - >"$scratch/strange.csv"
for format in text markdown json; do
	run 0 ./n2d-bench compare --base-name "$invalid" --head-name "$(printf 'a|`<b>``\n\nc`')" --format $format "$scratch/strange.csv" "$scratch/strange.csv"
	[ $format = text ] || { iconv -f UTF-8 -t UTF-8 <"$scratch/out" >/dev/null 2>&1 && good || bad "$what: no UTF-8"; }
	case $format in
	text) out "^base v$other$other\$" && out '^head a\|`<b>``  c`$' ;;
	markdown) out "^Base \`v$other$other\`, head \`{3} a\\|\`<b>\`\`  c\` \`{3}; " && out "^\| \`\` e\`$other\\\\\|f \`\` \| " ;;
	json) out "\"base\": \"v$other$other\",\$" && out '"head": "a\|`<b>``.u000a.u000ac`",$' && out "\"id\": \"e\`$other\|f\"" ;;
	esac
done
run 2 ./n2d-bench compare "$scratch" "$scratch/head.csv"
run 2 ./n2d-bench compare "$scratch" "$scratch"
err 'cannot be run'
program() { # DIR SECONDS CODE: b fails where CODE is 1
	mkdir -p "$scratch/$1"
	cat >"$scratch/$1/n2d-bench" <<-PROGRAM
		#!/bin/sh
		case "\$*" in
		*--help*) exit 0 ;;
		*list_tests*) printf 'a\nb\n'; exit 0 ;;
		esac
		while [ "\$1" != --csv ]; do shift; done
		printf 'schema,id,seconds\nt/1,a,$2\n' >"\$2"
		[ $3 = 1 ] || printf 't/1,b,1\n' >>"\$2"
		exit $3
	PROGRAM
	chmod +x "$scratch/$1/n2d-bench"
}
program quick 1 0
program slow 1.1 0
program broken 1 1
run 0 sh -c './n2d-bench compare --command kernels "$1/quick" "$1/quick" 2>/dev/null' sh "$scratch"
out '^2 benchmarks: 2 same,'
run 1 sh -c './n2d-bench compare --command kernels "$1/quick" "$1/slow" 2>/dev/null' sh "$scratch"
out '^2 benchmarks: 1 same, 1 slower,'
run 0 sh -c './n2d-bench compare --command kernels "$1/slow" "$1/quick" 2>/dev/null' sh "$scratch"
out '1 faster'
run 1 sh -c './n2d-bench compare --command kernels "$1/quick" "$1/broken" 2>/dev/null' sh "$scratch"
out '^b .* failed$'
# What it lists of a real build can be run: without limits there are no rows beyond the caches. (Slower or not is no matter here.)
./n2d-bench compare --command kernels --isa scalar --filter '^softmax.*(n=512,|rows=[0-9]{5})' --rounds 4 --samples 1 . . >"$scratch/out" 2>"$scratch/err"
[ $? -le 1 ] && good || bad "n2d-bench compare . .: $(tail -n 1 "$scratch/err")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
