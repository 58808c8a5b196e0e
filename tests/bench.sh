#!/bin/sh
# n2d-bench as a user meets it: exit codes, one clear line on standard error, the files it reads and writes.
# In the build directory.
set -u
[ -x ./n2d-bench ] || { echo "skipped: built without n2d-bench"; exit 77; }
. "${srcdir:-.}/tests/program.sh"

# What can never be measured is refused before anything is.
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
# Batches of a step: none of nothing, none that no memory holds; ids and rows name those that are asked for.
for batch in 0 '' x 4,0 8..4 1000001 4,99999999999999999999; do
	run 2 ./n2d-bench step --batch "$batch"
	err "^n2d-bench step: --batch: '$batch', expected "
done
run 2 ./n2d-bench step --preset huge
err "--preset: unknown 'huge'"
run 2 ./n2d-bench step --batch 1..32768 --preset tiny,base,big --isa scalar --threads 1,2
err 'at most 64 cases'
run 0 ./n2d-bench step --isa scalar --threads 1 --benchmark_list_tests
[ "$(cat "$scratch/out")" = "$(printf 'step/scalar/preset=%s,threads=1\n' tiny base)" ] && good || bad "$what: not the steps it always had"
run 0 ./n2d-bench step --preset big,tiny --batch 2,3 --isa scalar --threads 1 --benchmark_list_tests
[ "$(cat "$scratch/out")" = "$(printf 'step/scalar/preset=%s,threads=1\n' tiny,batch=2 tiny,batch=3 big,batch=2 big,batch=3)" ] && good ||
	bad "$what: other steps"
what='a step on a batch that no memory holds'
./n2d-bench step --preset tiny --batch 1000000 --isa scalar --threads 1 >"$scratch/out" 2>"$scratch/err"
code=$?
[ $code = 1 ] && good || bad "$what: exit code $code, should be 1"
err '^n2d-bench: step/scalar/preset=tiny,batch=1000000,threads=1: no memory: it takes [0-9.]+ GB, [0-9.]+ are available$'
what='steps on batches of 1 and 5'
./n2d-bench step --preset tiny --batch 1,5 --threads 2 --samples 1 --csv "$scratch/step.csv" >"$scratch/out" 2>"$scratch/err" && good || bad "$what fail"
[ "$(sed -n 's/^step.*,tiny,.*,\([0-9]*\),[^,]*,[^,]*,[^,]*,\([0-9]*\)$/\2 pairs, \1 tokens/p' "$scratch/step.csv" | sort -u)" = "$(printf '1 pairs, 26 tokens\n5 pairs, 137 tokens')" ] &&
	good || bad "$what: other pairs and tokens"
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
# A gate that compared nothing is not green.
printf 'schema,id,seconds\nt/1,a,1.2\nt/1,a,1.21\nt/1,b,1\n' >"$scratch/two.csv"
printf 'schema,id,seconds\nt/1,c,1\n' >"$scratch/other.csv"
run 2 ./n2d-bench compare "$scratch/base.csv" "$scratch/other.csv"
err 'base.csv, .*other.csv: no benchmark that both have'
run 2 ./n2d-bench compare --filter '^b' "$scratch/base.csv" "$scratch/two.csv"
run 2 ./n2d-bench compare --exclude '(' "$scratch/base.csv" "$scratch/two.csv"
err "--exclude: '\\(': "
run 0 ./n2d-bench compare --exclude '^a' "$scratch/two.csv" "$scratch/two.csv"
out '^1 benchmarks: 1 same'
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
run 2 ./n2d-bench kernels --peers=mkl
err "--peers: unknown 'mkl'"
run 2 ./n2d-bench kernels --peers=pytorch-best
err "--peers: unknown 'pytorch-best'" # it has no products here
run 2 ./n2d-bench kernels --peers --peer-path mkl=x
err 'expected NAME=FILE'
# Peers: a library that is named and is not that is an error, one that is not there or no library is told, and the run goes on.
steered='-u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE -u OPENBLAS_NUM_THREADS -u ONEDNN_MAX_CPU_ISA -u DNNL_MAX_CPU_ISA'
run 0 env $steered ./n2d-bench kernels --peers=compiler --isa scalar --threads 1 --benchmark_list_tests
grep -q '^gemm-nt@compiler/' "$scratch/out" && ! grep -E '^gemm[a-z-]*@' "$scratch/out" | grep -qv '@compiler/' && good || bad "$what: not this peer alone"
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
# What would steer PyTorch is told by both scripts, and not passed on: here a module of its name says what it was given.
if [ -x /usr/bin/python3 ]; then
	printf 'import os\nprint(*os.environ)\nraise ModuleNotFoundError("none")\n' >"$scratch/lib/torch.py"
	for script in 'torch_layers.py /dev/null 1' 'torch_step.py --threads 1'; do
		what="${script%% *} where the environment steers PyTorch"
		PYTHONPATH=$scratch/lib ATEN_CPU_CAPABILITY=default OPENBLAS_CORETYPE=Prescott OPENBLAS_NUM_THREADS=3 \
			/usr/bin/python3 -B "${srcdir:-.}/bench/peers/"$script >"$scratch/out" 2>"$scratch/err"
		[ "$(grep -c "^${script%% *}: [A-Z_]*=.* is in the environment and is not passed on" "$scratch/err")" = 3 ] && good || bad "$what: not told once each"
		grep -qE 'ATEN_|OPENBLAS_' "$scratch/out" && bad "$what: passed on" || good
	done
