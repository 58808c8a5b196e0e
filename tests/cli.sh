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
# Parameters of a configuration: the paper's base model, and what is wrong said by option.
run 0 ./n2d params --vocab 41000
out '^all +65,130,496 +65\.1 M$'
run 0 ./n2d params --layers 3 --enc-layers 2 --preset tiny --vocab 9 --list
out '^decoder\.layers\.2\.norm3\.bias	\[128\]	128$'
grep -q '^encoder\.layers\.2' "$scratch/out" && bad "$what: --enc-layers 2 does not count" || good
run 0 ./n2d params --help
out '^  --d-k N +.*\(auto\)$'
run 2 ./n2d params
err '^n2d params: --vocab must be given'
run 2 ./n2d params --vocab 10 --norm both
err "^n2d params: --norm: 'both' must be one of post\|pre"
run 2 ./n2d params --vocab 10 --preset huge
err "^n2d params: --preset: 'huge'"
run 2 ./n2d params --vocab 10 --heads 7
err 'not a multiple of heads 7'
run 2 ./n2d params --vocab
run 2 ./n2d params --vocab 10 extra
if ! ./n2d info | grep -q '^  jansson *without'; then
	run 0 ./n2d params --vocab 9712 --preset tiny --json
	out '"parameters": 2568192'
fi

run 0 ./n2d shapes --preset tiny --vocab 100
out '^B = 2, n = 11, m = 7; d_model = 128, h = 4'
out '^  attention_fwd +\[B n, d_model\] .* K=32$'
run 0 ./n2d shapes --help
run 2 ./n2d shapes extra

# Tasks.
run 0 ./n2d make-data numbers -o "$scratch/n" --lines 7 --seed 3 --src-lang en --trg-lang de
[ "$(cat "$scratch/n.en" | wc -l) $(cat "$scratch/n.de" | wc -l)" = '7 7' ] && good || bad "$what: not 7 lines each"
run 0 ./n2d make-data copy --ids --vocab 300 --min-length 4 --max-length 4 --split test --lines 50 --output "$scratch/c"
cmp -s "$scratch/c.src" "$scratch/c.trg" && ! grep -vqE '^[0-9]+( [0-9]+){3}$' "$scratch/c.src" && good || bad "$what: no copies of 4 ids"
run 0 ./n2d make-data --help
run 2 ./n2d make-data
err '^n2d make-data: which task\?'
run 2 ./n2d make-data copied -o "$scratch/x"
err "^n2d make-data: task 'copied' must be one of copy\|reverse\|sort\|numbers"
run 2 ./n2d make-data copy
err '^n2d make-data: -o PREFIX must be given'
run 2 ./n2d make-data copy -o "$scratch/x" --vocab 27
err 'vocabulary of 27'
run 2 ./n2d make-data numbers -o "$scratch/x" --max-length 7
run 2 ./n2d make-data numbers -o "$scratch/x" --vocab 20
run 2 ./n2d make-data copy -o "$scratch/x" --lines -1
run 2 ./n2d make-data copy -o "$scratch/x" --src-lang=
run 2 ./n2d make-data copy -o "$scratch/x" --src-lang de --trg-lang de
err "'de', --trg-lang 'de': expected two different names"
run 1 ./n2d make-data copy -o "$scratch/none/x"
err "cannot write '.*/none/x.src'"
ls "$scratch"/x.* >/dev/null 2>&1 && bad 'a failing make-data leaves files' || good

