#!/bin/sh
# n2d-bench table and figures: what they make of result files.
# In the build directory.
set -u
. "${srcdir:-.}/tests/program.sh"
needs_bench

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
printf 'schema,layer,n,sequential,layers,path,perturbed\npaths/1,rnn,16,16,1,16,1\npaths/1,rnn,32,32,1,32,1\npaths/1,rnn,64,64,1,64,1\n' >"$scratch/paths.csv"
for command in table "figures --out $scratch/none"; do
	run 2 ./n2d-bench $command "$scratch/paths.csv"
	err "^n2d-bench [a-z]*: $scratch/paths\.csv: no row of a layer"
	run 2 ./n2d-bench $command "$scratch/layers.csv" --isa avx2 --threads 3 --pass train
	err "layers\.csv: no row of a layer with --isa avx2 --threads 3 --pass train"
done
# Without path lengths the columns of them say why they are empty.
for format in text markdown; do
	run 0 ./n2d-bench table --format $format "$scratch/layers.csv"
	out '^sequential, path and layers: not measured, no file of n2d-bench paths was given\.$'
	run 0 ./n2d-bench table --format $format "$scratch/layers.csv" "$scratch/paths.csv"
	! grep -q 'no file of' "$scratch/out" && good || bad "$what: path lengths are there"
done
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
for law in '1e-8|> 4096 \| always' '6e-8|nowhere \| nowhere' '3e-8|tied \| [0-9a-z]+'; do
	awk -F, -v OFS=, -v self="${law%%|*}" 'NR > 1 {$11 = $7 * ($2 == "rnn" ? 3e-8 : self)} {print}' "$scratch/laws.csv" >"$scratch/mixing.csv"
	run 0 ./n2d-bench table --format markdown "$scratch/mixing.csv"
	out "^\| self-attention, rnn \| 300 \| 300 \| ${law#*|} \|\$"
done
run 0 ./n2d-bench table --format csv "$scratch/mixing.csv"
out ',crossover_n_mixing,"",nan,nan$'
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
	[ "$(grep -c disturbed "$scratch/out")" = 2 ] && out '^disturbed: rnn at n = 2048 \(none clean\): other work' || bad "$what: one row is marked, and one note tells why"
done
# One clean sample of three is what counts, and the mark is the same; two of three are as many as were wanted.
for clean in 1 2; do
	awk -F, -v OFS=, -v clean=$clean '{print} $2 == "rnn" && $7 == 2048 {$9 = clean - 1; $10 *= 2; print; $9 = 0; $10 *= 9; print}' "$scratch/laws.csv" >"$scratch/some.csv"
	run 0 ./n2d-bench table "$scratch/some.csv"
	[ $clean = 2 ] && { grep -q disturbed "$scratch/out" && bad "$what: two of three are clean" || good; } || out '^disturbed: rnn at n = 2048: other work .* where none is clean'
done
run 0 ./n2d-bench table --format csv "$scratch/marked.csv"
out '^table/1,scalar,1,forward,rnn,,disturbed,"",1,nan$'
out '^table/1,scalar,1,forward,self-attention,,disturbed,"",0,nan$'
./n2d-bench figures --out "$scratch/figures" "$scratch/marked.csv" >/dev/null 2>&1
for figure in time limit; do
	grep -q "title 'rnn, disturbed'" "$scratch/figures/$figure.gp" && ! grep -q "self-attention, disturbed" "$scratch/figures/$figure.gp" && good ||
		bad "$figure: rnn alone is disturbed"
done
# More FLOP/s than the peak beside it has no per cent of the limit: neither in the table nor in the figure, and both tell of it. Beyond the frame for
# another reason the figure tells the value, and the table marks it.
beaten() { # FIRST LENGTH
	awk -F, -v OFS=, -v from="$1" 'NR == 1 {print $0, "peak_flops_per_s,flops"; next}
		{over = $2 == "rnn" && $7 >= from; if (over) $12 = 2.5 * $10; print $0, 1e9, (over ? 2.5 : .1) * 1e9 * $10}' "$scratch/laws.csv" >"$scratch/beaten.csv"
}
beaten 1024
for format in text markdown; do
	run 0 ./n2d-bench table --format $format "$scratch/beaten.csv"
	[ $format = text ] && out '^rnn .* 10 +10\.\.10$' || out '^\| rnn .*\| 10 \| 10\.\.10 \|$'
	out '^limit % leaves out rnn at n = 1024, 2048, 4096: more FLOP/s than the peak'
	! grep -qE '250|^\*:' "$scratch/out" && good || bad "$what: a per cent of a limit that is none"