fi
# PyTorch's step is held against ours before it is timed. Here a module of its name answers for it, once it has looked at what it was given.
if [ -x /usr/bin/python3 ] && ./n2d-bench step --peers --benchmark_list_tests >/dev/null 2>&1; then
	mkdir "$scratch/tmp"
	cat >"$scratch/lib/torch.py" <<-'MODULE'
		import os, sys
		print("ready", "peer 1", "none", sep="\t", flush=True)
		for line in sys.stdin:
		    words = line.rstrip("\n").split("\t")
		    if words[0] == "step":
		        print(1e-3, flush=True)
		        continue
		    with open(words[1], "rb") as f:
		        f.read(8)
		        model = b'"src_embed.weight"' in f.read(1 << 16)
		    print(os.path.dirname(words[1]), model, os.path.getsize(words[2]), *words[3:], file=sys.stderr)
		    if os.environ["REPLY"] == "exit":
		        sys.exit(1)
		    print(*os.environ["REPLY"].split(), sep="\t", flush=True)
		sys.exit(0)
	MODULE
	for reply in 'no room/no.room' 'ok 9 1/differs from ours: loss 9 for 9\.[0-9]+, norm of the gradients 1 for ' 'ok nan nan/differs from ours' 'ok/: ok$' \
		'exit/ended without an answer'; do
		what="step with a peer that answers ${reply%/*}"
		TMPDIR=$scratch/tmp REPLY=${reply%%/*} PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch/lib ./n2d-bench step --peers --preset tiny --batch 5 --threads 1 \
			--samples 1 --benchmark_filter=/pytorch/ >"$scratch/out" 2>"$scratch/err"
		code=$?
		[ $code = 1 ] && good || bad "$what: exit code $code, should be 1"
		err "^n2d-bench: step/pytorch/preset=tiny,batch=5,threads=1: .*${reply#*/}"
		err "^$scratch/tmp/n2d-step-[^/]* True 880 5 16 14\$"
		grep -q '^step/' "$scratch/out" && bad "$what: timed" || good
		rmdir "$scratch/tmp" && mkdir "$scratch/tmp" && good || bad "$what: left files behind"
	done
	rm "$scratch/lib/torch.py"
