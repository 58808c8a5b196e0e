#!/bin/sh
# Steps by batch, and other programs and libraries beside n2d's: what is not there is told, what is wrong is not timed.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
needs_bench

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
what='the profile of a step'
./n2d-bench step --preset tiny --batch 1 --isa scalar --threads 1 --samples 1 --profile >"$scratch/out" 2>"$scratch/err" && good || bad "$what fails"
out '^step/.*: 5 calls together$'
run 2 ./n2d-bench kernels --peers=mkl
err "--peers: unknown 'mkl'"
run 2 ./n2d-bench kernels --peers=pytorch-best
err "--peers: unknown 'pytorch-best'" # it has no products here
# Each command names its own.
run 2 ./n2d-bench kernels --peers --peer-path mkl=x
err 'expected NAME=FILE with openblas, blis, onednn or onnxruntime for NAME'
for name in mkl openblas; do
	run 2 ./n2d-bench layers --layer rnn --n 2 --d 4 --threads 1 --isa scalar --samples 1 --no-limits --peers --peer-path $name=x
	err 'expected NAME=FILE with onednn, pytorch-best or onnxruntime for NAME'
done
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
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