# Vocabularies.
printf 'b a </s>\nb  c\n' >"$scratch/text"
run 0 ./n2d vocab "$scratch/text" "$scratch/text" -o "$scratch/v" --max-size 6
out '^6 entries for 10 tokens of 3 types; 4 are <unk> \(40\.00 %\)$'
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 4\nb 4\na 2\n' | cmp -s - "$scratch/v" && good || bad "$what: not the file it should be"
printf '2 0\n\n2\n' >"$scratch/ids"
run 0 ./n2d vocab --ids - -o "$scratch/v" <"$scratch/ids"
printf '<pad> 0\n<s> 0\n</s> 0\n<unk> 0\n0 1\n1 0\n2 2\n' | cmp -s - "$scratch/v" && good || bad "$what: not the integers"
run 0 ./n2d vocab --help
run 2 ./n2d vocab
err '^n2d vocab: which files'
run 2 ./n2d vocab "$scratch/text"
err '^n2d vocab: -o OUTPUT must be given'
run 2 ./n2d vocab "$scratch/text" -o "$scratch/w" --ids
err "text:1: 'b' is no id"
run 2 ./n2d vocab "$scratch/text" -o "$scratch/w" --ids --min-count 2
run 2 ./n2d vocab "$scratch/text" -o "$scratch/w" --max-size 4
run 2 ./n2d vocab "$scratch/none" -o "$scratch/w"
err "cannot read '.*none'"
run 2 ./n2d vocab /dev/null -o "$scratch/w"
err 'no token'
[ -e "$scratch/w" ] && bad 'a failing vocab leaves a file' || good
run 1 ./n2d vocab "$scratch/text" -o "$scratch/none/w"

# BLEU: what sacreBLEU prints, byte for byte but for the version; wrong files by name.
printf 'the cat sat on the mat .\nso it is\n' >"$scratch/h1"
printf 'the cat sat on the mat .\nso it was\n' >"$scratch/h2"
printf 'a cat sat on the mat .\tthe cat sat .\nso it is\tit is so\n' >"$scratch/both"
cut -f 1 "$scratch/both" >"$scratch/r1"
cut -f 2 "$scratch/both" >"$scratch/r2"
version=$(./n2d --version | tr ' ' -)
run 0 ./n2d bleu "$scratch/r1" -i "$scratch/h1" -w 2
out "^BLEU\|nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:$version = 83\.76 90\.0/87\.5/83\.3/75\.0 \(BP = 1\.000 ratio = 1\.000 hyp_len = 10 ref_len = 10\)$"
[ "$(wc -l <"$scratch/out")" = 1 ] && good || bad "$what: not one line"
run 0 ./n2d bleu "$scratch/r1" "$scratch/r2" -i "$scratch/h1" -tok none -s add-k -sv 0.5 --max-ngram-order 2 --split-hyphens -sh
out "^BLEU\|#:2\|c:mixed\|e:no\|tok:none-atat\|s:add-k\[0\.50\]\|v:$version = 94\.9 90\.0/100\.0 "
cp "$scratch/out" "$scratch/two"
run 0 ./n2d bleu "$scratch/both" -nr 2 -i "$scratch/h1" -tok none -s add-k -sv 0.5 --max-ngram-order 2 --split-hyphens -sh
cmp -s "$scratch/out" "$scratch/two" && good || bad "$what: not as with two files"
run 0 sh -c "./n2d bleu '$scratch/r1' -b -w 3 <'$scratch/h1'"
out '^83\.759$'
run 0 ./n2d bleu "$scratch/r1" -i "$scratch/h1" -sl -b
[ "$(tr '\n' ' ' <"$scratch/out")" = '80.9 100.0 ' ] && good || bad "$what: not 80.9 and 100.0"
run 0 ./n2d bleu "$scratch/r1" -i "$scratch/h1" "$scratch/h2" -w 2
out '/h2 +74\.01$'
run 0 ./n2d bleu "$scratch/r1" -ci -cin 50 -i "$scratch/h1"
out '\|nrefs:1\|bs:50\|seed:12345\|.* \(μ = [0-9.]+ ± [0-9.]+\) 90'
run 0 ./n2d bleu "$scratch/r1" -pbs -pbsn 50 --seed 7 -i "$scratch/h1" "$scratch/h2" "$scratch/h1"
out '^Baseline: .*h1 +83\.8 \([0-9.]+ ± [0-9.]+\)$'
out '/h2 +[0-9.]+ \([0-9.]+ ± [0-9.]+\) \(p = [01]\.[0-9]{4}\)'
paste "$scratch/h1" "$scratch/h2" >"$scratch/h12"
run 0 sh -c "./n2d bleu '$scratch/r1' -pbs <'$scratch/h12'"
out '^System 1 +'
if command -v gzip >/dev/null && ! ./n2d info | grep -q '^  zlib *without'; then
	gzip -c "$scratch/r1" >"$scratch/r1.gz"
	run 0 ./n2d bleu "$scratch/r1.gz" -i "$scratch/h1" -b
	out '^83\.8$'