fi
# The real one agrees, and does not when a weight is another.
if /usr/bin/python3 -c 'import torch, numpy' 2>/dev/null && ./n2d-bench step --peers --benchmark_list_tests >/dev/null 2>&1; then
	mkdir "$scratch/other"
	cat >"$scratch/other/torch.py" <<-'MODULE'
		import os, sys
		sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
		del sys.modules["torch"]
		import torch
		load = torch.nn.Module.load_state_dict
		def other(self, state):
		    state["encoder.layers.0.linear1.weight"][0, 0] += 0.1
		    load(self, state)
		torch.nn.Module.load_state_dict = other
	MODULE
	step='./n2d-bench step --peers --preset tiny --batch 5 --threads 1 --samples 1 --benchmark_filter=/pytorch/'
	what='step --peers with PyTorch'
	PYTHONDONTWRITEBYTECODE=1 $step >"$scratch/out" 2>"$scratch/err" && good || bad "$what fails"
	out '^step/pytorch/preset=tiny,batch=5,threads=1 '
	what="$what that has another weight"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch/other $step >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ $code = 1 ] && good || bad "$what: exit code $code, should be 1"
	err 'step/pytorch/.*: differs from ours: loss '
	grep -q '^step/' "$scratch/out" && bad "$what: timed" || good
fi
run 2 ./n2d-bench layers --peers=mkl
err "--peers: unknown 'mkl'"
run 2 ./n2d-bench layers $small --peers=pytorch-best --peer-path pytorch-best=/bin/false
err 'pytorch-best: it ended'
if command -v node >/dev/null; then
	run 2 env -u NODE_PATH ./n2d-bench layers $small --peers=onnxruntime --peer-path "onnxruntime=$scratch/lib"
	err 'onnxruntime: .*onnxruntime-node'
	run 2 env $steered -u NODE_PATH ./n2d-bench kernels --peers --peer-path "onnxruntime=$scratch/lib"
	err 'onnxruntime: .*onnxruntime-node'
