#!/bin/sh
# n2d-bench report: what CSV files say is in the page, no text of theirs becomes markup, the files can be taken out of it again, and broken ones
# are exit 2 with file, line and what was expected. In the build directory. How it looks is for tests/browser.sh.
set -u
[ -x ./n2d-bench ] || { echo "skipped: built without n2d-bench"; exit 77; }
bench=$PWD/n2d-bench
. "${srcdir:-.}/tests/program.sh"
cd "$scratch" || exit 99

run() { # CODE ARGUMENTS
	want=$1
	shift
	what="report $*"
	timeout 60 "$bench" report "$@" >out 2>err
	code=$?
	[ $code = "$want" ] && good || bad "$what: exit code $code, should be $want"
}
err() { [ "$(wc -l <err)" = 1 ] && grep -qE -- "$1" err && good || bad "$what: the message should be one line like '$1'"; }
page() { grep -qE -- "$1" report.html && good || bad "$what: the page should have '$1'"; }
no() { grep -qE -- "$1" report.html && bad "$what: the page should not have '$1'" || good; }

# Times that follow laws: n^2 ns and 300 n ns, so that the RNN overtakes at 300; on the other machine twice as fast.
columns=layer,isa,pass,threads,batch,n,d,clean,seconds,mixing_seconds,limit_seconds,memory_bytes
laws() { # DIRECTORY SPEED ISA
	mkdir -p "$1"
	awk -v c=$columns -v speed="$2" -v isa="$3" 'function row(layer, pass, threads, s) {
			printf "layers/1,%s,%s,%s,%d,1,%d,64,1,%g,%g,%g,%d\n", layer, isa, pass, threads, n, s / speed, s / speed, s / speed / 2, 4 * n
		}
		BEGIN {print "schema," c
			for (n = 16; n <= 4096; n *= 2)
				for (t = 1; t <= 2; t++)
					for (p = 0; p < 2; p++) {
						row("self-attention", p ? "train" : "forward", t, (1 + p) * 1e-9 * n * n / t)
						row("lstm", p ? "train" : "forward", t, (1 + p) * 3e-7 * n / t)
					}}' >"$1/layers.csv"
	printf 'schema,layer,n,sequential,layers,path,perturbed\n' >"$1/paths.csv"
	for n in 16 32 64 128; do
		printf 'paths/1,self-attention,%d,3,1,1,1\npaths/1,lstm,%d,%d,1,%d,1\n' $n $n $n $n >>"$1/paths.csv"
	done
}
laws slow 1 avx2
laws fast 2 avx512

# One machine.
run 0 slow
page '<title>'
page 'n<sup>2\.00</sup> \| n<sup>1\.00</sup>'
page '<td>self-attention</td><td class="left">lstm</td><td>300</td><td>300</td>'
page '<b>Time of a layer, forward</b>, d = 64, avx2, 1 thread'
page '<b>Sequential operations</b>'
page '<code>n2d-bench table --isa avx2 --threads 1 --pass forward slow/layers.csv slow/paths.csv</code>'
page "default-src 'none'"
no 'Side by side<|Left: '
page '<b>n = 256–512</b><span>Between these measured lengths the LSTM becomes faster than self-attention \(d = 64\)</span><small>interpolated 300; predicted: 300</small>'
page '<p class="notes">n\*: up to this length the first is cheaper'
page 'predicted: where the fitted times cross, beyond the measured lengths too;'
[ "$(grep -c '<figure>' report.html)" = "$(awk '/<figure>/ {open = 1} /class="command"/ && open {n++; open = 0} END {print n}' report.html)" ] && good ||
	bad "$what: a figure has no command under it"
# A number at an axis has room for the widest digits, 11 of the picture's units in a narrow window.
[ "$(grep -o '<text x="[0-9]*" y="[0-9.]*" text-anchor="end">[^<]*' report.html | sed 's/.*x="\([0-9]*\)".*>/\1 /' |
	awk '{n++; gsub(/[.]/, "", $2); bad += $1 < 11 * length($2)} END {print (n > 9), bad + 0}')" = '1 0' ] && good || bad "$what: numbers at an axis are cut off"
