#!/bin/sh
# n2d as a user meets it: exit codes, one clear line on standard error, --help, JSON.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"

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
		out '^threads +1 .* 1 processor in the affinity mask'
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
out '^what an operator reads, weights apart -> what it writes'
out '^h d_k: the queries, keys or values of all heads \(h d_v is as wide\); 2 h d_k, 3 h d_k: '
out '^h d_k is as wide as d_model here'
out '^a norm: x, f\(x\) -> Norm\(x \+ f\(x\)\), x \+ f\(x\), 1 / the deviation '
out '^right: .*; cross-entropy: '
out '^  attention_fwd +\[B m, h d_k\] \[B n, h d_k\] .* K=32$'
out '^  gemm +\[B n, d_model\] -> \[B n, 2 h d_k\] .*N=256'
out '^  gemm +\[B n, d_model\] -> \[B n, d_ff\] .*N=256'
run 0 ./n2d shapes --preset tiny --d-k 48 --d-v 32
out '^K = 48, the larger of d_k and d_v'
out '^h K: the queries, keys or values of all heads; 2 h K, 3 h K: two and three of these side by side$'
out '  attention_fwd +(\[B n, h K\] ){3}-> \[B n, h K\]'
run 0 ./n2d shapes --preset tiny --norm-kind rms
out '^a norm: .* 1 / the root mean square of each row'
# What a model takes, 1.7 GB here, is not needed to see its shapes. Sanitizers do not bear the limit.
limit=:
(ulimit -d 300000 && ./n2d --version) >"$scratch/out" 2>&1 && limit='ulimit -d 300000'
($limit && ./n2d shapes --preset base --d-model 2048 --d-ff 8192 --layers 24) >"$scratch/out" 2>"$scratch/err"
[ $? = 0 ] && good || bad 'shapes of a large model'
out '^B = 2, .* d_ff = 8192, .* N = 24 encoder and 24 decoder'
run 2 ./n2d shapes --preset base --d-model 1000000 --d-ff 1000000000
err "^n2d shapes: the model's weights: no room for [0-9]+ bytes"
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
run 2 ./n2d make-data copy -o "$scratch/none/x"
err "cannot write '.*/none/x.src'"
ls "$scratch"/x.* >/dev/null 2>&1 && bad 'a failing make-data leaves files' || good

# Vocabularies.
printf 'b a </s>\nb  c\n' >"$scratch/text"
run 0 ./n2d vocab "$scratch/text" "$scratch/text" -o "$scratch/v" --max-size 6
out '^6 entries for 10 tokens of 3 types; <unk>: 4 \(40\.00 %\)$'
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
run 2 ./n2d vocab "$scratch/text" -o "$scratch/none/w"

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
err '/one has 1 line and .*/h1 2'
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
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