fi
run 2 ./n2d-bench kernels --peers --peer-path pytorch-best=/bin/false
err 'expected NAME=FILE'
if node -e 'require.resolve("onnxruntime-node")' 2>/dev/null; then
	what='products of ONNX Runtime, where it is'
	env $steered ./n2d-bench kernels --peers --threads 1 --samples 1 --no-limits --benchmark_filter='^gemm-packed.*/M=16,N=512,K=512$' \
		>"$scratch/out" 2>"$scratch/err" && good || bad "$what fails"
	out '^gemm-packed@onnxruntime/.* us '
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
	# The same as a node that is found before any other: of a product it has the weights, not the product, in its file.
	cp "$scratch/peer" "$scratch/lib/node"
	what="kernels with a peer that answers $reply"
	env $steered PATH="$scratch/lib:$PATH" ./n2d-bench kernels --peers --threads 1 --samples 1 --no-limits \
		--benchmark_filter='^gemm-packed@onnxruntime/.*/M=1,N=512,K=512$' >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ $code = 1 ] && good || bad "$what: exit code $code, should be 1"
	wanted=${program#*/}
	err "gemm-packed@onnxruntime/.*${wanted%% against*}"
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
for holds in 1 0 2 ''; do
	printf 'schema,claim,section,quantity,value,holds,command\nclaims/1,"a, b",5,nll,inf,%s,n2d train\n' "$holds" >"$scratch/trained.csv"
	rm -f "$scratch"/claims.*
	run $((holds == 2 ? 2 : 1 - ${holds:-1})) ./n2d-bench claims --no-times --csv "$scratch/claims.csv" --markdown "$scratch/claims.md" "$scratch/trained.csv"
	[ "$holds" = 2 ] && err 'trained\.csv:2: .* holds' && continue
	[ "$(grep -c '^claims/1,' "$scratch/claims.csv") $(grep -c '^| .* | holds | `n2d' "$scratch/claims.md") $(grep -c '| measured |' "$scratch/claims.md")" = "29 $((7 + ${holds:-0})) $([ "$holds" ] && echo 0 || echo 1)" ] && good ||
		bad "$what: wrong rows"
done
run 2 ./n2d-bench figures --out ''
err '^n2d-bench figures: --out:'

# What cannot be written is told before the work, and what does not end is left.
for command in roof layers kernels paths 'claims --no-times'; do
	run 2 timeout 20 ./n2d-bench $command --csv "$scratch/nodir/x.csv"
	err "cannot write '.*nodir/x.csv'"
done
run 2 timeout 20 ./n2d-bench table /dev/zero
err '/dev/zero: holds a zero byte'
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
# Up to which length the first is cheaper where mixing alone never crosses: always, or nowhere.
for law in '1e-8|> 4096 \| always' '6e-8|nowhere \| nowhere'; do
	awk -F, -v OFS=, -v self="${law%%|*}" 'NR > 1 {$11 = $7 * ($2 == "rnn" ? 3e-8 : self)} {print}' "$scratch/laws.csv" >"$scratch/mixing.csv"
	run 0 ./n2d-bench table --format markdown "$scratch/mixing.csv"
	out "^\| self-attention, rnn \| 300 \| 300 \| ${law#*|} \|\$"
done
run 0 ./n2d-bench table --format markdown "$scratch/laws.csv"
# A second run of a point, in another file, stays out of it.
sed -n '1p; /,rnn,.*,2048,/s/0\.0006144/0.006144/gp' "$scratch/laws.csv" >"$scratch/again.csv"
cp "$scratch/out" "$scratch/alone"
run 0 ./n2d-bench table --format markdown "$scratch/laws.csv" "$scratch/again.csv"
[ "$(wc -l <"$scratch/again.csv")" = 2 ] && cmp -s "$scratch/out" "$scratch/alone" && good || bad "two runs of a point are mixed"
# A row with fewer clean samples than were wanted is marked, and what the mark means told, where there is one.
! grep -q disturbed "$scratch/out" && good || bad "$what: what is clean is marked"
sed '/,rnn,.*,2048,/s/,64,1,/,64,0,/' "$scratch/laws.csv" >"$scratch/marked.csv"
for format in text markdown; do
	run 0 ./n2d-bench table --format $format "$scratch/marked.csv"
	[ $format = text ] && out '^rnn .* 10\.\.10  disturbed$' || out '^\| rnn, disturbed \| O'
	[ "$(grep -c disturbed "$scratch/out")" = 2 ] && out '^disturbed: ' || bad "$what: one row is marked, and one note tells why"
done
# Fits through fewer lengths than they need predict nothing.
awk -F, 'NR == 1 || $7 <= 64' "$scratch/laws.csv" >"$scratch/short.csv"
run 0 ./n2d-bench table --format markdown "$scratch/short.csv"
out '^Cheaper throughout .*: self-attention than rnn$'
# The peaks measured beside the layers, and a word where they differ.
awk 'NR == 1 {print $0 ",peak_flops_per_s"; next} {print $0 "," 1e9 * (NR < 4 ? 2 : 2.1)}' "$scratch/laws.csv" >"$scratch/steady.csv"
run 0 ./n2d-bench table "$scratch/steady.csv"
out '^peak: 2 to 2\.1 GFLOP/s while this was measured\.$'
sed '$s/,[^,]*$/,2.5e9/' "$scratch/steady.csv" >"$scratch/unsteady.csv"
run 0 ./n2d-bench table --format markdown "$scratch/unsteady.csv"
out '^peak: 2 to 2\.5 GFLOP/s .*changed'
run 0 ./n2d-bench table --format csv "$scratch/laws.csv"
out '^table/1,scalar,1,forward,self-attention,rnn,crossover_n,"",300,nan$'
# A fit is drawn where it was measured, not beyond, and not from as many lengths as it has coefficients.
awk -F, 'NR == 1 || ($2 == "rnn" ? $7 <= 64 : $7 > 16 && $7 <= 256)' "$scratch/laws.csv" >"$scratch/few.csv"
for file in laws few; do
	./n2d-bench figures --out "$scratch" "$scratch/$file.csv" >/dev/null 2>"$scratch/err"
	grep -oE "([^ ]* )?1e3\*|'(rnn|self-attention)'" "$scratch/time.gp" | tr '\n' ' ' >"$scratch/out"
	what="figures of $file.csv"
	[ "$file" = few ] && out "^\[32:256\] 1e3\* 'self-attention' 'rnn' $" || out "^\[16:4096\] 1e3\* 'self-attention' \[16:4096\] 1e3\* 'rnn' $"
done
# Where layers cross is told in the key: a text beside the ring would lie on data.
./n2d-bench figures --out "$scratch" "$scratch/laws.csv" >/dev/null 2>"$scratch/err"
what='figures of laws.csv'
grep cross "$scratch/time.gp" >"$scratch/out"
out "title 'rnn 300' with points"
grep -qE 'with labels|boxed' "$scratch/time.gp" && bad "$what: labels among the data" || good
if command -v gnuplot >/dev/null; then
	run 0 ./n2d-bench figures --out "$scratch" "$scratch/laws.csv"
	for figure in time limit memory; do
		grep -q '^</svg>' "$scratch/$figure.svg" && [ -s "$scratch/$figure.gp" ] && good || bad "$what: no $figure.svg"
	done
	# With a fit, without one, with one behind a layer without, one length.
	awk -F, 'NR == 1 || $2 == "rnn" || $7 <= 32' "$scratch/laws.csv" >"$scratch/late.csv"
	awk -F, 'NR == 1 || $7 == 32' "$scratch/laws.csv" >"$scratch/one.csv"
	for file in few short late one; do
		rm -f "$scratch/time.svg"
		what="figures of $file.csv" # gnuplot may warn of an axis with one value
		./n2d-bench figures --out "$scratch" "$scratch/$file.csv" >"$scratch/out" 2>"$scratch/err" && grep -q '^</svg>' "$scratch/time.svg" &&
			good || bad "$what: no time.svg"
	done
fi
# A figure that fails leaves none, and is the last that make bench does.
mkdir "$scratch/fails"
printf '#!/bin/sh\n: >time.svg\nexit 1\n' >"$scratch/fails/gnuplot"
chmod +x "$scratch/fails/gnuplot"
run 0 env PATH="$scratch/lib" ./n2d-bench figures --out "$scratch/made" "$scratch/laws.csv"
[ -s "$scratch/made/time.gp" ] && good || bad "$what: no script in a directory that was missing"
run 1 env PATH="$scratch/fails:$PATH" ./n2d-bench figures --out "$scratch/fails" "$scratch/laws.csv"
err 'gnuplot .*/time\.gp failed'
[ -e "$scratch/fails/time.gp" ] && [ ! -e "$scratch/fails/time.svg" ] && good || bad "$what: an empty figure is left"
what='make bench'
sed -n '/^bench:/,/^$/s/^\t\.\/n2d-bench \([a-z]*\).*/\1/p' "${srcdir:-.}/bench/bench.am" | tail -n 1 >"$scratch/out"
out '^figures$'
# n2d / best peer: medians of clean samples, packed weights against a product of the same operands too but not the other way, and peers no part
# of Table 1.
cat >"$scratch/kernels.csv" <<-CSV
	schema,id,op,isa,threads,shape,state,clean,seconds,program
	kernels/1,"gemm-packed/avx2/M=1",gemm-packed,avx2,1,"M=1",warm,1,1e-6,n2d
	kernels/1,"gemm-packed/avx2/M=1",gemm-packed,avx2,1,"M=1",warm,0,9e-6,n2d
	kernels/1,"gemm-nt/avx2/M=1",gemm-nt,avx2,1,"M=1",warm,1,4e-6,n2d
	kernels/1,"gemm-tn/avx2/M=1",gemm-tn,avx2,1,"M=1",warm,1,4e-6,n2d
	kernels/1,"gemm-nt/avx2/M=1,threads=2",gemm-nt,avx2,2,"M=1",warm,1,4e-6,n2d
	kernels/1,"gemm-nt@blis/avx2/M=1",gemm-nt@blis,avx2,1,"M=1",warm,1,3e-6,blis
	kernels/1,"gemm-nt@onednn/avx2/M=1",gemm-nt@onednn,avx2,1,"M=1",warm,0,2e-6,onednn
	kernels/1,"gemm-packed/avx2/M=2",gemm-packed,avx2,1,"M=2",warm,1,1e-6,n2d
	kernels/1,"gemm-nt@blis/avx2/M=2",gemm-nt@blis,avx2,1,"M=2",warm,1,2e-6,blis
	kernels/1,"gemm-packed@onnxruntime/avx2/M=1",gemm-packed@onnxruntime,avx2,1,"M=1",warm,1,1.5e-6,onnxruntime
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
	versus/1,"gemm-packed/avx2/M=1",gemm-packed,1e-06,onnxruntime,1.5e-06,1.5
	versus/1,"gemm-nt/avx2/M=1",gemm-nt,4e-06,onednn,2e-06,0.5
	versus/1,"gemm-packed/avx2/M=2",gemm-packed,1e-06,blis,2e-06,2
	versus/1,"rnn/avx2",rnn forward,0.002,onednn,0.001,0.5
CSV
cmp -s "$scratch/out" "$scratch/wanted" && good || bad "$what: not what it should be"
run 0 ./n2d-bench table --peers "$scratch/kernels.csv" "$scratch/layers.csv"
out '^gemm-nt/avx2/M=1 +4\.00 us +2\.00 us +0\.50x +onednn +slower +disturbed$'
[ "$(grep -c disturbed "$scratch/out")" = 1 ] && good || bad "$what: what is clean is marked"
out '^all +0\.93x +4 +2 +0\.50x +gemm-nt/avx2/M=1$'
run 0 ./n2d-bench table --peers --format markdown "$scratch/kernels.csv"
out '^\| gemm-nt/avx2/M=1 \| 4\.00 \| 2\.00 \| onednn \| 0\.50, disturbed \|$'
out '^\| all \| 1\.14 \| 3 \| 1 \| 0\.50 \| gemm-nt/avx2/M=1 \|$'
# What each peer is, and what it chose.
sed '1s/$/,program_version,program_isa/; 2,$s/$/,"Library 0.9 BUILT=so",skx/' "$scratch/kernels.csv" >"$scratch/versions.csv"
sed '/onednn/!d; s/skx/zen/' "$scratch/versions.csv" | sed 's/M=1/M=2/g' >>"$scratch/versions.csv"
run 0 ./n2d-bench table --peers --format markdown "$scratch/versions.csv"
out '^blis: Library 0\.9 \(skx\); onednn: Library 0\.9 \(skx, zen\); onnxruntime: Library 0\.9 \(skx\)$'
run 0 ./n2d-bench table --format csv "$scratch/layers.csv"
grep -q onednn "$scratch/out" && bad "$what: a peer is in Table 1" || good
run 2 ./n2d-bench table --peers
err 'expected files'
run 2 ./n2d-bench table --peers "$scratch/base.csv"
err "schema 't/1', expected"
for change in s/2e-6/-1/ s/2e-6/inf/ s/avx2,1/avx2,0/ s/,program/,prog/; do
	sed "$change" "$scratch/kernels.csv" >"$scratch/broken.csv"
	run 2 ./n2d-bench table --peers "$scratch/broken.csv"
	err 'broken\.csv:[0-9]+: '
done
# What was called is beside every file of times and paths, as it was called.
if grep -q 'HAVE_JANSSON 1' config.h; then
	for arguments in "layers --layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1 --no-limits --benchmark_filter=forward" 'paths --layer rnn --n 16'; do
		what="arguments of $arguments"
		./n2d-bench $arguments --csv "$scratch/a.csv" >"$scratch/out" 2>"$scratch/err"
		tr -d '" ,' <"$scratch/a.json" | sed '1,/arguments:/d; /\]/,$d' | tr '\n' ' ' >"$scratch/out"
		out "^$arguments --csv $scratch/a\.csv $"
	done
fi
goes() { # COMMAND...: it succeeds, and may tell of what it does
	what="$*"
	"$@" >"$scratch/out" 2>"$scratch/err" && good || bad "$what fails"
}
# Whole commands: the number of runs is looked at before anything is done, and a run that is interrupted leaves the files that were there.
mkdir -p "$scratch/cli/results/local"
echo old | tee "$scratch/cli/results/local/cli.json" >"$scratch/cli/results/local/cli.csv"
cat >"$scratch/cli/n2d" <<'PROGRAM'
#!/bin/sh
touch called
case "$*" in info) echo '  scalar  compiled  supported' ;; make-data*) touch "$4.trg" ;; esac
PROGRAM
cat >"$scratch/cli/hyperfine" <<'PROGRAM'
#!/bin/sh
while [ "$1" != --export-json ]; do shift; done
: >"$2"
[ -e slow ] && kill -TERM $PPID && exit 1
echo '{}' >"$2"
printf 'command,median\na,1\n' >"$4"
PROGRAM
chmod +x "$scratch/cli/n2d" "$scratch/cli/hyperfine"
bench_cli() { (cd "$scratch/cli" && PATH="$scratch/cli:$PATH" timeout 60 bash "$scripts/bench-cli.sh" "$@"); }
scripts=$(cd "${srcdir:-.}/bench" && pwd)
run 2 bench_cli many
err "^bench-cli: RUNS: 'many', expected"
[ -e "$scratch/cli/called" ] && bad "$what: begins with the work" || good
touch "$scratch/cli/slow"
what='bench-cli.sh, interrupted'
bench_cli 1 >"$scratch/out" 2>"$scratch/err"
code=$?
[ "$code $(cat "$scratch/cli/results/local/"*)" = "143 old
old" ] && good || bad "$what: exit code $code, or the old files are gone"
rm "$scratch/cli/slow"
goes bench_cli 1
[ "$(cat "$scratch/cli/results/local/"*)" = 'schema,command,median
cli/1,a,1
{}' ] && good || bad "$what: wrong files"
# What was not measured has no row, and memory levels are called the same in roof's table and in its file, where the table's figures are.
goes ./n2d-bench roof --isa scalar --threads 1 --samples 1 fma_peak/scalar/threads=1
grep -qE 'nan|bandwidth' "$scratch/out" && bad "$what: tells what was not measured" || good
goes ./n2d-bench roof --isa scalar --threads 1,2 --samples 1 --csv "$scratch/roof.csv" --benchmark_filter=stream_read
awk '{n = NF - ($NF == "disturbed")} $1 ~ /^(L[0-9]|memory)$/ {print $1, $(n - 4), $(n - 3)}' "$scratch/out" >"$scratch/levels"
sed '1d; s/"[^"]*"/id/' "$scratch/roof.csv" | tr , ' ' | awk 'NR == FNR {want[$1, $2] = $3; next}
	{k = $7 SUBSEP $5; i = $5 SUBSEP $6; rate = $13 / $10 / 1e9; least[i] = i in least && least[i] < rate ? least[i] : rate
		most[i] = most[i] > rate ? most[i] : rate; if (want[k] > least[i] - .06 && want[k] < most[i] + .06) found[k] = 1}
	END {for (k in want) {n++; bad += !(k in found)} print (n > 0), bad + 0}' "$scratch/levels" - >"$scratch/out"
out '^1 0$'
goes ./n2d-bench layers $small --no-limits
out '^  rnn +2 +4 +[0-9.]+ +[0-9.]+% +[0-9.]+ +[0-9.]+ +- '
# What was left out takes a line a layer, or one for all of an instruction set, and the way out is told.
goes ./n2d-bench layers --layer convolution,rnn --width 2 --n 2..8 --d 4,8 --isa scalar --threads 1,2 --samples 1 --no-limits
sed -n '/^not measured/,$p' "$scratch/out" >"$scratch/block"
cp "$scratch/block" "$scratch/out"
out '^  convolution/scalar: n = 2\.\.8, d = 4\.\.8, 24 of 24 cases: .*W = 2'
[ "$(wc -l <"$scratch/out")" = 2 ] && good || bad "$what: more than a line for a layer"
goes ./n2d-bench layers --isa scalar --threads 1 --samples 5 --budget 1
sed -n '/^not measured/,$p' "$scratch/out" >"$scratch/block"
cp "$scratch/block" "$scratch/out"
out "^without the budget: --budget 0 \(through make: BENCH_LAYERS='--budget 0'\)\$"
[ "$(awk 'length($0) > 120 {long++} END {print (NR < 13) + 0, long + 0}' "$scratch/out")" = '1 0' ] && good || bad "$what: a long list of what was not measured"
goes ./n2d-bench kernels --no-limits --isa scalar --threads 1 --samples 1 --csv "$scratch/levels.csv" '--benchmark_filter=^softmax_fwd/scalar/n=512,.*=0$'
tail -n 1 "$scratch/levels.csv" >"$scratch/out"
out ',stream_[a-z]+,,nan,nan,0,n2d'
# Whatever ends a run, its file is there whole, and nothing else.
small="--layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1"
# Under nohup HUP is ignored, and stays so.
case $(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status) in
*[13579bdf]) signals=15 ;;
*) signals='1 15' ;;
esac
for signal in $signals; do
	./n2d-bench layers $small --n 2..4096 --samples 200 --csv "$scratch/$signal.csv" >"$scratch/out" 2>"$scratch/err" &
	until grep -q ' left ' "$scratch/err" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
	sleep 0.5
	kill -$signal $!
	wait $!
	code=$?
	[ "$code $(ls "$scratch" | grep -c "$signal.csv")" = "$((128 + signal)) 1" ] && [ "$(wc -l <"$scratch/$signal.csv")" -gt 1 ] && good ||
		bad "layers ended by signal $signal: exit code $code and $(ls "$scratch" | grep "$signal")"
done
# Before the first sample there is nothing to keep: no file, and an old one stays.
for old in '' old; do
	what="layers ended before a sample${old:+, with an old file}"
	rm -f "$scratch"/early.*
	[ -z "$old" ] || echo old >"$scratch/early.csv"
	./n2d-bench layers $small --csv "$scratch/early.csv" >"$scratch/out" 2>"$scratch/err" &
	until [ -e "$scratch/early.csv.tmp" ] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
	kill -15 $!
	wait $!
	[ "$? $(cat "$scratch"/early.* 2>/dev/null)" = "143 $old" ] && good || bad "$what: $(ls "$scratch" | grep early)"
	err 'nothing was measured'
done
./n2d-bench layers $small --csv /dev/stdout >"$scratch/out" 2>"$scratch/err"
[ ! -e /dev/stdout.json ] && grep -q '^layers/1,' "$scratch/out" && good || bad "layers --csv /dev/stdout"
(trap - PIPE; ./n2d-bench layers $small --csv "$scratch/pipe.csv" 2>"$scratch/err") | true
[ -s "$scratch/pipe.csv" ] && good || bad "layers, its output closed: no CSV file"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