done
./n2d-bench figures --out "$scratch/figures" "$scratch/beaten.csv" >/dev/null 2>&1
cp "$scratch/figures/limit.gp" "$scratch/out"
what='limit.gp of beaten.csv'
out '^set xlabel .*Not shown: rnn at n = 1024, 2048, 4096 \('
out '^2048 NaN$'
beaten 1
run 0 ./n2d-bench table --format markdown "$scratch/beaten.csv"
out '^\| rnn .*\| - \| - \|$'
run 0 ./n2d-bench table --format csv "$scratch/beaten.csv"
out '^table/1,scalar,1,forward,rnn,,percent_of_limit,"",nan,'
awk -F, -v OFS=, '$2 == "rnn" && $7 >= 2048 {$12 = 2.5 * $10} {print}' "$scratch/laws.csv" >"$scratch/beyond.csv"
run 0 ./n2d-bench table --format markdown "$scratch/beyond.csv"
out '^\| rnn .*\| 10 \| 10\.\.250 \* \|$'
out '^\*: more than the limit'
./n2d-bench figures --out "$scratch/figures" "$scratch/beyond.csv" >/dev/null 2>&1
cp "$scratch/figures/limit.gp" "$scratch/out"
what='limit.gp of beyond.csv'
out '^set xlabel .*Not shown: rnn at n = 2048 \(250 %\), 4096 \(250 %\) \('
run 0 ./n2d-bench table --format markdown "$scratch/laws.csv"
! grep -qE 'leaves out|^\*:' "$scratch/out" && good || bad "$what: tells of limits that are beaten"
# Fits through fewer lengths than they need predict nothing.
awk -F, 'NR == 1 || $7 <= 64' "$scratch/laws.csv" >"$scratch/short.csv"
run 0 ./n2d-bench table --format markdown "$scratch/short.csv"
out '^\* self-attention than rnn$'
# Ties: at the longest lengths here, where the rnn's median is the lower one; at all; and which predictions are not what was measured.
awk -F, -v OFS=, 'NR > 1 {$10 = $11 = ($2 == "rnn" ? 3e-7 * $7 : $7 < 1024 ? 1e-7 * $7 : 3.05e-7 * $7)} {print}' "$scratch/laws.csv" >"$scratch/ties.csv"
run 0 ./n2d-bench table --format markdown "$scratch/ties.csv"
out '^\| self-attention, rnn \| > 512 ~ \| [0-9]+ \| > 512 ~ \| [0-9]+ \|$'
out '^~: at some measured lengths neither is cheaper'
run 0 ./n2d-bench table "$scratch/ties.csv"
out '^  self-attention, rnn  .* > 512 ~ +[0-9]+ +> 512 ~ +[0-9]+$'
run 0 ./n2d-bench table --format csv "$scratch/ties.csv"
out ',self-attention,rnn,crossover_ties,"",3,nan$'
out ',self-attention,rnn,crossover_ties_mixing,"",3,nan$'
awk -F, -v OFS=, '$2 == "rnn" {$10 = 3e-6 * $7 * ($7 == 4096 ? 1.45 : 1)} {print}' "$scratch/laws.csv" >"$scratch/near.csv"
run 0 ./n2d-bench table --format markdown "$scratch/near.csv"
out '^\| self-attention, rnn \| > 4096 \| \(3[0-9]+\) \| 300 \| 300 \|$'
awk -F, -v OFS=, 'NR > 1 {$10 = $11 = ($2 == "rnn" ? 1e-7 : $7 == 64 ? .99e-7 : .9e-7) * $7} {print}' "$scratch/laws.csv" >"$scratch/once.csv"
run 0 ./n2d-bench table --format markdown "$scratch/once.csv"
out '^\* self-attention than rnn ~$'
awk -F, -v OFS=, 'NR > 1 {$10 = $11 = ($2 == "rnn" ? 3e-7 : 3.05e-7) * $7} {print}' "$scratch/laws.csv" >"$scratch/tied.csv"
run 0 ./n2d-bench table --format markdown "$scratch/tied.csv"
out '^\* none$'
out '^Tied at every measured length: self-attention and rnn$'
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
# Colours: each two of them lie apart, for readers who see all colours and for those who lack a kind of cone (Machado et al. 2009), on a white page
# and lifted by two fifths on a dark one, and from the page itself. Distances are CIE76's.
what='colours of bench/style.c'
sed -n 's/.*{"[a-z-]*", "[^"]*", "#\([0-9a-f]*\)".*/\1/p' "${srcdir:-.}/bench/style.c" | awk '
	function channel(hex, i) {
		return (16 * (index(digits, substr(hex, i, 1)) - 1) + index(digits, substr(hex, i + 1, 1)) - 1) / 255
	}
	function lab(hex, lift, eye, at, i, j, v, m, x, l) { # into L[at, 1..3]
		for (i = 1; i <= 3; i++) {
			x = lift + (1 - lift) * channel(hex, 2 * i - 1)
			l[i] = x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ^ 2.4
		}
		split(cones[eye], m)
		for (i = 1; i <= 3; i++)
			v[i] = m[3 * i - 2] * l[1] + m[3 * i - 1] * l[2] + m[3 * i] * l[3]
		for (i = 1; i <= 3; i++)
			v[i] = v[i] < 0 ? 0 : v[i] > 1 ? 1 : v[i]
		split(".43389 .37622 .18991 .21267 .71515 .07218 .01772 .10947 .87291", m)
		for (i = 1; i <= 3; i++) {
			x = m[3 * i - 2] * v[1] + m[3 * i - 1] * v[2] + m[3 * i] * v[3]
			l[i] = x > .008856 ? x ^ (1 / 3) : 7.787 * x + 16 / 116
		}
		L[at, 1] = 116 * l[2] - 16; L[at, 2] = 500 * (l[1] - l[2]); L[at, 3] = 200 * (l[2] - l[3])
	}
	{colour[NR] = $1}
	END {
		digits = "0123456789abcdef"
		cones[1] = "1 0 0 0 1 0 0 0 1"
		cones[2] = ".152286 1.052583 -.204868 .114503 .786281 .099216 -.003882 -.048116 1.051998"
		cones[3] = ".367322 .860646 -.227968 .280085 .672501 .047413 -.011820 .042940 .968881"
		cones[4] = "1.255528 -.076749 -.178779 -.078411 .930809 .147602 .004733 .691367 .303900"
		for (eye = 1; eye <= 4; eye++)
			for (lift = 0; lift < .5; lift += .4) {
				for (i = 1; i <= NR; i++)
					lab(colour[i], lift, eye, i)
				lab(lift ? "14171b" : "ffffff", 0, eye, 0)
				for (i = 0; i <= NR; i++)
					for (j = i + 1; j <= NR; j++) {
						far = sqrt((L[i, 1] - L[j, 1]) ^ 2 + (L[i, 2] - L[j, 2]) ^ 2 + (L[i, 3] - L[j, 3]) ^ 2)
						if (far < (i ? 8 : 25))
							printf "%s and %s: %.1f apart\n", colour[i], colour[j], far
					}
			}
		print NR " colours"
	}' >"$scratch/out"
[ "$(cat "$scratch/out")" = '9 colours' ] && good || bad "$what: too near"
# A figure that fails leaves none, and is the last that make bench does.
mkdir "$scratch/fails"
printf '#!/bin/sh\n: >time.svg\nexit 1\n' >"$scratch/fails/gnuplot"
chmod +x "$scratch/fails/gnuplot"
mkdir "$scratch/nothing"
run 0 env PATH="$scratch/nothing" ./n2d-bench figures --out "$scratch/made" "$scratch/laws.csv"
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
printf 'schema,id,seconds\nt/1,a,1\n' >"$scratch/base.csv"
run 2 ./n2d-bench table --peers "$scratch/base.csv"
err "schema 't/1', expected"
for change in s/2e-6/-1/ s/2e-6/inf/ s/avx2,1/avx2,0/ s/,program/,prog/; do
	sed "$change" "$scratch/kernels.csv" >"$scratch/broken.csv"
	run 2 ./n2d-bench table --peers "$scratch/broken.csv"
	err 'broken\.csv:[0-9]+: '
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