fi
yes 'a .' | head -n 100 >"$scratch/spaced"
./n2d bleu "$scratch/spaced" -i "$scratch/spaced" >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && grep -q 'warning: 100 hypotheses' "$scratch/err" && good || bad "bleu of tokenized text: no warning"
run 0 ./n2d bleu "$scratch/spaced" -i "$scratch/spaced" -q
run 0 ./n2d bleu --help
if ./n2d info | grep -q '^  utf8proc *without'; then
	run 2 ./n2d bleu "$scratch/r1" -i "$scratch/h1" -lc
	err 'without utf8proc'
else
	run 0 ./n2d bleu "$scratch/r1" -i "$scratch/h1" -lc -tok intl
	out '\|case:lc\|eff:no\|tok:intl\|'
fi
if ./n2d info | grep -q '^  jansson *without'; then
	run 2 ./n2d bleu "$scratch/r1" -i "$scratch/h1" --json
else
	run 0 ./n2d bleu "$scratch/r1" -i "$scratch/h1" --json -w 2
	cat >"$scratch/want" <<-JSON
		{
		 "name": "BLEU",
		 "score": 83.76,
		 "signature": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:$version",
		 "verbose_score": "90.0/87.5/83.3/75.0 (BP = 1.000 ratio = 1.000 hyp_len = 10 ref_len = 10)",
		 "nrefs": "1",
		 "case": "mixed",
		 "eff": "no",
		 "tok": "13a",
		 "smooth": "exp",
		 "version": "$version"
		}
	JSON
	cmp -s "$scratch/out" "$scratch/want" && good || bad "$what: not sacreBLEU's JSON"
	run 0 ./n2d bleu "$scratch/r1" -i "$scratch/h1" "$scratch/h2" -pbs -f json
	out '^            "p_value": null,$'
fi
run 2 ./n2d bleu
err '^n2d bleu: no reference'
run 2 ./n2d bleu -i "$scratch/h1"
run 2 ./n2d bleu "$scratch/r1" -i "$scratch/nothing"
err "cannot read '.*/nothing'"
run 2 ./n2d bleu "$scratch/r1" -i "$scratch"
head -n 1 "$scratch/h1" >"$scratch/one"
run 2 ./n2d bleu "$scratch/r1" -i "$scratch/h1" "$scratch/one"
err '/r1 has 2 lines and .*/one 1: expected as many'
run 2 ./n2d bleu "$scratch/one" -sl -i "$scratch/h1"
err '/one has 1 lines and .*/h1 2'
: >"$scratch/none"
run 2 ./n2d bleu "$scratch/none" -i "$scratch/none"
err '/none: no lines'
printf 'good\na\377b\n' >"$scratch/latin"
run 2 ./n2d bleu "$scratch/r1" -i "$scratch/latin"
err '/latin:2: byte 2'
run 2 ./n2d bleu "$scratch/r1" -nr 2 -i "$scratch/h1"
err '/r1:1: texts divided by tabs: 1, expected 2, as --num-refs says'
run 2 ./n2d bleu "$scratch/r1" "$scratch/r2" -nr 2 -i "$scratch/h1"
run 2 ./n2d bleu - -i -
err 'standard input can be one file only'
run 2 ./n2d bleu "$scratch/r1" -i "$scratch/h1" "$scratch/h1"
err 'comes twice'
for wrong in '-tok zh' '-s plus' '-sv 1' '-s floor -sv nan' '-s floor -sv -1' '-w 16' '-f latex' '-m chrf' '--max-ngram-order 17' '-pbs' \
	'-sl -ci' '-sl --json' '-pbs -ci' '-cin 1' '--seed -1' '-nr 0' '-x' '--frob' '-tok'; do
	run 2 ./n2d bleu "$scratch/r1" -i "$scratch/h1" $wrong
done

if [ -w /dev/full ]; then
	./n2d info >/dev/full 2>"$scratch/err"
	code=$?
	[ $code = 1 ] && good || bad "n2d info to a full disk: exit code $code, should be 1"