# What the links say is what the files hold.
taken() { # FILE
	link=$(grep -o "download=\"$(basename "$1")[^>]*" report.html | head -n 1)
	printf %s "$link" | sed 's/.*base64,//; s/"$//' | base64 -d >bytes
	case $link in *application/gzip*) gunzip <bytes >"$scratch/file" ;; *) mv bytes "$scratch/file" ;; esac
	cmp -s file "$1" && good || bad "$what: the link to $1 holds something else"
}
taken slow/layers.csv
taken slow/paths.csv
no 'no file of n2d-bench paths'
run 0 slow/layers.csv
page '<p class="notes">sequential, path and layers: not measured, no file of n2d-bench paths was given\.</p>'
# A fit is drawn between the first and the last measured length, and from more lengths than it has coefficients.
mkdir few
awk -F, 'NR == 1 || ($2 == "lstm" ? $7 <= 64 : $7 > 16 && $7 <= 256)' slow/layers.csv >few/layers.csv
run 0 few
[ "$(grep -o 'class="c solid".*M[0-9.]* ' report.html | sed 's/.*d="M//; 2q')" = "$(printf '164.0 \n164.0 ')" ] && good || bad "$what: fits from elsewhere"
page 'cx="164\.0"'
# A crossing that the fits predict is no measurement: within the measured lengths, where there was none, and beyond them.
mkdir near
awk -F, -v OFS=, '$2 == "lstm" {$10 = 3e-6 * $7 * ($7 == 4096 ? 1.45 : 1); print; $2 = "gru"; $10 = 5e-6 * $7} {print}' slow/layers.csv >near/layers.csv
run 0 near
page 'than the LSTM at every length measured \(d = 64\)</span><small>predicted: 38[0-9]*; what was measured counts</small>'
page 'than the GRU at every length measured \(d = 64\)</span><small>predicted: 5000, beyond the measured lengths</small>'
page '^<p class="soft">Pass: forward</p>'
awk -F, 'NR == 1 || $4 == "train"' slow/layers.csv >near/layers.csv
run 0 near
page '^<p class="soft">Pass: forward and backward</p>'
awk -F, -v OFS=, '$2 == "lstm" {$10 = $7 < 1024 ? 3e-6 * $7 : 1e-9 * $7 * $7 * (1.02)} {print}' slow/layers.csv >near/layers.csv
run 0 near
page '<b>n ≤ 512</b><span>Self-attention is faster than the LSTM at every length measured that tells them apart \(d = 64\)'
page '<td>self-attention</td><td class="left">lstm</td><td>&gt; 512 ~</td><td>[0-9]+</td>'
run 0 slow --threads 2
page 'avx2, 2 threads'
run 2 slow --isa avx512
err 'slow/layers\.csv, slow/paths\.csv: no row of a layer of pass forward with --isa avx512$'
# Where nothing crosses there is no table without rows.
mkdir single
awk -F, 'NR == 1 || $2 == "lstm"' slow/layers.csv >single/layers.csv
run 0 single
page 'No pair of these crosses'
grep -q 'up to n\*' report.html && bad "$what: a table without rows" || good
for format in text markdown; do
	"$bench" table single/layers.csv --format $format | grep -q 'up to n\*' && bad "table --format $format: a table without rows" || good
	"$bench" table slow/layers.csv --format $format | grep -q 'up to n\*' && good || bad "table --format $format: no crossings"
done

# Two machines, by directory and by name.
run 0 slow fast
page '>Side by side<'
page 'style="width:100\.0%"></i></span>2\.00×'
page '<h3>fast</h3>'
run 0 before=slow/layers.csv after=fast/layers.csv -o two.html
grep -q 'timed on <b>before</b>, <b>after</b>' two.html && good || bad "$what: names"

# What is called local is called as its processor, where that is known, unless another is called so.
mkdir results
cp -r slow results/local
run 0 results/local
page 'timed on <b>local</b> by'
echo '{"schema": "n2d-machine/1", "cpu": "Processor X"}' >results/local/layers.json
if grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h"; then
	run 0 results/local fast
	page 'timed on <b>Processor X</b>, <b>fast</b> by'
	page '<h3>Processor X</h3>'
	run 0 "Processor X=fast" results/local
	page 'timed on <b>Processor X</b>, <b>local</b> \(Processor X\) by'
fi
# Files of two machines in one directory are not one machine; named apart they are two.
mkdir mixed
cp slow/layers.csv fast/paths.csv mixed
cp fast/layers.csv mixed/other.csv
echo '{"schema": "n2d-machine/1", "cpu": "A", "processors": 2}' | tee mixed/layers.json >mixed/paths.json
echo '{"schema": "n2d-machine/1", "cpu": "A", "processors": 4}' >mixed/other.json
if grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h"; then
	run 2 mixed
	err 'mixed/other\.json: processors is not that of mixed/layers\.json: .* NAME=FILE'
fi
run 0 one=mixed/layers.csv one=mixed/paths.csv two=mixed/other.csv
page '<h3>two</h3>'

# The command under what was measured has the arguments that its file was made with, words of a shell.
cp -r slow called
echo '{"schema": "n2d-machine/1", "arguments": ["layers", "--n", "16..4096", "--benchmark_filter=^(rnn|it'"'"'s)$"]}' >called/layers.json
echo '{"schema": "n2d-machine/1", "arguments": ["paths", "--n", "16..128"]}' >called/paths.json
cp called/layers.csv "called/two words.csv"
run 0 called
if grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h"; then
	[ "$(grep -c '<code>n2d-bench paths --n 16\.\.128</code>' report.html)" = 3 ] && good || bad "$what: under two figures and at the file"
	page "<code>n2d-bench layers --n 16\.\.4096 '--benchmark_filter=\^\(rnn\|it'.''s\)\\$'</code>"
fi
page "called/paths.csv 'called/two words.csv'</code>"

# Facts are of their file: the machine's of the layers that the tables are from, each other file's at its command; and all lie in the page.
cp -r slow told
mv told/layers.csv told/m.csv
cp told/m.csv told/z.csv
for name in m paths z; do
	echo "{\"schema\": \"n2d-machine/1\", \"arguments\": [\"made\"], \"revision\": \"of-$name\", \"date\": \"now\"}" >told/$name.json
done
run 0 told
if grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h"; then
	page '<dt>revision</dt><dd>of-m</dd>'
	page 'When m\.json was made'
	for name in m paths z; do
		page "<code>n2d-bench made</code> <small>of-$name, now</small>"
		page "download=\"$name\\.json"
	done
fi

# What says nothing of a section gets no heading of it.
mkdir kernels
cat >kernels/kernels.csv <<CSV
schema,id,op,isa,threads,shape,state,seconds,clean,program
kernels/1,a,gemm,avx2,1,M=1,warm,1e-3,1,n2d
CSV
run 0 kernels
[ "$(grep -o '<h[234][^<]*' report.html)" = '<h2 id="data">The data' ] && good || bad "$what: a heading without a section"
printf 'schema,id,kernel,isa,threads,level,seconds,clean,flops,bytes\nroof/1,a,fma_peak,avx2,1,,1,1,2e9,0\n' >kernels/roof.csv
run 0 kernels
page '^<h4>Peak of multiply-adds'
no '<h4>Reading|<summary>Copying'

# All other files, and texts that would be markup.
evil='<script>alert(1)</script>'
quote='""><img src=x onerror=alert(2)>&amp;'
mkdir "<b>evil"
cp slow/*.csv "<b>evil"
cat >"<b>evil/layers.json" <<JSON
{"schema": "n2d-machine/1", "cpu": "$evil", "date": "'\"><svg onload=alert(3)>", "levels_measured": [{"name": "$evil", "read_gbytes_per_s": 3}]}
JSON
cat >"<b>evil/peers.csv" <<CSV
schema,id,op,isa,threads,shape,state,seconds,clean,program,program_version
kernels/1,"gemm/$evil/M=1",gemm$evil,avx2,1,$evil,warm,1e-3,1,n2d,1
kernels/1,"gemm@<i>x/$evil/M=1",gemm$evil,avx2,1,$evil,warm,2e-3,1,<i>x,"$quote"
CSV
cat >"<b>evil/step.csv" <<CSV
schema,id,program,isa,threads,preset,seconds,clean,flops,tokens,peak_flops,program_version,program_isa,pairs
step/1,"$evil",n2d,$evil,1,$evil,1,1,2,3,4,"$quote",,
step/1,x,pytorch-best,,1,tiny,1,1,2,3,4,PyTorch 1.13.1,AVX512+SkylakeX,64
CSV
printf 'schema,id,where,op,seconds,calls,flops\nprofile/1,"%s","%s","%s",1,1,2\n' "$evil" "$quote" "$evil" >"<b>evil/profile.csv"
printf 'schema,id,model,isa,threads,beam,cache,words,seconds,clean\ndecode/1,"%s","%s","%s",1,1,yes,3,1,1\n' "$evil" "$quote" "$evil" >"<b>evil/decode.csv"
printf 'schema,command,median,min,max\ncli/1,"%s",1,1,2\n' "$evil" >"<b>evil/cli.csv"
printf 'schema,claim,section,quantity,value,holds,command\nclaims/1,"%s","%s","%s",inf,0,"%s"\n' "$evil" "$evil" "$quote" "$evil" >"<b>evil/claims.csv"
printf 'schema,id,kernel,isa,threads,level,seconds,clean,flops,bytes\nroof/1,a,fma_peak,"%s",1,,1,1,2e9,0\n' "$evil" >"<b>evil/roof.csv"
printf 'paths/1,"%s",16,1,1,1,1\n' "$evil" >>"<b>evil/paths.csv"
printf 'step,loss\n1,2\n' >"<b>evil/log.csv"
cp "<b>evil/cli.csv" '<b>evil/x" onclick="alert(4).csv'
run 0 "<b>evil" "$evil$evil=slow"
for section in machine peers step cli claims data; do
	page "<h2 id=\"$section\">"
done
page '&lt;script&gt;alert\(1\)&lt;/script&gt;'
no '<script|<img|<i>|<svg onload|<b>evil'
page '2\.00×'
page '<td>tiny, 64 pairs</td>'
page 'pytorch-best \(PyTorch 1\.13\.1\)</td><td class="left">AVX512\+SkylakeX<'
page '✗ does not hold'
# Nothing but the elements that the page is made of, with no attribute that could fetch or run anything.
strange=$(grep -oE '</?[A-Za-z!][^ >]*' report.html | sort -u | grep -vxE '</?(html|head|meta|link|title|style|body|h[1-4]|p|nav|a|b|i|div|span|small|sup|sub|dl|dt|dd|table|thead|tbody|tr|th|td|figure|figcaption|svg|path|text|circle|code|details|summary|ul|li|br)|<!DOCTYPE')
[ -z "$strange" ] && good || bad "$what: strange elements: $strange"
no ' on[a-z]+="|javascript:|https?://|<[a-z]+[^>]* src='

# With roof's file the memory levels are roof's, the best of all footprints in each, however many.
mkdir roofed
cp slow/layers.csv roofed
echo '{"schema": "n2d-machine/1", "levels_measured": [{"name": "L1", "read_gbytes_per_s": 3}]}' >roofed/layers.json
run 0 roofed
! grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h" || page '<dt>L1</dt><dd>3 GB/s read'
no 'Memory, as measured with'
sed -i 's/"levels_measured"/"levels_measured_with": "avx2", &/' roofed/layers.json
run 0 roofed
! grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h" || page '<h4>Memory, as measured with avx2</h4>'
(
	echo schema,id,kernel,isa,threads,level,seconds,clean,flops,bytes
	echo roof/1,peak,fma_peak,avx2,1,,1,1,2e9,0
	awk 'BEGIN {for (i = 1; i <= 600; i++) printf "roof/1,%d,stream_read,avx2,%d,%d,1,1,0,%de9\n", i, 1 + i % 2, 1 + (i > 300), i}'
) >roofed/roof.csv
run 0 roofed
page 'Levels are counted from the fastest, as they were found'
page '<td class="left">L1</td><td>1</td><td>300\.0</td>'
page '<td class="left">memory</td><td>2</td><td>599\.0</td>'
no '3 GB/s read'

# A directory of too many files, or of a pipe, is told.
mkdir many piped
for i in $(seq 130); do echo 1 >many/$i.csv; done
run 2 many
err 'many: expected at most 128 CSV files$'
if mkfifo piped/a.csv 2>/dev/null; then
	run 2 piped
	err 'piped/a.csv: expected a file$'
fi

# What was disturbed has a sign in every table, and what the sign means is told once below it; a peak beside it that was not has none.
mkdir disturbed
sed 's/,64,1,/,64,0,/' slow/layers.csv >disturbed/layers.csv
sed 's/,1,1,0,/,1,0,0,/' roofed/roof.csv >disturbed/roof.csv
cat >disturbed/step.csv <<CSV
schema,id,program,isa,threads,preset,seconds,clean,flops,tokens,peak_flops
step/1,a,n2d,avx2,1,tiny,1,0,2,3,4
step/1,a,n2d,avx2,1,tiny,1,0,2,3,4
step/1,a,n2d,avx2,1,tiny,1,1,2,3,4
step/1,c,n2d,avx2,1,tiny,1,1,6,3,4
step/1,b,n2d,avx2,1,tiny,2,0,2,3,4
step/1,b,n2d,avx2,1,tiny,2,1,2,3,4
CSV
cat >disturbed/decode.csv <<CSV
schema,id,model,isa,threads,beam,cache,words,seconds,clean
decode/1,a,tiny,avx2,1,1,yes,3,5,0
CSV
cat >disturbed/peers.csv <<CSV
schema,id,op,isa,threads,shape,state,seconds,clean,program,program_version,program_isa
kernels/1,a,gemm,avx2,1,M=1,warm,1e-3,1,n2d,1,avx2
kernels/1,a@b,gemm@b,avx2,1,M=1,warm,2e-3,0,b,Library 2.1 BUILT=so,SkylakeX
CSV
run 0 disturbed
page '<td class="">lstm<sup>†</sup></td>'
page '<td>self-attention<sup>†</sup></td><td class="left">lstm<sup>†</sup></td>'
page '<td>lstm<sup>†</sup></td><td>0\.00</td><td>73\.242</td>'
page '<p class="notes">Disturbed: self-attention at n = 16 \(none clean\), .*; lstm at n = .* 4096 \(none clean\)\.</p>'
page '† Disturbed: other work .* where none is clean'
[ "$(grep -oE '>LSTM †</text>' report.html | wc -l)" = 4 ] && good || bad "$what: the curves of time and of the limit have a sign at their name"
[ "$(grep -c '^<div class="tile">.*<sup>†</sup></b>' report.html)" = 3 ] && good || bad "$what: three of the tiles come from disturbed rows"
page '<td>2\.0</td>'
page '<td class="left">L1</td><td>1</td><td>300\.0<sup>†</sup></td>'
page '<td>1000\.0<sup>†</sup></td>'
page '<td>2000\.0</td>'
page '</span>150 %<sup>†</sup></td>'
page '</span>50 %</td>'
page '<td>5000\.0<sup>†</sup></td>'
page '2\.00×<sup>†</sup></td>'
page '>b: Library 2\.1 \(SkylakeX\)</p>'
[ "$(grep -c '^<p class="notes">† ' report.html)" = 10 ] && good || bad "$what: the sign is to be explained once in each of ten places"
[ "$(grep -c '^<tr><td>\(lstm\|self-attention\)</td>.*<td><span class="bar">.*0×<sup>†</sup></td></tr>' report.html)" = 2 ] && good || bad "$what: instruction sets and threads have no sign"
run 0 disturbed slow
[ "$(sed -n '/id="machines"/,/<h2/p' report.html | grep -c '^<tr>.*×<sup>†</sup></td><td>50 %<sup>†</sup></td>')" = 2 ] && good || bad "$what: machines side by side have no sign"
run 0 slow
no '†'
# So has a share of more than the limit, in the tile and in the table.
mkdir beyond
awk -F, -v OFS=, '$2 == "lstm" {$12 = 1.5 * $10} {print}' slow/layers.csv >beyond/layers.csv
run 0 beyond
page '<b>50–150 %<sup>†</sup></b>'
page '</span>150 \(150–150\)<sup>†</sup></td>'
no '</span>50 \(50–50\)<sup>†</sup></td>'

# What is faster than the peak beside it has no share: it is told under the table and the figure, and its name stands beside the last point that has one.
mkdir beaten
awk -F, -v OFS=, 'NR == 1 {print $0, "peak_flops_per_s,flops"; next}
	{over = $2 == "lstm" && $7 == 4096; if (over) $12 = 1.5 * $10; print $0, 1e9, (over ? 1.5 : .5) * 1e9 * $10}' slow/layers.csv >beaten/layers.csv
run 0 beaten
page '</span>50 \(50–50\)</td>'
page '<p class="notes">Per cents of the limit leave out lstm at n = 4096: more FLOP/s than the peak'
[ "$(grep -c '<p class="notes">Not shown: lstm at n = 4096 (per cents' report.html)" = 2 ] && good || bad "$what: points that are not shown"
[ "$(grep -o '>LSTM</text>' report.html | wc -l)" = 4 ] && good || bad "$what: a curve without a name"
no '†'
mkdir outside
awk -F, -v OFS=, '$2 == "lstm" && $7 == 64 {$12 = 1.5 * $10} {print}' slow/layers.csv >outside/layers.csv
run 0 outside
[ "$(grep -c '<p class="notes">Not shown: lstm at n = 64 (150 %) (' report.html)" = 2 ] && good || bad "$what: points that are not shown"

# Broken files: refused by name and line, and the page that was there stays.
echo old >report.html
refuse() { # FILE MESSAGE
	run 2 "$1"
	err "^n2d-bench report: .*$2"
	[ "$(cat report.html)" = old ] && good || bad "$what: the old page is gone"
}
while IFS='|' read -r schema header row column; do
	printf 'schema,%s\n%s,%s\n' "$header" "$schema" "$row" >whole.csv
	for missing in $column; do
		sed "1s/\(^\|,\)$missing\(,\|\$\)/\1other\2/" whole.csv >broken.csv
		refuse broken.csv "broken\.csv:1: expected a column '$missing'"
	done
	run 0 whole.csv -o whole.html
	printf 'schema,%s\n%s,%s' "$header" "$schema" "$row" >broken.csv
	refuse broken.csv 'broken\.csv: the last line has no end'
	printf 'schema,%s\n%s,%s,7\n' "$header" "$schema" "$row" >broken.csv
	refuse broken.csv 'broken\.csv:2: [0-9]+ fields, expected'
	printf 'schema,%s\n%s,%s\n' "$header" "$schema" "$(echo "$row" | sed 's/0\.5/x/')" >broken.csv
	refuse broken.csv "broken\.csv:2: column [a-z_]+ is 'x', expected a number"
done <<'TABLE'
layers/1|layer,isa,pass,threads,batch,n,d,clean,seconds,mixing_seconds,limit_seconds,memory_bytes|rnn,scalar,forward,1,1,16,64,1,0.5,1e-3,1e-3,0|layer seconds memory_bytes
paths/1|layer,n,sequential,layers,path,perturbed|rnn,16,0.5,1,1,1|layer n path
roof/1|id,kernel,isa,threads,level,seconds,clean,flops,bytes|a,fma_peak,avx2,1,,0.5,1,2e9,0|id kernel seconds bytes
kernels/1|id,op,isa,threads,shape,state,seconds,clean,program|a@b,a@b,avx2,1,M=1,warm,0.5,1,b|id op seconds
step/1|id,program,isa,threads,preset,seconds,clean,flops,tokens,peak_flops|a,n2d,avx2,1,tiny,0.5,1,2,3,4|id preset seconds peak_flops
decode/1|id,model,isa,threads,beam,cache,words,seconds,clean|a,tiny,avx2,1,1,yes,3,0.5,1|id model words
profile/1|id,where,op,seconds,calls,flops|a,b,c,0.5,1,2|id op flops
cli/1|command,median,min,max|a,0.5,1,2|command median
TABLE
printf 'schema,claim,section,quantity,value,holds\nclaims/1,a,3,b,1,1\n' >broken.csv
refuse broken.csv "broken\.csv:1: expected a column 'command'"
printf 'schema,a\nnews/1,1\n' >broken.csv
refuse broken.csv "broken\.csv:2: schema 'news/1', expected"
refuse missing.csv 'missing\.csv: no such file'
mkdir empty
refuse empty 'empty: expected CSV files'
cp slow/layers.csv empty/layers.csv
echo '{"schema": ' >empty/layers.json
if "$bench" report --help >/dev/null && grep -q 'HAVE_JANSSON 1' "$OLDPWD/config.h" 2>/dev/null; then
	refuse empty 'empty/layers\.json:[0-9]+: expected JSON'
fi
run 2 --frob
run 2 slow -o ''
err 'expected a file'
if [ -w /dev/full ]; then
	run 1 slow -o /dev/full
fi
run 0 slow -o -
grep -q '^</html>' out && good || bad "$what: no page on standard output"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