fi
# The benchmark: what can never be measured is refused before anything is.
if [ -x ./n2d-bench ]; then
	for command in roof kernels layers decode; do
		run 2 ./n2d-bench $command --isa=
		err "--isa: ''"
		run 2 env N2D_ISA=sse9 ./n2d-bench $command
		err ': N2D_ISA: '
		run 2 ./n2d-bench $command --isa scalar --threads 4294967297
		err 'not in 1 \.\. 1024'
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
	# The gate, on files, and on programs that say how long they take.
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
	run 2 ./n2d-bench kernels --peers --peer-path mkl=x
	err 'expected NAME=FILE'
	# Peers: a library that is named and is not that is an error, one that is not there or no library is told, and the run goes on.
	steered='-u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE -u OPENBLAS_NUM_THREADS -u ONEDNN_MAX_CPU_ISA -u DNNL_MAX_CPU_ISA'
	small="--layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1 --no-limits"
	for file in "$scratch/none.so" "$scratch/err" ./n2d-bench; do
		run 2 env $steered ./n2d-bench layers $small --peers --peer-path "onednn=$file"
		err "^n2d-bench layers: .*${file##*/}"
	done
	mkdir "$scratch/lib"
	for file in libdnnl.so libdnnl.so.2 libdnnl.so.3; do
		echo none >"$scratch/lib/$file"
	done
	what='layers --peers without oneDNN'
	env $steered LD_LIBRARY_PATH="$scratch/lib" ./n2d-bench layers $small --peers=onednn --csv "$scratch/peers.csv" >"$scratch/out" 2>"$scratch/err" &&
		good || bad "$what fails"
	err '^n2d-bench: no onednn here$'
	out 'no peer at the same work'
	what='layers --peers with oneDNN, where it is'
	env $steered ./n2d-bench layers --layer rnn,lstm,gru,convolution --n 5 --d 6 --batch 3 --threads 1 --samples 1 --no-limits --peers=onednn \
		>"$scratch/out" 2>"$scratch/err" && good || bad "$what fails"
	! grep -q 'peer onednn: oneDNN 2' "$scratch/err" || out '^all +[0-9.]+x +8 '
	run 2 ./n2d-bench layers --peers=mkl
	err "--peers: unknown 'mkl'"
	run 2 ./n2d-bench layers $small --peers=pytorch-best --peer-path pytorch-best=/bin/false
	err 'pytorch-best: it ended'
	if command -v node >/dev/null; then
		run 2 ./n2d-bench layers $small --peers=onnxruntime --peer-path "onnxruntime=$scratch/lib"
		err 'onnxruntime: .*onnxruntime-node'
	fi
	# A program that says it is ready: what it refuses, gets wrong (its file holds x where y belongs) or dies of is told and not timed.
	for program in 'no room/no room' 'ok/failed its check against ours: y' 'exit/ended without an answer'; do
		reply=${program%/*}
		cat >"$scratch/peer" <<-PROGRAM
			#!/bin/sh
			printf 'ready\\tpeer 1\\tnone\\n'
			while read -r line; do
				case "\$line" in run*) echo 1e-3 ;; *) [ '$reply' != exit ] || exit; echo '$reply' ;; esac
			done
		PROGRAM
		chmod +x "$scratch/peer"
		what="layers with a peer that answers $reply"
		./n2d-bench layers $small --peers=pytorch-best --peer-path "pytorch-best=$scratch/peer" >"$scratch/out" 2>"$scratch/err"
		code=$?
		[ $code = 1 ] && good || bad "$what: exit code $code, should be 1"
		err "rnn@pytorch-best.*${program#*/}"
		out 'no peer at the same work'
	done
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
	for holds in 1 0 2; do
		printf 'schema,claim,section,quantity,value,holds,command\nclaims/1,"a, b",5,nll,inf,%s,n2d train\n' $holds >"$scratch/trained.csv"
		rm -f "$scratch"/claims.*
		run $((holds == 2 ? 2 : 1 - holds)) ./n2d-bench claims --no-times --csv "$scratch/claims.csv" --markdown "$scratch/claims.md" "$scratch/trained.csv"
		[ $holds = 2 ] && err 'trained\.csv:2: .* holds' && continue
		[ "$(grep -c '^claims/1,' "$scratch/claims.csv") $(grep -c '^| .* | holds | `n2d' "$scratch/claims.md")" = "29 $((7 + holds))" ] && good ||
			bad "$what: wrong rows"
	done
	run 2 ./n2d-bench figures --out ''
	err '^n2d-bench figures: --out:'

	# Result files: each is whole and made of what a run can write, or it is named with its line.
	columns=layer,isa,pass,threads,batch,n,d,clean,seconds,mixing_seconds,limit_seconds,memory_bytes
	sample=rnn,scalar,forward,1,1,16,64,1,2e-3,1e-3,1e-3,0
	csv() { printf "schema,$columns\nlayers/1,$1" >"$scratch/layers.csv"; }
	csv "$sample\n"
	run 0 ./n2d-bench table "$scratch/layers.csv"
	csv "$sample\r\n"
	run 0 ./n2d-bench table "$scratch/layers.csv"
	csv "$sample"
	run 2 ./n2d-bench table "$scratch/layers.csv"
	err 'layers\.csv: the last line has no end'
	csv "$sample\n\000\n"
	run 2 ./n2d-bench table "$scratch/layers.csv"
	err 'layers\.csv: holds a zero byte'
	for change in s/rnn/rnm/ s/forward/ford/ s/,1,1,16/,1e10,1,16/ s/,16,/,1e99,/ s/2e-3/nan/ s/1e-3/-1/; do
		csv "$(echo $sample | sed $change)\n"
		run 2 ./n2d-bench table "$scratch/layers.csv"
		err 'layers\.csv:2: '
	done
	csv "$sample\n"
	if [ -w /dev/full ]; then
		./n2d-bench table "$scratch/layers.csv" >/dev/full 2>"$scratch/err"
		code=$?
		[ $code = 1 ] && good || bad "n2d-bench table to a full disk: exit code $code, should be 1"
	fi
	# Times that follow laws, n^2 ns and 300 n ns at half and a tenth of the limit: exponents, crossover and per cent come from the file.
	awk -v c=$columns 'function row(layer, s, share) {
			printf "layers/1,%s,scalar,forward,1,1,%d,64,1,%g,%g,%g,%d\n", layer, n, s, s, share * s, 4 * n
		}
		BEGIN {print "schema," c
			for (n = 16; n <= 4096; n *= 2) {row("self-attention", 1e-9 * n * n, .5); row("rnn", 3e-7 * n, .1)}}' >"$scratch/laws.csv"
	run 0 ./n2d-bench table --format markdown "$scratch/laws.csv"
	out '^\| self-attention \| O\(n\^2 d\) \| 2\.00 ± 0\.00 \| 2\.00 ± 0\.00 .*\| 50 \| 50\.\.50 \|$'
	out '^\| rnn \| O\(n d\^2\) \| 1\.00 ± 0\.00 \| 1\.00 ± 0\.00 .*\| 10 \| 10\.\.10 \|$'
	out '^\| self-attention, rnn \| 300 \| 300 \| 300 \| 300 \|$'
	run 0 ./n2d-bench table --format csv "$scratch/laws.csv"
	out '^table/1,scalar,1,forward,self-attention,rnn,crossover_n,"",300,nan$'
	if command -v gnuplot >/dev/null; then
		run 0 ./n2d-bench figures --out "$scratch" "$scratch/laws.csv"
		for figure in time limit memory; do
			grep -q '^</svg>' "$scratch/$figure.svg" && [ -s "$scratch/$figure.gp" ] && good || bad "$what: no $figure.svg"
		done
	fi
	# n2d / best peer: medians of clean samples, packed weights against a product of the same operands, and peers no part of Table 1.
	cat >"$scratch/kernels.csv" <<-CSV
		schema,id,op,isa,threads,shape,state,clean,seconds,program
		kernels/1,"gemm-packed/avx2/M=1",gemm-packed,avx2,1,"M=1",warm,1,1e-6,n2d
		kernels/1,"gemm-packed/avx2/M=1",gemm-packed,avx2,1,"M=1",warm,0,9e-6,n2d
		kernels/1,"gemm-nt/avx2/M=1",gemm-nt,avx2,1,"M=1",warm,1,4e-6,n2d
		kernels/1,"gemm-tn/avx2/M=1",gemm-tn,avx2,1,"M=1",warm,1,4e-6,n2d
		kernels/1,"gemm-nt/avx2/M=1,threads=2",gemm-nt,avx2,2,"M=1",warm,1,4e-6,n2d
		kernels/1,"gemm-nt@blis/avx2/M=1",gemm-nt@blis,avx2,1,"M=1",warm,1,3e-6,blis
		kernels/1,"gemm-nt@onednn/avx2/M=1",gemm-nt@onednn,avx2,1,"M=1",warm,0,2e-6,onednn
	CSV
	(
		echo "schema,id,$columns,program"
		for row in "rnn/avx2,$sample,n2d" "rnn@onednn/avx2,$sample,onednn"; do
			echo "layers/1,$row" | sed '/@/s/,2e-3/,1e-3/;/@/s/,1e-3,1e-3,0/,nan,1e-3,nan/'
		done
	) >"$scratch/layers.csv"
	run 0 ./n2d-bench table --peers --format csv "$scratch/kernels.csv" "$scratch/layers.csv"
	cat >"$scratch/wanted" <<-CSV
		schema,id,group,seconds,peer,peer_seconds,ratio
		versus/1,"gemm-packed/avx2/M=1",gemm-packed,1e-06,onednn,2e-06,2
		versus/1,"gemm-nt/avx2/M=1",gemm-nt,4e-06,onednn,2e-06,0.5
		versus/1,"rnn/avx2",rnn forward,0.002,onednn,0.001,0.5
	CSV
	cmp -s "$scratch/out" "$scratch/wanted" && good || bad "$what: not what it should be"
	run 0 ./n2d-bench table --peers "$scratch/kernels.csv" "$scratch/layers.csv"
	out '^gemm-nt/avx2/M=1 +4\.00 us +2\.00 us +0\.50x +onednn +slower$'
	out '^all +0\.79x +3 +2 +0\.50x +gemm-nt/avx2/M=1$'
	run 0 ./n2d-bench table --peers --format markdown "$scratch/kernels.csv"
	out '^\| all \| 1\.00 \| 2 \| 1 \| 0\.50 \| gemm-nt/avx2/M=1 \|$'
	run 0 ./n2d-bench table --format csv "$scratch/layers.csv"
	grep -q onednn "$scratch/out" && bad "$what: a peer is in Table 1" || good
	run 2 ./n2d-bench table --peers
	err 'expected files'
	run 2 ./n2d-bench table --peers "$scratch/base.csv"
	err "schema 't/1', expected"
	for change in s/2e-6/-1/ s/2e-6/inf/ s/avx2,1/avx2,0/ s/,program/,prog/; do
		sed "$change" "$scratch/kernels.csv" >"$scratch/broken.csv"
		run 2 ./n2d-bench table --peers "$scratch/broken.csv"
		err 'broken\.csv:[1-8]: '
	done
	# Whatever ends a run, its file is there whole, and nothing else.
	small="--layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1"
	# Under nohup HUP is ignored, and stays so.
	case $(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status) in
	*[13579bdf]) signals=TERM ;;
	*) signals='HUP TERM' ;;
	esac
	for signal in $signals; do
		./n2d-bench layers $small --n 2..4096 --csv "$scratch/$signal.csv" >"$scratch/out" 2>"$scratch/err" &
		until [ -e "$scratch/$signal.csv.tmp" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
		sleep 0.2
		kill -$signal $!
		wait $!
		code=$?
		[ "$code $(ls "$scratch" | grep -c "$signal.csv")" = '1 1' ] && [ -s "$scratch/$signal.csv" ] && good ||
			bad "layers ended by $signal: exit code $code and $(ls "$scratch" | grep "$signal")"
	done
	./n2d-bench layers $small --csv /dev/stdout >"$scratch/out" 2>"$scratch/err"
	[ ! -e /dev/stdout.json ] && grep -q '^layers/1,' "$scratch/out" && good || bad "layers --csv /dev/stdout"
	(trap - PIPE; ./n2d-bench layers $small --csv "$scratch/pipe.csv" 2>"$scratch/err") | true
	[ -s "$scratch/pipe.csv" ] && good || bad "layers, its output closed: no CSV file"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
